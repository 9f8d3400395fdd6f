/* link: -fno-optimize-sibling-calls -Wl,-soname,lib_cudart13.so -Wl,--version-script=tests/traps/cudart13.map */
/* A CUDA runtime 13 with the version node of the real one. */
#define MAJOR 13
#include "cudart.h"
