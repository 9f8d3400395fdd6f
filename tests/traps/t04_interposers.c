/* Another interposer, in front of the shim or behind it, is called exactly once and never by itself again: its own function is
 * no answer to what it asked for. */
#include "trap.h"

static void check(void)
{
    void *user = trap_open("lib_user13.so");
    char from[8] = "bytes", to[8] = "";
    int (*copy)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_async_13");
    int result = copy(to, from, 8, 2);
    CHECK(*(int *)trap_symbol(RTLD_DEFAULT, "front_copies") == 1);
    if (getenv("TRAP_BEHIND"))
        CHECK(result == 77); /* nothing comes after the interposer: the runtime is private to the plugin */
    else
        CHECK(result == 13 && trap_count("lib_cudart13.so", "trap_copies_13") == 1);
    struct hw_trace_view view;
    CHECK(trap_trace(getpid(), &view) && view.header.totals[HW_SCOPE_OUTSIDE].d2h_copies == 1);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv("TRAP_CHILD")) {
        pid_t child = fork();
        if (child == 0) {
            setenv("TRAP_BEHIND", "1", 1);
            trap_under_shim_before(argv, "lib_front.so");
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    trap_under_shim(argv, "lib_front.so");
    check();
    return 0;
}
