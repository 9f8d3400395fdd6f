/* link: -fno-optimize-sibling-calls -l:lib_cudart12.so */
/* A plugin built for CUDA 12. */
#define MAJOR 12
#include "user.h"
