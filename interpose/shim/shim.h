/* The injected library's own declarations: events, per-thread state, the parts' doors. libc only; on the hot path no
 * malloc, no lock, no GIL. */
#ifndef HW_SHIM_H
#define HW_SHIM_H

#include "interpose/trace/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hw_dim3 {
    unsigned x, y, z;
};

struct hw_nccl_id {
    char bytes[128];
};

/* What a call can do to the host. PLAIN and LAUNCH are counted only; the rest is classified. */
enum hw_kind {
    HW_KIND_PLAIN,
    HW_KIND_LAUNCH,
    HW_KIND_SYNC,
    HW_KIND_COPY,
    HW_KIND_COPY_ASYNC,
    HW_KIND_ALLOC,
    HW_KIND_QUERY,
    HW_KIND_CAPTURE_BEGIN,
    HW_KIND_CAPTURE_END,
    HW_KIND_COLLECTIVE,
    HW_KIND_GROUP_START,
    HW_KIND_GROUP_END,
    HW_KIND_COMM_INIT,
    HW_KIND_COMM_SETUP
};

enum hw_direction { HW_H2H, HW_H2D, HW_D2H, HW_D2D, HW_BY_ADDRESS };

enum hw_layer { HW_LAYER_RUNTIME, HW_LAYER_NCCL };

/* A loaded object that calls one of our names, and the function it meant. */
struct hw_caller {
    uintptr_t low, size; /* size 0: free */
    void *real;
};
#define HW_CALLERS 16

struct hw_hook {
    const char *name;
    enum hw_layer layer;
    struct hw_caller callers[HW_CALLERS];
};

/* One intercepted call that is classified. */
struct hw_event {
    struct hw_hook *hook;
    enum hw_kind kind;
    int direction;
    const void *dst, *src;
    size_t bytes;
    void *stream, *comm;
    void **new_comm;
    uint64_t id_hash;
    int rank, size, color, whole_device;
    /* filled by hw_event_enter */
    uint64_t start_ns;
    struct hw_record_site *site;
    struct hw_trace_call *call;
    uint8_t scope; /* enum hw_scope */
    uint64_t sequence, flush_copies;
    bool recorded;
    bool folded; /* the wait of a copy counted already */
    bool pageable;
};

#define HW_WINDOWS 4

/* State of one thread: small, because initial-exec TLS is scarce. */
struct hw_thread {
    uint32_t depth;  /* inside a wrapper: calls from below are not events */
    uint32_t id;     /* kernel thread id, 0: not asked */
    uint16_t slot;   /* counters in the trace: index + 1, 0: none */
    uint8_t windows; /* explicit windows open; names of the first HW_WINDOWS are kept */
    uint8_t group;   /* ncclGroupStart depth */
    int8_t autograd; /* 1 an autograd worker, -1 not, 0 not asked */
    uint8_t copy_scope, copy_direction;
    bool copy_pending; /* an asynchronous copy whose wait may follow */
    uint32_t polls, poll_launches;
    const char *window[HW_WINDOWS];
    void *copy_stream;
    const void *copy_frame, *copy_instr; /* innermost frame and instruction at the copy */
    struct hw_record_site *copy_site, *last_site;
    const void *poll_at; /* line of the last queries */
};
extern __thread struct hw_thread hw_thread;

extern bool hw_enabled; /* false: forward only */

/* resolve.c: the function that `caller` would have reached without us; never ours; NULL if there is none. */
void *hw_resolve(struct hw_hook *hook, const void *caller);
/* The same for a name that is not intercepted. */
void *hw_resolve_name(const char *name, enum hw_layer layer, const void *caller);

static inline void *hw_real(struct hw_hook *hook, const void *caller)
{
    for (int i = 0; i < HW_CALLERS; i++) {
        struct hw_caller *c = &hook->callers[i];
        uintptr_t size = __atomic_load_n(&c->size, __ATOMIC_ACQUIRE);
        if (!size)
            break;
        if ((uintptr_t)caller - c->low < size)
            return c->real;
    }
    return hw_resolve(hook, caller);
}

/* event.c: around the real call of an event. */
void hw_event_enter(struct hw_thread *thread, struct hw_event *event);
void hw_event_leave(struct hw_thread *thread, struct hw_event *event, int result);

/* start.c */
bool hw_start(void); /* opens the trace if need be; false: record nothing */
uint64_t hw_now(void);
uint16_t hw_thread_slot(struct hw_thread *thread);
void hw_tables_reset(void);            /* event.c: forget offsets into the parent's file */
void hw_step_at_least(uint64_t steps); /* event.c: a flush has been visited so often */
/* coverage.c: notes in the trace what the process has mapped that we cannot see through, and whether the stack is simulated. */
void hw_look_at_objects(void);
bool hw_unseen_library(void); /* a CUDA or NCCL library is mapped and may have been used */

/* window.c: where the calling thread's Python is. */
struct hw_place {
    enum hw_scope scope;
    const void *top, *top_instr;        /* innermost frame, hookwatch's own included */
    const void *site_code;              /* NULL: no Python site */
    const void *below_code;             /* framework function called by the site */
    const void *root_frame, *root_code; /* NULL: no window or an explicit one */
    const char *window;                 /* name of the explicit window */
    int site_lasti;
    const void *stack_code[HW_TRACE_STACK]; /* frames inwards of the site, outermost first */
    int stack_lasti[HW_TRACE_STACK];
    unsigned stack_count;
};
void hw_place_find(struct hw_thread *thread, struct hw_place *place);
/* True while the thread stands at the same instruction of the same innermost frame as at `top`. */
bool hw_place_same(const void *top, const void *instr);

/* flush.c: notes an event in a flush; the device-to-host copies of this window so far, this one (if `copy`) included. */
uint64_t hw_flush_enter(struct hw_thread *thread, const struct hw_place *place, bool copy);
void hw_flush_leave(struct hw_thread *thread); /* an event outside any flush: the window has ended */
void hw_flush_reset(void);

/* site.c: the record of a place and a call; NULL when none applies or the file is full. */
struct hw_record_site *hw_site_find(const struct hw_event *event, const struct hw_place *place, bool second_flush_copy);

static inline bool hw_is_communication(enum hw_kind kind)
{
    return kind >= HW_KIND_COLLECTIVE;
}

/* Bytes of `count` elements of an ncclDataType_t (nccl.h: int8 uint8 int32 uint32 int64 uint64 half float double bf16 fp8 fp8). */
static inline size_t hw_nccl_bytes(size_t count, int type)
{
    static const unsigned char width[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return count * ((unsigned)type < sizeof width ? width[type] : 1);
}

static inline uint64_t hw_nccl_hash(const void *id)
{
    const unsigned char *bytes = id;
    uint64_t h = 1469598103934665603u;
    for (int i = 0; id && i < 128; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

#endif
