/* After its first call a wrapper allocates nothing, in a window or not: it may be running below an allocator's own lock. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, "lib_malloc.so");
    void *user = trap_open("lib_user13.so");
    int (*copy)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13");
    int (*launch)(void) = (int (*)(void))trap_symbol(user, "user_launch");
    long *allocations = trap_symbol(RTLD_DEFAULT, "trap_allocations");
    char from[8] = "bytes", to[8] = "";
    for (int round = 0; round < 2; round++) {
        long before = *allocations;
        CHECK(before > 0);
        for (int i = 0; i < 100; i++) {
            trap_window("window");
            copy(to, from, 8, 2);
            trap_window(NULL);
            copy(to, from, 8, 2);
            launch();
        }
        CHECK(round == 0 || *allocations == before);
    }
    return 0;
}
