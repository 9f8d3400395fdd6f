/* NCCL's entry points: communicators, groups, and the worker of each communicator that does the work in its own time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "interpose/sim/nccl.h"

int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *p);

typedef struct unique_id { /* ncclUniqueId */
    char name[HW_NCCL_NAME];
} unique_id;

#define MAX_CHANNELS 65536
static hw_nccl_comm *channels[MAX_CHANNELS]; /* a communicator is never freed: streams may still name it */
static uint32_t channel_count;
static pthread_mutex_t channel_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what streams ask ---- */
static int over(hw_nccl_comm *c, uint64_t number)
{
    return __atomic_load_n(&c->finished, __ATOMIC_ACQUIRE) >= number || __atomic_load_n(&c->aborted, __ATOMIC_ACQUIRE);
}

static int is_done(uint32_t channel, uint64_t number)
{
    return over(channels[channel], number);
}

static void wait_done(uint32_t channel, uint64_t number)
{
    hw_nccl_comm *c = channels[channel];
    pthread_mutex_lock(&c->lock);
    while (!over(c, number))
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void wait_all(void)
{
    uint32_t count = __atomic_load_n(&channel_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        wait_done(i, __atomic_load_n(&channels[i]->submitted, __ATOMIC_ACQUIRE));
}

static const hw_sim_async provider = {is_done, wait_done, wait_all};

/* ---- batches ---- */
static void free_ops(hw_nccl_op *ops)
{
    while (ops) {
        hw_nccl_op *next = ops->next;
        free(ops);
        ops = next;
    }
}

static void run_batch(hw_nccl_comm *c, hw_nccl_batch *b)
{
    uint64_t ns = 0;
    hw_sim_deps_wait(&b->deps);
    hw_nccl_work(c, b->ops);
    for (const hw_nccl_op *op = b->ops; op; op = op->next)
        ns = op->ns > ns ? op->ns : ns;
    if (c->ranks > 1)
        hw_sim_sleep(ns);
    free_ops(b->ops);
    free(b->deps.ticket);
    pthread_mutex_lock(&c->lock);
    __atomic_store_n(&c->finished, b->number, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    free(b);
}

static void *worker(void *arg)
{
    hw_nccl_comm *c = arg;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        while (!c->first && !c->stopping)
            pthread_cond_wait(&c->changed, &c->lock);
        hw_nccl_batch *b = c->first;
        if (b && !(c->first = b->next))
            c->last = &c->first;
        pthread_mutex_unlock(&c->lock);
        if (!b)
            return NULL;
        run_batch(c, b);
    }
}

/* Queues `ops`, which it owns, behind what the streams wait for; the streams wait for it from now on. */
static void submit(hw_nccl_comm *c, hw_nccl_op *ops, void *const *streams, int count)
{
    hw_nccl_batch *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->ops = ops;
    for (int i = 0; i < count; i++)
        hw_sim_stream_deps(streams[i], &b->deps);
    pthread_mutex_lock(&c->lock);
    b->number = c->submitted + 1;
    __atomic_store_n(&c->submitted, b->number, __ATOMIC_RELEASE);
    if (c->ranks > 1) {
        for (int i = 0; i < count; i++)
            hw_sim_stream_ticket(streams[i], c->channel, b->number);
        *c->last = b;
        c->last = &b->next;
        pthread_cond_broadcast(&c->changed);
        b = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    if (b) { /* alone: done before the call returns, though its time may come later */
        b->deps.ready = 0;
        run_batch(c, b);
    }
}

typedef struct captured {
    hw_nccl_comm *comm;
    hw_nccl_op *ops;
} captured;

static hw_nccl_op *copy_ops(const hw_nccl_op *ops)
{
    hw_nccl_op *first = NULL, **last = &first;
    for (; ops; ops = ops->next) {
        *last = malloc(sizeof **last);
        if (!*last)
            abort();
        **last = *ops;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    return first;
}

static void replay(void *stream, const void *data)
{
    const captured *c = data;
    submit(c->comm, copy_ops(c->ops), &stream, 1);
}

/* ---- groups ---- */
#define GROUP_STREAMS 32
typedef struct group {
    hw_nccl_comm *comm;
    hw_nccl_op *first, **last;
    void *streams[GROUP_STREAMS];
    int stream_count;
    struct group *next;
} group;
static __thread group *open_groups;
static __thread int depth;

static void close_groups(void)
{
    group *g = open_groups;
    open_groups = NULL;
    while (g) {
        group *next = g->next;
        captured c = {g->comm, g->first};
        if (!hw_sim_capture(g->streams[0], HW_NODE_COLLECTIVE, replay, &c, sizeof c))
            submit(g->comm, g->first, g->streams, g->stream_count);
        free(g);
        g = next;
    }
}

static int enqueue(const char *api, hw_nccl_comm *c, hw_nccl_op op, void *stream)
{
    if (!c || !hw_nccl_size_of(op.type) || op.peer < 0 || op.peer >= c->ranks)
        return HW_NCCL_INVALID_ARGUMENT;
    HW_COUNT(collectives, 1);
    HW_TRACE("%s count=%zu type=%d ranks=%d communicator=%u", api, op.count, op.type, c->ranks, c->channel);
    group *g = open_groups;
    while (g && g->comm != c)
        g = g->next;
    if (!g) {
        g = calloc(1, sizeof *g);
        if (!g)
            abort();
        g->comm = c;
        g->last = &g->first;
        g->next = open_groups;
        open_groups = g;
    }
    hw_nccl_op *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = op;
    copy->ns = hw_sim_latencies ? hw_sim_latency(api, "nccl") : 0;
    *g->last = copy;
    g->last = &copy->next;
    int known = 0;
    for (int i = 0; i < g->stream_count; i++)
        known |= g->streams[i] == stream;
    if (!known && g->stream_count < GROUP_STREAMS)
        g->streams[g->stream_count++] = stream;
    if (c->ranks == 1)
        hw_sim_stream_busy(stream, api, "nccl");
    if (!depth)
        close_groups();
    return HW_NCCL_OK;
}

HW_API int ncclGroupStart(void)
{
    depth++;
    return HW_NCCL_OK;
}

/* A group that fails does nothing. */
HW_API int ncclGroupEnd(void)
{
    int injected = hw_sim_faults ? hw_sim_fault(__func__) : 0;
    if (!depth || --depth)
        return injected;
    if (!injected)
        close_groups();
    for (group *g; (g = open_groups);) {
        open_groups = g->next;
        free_ops(g->first);
        free(g);
    }
    return injected;
}

HW_API int ncclGroupSimulateEnd(void *info)
{
    HW_ENTER();
    return ncclGroupEnd();
}

/* ---- communicators ---- */
/* Work that is not done will not be: who waits for it goes on. */
static void give_up(hw_nccl_comm *c)
{
    pthread_mutex_lock(&c->lock);
    __atomic_store_n(&c->aborted, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static int create(const char *name, int ranks, int rank, hw_nccl_comm **out)
{
    *out = NULL;
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return HW_NCCL_INVALID_ARGUMENT;
    hw_nccl_comm *c = calloc(1, sizeof *c);
    if (!c)
        return HW_NCCL_SYSTEM_ERROR;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->ranks = ranks;
    c->rank = rank;
    c->last = &c->first;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    int error = ranks > 1 ? hw_nccl_segment_join(c) : HW_NCCL_OK;
    pthread_mutex_lock(&channel_lock);
    if (!error && channel_count == MAX_CHANNELS)
        error = HW_NCCL_INTERNAL_ERROR;
    if (!error) {
        c->channel = channel_count;
        channels[channel_count] = c;
        __atomic_store_n(&channel_count, channel_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&channel_lock);
    if (!error && ranks > 1 && pthread_create(&c->worker, NULL, worker, c))
        error = HW_NCCL_SYSTEM_ERROR;
    if (error)
        return error;
    hw_sim_async_set(&provider);
    *out = c;
    return HW_NCCL_OK;
}

HW_API int ncclGetVersion(int *version)
{
    HW_ENTER();
    *version = 23007;
    return HW_NCCL_OK;
}

HW_API int ncclGetUniqueId(unique_id *out)
{
    HW_ENTER();
    HW_TRACE("ncclGetUniqueId");
    return hw_nccl_segment_name(out->name);
}

HW_API int ncclCommInitRankConfig(hw_nccl_comm **out, int ranks, unique_id id, int rank, void *config)
{
    HW_ENTER();
    HW_TRACE("ncclCommInitRankConfig ranks=%d rank=%d", ranks, rank);
    id.name[sizeof id.name - 1] = 0;
    return create(id.name, ranks, rank, out);
}

HW_API int ncclCommInitRank(hw_nccl_comm **out, int ranks, unique_id id, int rank)
{
    HW_ENTER();
    return ncclCommInitRankConfig(out, ranks, id, rank, NULL);
}

HW_API int ncclCommInitRankScalable(hw_nccl_comm **out, int ranks, int rank, int id_count, unique_id *ids, void *config)
{
    HW_ENTER();
    return ncclCommInitRankConfig(out, ranks, ids[0], rank, config);
}

/* Every rank of the parent takes part; one without colour gets no communicator. */
HW_API int ncclCommSplit(hw_nccl_comm *c, int colour, int key, hw_nccl_comm **out, void *config)
{
    HW_ENTER();
    char name[HW_NCCL_NAME] = "";
    int ranks = 1, rank = 0, leader = 0;
    unsigned number = ++c->splits;
    HW_TRACE("ncclCommSplit colour=%d key=%d", colour, key);
    *out = NULL;
    if (c->ranks > 1) {
        hw_nccl_offspring *all = c->segment.offspring;
        all[c->rank].colour = colour;
        all[c->rank].key = key;
        __atomic_add_fetch(&c->segment.operations[c->rank], 1, __ATOMIC_RELAXED);
        hw_nccl_barrier_wait(c, &c->segment.shared->control, "split");
        leader = c->rank;
        ranks = 0;
        for (int r = 0; r < c->ranks; r++)
            if (all[r].colour == colour) {
                ranks++;
                rank += all[r].key < key || (all[r].key == key && r < c->rank);
                if (all[r].key < all[leader].key || (all[r].key == all[leader].key && r < leader))
                    leader = r;
            }
        int error = colour >= 0 && ranks > 1 ? hw_nccl_segment_offspring(c, leader, number, "split", name) : HW_NCCL_OK;
        hw_nccl_barrier_wait(c, &c->segment.shared->control, "split");
        if (error)
            return error;
    }
    return colour < 0 ? HW_NCCL_OK : create(name, ranks, rank, out);
}

/* The ranks that are not excluded take part, whatever has become of the others. Flag 1 gives up what the parent still does. */
HW_API int ncclCommShrink(hw_nccl_comm *c, const int *excluded, int count, hw_nccl_comm **out, void *config, int flags)
{
    HW_ENTER();
    char name[HW_NCCL_NAME] = "";
    int ranks = 0, rank = -1, leader = -1;
    unsigned number = ++c->splits;
    HW_TRACE("ncclCommShrink excluded=%d flags=%d", count, flags);
    *out = NULL;
    for (int r = 0; r < c->ranks; r++) {
        int gone = 0;
        for (int i = 0; i < count; i++)
            gone |= excluded[i] == r;
        if (gone)
            continue;
        if (leader < 0)
            leader = r;
        if (r == c->rank)
            rank = ranks;
        ranks++;
    }
    if (rank < 0 || count < 1)
        return HW_NCCL_INVALID_ARGUMENT;
    if (flags & 1)
        give_up(c);
    int error = ranks > 1 ? hw_nccl_segment_offspring(c, leader, number, "shrink", name) : HW_NCCL_OK;
    return error ? error : create(name, ranks, rank, out);
}

HW_API int ncclCommCount(const hw_nccl_comm *c, int *out)
{
    HW_ENTER();
    *out = c->ranks;
    return HW_NCCL_OK;
}

HW_API int ncclCommUserRank(const hw_nccl_comm *c, int *out)
{
    HW_ENTER();
    *out = c->rank;
    return HW_NCCL_OK;
}

HW_API int ncclCommGetAsyncError(hw_nccl_comm *c, int *out)
{
    HW_ENTER();
    *out = HW_NCCL_OK;
    return HW_NCCL_OK;
}

/* Lets the worker finish its queue (or, after an abort, drop it) and gives the segment back. */
static void stop(hw_nccl_comm *c)
{
    if (c->ranks == 1 || c->stopping)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->worker, NULL);
    hw_nccl_segment_leave(c);
}

HW_API int ncclCommFinalize(hw_nccl_comm *c)
{
    HW_ENTER();
    HW_TRACE("ncclCommFinalize");
    return HW_NCCL_OK;
}

HW_API int ncclCommDestroy(hw_nccl_comm *c)
{
    HW_ENTER();
    HW_TRACE("ncclCommDestroy");
    if (c)
        stop(c);
    return HW_NCCL_OK;
}

HW_API int ncclCommAbort(hw_nccl_comm *c)
{
    HW_TRACE("ncclCommAbort");
    if (!c)
        return HW_NCCL_OK;
    give_up(c);
    stop(c);
    return HW_NCCL_OK;
}

HW_API const char *ncclGetErrorString(int code)
{
    static const char *const texts[] = {"no error",
                                        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
                                        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
                                        "internal error - please report this issue to the NCCL developers",
                                        "invalid argument (run with NCCL_DEBUG=WARN for details)",
                                        "invalid usage (run with NCCL_DEBUG=WARN for details)",
                                        "remote process exited or there was a network error",
                                        "NCCL operation in progress"};
    return code >= 0 && (size_t)code < sizeof texts / sizeof *texts ? texts[code] : "unknown result code";
}

HW_API const char *ncclGetLastError(const hw_nccl_comm *c)
{
    return "";
}

/* The sum of each rank's values times a factor of its own communicator. `residence` 0: the factor is in device memory. */
HW_API int ncclRedOpCreatePreMulSum(int *out, void *scalar, int type, int residence, hw_nccl_comm *c)
{
    HW_ENTER();
    double factor;
    HW_TRACE("ncclRedOpCreatePreMulSum");
    if (type == 7)
        factor = (double)*(float *)scalar;
    else if (type == 8)
        factor = *(double *)scalar;
    else
        return HW_NCCL_INVALID_ARGUMENT;
    double *grown = realloc(c->scales, ((size_t)c->scale_count + 1) * sizeof *grown);
    if (!grown)
        return HW_NCCL_SYSTEM_ERROR;
    c->scales = grown;
    c->scales[c->scale_count] = factor;
    *out = HW_NCCL_FIRST_OWN + c->scale_count++;
    return HW_NCCL_OK;
}

HW_API int ncclMemAlloc(void **out, size_t bytes)
{
    HW_ENTER();
    return cudaMalloc(out, bytes) ? HW_NCCL_SYSTEM_ERROR : HW_NCCL_OK;
}

HW_API int ncclMemFree(void *p)
{
    HW_ENTER();
    return cudaFree(p) ? HW_NCCL_INVALID_ARGUMENT : HW_NCCL_OK;
}

/* ---- collectives ---- */
HW_API int ncclAllReduce(const void *from, void *to, size_t count, int type, int reduction, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    if (!hw_nccl_can_reduce(type))
        return HW_NCCL_INVALID_ARGUMENT;
    return enqueue("ncclAllReduce", c, (hw_nccl_op){HW_ALL_REDUCE, from, to, count, type, reduction, 0, 0, 0, NULL}, stream);
}

HW_API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int reduction, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    if (!hw_nccl_can_reduce(type))
        return HW_NCCL_INVALID_ARGUMENT;
    return enqueue("ncclReduceScatter", c, (hw_nccl_op){HW_REDUCE_SCATTER, from, to, count, type, reduction, 0, 0, 0, NULL},
                   stream);
}

HW_API int ncclReduce(const void *from, void *to, size_t count, int type, int reduction, int root, hw_nccl_comm *c,
                      void *stream)
{
    HW_ENTER();
    if (!hw_nccl_can_reduce(type))
        return HW_NCCL_INVALID_ARGUMENT;
    return enqueue("ncclReduce", c, (hw_nccl_op){HW_REDUCE, from, to, count, type, reduction, root, 0, 0, NULL}, stream);
}

HW_API int ncclAllGather(const void *from, void *to, size_t count, int type, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclAllGather", c, (hw_nccl_op){HW_ALL_GATHER, from, to, count, type, 0, 0, 0, 0, NULL}, stream);
}

HW_API int ncclAlltoAll(const void *from, void *to, size_t count, int type, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclAlltoAll", c, (hw_nccl_op){HW_ALL_TO_ALL, from, to, count, type, 0, 0, 0, 0, NULL}, stream);
}

HW_API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclBroadcast", c, (hw_nccl_op){HW_BROADCAST, from, to, count, type, 0, root, 0, 0, NULL}, stream);
}

HW_API int ncclBcast(void *buffer, size_t count, int type, int root, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclBcast", c, (hw_nccl_op){HW_BROADCAST, buffer, buffer, count, type, 0, root, 0, 0, NULL}, stream);
}

HW_API int ncclGather(const void *from, void *to, size_t count, int type, int root, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclGather", c, (hw_nccl_op){HW_GATHER, from, to, count, type, 0, root, 0, 0, NULL}, stream);
}

HW_API int ncclScatter(const void *from, void *to, size_t count, int type, int root, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclScatter", c, (hw_nccl_op){HW_SCATTER, from, to, count, type, 0, root, 0, 0, NULL}, stream);
}

HW_API int ncclSend(const void *from, size_t count, int type, int peer, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclSend", c, (hw_nccl_op){HW_SEND, from, NULL, count, type, 0, peer, 0, 0, NULL}, stream);
}

HW_API int ncclRecv(void *to, size_t count, int type, int peer, hw_nccl_comm *c, void *stream)
{
    HW_ENTER();
    return enqueue("ncclRecv", c, (hw_nccl_op){HW_RECV, NULL, to, count, type, 0, peer, 0, 0, NULL}, stream);
}
