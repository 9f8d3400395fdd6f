/* A copy outside a window takes no wait from inside it, nor the other way round; two windows whose names lie at one address, one
 * after the other, are two. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    int (*copy)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_async_13");
    int (*wait)(void) = (int (*)(void))trap_symbol(user, "user_synchronize");
    char from[8] = "bytes", to[8] = "", name[16] = "first";
    copy(to, from, 8, 2);
    trap_window(name);
    wait();
    copy(to, from, 8, 2);
    trap_window(NULL);
    wait();
    strcpy(name, "second");
    trap_window(name);
    wait();
    trap_window(NULL);
    struct hw_trace_view view;
    CHECK(trap_trace(getpid(), &view));
    CHECK(view.header.totals[HW_SCOPE_HOOK].waits == 2 && view.header.totals[HW_SCOPE_OUTSIDE].waits == 1);
    const struct hw_record_site *first = trap_site(&view, "cudaStreamSynchronize", 0),
                                *read = trap_site(&view, "cudaMemcpyAsync", 0),
                                *second = trap_site(&view, "cudaStreamSynchronize", 1);
    CHECK(first && first->count == 1 && strcmp(hw_trace_view_text(&view, first->hook.function), "first") == 0);
    CHECK(second && second->count == 1 && strcmp(hw_trace_view_text(&view, second->hook.function), "second") == 0);
    CHECK(read && read->count == 1 && read->waits == 0);
    return 0;
}
