/* Stream capture and graphs: work on a capturing stream becomes nodes, waits are refused, a launch runs the nodes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

typedef struct node {
    int kind;
    void (*run)(void *stream, const void *data);
    void *data;
} node;

typedef struct hw_sim_graph {
    node *nodes;
    size_t count, room;
    int kinds[HW_NODE_KINDS];
    unsigned long long serial; /* 0: not under capture */
    int spoiled;               /* a call that capture forbids was made */
    int mode;
    hw_sim_stream *origin;
    hw_sim_stream **streams; /* every stream that takes part */
    size_t stream_count;
    int owners; /* graph and executable handles */
} hw_sim_graph;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long next_serial = 1;
static int captures, global_captures;
static __thread int own_captures; /* begun by this thread, not relaxed */
static __thread int thread_mode;  /* cudaThreadExchangeStreamCaptureMode */
static hw_sim_graph *last_unsafe; /* the capture a forbidden call spoils */

unsigned long long hw_sim_graph_serial(const hw_sim_graph *g)
{
    return g->serial;
}

int hw_sim_capture(void *stream, int kind, void (*run)(void *, const void *), const void *data, size_t size)
{
    hw_sim_graph *g = hw_sim_stream_of(stream)->capture;
    if (!g)
        return 0;
    void *copy = size ? malloc(size) : NULL;
    if (size)
        memcpy(copy, data, size);
    pthread_mutex_lock(&lock);
    if (g->count == g->room) {
        g->room = g->room ? g->room * 2 : 64;
        g->nodes = realloc(g->nodes, g->room * sizeof *g->nodes);
    }
    g->nodes[g->count++] = (node){kind, run, copy};
    g->kinds[kind]++;
    pthread_mutex_unlock(&lock);
    return 1;
}

int hw_sim_capture_forbids(hw_sim_stream *stream, int whole_device)
{
    if (!__atomic_load_n(&captures, __ATOMIC_RELAXED))
        return 0;
    hw_sim_graph *hit = stream ? stream->capture : NULL;
    if (whole_device && thread_mode != HW_CUDA_MODE_RELAXED &&
        (own_captures || (thread_mode == HW_CUDA_MODE_GLOBAL && global_captures)))
        hit = last_unsafe;
    if (!hit)
        return 0;
    hit->spoiled = 1;
    HW_TRACE("capture refuses the call");
    return hw_sim_fail(HW_CUDA_CAPTURE_UNSUPPORTED);
}

static void take_part(hw_sim_graph *g, hw_sim_stream *s)
{
    g->streams = realloc(g->streams, (g->stream_count + 1) * sizeof *g->streams);
    g->streams[g->stream_count++] = s;
    s->capture = g;
}

void hw_sim_capture_join(hw_sim_stream *s, hw_sim_graph *g)
{
    pthread_mutex_lock(&lock);
    if (!s->capture)
        take_part(g, s);
    pthread_mutex_unlock(&lock);
}

static int begin(void *stream, hw_sim_graph *g, int mode)
{
    hw_sim_stream *s = hw_sim_stream_of(stream);
    if (s->capture || !g)
        return hw_sim_fail(HW_CUDA_ILLEGAL_STATE);
    pthread_mutex_lock(&lock);
    g->serial = next_serial++;
    g->origin = s;
    g->mode = mode;
    g->spoiled = 0;
    take_part(g, s);
    __atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);
    if (mode == HW_CUDA_MODE_GLOBAL)
        global_captures++;
    if (mode != HW_CUDA_MODE_RELAXED) {
        own_captures++;
        last_unsafe = g;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static void release(hw_sim_graph *g)
{
    if (!g || __atomic_sub_fetch(&g->owners, 1, __ATOMIC_ACQ_REL))
        return;
    for (size_t i = 0; i < g->count; i++)
        free(g->nodes[i].data);
    free(g->nodes);
    free(g->streams);
    free(g);
}

static hw_sim_graph *new_graph(void)
{
    hw_sim_graph *g = calloc(1, sizeof *g);
    if (g)
        g->owners = 1;
    return g;
}

HW_API int cudaGraphCreate(hw_sim_graph **out, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudaGraphCreate");
    *out = new_graph();
    return *out ? 0 : hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
}

HW_API int cudaStreamBeginCapture(void *stream, int mode)
{
    HW_ENTER();
    HW_TRACE("cudaStreamBeginCapture");
    return begin(stream, new_graph(), mode);
}

HW_API int cudaStreamBeginCaptureToGraph(void *stream, hw_sim_graph *g, const void *deps, const void *edges, size_t count,
                                         int mode)
{
    HW_ENTER();
    HW_TRACE("cudaStreamBeginCaptureToGraph");
    g->owners++;
    return begin(stream, g, mode);
}

HW_API int cudaStreamEndCapture(void *stream, hw_sim_graph **out)
{
    HW_ENTER();
    hw_sim_stream *s = hw_sim_stream_of(stream);
    hw_sim_graph *g = s->capture;
    *out = NULL;
    if (!g || g->origin != s)
        return hw_sim_fail(HW_CUDA_ILLEGAL_STATE);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < g->stream_count; i++)
        g->streams[i]->capture = NULL;
    g->stream_count = 0;
    g->serial = 0;
    __atomic_fetch_sub(&captures, 1, __ATOMIC_RELAXED);
    if (g->mode == HW_CUDA_MODE_GLOBAL)
        global_captures--;
    if (g->mode != HW_CUDA_MODE_RELAXED)
        own_captures--;
    if (last_unsafe == g)
        last_unsafe = NULL;
    pthread_mutex_unlock(&lock);
    HW_TRACE("cudaStreamEndCapture nodes=%zu kernels=%d copies=%d sets=%d collectives=%d%s", g->count, g->kinds[HW_NODE_KERNEL],
             g->kinds[HW_NODE_COPY], g->kinds[HW_NODE_SET], g->kinds[HW_NODE_COLLECTIVE], g->spoiled ? " spoiled" : "");
    if (g->spoiled) {
        release(g);
        return hw_sim_fail(HW_CUDA_CAPTURE_INVALIDATED);
    }
    *out = g;
    return 0;
}

static int capture_status(const hw_sim_stream *s)
{
    return !s->capture ? HW_CUDA_CAPTURE_NONE : s->capture->spoiled ? HW_CUDA_CAPTURE_DEAD : HW_CUDA_CAPTURE_ACTIVE;
}

HW_API int cudaStreamIsCapturing(void *stream, int *status)
{
    HW_ENTER();
    *status = capture_status(hw_sim_stream_of(stream));
    return 0;
}

HW_API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph, const void ***deps,
                                    const void **edges, size_t *count)
{
    HW_ENTER();
    static const void *none[1];
    hw_sim_stream *s = hw_sim_stream_of(stream);
    if (status)
        *status = capture_status(s);
    if (id)
        *id = s->capture ? s->capture->serial : 0;
    if (graph)
        *graph = s->capture;
    if (deps)
        *deps = none;
    if (edges)
        *edges = NULL;
    if (count)
        *count = 0;
    return 0;
}

HW_API int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    HW_ENTER();
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return 0;
}

HW_API int cudaGraphGetNodes(hw_sim_graph *g, void **out, size_t *count)
{
    HW_ENTER();
    HW_TRACE("cudaGraphGetNodes");
    if (!out)
        *count = g->count;
    for (size_t i = 0; out && i < *count && i < g->count; i++)
        out[i] = &g->nodes[i];
    return 0;
}

HW_API int cudaGraphInstantiate(hw_sim_graph **out, hw_sim_graph *g, unsigned long long flags)
{
    HW_ENTER();
    HW_TRACE("cudaGraphInstantiate");
    __atomic_fetch_add(&g->owners, 1, __ATOMIC_RELAXED);
    *out = g;
    return 0;
}

HW_API int cudaGraphInstantiateWithFlags(hw_sim_graph **out, hw_sim_graph *g, unsigned long long flags)
{
    HW_ENTER();
    HW_TRACE("cudaGraphInstantiateWithFlags");
    __atomic_fetch_add(&g->owners, 1, __ATOMIC_RELAXED);
    *out = g;
    return 0;
}

HW_API int cudaGraphLaunch(hw_sim_graph *g, void *stream)
{
    HW_ENTER();
    HW_COUNT(graph_launches, 1);
    HW_TRACE("cudaGraphLaunch nodes=%zu kernels=%d", g->count, g->kinds[HW_NODE_KERNEL]);
    int unvalued = 0;
    for (size_t i = 0; i < g->count; i++)
        unvalued |= g->nodes[i].kind == HW_NODE_KERNEL && !g->nodes[i].run;
    if (unvalued && hw_sim_mode() == 2)
        hw_sim_unvalued("a graph launch", "kernels inside a CUDA graph compute nothing");
    hw_sim_stream_busy(stream, "cudaGraphLaunch", "");
    for (size_t i = 0; i < g->count; i++) {
        if (!g->nodes[i].run)
            continue;
        if (g->nodes[i].kind != HW_NODE_COLLECTIVE) /* it may read what a collective of the same graph writes */
            hw_sim_fence(stream);
        g->nodes[i].run(stream, g->nodes[i].data);
    }
    return 0;
}

HW_API int cudaGraphDestroy(hw_sim_graph *g)
{
    HW_ENTER();
    HW_TRACE("cudaGraphDestroy");
    release(g);
    return 0;
}

HW_API int cudaGraphExecDestroy(hw_sim_graph *g)
{
    HW_ENTER();
    HW_TRACE("cudaGraphExecDestroy");
    release(g);
    return 0;
}
