/* Two CUDA majors in one process: the one unversioned wrapper sends each caller to its own runtime, whichever came first. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user13 = trap_open("lib_user13.so"), *user12 = trap_open("lib_user12.so");
    char from[8] = "bytes", to[8] = "";
    for (int i = 0; i < 3; i++) {
        CHECK(((int (*)(void *, const void *, size_t, int))trap_symbol(user12, "user_copy_12"))(to, from, 8, 2) == 12);
        CHECK(((int (*)(void *, const void *, size_t, int))trap_symbol(user13, "user_copy_13"))(to, from, 8, 2) == 13);
    }
    CHECK(trap_count("lib_cudart12.so", "trap_copies_12") == 3);
    CHECK(trap_count("lib_cudart13.so", "trap_copies_13") == 3);
    return 0;
}
