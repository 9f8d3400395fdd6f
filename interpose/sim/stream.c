/* Streams and events: all work but collectives is done at once, so a stream is the set of collectives it still waits for. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "interpose/sim/sim.h"

#define MAX_DEVICES 64

typedef struct event {
    hw_sim_deps deps;
    double when;                    /* milliseconds */
    unsigned long long captured_in; /* serial of the capture it was last recorded in, or 0 */
    struct hw_sim_graph *graph;
    uint64_t *shared; /* deps.ready for the other processes that have the event open; NULL: there are none */
    int fd;           /* of the file `shared` lies in; valid where the event was made */
} event;

#define EVENT_KIND 0x6d65736d77680002u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hw_sim_stream default_streams[MAX_DEVICES];
static const hw_sim_async *async;
static uint64_t device_ready; /* the latest time any stream is ready; `lock` */

void hw_sim_async_set(const hw_sim_async *provider)
{
    async = provider;
}

/* Handles 0, 1 and 2 are the default, legacy and per-thread streams of the current device. */
hw_sim_stream *hw_sim_stream_of(void *handle)
{
    return (uintptr_t)handle <= 2 ? &default_streams[hw_sim_device_of() % MAX_DEVICES] : handle;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (ns && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

void hw_sim_sleep(uint64_t ns)
{
    if (ns)
        sleep_until(now_ns() + ns);
}

void hw_sim_stream_busy(void *stream, const char *name, const char *class)
{
    if (__builtin_expect(!hw_sim_latencies, 1))
        return;
    hw_sim_stream *s = hw_sim_stream_of(stream);
    uint64_t now = now_ns(), ns = hw_sim_latency(name, class);
    pthread_mutex_lock(&lock);
    s->deps.ready = (s->deps.ready > now ? s->deps.ready : now) + ns;
    if (s->deps.ready > device_ready)
        device_ready = s->deps.ready;
    pthread_mutex_unlock(&lock);
}

/* ---- sets of tickets; the lock is held ---- */
static int finished(const struct hw_sim_ticket *t)
{
    return !async || async->done(t->channel, t->number);
}

static void prune(hw_sim_deps *d)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->count; i++)
        if (!finished(&d->ticket[i]))
            d->ticket[kept++] = d->ticket[i];
    __atomic_store_n(&d->count, kept, __ATOMIC_RELEASE);
}

static void add(hw_sim_deps *d, uint32_t channel, uint64_t number)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->ticket[i].channel == channel) {
            if (number > d->ticket[i].number)
                d->ticket[i].number = number;
            return;
        }
    if (d->count == d->room)
        prune(d);
    if (d->count == d->room) {
        uint32_t room = d->room ? d->room * 2 : 8;
        void *grown = realloc(d->ticket, room * sizeof *d->ticket);
        if (!grown)
            abort();
        d->ticket = grown;
        d->room = room;
    }
    d->ticket[d->count].channel = channel;
    d->ticket[d->count].number = number;
    __atomic_store_n(&d->count, d->count + 1, __ATOMIC_RELEASE);
}

static void merge(hw_sim_deps *into, const hw_sim_deps *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        add(into, from->ticket[i].channel, from->ticket[i].number);
    if (from->ready > into->ready)
        into->ready = from->ready;
}

static int all_done(hw_sim_deps *d)
{
    if (hw_sim_latencies && __atomic_load_n(&d->ready, __ATOMIC_ACQUIRE) > now_ns())
        return 0;
    if (!__atomic_load_n(&d->count, __ATOMIC_ACQUIRE))
        return 1;
    pthread_mutex_lock(&lock);
    prune(d);
    int done = !d->count;
    pthread_mutex_unlock(&lock);
    return done;
}

/* For the work to have happened, not for its time to have passed. */
static void wait_for_values(hw_sim_deps *d)
{
    if (!__atomic_load_n(&d->count, __ATOMIC_ACQUIRE))
        return;
    hw_sim_deps copy = {0};
    pthread_mutex_lock(&lock);
    merge(&copy, d);
    pthread_mutex_unlock(&lock);
    copy.ready = 0;
    hw_sim_deps_wait(&copy);
    free(copy.ticket);
    all_done(d);
}

static void wait_for(hw_sim_deps *d)
{
    wait_for_values(d);
    if (hw_sim_latencies)
        sleep_until(__atomic_load_n(&d->ready, __ATOMIC_ACQUIRE));
}

void hw_sim_deps_wait(const hw_sim_deps *d)
{
    for (uint32_t i = 0; async && i < d->count; i++)
        async->wait(d->ticket[i].channel, d->ticket[i].number);
    sleep_until(d->ready);
}

void hw_sim_stream_ticket(void *stream, uint32_t channel, uint64_t number)
{
    hw_sim_stream *s = hw_sim_stream_of(stream);
    pthread_mutex_lock(&lock);
    add(&s->deps, channel, number);
    pthread_mutex_unlock(&lock);
}

void hw_sim_stream_deps(void *stream, hw_sim_deps *add_to)
{
    hw_sim_stream *s = hw_sim_stream_of(stream);
    pthread_mutex_lock(&lock);
    merge(add_to, &s->deps);
    pthread_mutex_unlock(&lock);
}

void hw_sim_fence(void *stream)
{
    wait_for_values(&hw_sim_stream_of(stream)->deps);
}

void hw_sim_fence_device(void)
{
    if (async)
        async->wait_all();
}

/* ---- streams ---- */
static int create_stream(void **out, unsigned flags, int priority)
{
    hw_sim_stream *s = calloc(1, sizeof *s);
    if (!s)
        return hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
    s->flags = flags;
    s->priority = priority;
    *out = s;
    return 0;
}

HW_API int cudaStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
    HW_ENTER();
    HW_TRACE("cudaStreamCreateWithPriority");
    return create_stream(out, flags, priority);
}

HW_API int cudaStreamCreateWithFlags(void **out, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudaStreamCreateWithFlags");
    return create_stream(out, flags, 0);
}

HW_API int cudaStreamCreate(void **out)
{
    HW_ENTER();
    HW_TRACE("cudaStreamCreate");
    return create_stream(out, 0, 0);
}

HW_API int cudaStreamDestroy(void *stream)
{
    HW_ENTER();
    HW_TRACE("cudaStreamDestroy");
    if ((uintptr_t)stream <= 2)
        return hw_sim_fail(HW_CUDA_INVALID_HANDLE);
    hw_sim_stream *s = stream;
    wait_for(&s->deps);
    free(s->deps.ticket);
    free(s);
    return 0;
}

HW_API int cudaStreamGetPriority(void *stream, int *priority)
{
    HW_ENTER();
    *priority = hw_sim_stream_of(stream)->priority;
    return 0;
}

HW_API int cudaStreamGetFlags(void *stream, unsigned *flags)
{
    HW_ENTER();
    *flags = hw_sim_stream_of(stream)->flags;
    return 0;
}

HW_API int cudaStreamSynchronize(void *stream)
{
    HW_ENTER();
    hw_sim_stream *s = hw_sim_stream_of(stream);
    HW_COUNT(waits, 1);
    HW_TRACE("cudaStreamSynchronize");
    int error = hw_sim_capture_forbids(s, 0);
    if (error)
        return error;
    wait_for(&s->deps);
    return 0;
}

HW_API int cudaDeviceSynchronize(void)
{
    HW_ENTER();
    HW_COUNT(waits, 1);
    HW_TRACE("cudaDeviceSynchronize");
    int error = hw_sim_capture_forbids(NULL, 1);
    if (error)
        return error;
    hw_sim_fence_device();
    pthread_mutex_lock(&lock);
    uint64_t ready = device_ready;
    pthread_mutex_unlock(&lock);
    sleep_until(ready);
    return 0;
}

HW_API int cudaStreamQuery(void *stream)
{
    HW_ENTER();
    hw_sim_stream *s = hw_sim_stream_of(stream);
    HW_COUNT(queries, 1);
    int error = hw_sim_capture_forbids(s, 0), done = error ? 0 : all_done(&s->deps);
    HW_TRACE("cudaStreamQuery %d", error ? error : done ? 0 : HW_CUDA_NOT_READY);
    return error ? error : done ? 0 : HW_CUDA_NOT_READY;
}

static void look_up_shared(event *e);

HW_API int cudaStreamWaitEvent(void *stream, event *e, unsigned flags)
{
    HW_ENTER();
    hw_sim_stream *s = hw_sim_stream_of(stream);
    HW_TRACE("cudaStreamWaitEvent");
    if (e->captured_in && e->graph && hw_sim_graph_serial(e->graph) == e->captured_in) {
        hw_sim_capture_join(s, e->graph);
        return 0;
    }
    look_up_shared(e);
    pthread_mutex_lock(&lock);
    merge(&s->deps, &e->deps);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- events ---- */
/* What the process that recorded the event said of it. */
static void look_up_shared(event *e)
{
    if (e->shared)
        __atomic_store_n(&e->deps.ready, __atomic_load_n(e->shared, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

static int create_event(event **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
}

HW_API int cudaEventCreateWithFlags(event **out, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudaEventCreateWithFlags %u", flags);
    return create_event(out);
}

HW_API int cudaEventCreate(event **out)
{
    HW_ENTER();
    HW_TRACE("cudaEventCreate");
    return create_event(out);
}

HW_API int cudaEventDestroy(event *e)
{
    HW_ENTER();
    HW_TRACE("cudaEventDestroy");
    if (e && e->shared) {
        munmap(e->shared, sizeof *e->shared);
        if (e->fd >= 0)
            close(e->fd);
    }
    if (e)
        free(e->deps.ticket);
    free(e);
    return 0;
}

static int share_event(event *e, int fd)
{
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *e->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return 0;
    e->shared = p;
    return 1;
}

HW_API int cudaIpcGetEventHandle(hw_sim_ipc *out, event *e)
{
    HW_ENTER();
    HW_TRACE("cudaIpcGetEventHandle");
    if (!e->shared) {
        e->fd = memfd_create("hookwatch-ipc", MFD_CLOEXEC);
        if (e->fd < 0 || ftruncate(e->fd, sizeof *e->shared) || !share_event(e, e->fd))
            return hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
        wait_for_values(&e->deps);
        __atomic_store_n(e->shared, e->deps.ready, __ATOMIC_RELEASE);
    }
    return e->fd < 0 || hw_sim_ipc_make(out, EVENT_KIND, e->fd, sizeof *e->shared) ? hw_sim_fail(HW_CUDA_INVALID_HANDLE) : 0;
}

HW_API int cudaIpcOpenEventHandle(event **out, hw_sim_ipc handle)
{
    HW_ENTER();
    HW_TRACE("cudaIpcOpenEventHandle");
    event *e = NULL;
    int fd = hw_sim_ipc_open(&handle, EVENT_KIND), error = create_event(&e);
    if (e && share_event(e, fd)) {
        e->fd = -1;
    } else {
        free(e);
        e = NULL;
        error = error ? error : hw_sim_fail(HW_CUDA_INVALID_VALUE);
    }
    *out = e;
    if (fd >= 0)
        close(fd);
    return error;
}

HW_API int cudaEventRecordWithFlags(event *e, void *stream, unsigned flags)
{
    HW_ENTER();
    hw_sim_stream *s = hw_sim_stream_of(stream);
    HW_TRACE("cudaEventRecord");
    if (s->capture) {
        e->graph = s->capture;
        e->captured_in = hw_sim_graph_serial(s->capture);
        return 0;
    }
    e->captured_in = 0;
    e->when = now_ms();
    pthread_mutex_lock(&lock);
    if ((double)s->deps.ready * 1e-6 > e->when)
        e->when = (double)s->deps.ready * 1e-6;
    e->deps.count = 0;
    e->deps.ready = 0;
    merge(&e->deps, &s->deps);
    prune(&e->deps);
    pthread_mutex_unlock(&lock);
    if (e->shared) { /* another process cannot wait for our collectives: they are over before it hears of the event */
        wait_for_values(&e->deps);
        __atomic_store_n(e->shared, e->deps.ready, __ATOMIC_RELEASE);
    }
    return 0;
}

HW_API int cudaEventRecord(event *e, void *stream)
{
    HW_ENTER();
    return cudaEventRecordWithFlags(e, stream, 0);
}

HW_API int cudaEventQuery(event *e)
{
    HW_ENTER();
    HW_COUNT(queries, 1);
    look_up_shared(e);
    int status = e->captured_in ? hw_sim_fail(HW_CUDA_CAPTURED_EVENT) : all_done(&e->deps) ? 0 : HW_CUDA_NOT_READY;
    HW_TRACE("cudaEventQuery %d", status);
    return status;
}

HW_API int cudaEventSynchronize(event *e)
{
    HW_ENTER();
    HW_COUNT(waits, 1);
    HW_TRACE("cudaEventSynchronize");
    if (e->captured_in)
        return hw_sim_fail(HW_CUDA_CAPTURED_EVENT);
    look_up_shared(e);
    wait_for(&e->deps);
    return 0;
}

HW_API int cudaEventElapsedTime(float *ms, event *from, event *to)
{
    HW_ENTER();
    HW_TRACE("cudaEventElapsedTime");
    if (!all_done(&from->deps) || !all_done(&to->deps))
        return HW_CUDA_NOT_READY;
    *ms = (float)(to->when - from->when);
    return 0;
}
