/* link: -fno-optimize-sibling-calls -Wl,-soname,lib_cudart12.so -Wl,--version-script=tests/traps/cudart12.map */
/* A CUDA runtime 12 with the version node of the real one. */
#define MAJOR 12
#include "cudart.h"
