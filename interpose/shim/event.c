/* Around each classified call: where was it made, what did it cost, which record does it belong to. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "interpose/python/frames.h"

#include <errno.h>
#include <string.h>

#define POLL_LIMIT 64 /* queries in a row that make a loop */

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

/* Visits of each flush root; a root is a function and the object it is a method of. */
#define VISITORS 32
static struct {
    uint64_t key, visits;
} visitors[VISITORS];

void hw_sites_reset(void);

void hw_tables_reset(void)
{
    hw_sites_reset();
    memset(visitors, 0, sizeof visitors);
    step_waits = 0;
    hw_thread = (struct hw_thread){.windows = hw_thread.windows};
}

__attribute__((visibility("default"))) void hw_step(void);
__attribute__((visibility("default"))) void hw_step(void)
{
    if (!hw_enabled || !hw_start())
        return;
    if (hw_trace->step_kind != 1)
        hw_trace->steps = 0;
    hw_trace->step_kind = 1;
    add(&hw_trace->steps, 1);
    finish_step();
}

/* Identity of a flush root: its function and its first argument. */
static uint64_t root_key(const struct hw_place *place)
{
    const void *self = NULL;
    if (hw_py_int(place->root_code, hw_py->code_argcount) > 0)
        self = *(const void *const *)((const char *)place->root_frame + hw_py->frame_locals);
    return ((uint64_t)(uintptr_t)place->root_code ^ (uint64_t)(uintptr_t)self * 31) | 1;
}

static void count_visit(uint64_t key)
{
    add(&hw_trace->flush_windows, 1);
    for (int i = 0; i < VISITORS; i++) {
        uint64_t have = 0;
        if (!__atomic_compare_exchange_n(&visitors[i].key, &have, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
            have != key)
            continue;
        uint64_t visits = __atomic_add_fetch(&visitors[i].visits, 1, __ATOMIC_RELAXED);
        if (hw_trace->step_kind == 1)
            return;
        hw_trace->step_kind = 2;
        if (visits > __atomic_load_n(&hw_trace->steps, __ATOMIC_RELAXED)) {
            raise_to(&hw_trace->steps, visits);
            finish_step();
        }
        return;
    }
}

/* One flush window is one activation of its root. The same frame address serves the next activation too; what the callers
 * hold in their variables cannot change during one. */
static void enter_flush(struct hw_thread *thread, const struct hw_place *place)
{
    uint64_t key = root_key(place), hash = hw_py_locals_hash(hw_py_previous(place->root_frame)) ^ key;
    if (thread->flush_frame == place->root_frame && thread->flush_hash == hash)
        return;
    thread->flush_frame = place->root_frame;
    thread->flush_hash = hash;
    thread->flush_copies = 0;
    count_visit(key);
}

/* Asks the runtime what kind of memory `pointer` is: 0 pageable, 1 pinned, 2 device, 3 managed (cudaMemoryType);
 * -1: not asked, because a capture runs or the runtime has no answer. */
static int memory_type(const struct hw_event *event, const void *pointer)
{
    static int (*ask)(void *, const void *);
    if (__atomic_load_n(&hw_captures, __ATOMIC_RELAXED) > 0)
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
static struct hw_trace_call *open_call(struct hw_thread *thread, const struct hw_event *event)
{
    uint64_t sequence = __atomic_add_fetch(&hw_trace->ring_next, 1, __ATOMIC_RELAXED);
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
    event->folded = true;
    event->scope = thread->copy_scope;
    event->site = thread->copy_site;
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

void hw_event_enter(struct hw_thread *thread, struct hw_event *event)
{
    thread->depth++;
    if (event->kind == HW_KIND_CAPTURE_BEGIN)
        __atomic_fetch_add(&hw_captures, 1, __ATOMIC_RELAXED);
    int saved = errno;
    if (!hw_start()) {
        errno = saved;
        return;
    }
    event->recorded = true;
    if (event->kind == HW_KIND_GROUP_START) {
        thread->group++;
        thread->last_site = NULL;
        return;
    }
    hw_thread_slot(thread);
    if (event->kind == HW_KIND_GROUP_END) {
        event->site = thread->group == 1 ? thread->last_site : NULL;
        event->folded = true; /* the calls of the group were counted; this is where they cost */
        event->scope = event->site ? event->site->scope : HW_SCOPE_OUTSIDE;
        if (thread->group)
            thread->group--;
    } else if (event->kind != HW_KIND_SYNC || !fold(thread, event) || (!event->site && event->scope != HW_SCOPE_OUTSIDE)) {
        struct hw_place place;
        hw_place_find(thread, &place);
        event->scope = (uint8_t)place.scope;
        bool communication = hw_is_communication(event->kind), second = false;
        if (place.scope != HW_SCOPE_OUTSIDE || communication) {
            if (event->kind == HW_KIND_COPY || event->kind == HW_KIND_COPY_ASYNC)
                find_direction(event);
            if (event->folded)
                event->direction = HW_H2D; /* the wait of a pinned upload */
            if (place.scope == HW_SCOPE_FLUSH) {
                enter_flush(thread, &place);
                if (event->direction == HW_D2H && event->kind != HW_KIND_SYNC) {
                    thread->flush_copies++;
                    raise_to(&hw_trace->flush_d2h_max, thread->flush_copies);
                    second = thread->flush_copies > 1;
                }
            }
            if (wants_site(thread, event, &place)) {
                event->site = hw_site_find(event, &place, second);
                if (!event->site)
                    add(&hw_trace->lost, 1);
                event->folded = false;
            }
        }
        if (place.scope != HW_SCOPE_FLUSH)
            thread->flush_frame = NULL;
        thread->copy_pending = event->kind == HW_KIND_COPY_ASYNC;
        thread->copy_stream = event->stream;
        thread->copy_scope = event->scope;
        thread->copy_site = event->site;
        thread->copy_frame = place.top;
        thread->copy_instr = place.top_instr;
        if (event->kind == HW_KIND_COLLECTIVE)
            thread->last_site = event->site;
    } else {
        thread->copy_pending = false;
    }
    if (event->kind != HW_KIND_QUERY) {
        event->start_ns = hw_now();
        if (event->site)
            event->call = open_call(thread, event);
    }
    errno = saved;
}

static void count_totals(const struct hw_event *event, uint64_t ns)
{
    struct hw_trace_totals *t = &hw_trace->totals[event->scope];
    bool waited = event->kind == HW_KIND_SYNC || event->kind == HW_KIND_COPY;
    if (waited) {
        add(&t->waits, 1);
        if (event->scope == HW_SCOPE_HOOK)
            add(&step_waits, 1);
    }
    if (event->kind != HW_KIND_QUERY)
        add(&t->wait_ns, ns);
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

static void count_site(struct hw_record_site *site, const struct hw_event *event, uint64_t ns)
{
    if (event->kind == HW_KIND_SYNC || event->kind == HW_KIND_COPY)
        add(&site->waits, 1);
    add(&site->wait_ns, ns);
    raise_to(&site->max_wait_ns, ns);
    if (event->folded)
        return;
    uint64_t step = __atomic_load_n(&hw_trace->steps, __ATOMIC_RELAXED);
    uint64_t before = __atomic_fetch_add(&site->count, 1, __ATOMIC_RELAXED);
    add(&site->bytes, event->bytes);
    if (before && step)
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
    if (event->scope == HW_SCOPE_FLUSH)
        raise_to(&site->flush_max, hw_thread.flush_copies);
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
    if (event->kind == HW_KIND_CAPTURE_END)
        __atomic_fetch_sub(&hw_captures, 1, __ATOMIC_RELAXED);
    if (event->kind == HW_KIND_CAPTURE_BEGIN && result != 0)
        __atomic_fetch_sub(&hw_captures, 1, __ATOMIC_RELAXED);
    if (!event->recorded || !hw_trace)
        return;
    uint64_t ns = event->start_ns ? hw_now() - event->start_ns : 0;
    add(&hw_trace->calls, 1);
    count_totals(event, ns);
    if (event->site)
        count_site(event->site, event, ns);
    if (event->call) {
        event->call->wait_ns = ns;
        event->call->in_flight = 0;
    }
    if (event->new_comm && (result == 0 || result == 7)) { /* ncclSuccess, ncclInProgress */
        int saved = errno;
        record_communicator(event);
        errno = saved;
    }
}
