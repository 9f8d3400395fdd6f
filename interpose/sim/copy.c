/* Copies and fills between the three kinds of memory. */
#include <string.h>
#include "interpose/sim/sim.h"

typedef struct copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, rows;
} copy;
typedef struct fill {
    void *to;
    int value;
    size_t bytes;
} fill;

static __thread int script_left;
static __thread const int64_t *script_next;

void hw_sim_script_d2h(int count, const int64_t *values)
{
    script_left = count;
    script_next = values;
}

static void run_copy(void *stream, const void *data)
{
    const copy *c = data;
    for (size_t i = 0; i < c->rows; i++)
        memmove(c->to + i * c->to_pitch, c->from + i * c->from_pitch, c->width);
}

static void run_fill(void *stream, const void *data)
{
    const fill *f = data;
    memset(f->to, f->value, f->bytes);
}

/* Counts and traces by what the pointers really are, as a device does with cudaMemcpyDefault; returns 1 for device to host. */
static int account(const char *api, const copy *c)
{
    static const char *names[] = {"pageable", "pinned", ""};
    int from = hw_sim_where(c->from, NULL), to = hw_sim_where(c->to, NULL);
    size_t bytes = c->width * c->rows;
    const char *kind = from == HW_DEVICE ? (to == HW_DEVICE ? "D2D" : "D2H") : to == HW_DEVICE ? "H2D" : "H2H";
    int host = from == HW_DEVICE ? to : from;
    if (from == HW_DEVICE && to == HW_DEVICE) {
        HW_COUNT(d2d, 1);
    } else if (from == HW_DEVICE) {
        HW_COUNT(d2h, 1);
        HW_COUNT(d2h_bytes, bytes);
    } else if (to == HW_DEVICE) {
        HW_COUNT(h2d, 1);
        HW_COUNT(h2d_bytes, bytes);
    }
    HW_TRACE("%s %s %zu %s", api, kind, bytes, names[host]);
    return from == HW_DEVICE && to != HW_DEVICE;
}

static int copy_async(const char *api, const copy *c, void *stream)
{
    int to_host = account(api, c);
    if (hw_sim_capture(stream, HW_NODE_COPY, run_copy, c, sizeof *c))
        return 0;
    hw_sim_fence(stream);
    hw_sim_stream_busy(stream, api, "copy");
    run_copy(stream, c);
    if (script_left && to_host && c->rows == 1 && c->width <= sizeof *script_next) {
        memcpy(c->to, script_next, c->width); /* little-endian: the low bytes are the narrower number */
        script_next++;
        script_left--;
    }
    return 0;
}

HW_API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    HW_ENTER();
    return copy_async("cudaMemcpyAsync", &(copy){to, from, bytes, bytes, bytes, 1}, stream);
}

HW_API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream)
{
    HW_ENTER();
    return copy_async("cudaMemcpyPeerAsync", &(copy){to, from, bytes, bytes, bytes, 1}, stream);
}

HW_API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                             int kind, void *stream)
{
    HW_ENTER();
    return copy_async("cudaMemcpy2DAsync", &(copy){to, from, to_pitch, from_pitch, width, rows}, stream);
}

HW_API int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    HW_ENTER();
    copy c = {to, from, bytes, bytes, bytes, 1};
    HW_COUNT(waits, 1);
    account("cudaMemcpy", &c);
    int error = hw_sim_capture_forbids(NULL, 1);
    if (error)
        return error;
    hw_sim_fence(NULL);
    run_copy(NULL, &c);
    return 0;
}

HW_API int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
    HW_ENTER();
    fill f = {to, value, bytes};
    HW_COUNT(memsets, 1);
    HW_TRACE("cudaMemsetAsync %zu", bytes);
    if (hw_sim_capture(stream, HW_NODE_SET, run_fill, &f, sizeof f))
        return 0;
    hw_sim_fence(stream);
    hw_sim_stream_busy(stream, "cudaMemsetAsync", "copy");
    run_fill(stream, &f);
    return 0;
}

HW_API int cudaMemset(void *to, int value, size_t bytes)
{
    HW_ENTER();
    HW_COUNT(memsets, 1);
    HW_TRACE("cudaMemset %zu", bytes);
    int error = hw_sim_capture_forbids(NULL, 1);
    if (error)
        return error;
    hw_sim_fence(NULL);
    memset(to, value, bytes);
    return 0;
}
