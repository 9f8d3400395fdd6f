/* Flush windows and the steps they count. One window is one activation of its root, and the interpreter reuses a frame's memory
 * for the next activation: what tells the two apart is where the frames stand and what their callers hold. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "interpose/python/frames.h"

#include <string.h>

#define CHAIN 8

/* The last event of a thread inside a flush: its frames from the root inwards. */
struct last_flush {
    const void *frame;
    uint64_t key, locals, globals, copies;
    unsigned depth;
    struct {
        const void *code;
        int lasti;
    } chain[CHAIN];
};
static struct last_flush last[HW_TRACE_THREADS + 1];

/* Visits of each flush root; a root is a function and its first argument. */
#define VISITORS 256
static struct {
    uint64_t key, visits;
} visitors[VISITORS];

void hw_flush_reset(void)
{
    memset(last, 0, sizeof last);
    memset(visitors, 0, sizeof visitors);
}

static void count_visit(uint64_t key)
{
    __atomic_fetch_add(&hw_trace->flush_windows, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < VISITORS; i++) {
        uint64_t have = 0;
        if (!__atomic_compare_exchange_n(&visitors[i].key, &have, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
            have != key)
            continue;
        hw_step_at_least(__atomic_add_fetch(&visitors[i].visits, 1, __ATOMIC_RELAXED));
        return;
    }
}

/* The frames from the root to the innermost one, the nearest CHAIN to the root kept. */
static void read_chain(const struct hw_place *place, struct last_flush *now)
{
    const void *frames[CHAIN];
    unsigned count = 0;
    for (const void *frame = place->top; frame; frame = hw_py_previous(frame)) {
        frames[count++ % CHAIN] = frame;
        if (frame == place->root_frame)
            break;
    }
    now->depth = count < CHAIN ? count : CHAIN;
    for (unsigned i = 0; i < now->depth; i++) {
        const void *frame = frames[(count - 1 - i) % CHAIN];
        now->chain[i].code = hw_py_code(frame);
        now->chain[i].lasti = hw_py_lasti(frame, now->chain[i].code);
    }
}

/* Whether the root's frame went on from `before` to `now` within one activation. The callers' variables stand still during
 * one. A position further on is progress; the same or an earlier one needs a loop around both, and then only the globals of a
 * module whose code is still running can tell a loop from a new activation. */
static bool continues(const struct last_flush *before, const struct last_flush *now)
{
    if (before->frame != now->frame || before->key != now->key || before->locals != now->locals)
        return false;
    for (unsigned i = 0; i < before->depth && i < now->depth; i++) {
        if (before->chain[i].code != now->chain[i].code || before->chain[i].lasti < now->chain[i].lasti)
            return true;
        if (hw_py_in_one_loop(now->chain[i].code, now->chain[i].lasti, before->chain[i].lasti))
            return before->globals == now->globals;
        if (before->chain[i].lasti > now->chain[i].lasti)
            return false;
    }
    return false;
}

uint64_t hw_flush_enter(struct hw_thread *thread, const struct hw_place *place, bool copy)
{
    struct last_flush *before = &last[thread->slot], now = {.frame = place->root_frame};
    const void *callers = hw_py_previous(place->root_frame);
    now.key = ((uint64_t)(uintptr_t)place->root_code ^
               (uint64_t)(uintptr_t)hw_py_first_argument(place->root_frame, place->root_code) * 31) |
              1;
    now.locals = hw_py_locals_hash(callers);
    now.globals = hw_py_globals_hash(callers);
    read_chain(place, &now);
    if (continues(before, &now))
        now.copies = before->copies;
    else
        count_visit(now.key);
    now.copies += copy;
    *before = now;
    return now.copies;
}

void hw_flush_leave(struct hw_thread *thread)
{
    last[thread->slot].frame = NULL;
}
