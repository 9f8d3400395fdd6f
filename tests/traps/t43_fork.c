/* A child forked in the middle of a window writes a file of its own, with its own counters, and leaves the parent's alone. A
 * child that makes no CUDA call leaves no file. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    int (*copy)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13");
    char from[8] = "bytes", to[8] = "";
    trap_window("window");
    copy(to, from, 8, 2);
    pid_t idle = fork();
    if (idle == 0)
        _exit(0);
    pid_t child = fork();
    if (child == 0) {
        copy(to, from, 8, 2);
        copy(to, from, 8, 2);
        _exit(0);
    }
    int status;
    CHECK(waitpid(idle, &status, 0) == idle && status == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    copy(to, from, 8, 2);
    copy(to, from, 8, 2);
    copy(to, from, 8, 2);
    trap_window(NULL);
    struct hw_trace_view mine, its;
    CHECK(trap_trace(getpid(), &mine) && trap_trace(child, &its) && !trap_trace(idle, &(struct hw_trace_view){0}));
    CHECK(mine.header.totals[HW_SCOPE_HOOK].waits == 4 && its.header.totals[HW_SCOPE_HOOK].waits == 2);
    CHECK(trap_site(&mine, "cudaMemcpy", 0)->count == 4 && trap_site(&its, "cudaMemcpy", 0)->count == 2);
    CHECK(its.header.pid == (uint32_t)child && its.header.ppid == (uint32_t)getpid());
    return 0;
}
