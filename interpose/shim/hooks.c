/* The wrappers, generated from hooks.def. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#define HW_EXPORT    __attribute__((visibility("default")))
#define HW_LIKELY(x) __builtin_expect(!!(x), 1)

/* What a caller gets when the library it expected is gone: cudaErrorSymbolNotFound, ncclSystemError. */
static int missing(enum hw_layer layer)
{
    return layer == HW_LAYER_RUNTIME ? 500 : 2;
}

static inline struct hw_trace_thread *counters(struct hw_thread *thread)
{
    if (HW_LIKELY(thread->slot && hw_trace))
        return &hw_trace->threads[thread->slot - 1];
    uint16_t slot = hw_thread_slot(thread);
    return slot ? &hw_trace->threads[slot - 1] : NULL;
}

static inline void count_plain(void)
{
    struct hw_trace_thread *c = hw_thread.depth || !hw_enabled ? NULL : counters(&hw_thread);
    if (c)
        c->plain++;
}

static inline void count_launch(void)
{
    struct hw_thread *thread = &hw_thread;
    if (thread->depth || !hw_enabled)
        return;
    struct hw_trace_thread *c = counters(thread);
    if (!c)
        return;
    c->launches++;
    if (!HW_LIKELY(!thread->windows))
        __atomic_fetch_add(&hw_trace->totals[HW_SCOPE_HOOK].launches, 1, __ATOMIC_RELAXED);
}

#define HW_WRAP_EVENT(name, args, kind_, ...)                                                                                  \
    struct hw_thread *hw_self = &hw_thread;                                                                                    \
    if (hw_self->depth || !hw_enabled)                                                                                         \
        return hw_call args;                                                                                                   \
    struct hw_event hw_event = {.hook = &hook_##name, .kind = kind_, ##__VA_ARGS__};                                           \
    hw_event_enter(hw_self, &hw_event);                                                                                        \
    int hw_result = hw_call args;                                                                                              \
    hw_event_leave(hw_self, &hw_event, hw_result);                                                                             \
    return hw_result;
#define HW_WRAP_COPIES(name, args, kind_, ...)                                                                                 \
    if (direction == HW_D2D || direction == HW_H2H) {                                                                          \
        count_plain();                                                                                                         \
        return hw_call args;                                                                                                   \
    }                                                                                                                          \
    HW_WRAP_EVENT(name, args, kind_, ##__VA_ARGS__)

#define HW_WRAP_PLAIN(name, args, ...)                                                                                         \
    count_plain();                                                                                                             \
    return hw_call args;
#define HW_WRAP_LAUNCH(name, args, ...)                                                                                        \
    count_launch();                                                                                                            \
    return hw_call args;
#define HW_WRAP_COPY(name, args, ...)          HW_WRAP_COPIES(name, args, HW_KIND_COPY, ##__VA_ARGS__)
#define HW_WRAP_COPY_ASYNC(name, args, ...)    HW_WRAP_COPIES(name, args, HW_KIND_COPY_ASYNC, ##__VA_ARGS__)
#define HW_WRAP_SYNC(name, args, ...)          HW_WRAP_EVENT(name, args, HW_KIND_SYNC, ##__VA_ARGS__)
#define HW_WRAP_ALLOC(name, args, ...)         HW_WRAP_EVENT(name, args, HW_KIND_ALLOC, ##__VA_ARGS__)
#define HW_WRAP_QUERY(name, args, ...)         HW_WRAP_EVENT(name, args, HW_KIND_QUERY, ##__VA_ARGS__)
#define HW_WRAP_CAPTURE_BEGIN(name, args, ...) HW_WRAP_EVENT(name, args, HW_KIND_CAPTURE_BEGIN, ##__VA_ARGS__)
#define HW_WRAP_CAPTURE_END(name, args, ...)   HW_WRAP_EVENT(name, args, HW_KIND_CAPTURE_END, ##__VA_ARGS__)
#define HW_WRAP_COLLECTIVE(name, args, ...)    HW_WRAP_EVENT(name, args, HW_KIND_COLLECTIVE, ##__VA_ARGS__)
#define HW_WRAP_GROUP_START(name, args, ...)   HW_WRAP_EVENT(name, args, HW_KIND_GROUP_START, ##__VA_ARGS__)
#define HW_WRAP_GROUP_END(name, args, ...)     HW_WRAP_EVENT(name, args, HW_KIND_GROUP_END, ##__VA_ARGS__)
#define HW_WRAP_COMM_INIT(name, args, ...)     HW_WRAP_EVENT(name, args, HW_KIND_COMM_INIT, ##__VA_ARGS__)
#define HW_WRAP_COMM_SETUP(name, args, ...)    HW_WRAP_EVENT(name, args, HW_KIND_COMM_SETUP, ##__VA_ARGS__)

#define HW_HOOK(layer_, name_, params, args, kind_, ...)                                                                       \
    static struct hw_hook hook_##name_ = {.name = #name_, .layer = HW_LAYER_##layer_};                                         \
    HW_EXPORT int name_ params;                                                                                                \
    HW_EXPORT int name_ params                                                                                                 \
    {                                                                                                                          \
        int(*hw_call) params = (int(*) params)hw_real(&hook_##name_, __builtin_return_address(0));                             \
        if (!HW_LIKELY(hw_call))                                                                                               \
            return missing(HW_LAYER_##layer_);                                                                                 \
        HW_WRAP_##kind_(name_, args, ##__VA_ARGS__)                                                                            \
    }

#include "interpose/hooks.def"
