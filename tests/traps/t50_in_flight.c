/* A process that is killed inside a call leaves it in the trace: counted, and marked as in flight. */
#include "trap.h"

#include <signal.h>

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        void *user = trap_open("lib_user13.so");
        *(int *)trap_symbol(trap_open("lib_cudart13.so"), "trap_hang_13") = ready[1];
        trap_window("stuck");
        ((int (*)(void))trap_symbol(user, "user_synchronize"))();
        _exit(1);
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1); /* from inside the runtime */
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &(int){0}, 0) == child);
    struct hw_trace_view view;
    CHECK(trap_trace(child, &view));
    const struct hw_record_site *site = trap_site(&view, "cudaStreamSynchronize", 0);
    CHECK(site && site->count == 1 && site->waits == 1 && view.header.ended == HW_ENDED_UNKNOWN);
    const struct hw_trace_call *call = &view.header.ring[1];
    CHECK(call->sequence == 1 && call->in_flight && hw_trace_view_site(&view, call->site) == site);
    return 0;
}
