/* A plugin opened RTLD_LOCAL, with a runtime and an NCCL that nobody else can see: its calls pass through the shim and reach
 * the library it was linked with, although dlsym(RTLD_NEXT) knows neither. Callers ask for the versioned name
 * cudaMemcpy@libcudart.so.13 and NCCL for a plain one; both are seen. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    CHECK(!dlsym(RTLD_NEXT, "cudaGetLastError"));
    void *user = trap_open("lib_user13.so");
    char from[8] = "bytes", to[8] = "";
    CHECK(((int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13"))(to, from, 8, 2) == 13);
    CHECK(strcmp(to, "bytes") == 0);
    CHECK(((int (*)(void))trap_symbol(user, "user_broadcast"))() == 0);
    CHECK(((int (*)(void))trap_symbol(user, "user_launch"))() == 307);
    CHECK(trap_count("lib_nccl.so", "trap_broadcasts") == 1);
    CHECK(trap_count("lib_cudart13.so", "trap_copies_13") == 1);
    struct hw_trace_view view;
    CHECK(trap_trace(getpid(), &view));
    const struct hw_trace_totals *outside = &view.header.totals[HW_SCOPE_OUTSIDE];
    CHECK(outside->waits == 1 && outside->d2h_copies == 1 && outside->collectives == 1);
    CHECK(view.header.threads[0].launches == 1);
    return 0;
}
