/* Around each classified call: where was it made, what did it cost, which record does it belong to. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "interpose/python/frames.h"

#include <errno.h>
#include <string.h>

#define HW_EXPORT  __attribute__((visibility("default")))
#define POLL_LIMIT 64 /* queries in a row that make a loop */
#define CAPTURES   32
#define WARM_UP    16 /* visits of a line after which an allocation is no filling of caches, where steps are unknown */

static uintptr_t capturing[CAPTURES]; /* stream + 1, 0: free */

__thread struct hw_thread hw_thread;

static void add(uint64_t *counter, uint64_t value)
{
    __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

static void raise_to(uint64_t *counter, uint64_t value)
{
    uint64_t have = __atomic_load_n(counter, __ATOMIC_RELAXED);
    while (have < value && !__atomic_compare_exchange_n(counter, &have, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* In-hook waits of the running step, for the histogram. */
static uint64_t step_waits;

static void finish_step(void)
{
    uint64_t waits = __atomic_exchange_n(&step_waits, 0, __ATOMIC_RELAXED);
    unsigned bucket = waits ? 64 - (unsigned)__builtin_clzll(waits) : 0;
    add(&hw_trace->step_waits[bucket < HW_TRACE_HIST ? bucket : HW_TRACE_HIST - 1], 1);
}

void hw_sites_reset(void);

void hw_tables_reset(void)
{
    hw_sites_reset();
    hw_flush_reset();
    step_waits = 0;
    memset(capturing, 0, sizeof capturing);
    hw_thread = (struct hw_thread){.windows = hw_thread.windows};
}

/* Steps by hw_step() count alone from its first call on. */
HW_EXPORT void hw_step(void);
HW_EXPORT void hw_step(void)
{
    if (!hw_enabled || !hw_start())
        return;
    if (hw_trace->step_kind != HW_STEPS_CALLED)
        hw_trace->steps = 0;
    hw_trace->step_kind = HW_STEPS_CALLED;
    add(&hw_trace->steps, 1);
    finish_step();
}

void hw_step_at_least(uint64_t steps)
{
    if (hw_trace->step_kind == HW_STEPS_CALLED)
        return;
    hw_trace->step_kind = HW_STEPS_FLUSHED;
    if (steps > __atomic_load_n(&hw_trace->steps, __ATOMIC_RELAXED)) {
        raise_to(&hw_trace->steps, steps);
        finish_step();
    }
}

/* Streams in capture. While there is one, no thread makes a CUDA call of our own. */
static void begin_capture(const void *stream)
{
    for (int i = 0; i < CAPTURES; i++) {
        uintptr_t none = 0;
        if (__atomic_compare_exchange_n(&capturing[i], &none, (uintptr_t)stream + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
}

static void end_capture(const void *stream)
{
    for (int i = 0; i < CAPTURES; i++) {
        uintptr_t mine = (uintptr_t)stream + 1;
        if (__atomic_compare_exchange_n(&capturing[i], &mine, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
}

static bool any_capture(void)
{
    for (int i = 0; i < CAPTURES; i++)
        if (__atomic_load_n(&capturing[i], __ATOMIC_ACQUIRE))
            return true;
    return false;
}

/* Asks the runtime what kind of memory `pointer` is: 0 pageable, 1 pinned, 2 device, 3 managed (cudaMemoryType);
 * -1: not asked, because a capture runs or the runtime has no answer. */
static int memory_type(const struct hw_event *event, const void *pointer)
{
    static int (*ask)(void *, const void *);
    if (any_capture())
        return -1;
    if (!ask)
        ask = (int (*)(void *, const void *))hw_resolve_name("cudaPointerGetAttributes", HW_LAYER_RUNTIME,
                                                             event->hook->callers[0].real);
    struct {
        int type, device;
        char rest[248]; /* the structure grew with CUDA 13; room for more */
    } attributes = {.type = -1};
    return ask && ask(&attributes, pointer) == 0 ? attributes.type : -1;
}

static void find_direction(struct hw_event *event)
{
    if (event->direction == HW_BY_ADDRESS) {
        int from = memory_type(event, event->src), to = memory_type(event, event->dst);
        bool from_device = from >= 2, to_device = to >= 2;
        event->direction = from_device ? (to_device ? HW_D2D : HW_D2H) : (to_device ? HW_H2D : HW_H2H);
    }
    if (event->direction == HW_H2D)
        event->pageable = memory_type(event, event->src) == 0;
}

/* Opens an entry of the ring of last calls. */
static struct hw_trace_call *open_call(struct hw_thread *thread, struct hw_event *event)
{
    uint64_t sequence = __atomic_add_fetch(&hw_trace->ring_next, 1, __ATOMIC_RELAXED);
    event->sequence = sequence;
    struct hw_trace_call *call = &hw_trace->ring[sequence % HW_TRACE_RING];
    call->in_flight = 1;
    call->start_ns = event->start_ns;
    call->wait_ns = 0;
    call->communicator = (uint64_t)(uintptr_t)event->comm;
    call->bytes = event->bytes;
    call->site = event->site ? (uint32_t)((char *)event->site - (char *)hw_trace) : 0;
    call->api = event->site ? event->site->api : 0;
    call->thread = thread->id;
    __atomic_store_n(&call->sequence, sequence, __ATOMIC_RELEASE);
    return call;
}

/* The wait of a copy that was counted when it was enqueued: same stream, same instruction of the same frame. */
static bool fold(struct hw_thread *thread, struct hw_event *event)
{
    if (!thread->copy_pending || !(event->whole_device || event->stream == thread->copy_stream) ||
        !hw_place_same(thread->copy_frame, thread->copy_instr))
        return false;
    /* A copy without a record is a pinned upload, which becomes one by its wait; anything else stays apart. */
    if (!thread->copy_site && thread->copy_scope != HW_SCOPE_OUTSIDE && thread->copy_direction != HW_H2D)
        return false;
    event->folded = true;
    event->scope = thread->copy_scope;
    event->site = thread->copy_site;
    event->direction = thread->copy_direction;
    return true;
}

/* Many queries in a row from one line, with no launch between them. */
static bool is_poll_loop(struct hw_thread *thread, const struct hw_place *place)
{
    const void *at = place->site_code ? (const char *)place->site_code + place->site_lasti : NULL;
    uint32_t launches = (uint32_t)hw_trace->threads[thread->slot ? thread->slot - 1 : 0].launches;
    if (thread->poll_at != at || thread->poll_launches != launches) {
        thread->poll_at = at;
        thread->poll_launches = launches;
        thread->polls = 0;
    }
    return ++thread->polls >= POLL_LIMIT;
}

static bool wants_site(struct hw_thread *thread, const struct hw_event *event, const struct hw_place *place)
{
    switch (event->kind) {
    case HW_KIND_COPY:
        return event->direction != HW_D2D;
    case HW_KIND_COPY_ASYNC:
        /* a pinned upload waits for nobody, unless a wait follows */
        return event->direction == HW_D2H || event->pageable;
    case HW_KIND_QUERY:
        return is_poll_loop(thread, place);
    case HW_KIND_CAPTURE_BEGIN:
    case HW_KIND_CAPTURE_END:
    case HW_KIND_GROUP_START:
    case HW_KIND_GROUP_END:
        return false;
    default:
        return true;
    }
}

static void remember_copy(struct hw_thread *thread, const struct hw_event *event, const struct hw_place *place)
{
    thread->copy_pending = event->kind == HW_KIND_COPY_ASYNC;
    thread->copy_stream = event->stream;
    thread->copy_direction = (uint8_t)event->direction;
    thread->copy_scope = event->scope;
    thread->copy_site = event->site;
    thread->copy_frame = place->top;
    thread->copy_instr = place->top_instr;
}

/* Finds where the call is made and the record it belongs to. */
static void find_site(struct hw_thread *thread, struct hw_event *event)
{
    struct hw_place place;
    hw_place_find(thread, &place);
    event->scope = (uint8_t)place.scope;
    if (place.scope != HW_SCOPE_OUTSIDE || hw_is_communication(event->kind)) {
        bool second = false;
        if (event->kind == HW_KIND_COPY || event->kind == HW_KIND_COPY_ASYNC)
            find_direction(event);
        if (place.scope == HW_SCOPE_FLUSH) {
            bool copy = event->direction == HW_D2H && (event->kind == HW_KIND_COPY || event->kind == HW_KIND_COPY_ASYNC);
            event->flush_copies = hw_flush_enter(thread, &place, copy);
            raise_to(&hw_trace->flush_d2h_max, event->flush_copies);
            second = copy && event->flush_copies > 1;
        }
        if (wants_site(thread, event, &place)) {
            event->site = hw_site_find(event, &place, second);
            if (!event->site)
                add(&hw_trace->lost, 1);
            event->folded = false;
        }
    }
    if (place.scope != HW_SCOPE_FLUSH)
        hw_flush_leave(thread);
    remember_copy(thread, event, &place);
}

static bool waits(const struct hw_event *event)
{
    return event->kind == HW_KIND_SYNC || event->kind == HW_KIND_COPY;
}

/* Counted when the call begins: a process may hang or die in it. Times are added when it returns. */
static void count_totals(const struct hw_event *event)
{
    struct hw_trace_totals *t = &hw_trace->totals[event->scope];
    add(&hw_trace->calls, 1);
    if (waits(event)) {
        add(&t->waits, 1);
        if (event->scope == HW_SCOPE_HOOK)
            add(&step_waits, 1);
    }
    if (event->kind == HW_KIND_COPY || event->kind == HW_KIND_COPY_ASYNC) {
        if (event->direction == HW_D2H)
            add(&t->d2h_copies, 1);
        else if (event->pageable)
            add(&t->pageable_uploads, 1);
    } else if (event->kind == HW_KIND_COLLECTIVE) {
        add(&t->collectives, 1);
    } else if (event->kind == HW_KIND_ALLOC) {
        add(&t->allocations, 1);
    }
}

static void count_site(struct hw_record_site *site, const struct hw_event *event)
{
    if (waits(event))
        add(&site->waits, 1);
    if (event->folded)
        return;
    uint64_t step = __atomic_load_n(&hw_trace->steps, __ATOMIC_RELAXED);
    uint64_t before = __atomic_fetch_add(&site->count, 1, __ATOMIC_RELAXED);
    add(&site->bytes, event->bytes);
    if (step ? before > 0 : before >= WARM_UP)
        add(&site->late, 1);
    if (!before) {
        site->first_step = step;
        site->step_now = step;
    }
    if (site->step_now != step || !before) {
        __atomic_store_n(&site->step_now, step, __ATOMIC_RELAXED);
        __atomic_store_n(&site->step_count, 0, __ATOMIC_RELAXED);
        add(&site->steps_seen, 1);
        site->last_step = step;
    }
    raise_to(&site->max_per_step, __atomic_add_fetch(&site->step_count, 1, __ATOMIC_RELAXED));
    if (event->comm)
        site->communicator = (uint64_t)(uintptr_t)event->comm;
    raise_to(&site->flush_max, event->flush_copies);
}

void hw_event_enter(struct hw_thread *thread, struct hw_event *event)
{
    thread->depth++;
    if (event->kind == HW_KIND_CAPTURE_BEGIN)
        begin_capture(event->stream);
    int saved = errno;
    event->recorded = hw_start();
    if (event->recorded && event->kind == HW_KIND_GROUP_START) {
        if (!thread->group++)
            thread->last_site = NULL;
    } else if (event->recorded) {
        hw_thread_slot(thread);
        if (event->kind == HW_KIND_GROUP_END) {
            /* The calls of the group were counted; this is where they cost. */
            event->site = thread->group == 1 ? thread->last_site : NULL;
            event->folded = true;
            event->scope = event->site ? event->site->scope : HW_SCOPE_OUTSIDE;
            if (thread->group)
                thread->group--;
        } else if (event->kind == HW_KIND_SYNC && fold(thread, event) && (event->site || event->scope == HW_SCOPE_OUTSIDE)) {
            thread->copy_pending = false;
        } else {
            find_site(thread, event);
            if (event->kind == HW_KIND_COLLECTIVE)
                thread->last_site = event->site;
        }
        count_totals(event);
        if (event->kind != HW_KIND_QUERY)
            event->start_ns = hw_now();
        if (event->site) {
            count_site(event->site, event);
            if (event->kind != HW_KIND_QUERY)
                event->call = open_call(thread, event);
        }
    }
    errno = saved;
}

static void record_communicator(const struct hw_event *event)
{
    void *handle = *event->new_comm;
    if (!handle)
        return; /* a rank without a colour gets none */
    uint32_t offset = hw_trace_allocate(sizeof(struct hw_record_comm));
    if (!offset)
        return;
    struct hw_record_comm *comm = hw_trace_at(offset);
    comm->handle = (uint64_t)(uintptr_t)handle;
    comm->id_hash = event->id_hash;
    comm->parent = (uint64_t)(uintptr_t)event->comm;
    comm->rank = event->size ? event->rank : -1;
    comm->size = event->size ? event->size : -1;
    hw_trace_publish(offset, HW_RECORD_COMM);
}

void hw_event_leave(struct hw_thread *thread, struct hw_event *event, int result)
{
    thread->depth--;
    if (event->kind == HW_KIND_CAPTURE_END || (event->kind == HW_KIND_CAPTURE_BEGIN && result != 0))
        end_capture(event->stream);
    if (!event->recorded || !hw_trace)
        return;
    uint64_t ns = event->start_ns ? hw_now() - event->start_ns : 0;
    add(&hw_trace->totals[event->scope].wait_ns, ns);
    if (event->site) {
        add(&event->site->wait_ns, ns);
        raise_to(&event->site->max_wait_ns, ns);
    }
    if (event->call && event->call->sequence == event->sequence) {
        event->call->wait_ns = ns;
        event->call->in_flight = 0;
    }
    if (event->new_comm && (result == 0 || result == 7)) { /* ncclSuccess, ncclInProgress */
        int saved = errno;
        record_communicator(event);
        errno = saved;
    }
}
