/* One call is one event: a runtime that calls its own exported names is not counted twice, nor is ncclBcast, which calls
 * ncclBroadcast; a copy and the wait for it at one place are one. A wait for another stream is not the copy's. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    char from[8] = "bytes", to[8] = "";
    trap_window("window");
    CHECK(((int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13"))(to, from, 8, 2) == 13);
    CHECK(((int (*)(void *, const void *, size_t))trap_symbol(user, "user_read_13"))(to, from, 8) == 13);
    CHECK(((int (*)(void))trap_symbol(user, "user_broadcast"))() == 0);
    trap_window("apart");
    CHECK(((int (*)(void *, const void *, size_t))trap_symbol(user, "user_read_apart_13"))(to, from, 8) == 13);
    trap_window(NULL);
    trap_window(NULL);
    CHECK(trap_count("lib_cudart13.so", "trap_waits_13") == 3);
    struct hw_trace_view view;
    CHECK(trap_trace(getpid(), &view));
    const struct hw_trace_totals *hook = &view.header.totals[HW_SCOPE_HOOK];
    CHECK(hook->waits == 3 && hook->d2h_copies == 3 && hook->collectives == 1);
    const struct hw_record_site *copy = trap_site(&view, "cudaMemcpy", 0), *read = trap_site(&view, "cudaMemcpyAsync", 0),
                                *broadcast = trap_site(&view, "ncclBcast", 0);
    CHECK(copy && copy->count == 1 && copy->waits == 1);
    CHECK(read && read->count == 1 && read->waits == 1);
    CHECK(broadcast && broadcast->count == 1);
    const struct hw_record_site *apart = trap_site(&view, "cudaMemcpyAsync", 1),
                                *wait = trap_site(&view, "cudaStreamSynchronize", 0);
    CHECK(apart && apart->count == 1 && apart->waits == 0 && wait && wait->count == 1 && wait->waits == 1);
    CHECK(strcmp(hw_trace_view_text(&view, wait->hook.function), "apart") == 0);
    CHECK(!trap_site(&view, "cudaStreamSynchronize", 1) && !trap_site(&view, "ncclBroadcast", 0));
    CHECK(strcmp(hw_trace_view_text(&view, copy->hook.function), "window") == 0);
    return 0;
}
