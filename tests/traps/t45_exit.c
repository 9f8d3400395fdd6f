/* A library that calls the runtime from its destructor, after the shim's own: the call is forwarded and nothing crashes. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    char from[8] = "bytes", to[8] = "";
    CHECK(((int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13"))(to, from, 8, 2) == 13);
    *(int *)trap_symbol(user, "user_at_exit") = 1;
    return 0;
}
