/* What the entry points generated from symbols.tsv call. */
#include <stdlib.h>
#include "interpose/sim/sim.h"

void *hw_sim_handle_new(void)
{
    return calloc(1, 256); /* some callers keep small state of their own behind the pointer */
}

void hw_sim_stub(const char *name)
{
    HW_TRACE("%s", name);
}

void hw_sim_stub_launch(const char *name, const hw_sim_handle *handle)
{
    HW_COUNT(launches, 1);
    HW_TRACE("launch %s", name);
    void *stream = handle ? handle->stream : NULL;
    if (hw_sim_capture(stream, HW_NODE_KERNEL, NULL, NULL, 0))
        return;
    hw_sim_stream_busy(stream, name, "kernel");
    hw_sim_value_check(name);
}

void hw_sim_put_int(long address, int value, long count)
{
    for (long i = 0; address && i < count; i++)
        ((int *)address)[i] = value;
}

void hw_sim_put_size(long address, size_t value)
{
    if (address)
        *(size_t *)address = value;
}

void hw_sim_put_handle(long address)
{
    if (address)
        *(void **)address = hw_sim_handle_new();
}
