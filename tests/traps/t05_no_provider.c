/* A program that calls a CUDA name which no loaded library provides gets an error: the shim must neither find itself nor
 * recurse. */
#include "trap.h"

int cudaStreamSynchronize(void *stream) __attribute__((weak));

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    CHECK(cudaStreamSynchronize);
    CHECK(cudaStreamSynchronize(NULL) == 500);
    return 0;
}
