/* Calls inside an NCCL group return at once; the cost of the group is billed to them, not lost at ncclGroupEnd. errno is the
 * program's. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    errno = 0;
    trap_window("window");
    CHECK(((int (*)(int))trap_symbol(user, "user_group"))(3) == 0);
    trap_window(NULL);
    CHECK(errno == 0);
    struct hw_trace_view view;
    CHECK(trap_trace(getpid(), &view));
    const struct hw_record_site *reduce = trap_site(&view, "ncclAllReduce", 0);
    CHECK(reduce && reduce->count == 3 && reduce->waits == 0);
    CHECK(reduce->wait_ns >= 20000000u); /* what ncclGroupEnd slept */
    CHECK(view.header.totals[HW_SCOPE_HOOK].collectives == 3);
    return 0;
}
