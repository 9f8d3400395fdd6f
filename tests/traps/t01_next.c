/* A program whose own scope holds no runtime, with one preloaded behind the shim under an unusual name: the loader's next
 * definition is the one that it would have called. */
#include "trap.h"

int cudaStreamSynchronize(void *stream) __attribute__((weak));

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim_before(argv, "lib_cudart13.so");
    CHECK(cudaStreamSynchronize && cudaStreamSynchronize(NULL) == 0);
    CHECK(trap_count("lib_cudart13.so", "trap_waits_13") == 1);
    return 0;
}
