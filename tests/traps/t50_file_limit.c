/* A limit on file sizes kills a process that passes it: the shim stays below it, or makes no trace at all. */
#include "trap.h"

#include <sys/resource.h>

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    struct rlimit limit = {100 * 1024, 100 * 1024};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    void *user = trap_open("lib_user13.so");
    char from[8] = "bytes", to[8] = "";
    CHECK(((int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13"))(to, from, 8, 2) == 13);
    CHECK(!trap_trace(getpid(), &(struct hw_trace_view){0}));
    return 0;
}
