/* Where the calling thread's Python is: walks its frames from the innermost outwards, decides hook, flush or framework, and
 * finds the line that made the call. What a code object is (a hook by name, framework code, ...) is worked out once and kept. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "core/glob.h"
#include "interpose/python/frames.h"
#include "interpose/shim/roots.h"

#include <string.h>
#include <sys/prctl.h>

#define MAX_FRAMES 400

enum code_flags {
    CODE_HOOK = 1 << 0,
    CODE_FLUSH = 1 << 1,
    CODE_DISPATCH = 1 << 2,
    CODE_ENGINE = 1 << 3,
    CODE_NO_HOOK = 1 << 4,
    CODE_FRAMEWORK = 1 << 5,
    CODE_STDLIB = 1 << 6,
    CODE_OWN = 1 << 7,
    CODE_WRAPPER = 1 << 8,
    CODE_NESTED = 1 << 9,
    CODE_KNOWN = 1 << 15
};

/* A code object that was looked at. An address can be used again for another one: the other fields tell. */
struct code {
    const void *code;
    const void *qualname, *filename, *linetable;
    int firstlineno;
    uint16_t flags, dispatch;
    uint64_t text; /* hash of the qualified name, for code that may be made again and again (exec, notebook cells); else 0 */
};
#define CODES 16384u
static struct code codes[CODES];
static uint32_t code_count;

static uint16_t classify(const void *code, uint16_t *dispatch)
{
    char name[1024], file[4096];
    hw_py_text(hw_py_field(code, hw_py->code_qualname), name, sizeof name);
    hw_py_text(hw_py_field(code, hw_py->code_filename), file, sizeof file);
    unsigned flags = CODE_KNOWN;
    if (hw_roots_own(file))
        return CODE_KNOWN | CODE_OWN;
    if (hw_roots_framework(file))
        flags |= CODE_FRAMEWORK;
    if (hw_roots_stdlib(file))
        flags |= CODE_STDLIB;
    if (hw_roots_hook(name))
        flags |= CODE_HOOK;
    if (hw_roots_nested(name))
        flags |= CODE_NESTED;
    if (hw_roots_flush(name, file))
        flags |= CODE_FLUSH;
    if (hw_roots_wrapper(file, name))
        flags |= CODE_WRAPPER;
    if (hw_roots_engine(file, name))
        flags |= CODE_ENGINE;
    if (hw_roots_no_hook(name))
        flags |= CODE_NO_HOOK;
    if (hw_roots_dispatch(file, name, dispatch))
        flags |= CODE_DISPATCH;
    return (uint16_t)flags;
}

static void read_code(const void *code, struct code *out)
{
    *out = (struct code){.code = code,
                         .qualname = hw_py_field(code, hw_py->code_qualname),
                         .filename = hw_py_field(code, hw_py->code_filename),
                         .linetable = hw_py_field(code, hw_py->code_linetable),
                         .firstlineno = hw_py_int(code, hw_py->code_firstlineno)};
    char file[2];
    hw_py_text(out->filename, file, sizeof file);
    out->text = file[0] == '<' ? hw_py_text_hash(out->qualname) : 0;
    out->flags = classify(code, &out->dispatch);
}

/* Flags of a code object. Entries are written once: `flags` last, by the thread that claimed `code`. */
static uint16_t code_flags(const void *code, uint16_t *dispatch)
{
    uint32_t slot = (uint32_t)((uintptr_t)code >> 5) * 2654435761u >> 18;
    for (uint32_t probe = 0; probe < 32; probe++, slot = (slot + 1) & (CODES - 1)) {
        struct code *c = &codes[slot];
        const void *have = __atomic_load_n(&c->code, __ATOMIC_ACQUIRE);
        if (have == code) {
            uint16_t flags = __atomic_load_n(&c->flags, __ATOMIC_ACQUIRE);
            if (flags && c->qualname == (const void *)hw_py_field(code, hw_py->code_qualname) &&
                c->filename == (const void *)hw_py_field(code, hw_py->code_filename) &&
                c->linetable == (const void *)hw_py_field(code, hw_py->code_linetable) &&
                c->firstlineno == hw_py_int(code, hw_py->code_firstlineno) &&
                (!c->text || c->text == hw_py_text_hash(c->qualname))) {
                *dispatch = c->dispatch;
                return flags;
            }
            break; /* half written by another thread, or another code object lived here */
        }
        if (have)
            continue;
        struct code fresh;
        read_code(code, &fresh);
        *dispatch = fresh.dispatch;
        if (__atomic_load_n(&code_count, __ATOMIC_RELAXED) < CODES / 4 * 3 &&
            __atomic_compare_exchange_n(&c->code, &have, code, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&code_count, 1, __ATOMIC_RELAXED);
            c->qualname = fresh.qualname;
            c->filename = fresh.filename;
            c->linetable = fresh.linetable;
            c->firstlineno = fresh.firstlineno;
            c->dispatch = fresh.dispatch;
            c->text = fresh.text;
            __atomic_store_n(&c->flags, fresh.flags, __ATOMIC_RELEASE);
        }
        return fresh.flags;
    }
    struct code fresh;
    read_code(code, &fresh);
    *dispatch = fresh.dispatch;
    return fresh.flags;
}

/* Whether the dispatcher's instruction calls one of the variables that hold hooks. Answers are kept in one word each:
 * code address, instruction and answer. */
static bool calls_hook(const void *code, int lasti, uint16_t dispatch)
{
    static uint64_t answers[512];
    uint64_t key = ((uint64_t)(uintptr_t)code >> 4 << 20) | (uint64_t)(lasti / 2 & 0x7ffff) << 1;
    uint64_t *slot = &answers[(key ^ key >> 17 ^ key >> 31) % 512];
    uint64_t have = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if ((have & ~(uint64_t)1) == key && have)
        return have & 1;
    struct hw_py_where where;
    hw_py_locate(code, lasti, &where);
    bool yes = hw_roots_dispatch_name(dispatch, where.callee);
    __atomic_store_n(slot, key | yes, __ATOMIC_RELAXED);
    return yes;
}

static bool is_autograd_thread(struct hw_thread *thread)
{
    if (!thread->autograd) {
        char name[17] = "";
        prctl(PR_GET_NAME, name, 0, 0, 0);
        thread->autograd = strncmp(name, "pt_autograd", 11) == 0 ? 1 : -1;
    }
    return thread->autograd > 0;
}

bool hw_place_same(const void *top, const void *instr)
{
    void *ts = hw_py_thread_state();
    if (!ts)
        return top == NULL;
    const void *frame = hw_py_top(ts);
    return frame == top && (!frame || (const void *)hw_py_field(frame, hw_py->frame_instr) == instr);
}

static void set_root(struct hw_place *place, enum hw_scope scope, const void *frame, const void *code)
{
    place->scope = scope;
    place->root_frame = frame;
    place->root_code = code;
}

static void push_stack(struct hw_place *place, const void *frame, const void *code)
{
    /* keeps the frames nearest to the site: drop the innermost when full */
    unsigned n = place->stack_count < HW_TRACE_STACK ? place->stack_count++ : HW_TRACE_STACK - 1;
    memmove(place->stack_code + 1, place->stack_code, n * sizeof place->stack_code[0]);
    memmove(place->stack_lasti + 1, place->stack_lasti, n * sizeof place->stack_lasti[0]);
    place->stack_code[0] = code;
    place->stack_lasti[0] = hw_py_lasti(frame, code);
}

static void forget_inner(struct hw_place *place)
{
    place->site_code = place->below_code = NULL;
    place->stack_count = 0;
}

/* The site moves outwards to the hook's own frame when the hook lives in a framework. */
static void move_site_to_root(struct hw_place *place)
{
    place->site_code = place->root_code;
    place->site_lasti = hw_py_lasti(place->root_frame, place->root_code);
}

/* Whether the frame's current instruction calls a hook. */
static bool hook_called(const void *frame, const void *code, uint16_t flags, uint16_t dispatch, const void *inner,
                        uint16_t inner_flags)
{
    if (flags & CODE_DISPATCH)
        return calls_hook(code, hw_py_lasti(frame, code), dispatch);
    return inner && flags & CODE_ENGINE && !(inner_flags & (CODE_NO_HOOK | CODE_DISPATCH));
}

/* A hook written in C, such as print, has no frame: the window is named for it and has no Python line. */
static bool is_c_hook(const void *frame, const void *code, uint16_t flags, struct hw_place *place)
{
    static __thread char name[48];
    if (!(flags & CODE_DISPATCH))
        return false;
    hw_py_c_function(frame, code, "hook", name, sizeof name);
    if (!name[0])
        return false;
    place->scope = HW_SCOPE_HOOK;
    place->root_frame = place->root_code = place->site_code = NULL;
    place->window = name;
    return true;
}

static bool is_communication_hook(const void *frame, const void *code)
{
    char type[96];
    hw_py_argument_type(frame, code, 1, type, sizeof type);
    return hw_roots_no_hook_type(type);
}

void hw_place_find(struct hw_thread *thread, struct hw_place *place)
{
    *place = (struct hw_place){.scope = HW_SCOPE_OUTSIDE};
    if (thread->windows) {
        unsigned n = thread->windows < HW_WINDOWS ? thread->windows : HW_WINDOWS;
        place->scope = HW_SCOPE_HOOK;
        place->window = thread->window[n - 1];
    }
    void *ts = hw_py_thread_state();
    if (!ts)
        return;
    const void *frame = hw_py_top(ts), *inner = NULL, *inner_code = NULL;
    uint16_t inner_flags = 0;
    place->top = frame;
    place->top_instr = frame ? hw_py_field(frame, hw_py->frame_instr) : NULL;
    int depth = 0;
    bool nested = false; /* the root so far is a function inside a hook */
    for (; frame && depth < MAX_FRAMES; frame = hw_py_previous(frame), depth++) {
        const void *code = hw_py_code(frame);
        if (hw_py_incomplete(frame, code))
            continue;
        uint16_t dispatch = 0, flags = code_flags(code, &dispatch);
        if (flags & CODE_OWN) { /* what it called is the simulated stack's doing, not the user's */
            forget_inner(place);
            inner = NULL;
            continue;
        }
        /* What this frame called: was that a hook? */
        if (!place->window && (!place->root_frame || place->scope == HW_SCOPE_FLUSH || nested) &&
            hook_called(frame, code, flags, dispatch, inner, inner_flags)) {
            if (is_c_hook(frame, code, flags, place))
                return;
            if (inner) {
                set_root(place, inner_flags & CODE_FRAMEWORK ? HW_SCOPE_FRAMEWORK : HW_SCOPE_HOOK, inner, inner_code);
                break;
            }
        }
        if (!place->site_code && !(flags & (CODE_FRAMEWORK | CODE_STDLIB))) {
            place->site_code = code;
            place->site_lasti = hw_py_lasti(frame, code);
        } else if (!place->site_code) {
            if (flags & CODE_FRAMEWORK)
                place->below_code = code;
            push_stack(place, frame, code);
        }
        if (place->window) {
            if (place->site_code)
                break;
            continue;
        }
        if (flags & CODE_HOOK && (!place->root_frame || place->scope == HW_SCOPE_FLUSH || nested)) {
            set_root(place, flags & CODE_FRAMEWORK ? HW_SCOPE_FRAMEWORK : HW_SCOPE_HOOK, frame, code);
            nested = flags & CODE_NESTED;
        } else if (flags & CODE_FLUSH && !place->root_frame) {
            set_root(place, HW_SCOPE_FLUSH, frame, code);
        }
        /* A flush called from inside a hook is still the hook, and so is a function inside one: go on until it is found. */
        if (place->root_frame && place->scope != HW_SCOPE_FLUSH && !nested)
            break;
        if (!(flags & CODE_WRAPPER)) {
            inner = frame;
            inner_code = code;
            inner_flags = flags;
        }
    }
    if (depth == MAX_FRAMES && hw_trace)
        __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_DEEP_STACK, __ATOMIC_RELAXED);
    /* What the autograd engine calls on a worker thread is the outermost frame there. */
    if (!frame && inner && (!place->root_frame || place->scope == HW_SCOPE_FLUSH) && !place->window &&
        !(inner_flags & (CODE_NO_HOOK | CODE_DISPATCH)) && is_autograd_thread(thread) &&
        !is_communication_hook(inner, inner_code))
        set_root(place, inner_flags & CODE_FRAMEWORK ? HW_SCOPE_FRAMEWORK : HW_SCOPE_HOOK, inner, inner_code);
    if (place->scope == HW_SCOPE_FRAMEWORK)
        move_site_to_root(place);
}
