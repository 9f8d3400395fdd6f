/* Start, end, forks, and the explicit windows. The constructor does nothing but read two variables: the trace is opened by
 * the first intercepted call, so that children that never touch CUDA leave nothing behind. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "interpose/python/frames.h"
#include "interpose/shim/roots.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool hw_enabled = true;
static char start_dir[4096]; /* working directory of the program's start: it may move before its first call */
static char trace_dir[8192];
static uint32_t early_bits; /* coverage known before the trace was there */
static uint64_t lost_early;
static uint16_t slots; /* thread counters given out */

enum { START_IDLE, START_OPENING, START_OPEN, START_FAILED };
static int start_state;
static bool python_noted;

uint64_t hw_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void after_fork(void)
{
    hw_trace_after_fork();
    hw_tables_reset();
    slots = 0;
    lost_early = 0;
    python_noted = false;
    start_state = START_IDLE;
}

__attribute__((constructor)) static void load(void)
{
    const char *on = getenv("HOOKWATCH");
    if (on && strcmp(on, "0") == 0)
        hw_enabled = false;
    const char *dir = getenv("HOOKWATCH_DIR");
    if (hw_enabled && !(dir && *dir == '/') && !getcwd(start_dir, sizeof start_dir))
        start_dir[0] = '\0';
}

/* Remembers the interpreter's state in the header; window.c and site.c use hw_py only when it is set. */
static void note_python(void)
{
    if (__atomic_load_n(&python_noted, __ATOMIC_RELAXED))
        return;
    enum hw_py_state state = hw_py_attach();
    if (state == HW_PY_NONE)
        return;
    memcpy(hw_trace->python, hw_py_version, sizeof hw_trace->python);
    if (state == HW_PY_UNKNOWN_VERSION)
        __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_PY_UNKNOWN, __ATOMIC_RELAXED);
    if (state == HW_PY_CHECK_FAILED)
        __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_PY_CHECK, __ATOMIC_RELAXED);
    __atomic_store_n(&python_noted, true, __ATOMIC_RELAXED);
}

static bool open_trace(void)
{
    const char *named = getenv("HOOKWATCH_DIR"), *tmp = getenv("TMPDIR");
    const char *dir = named && *named ? named : "hookwatch.out";
    bool absolute = *dir == '/' || !start_dir[0];
    if (snprintf(trace_dir, sizeof trace_dir, "%s%s%s", absolute ? "" : start_dir, absolute ? "" : "/", dir) >=
        (int)sizeof trace_dir)
        return false;
    if (hw_trace_open(trace_dir))
        return true;
    /* A read-only working directory: the default moves, a directory that was asked for does not. */
    if (named && *named)
        return false;
    char first[sizeof trace_dir];
    strcpy(first, trace_dir);
    if (snprintf(trace_dir, sizeof trace_dir, "%s/hookwatch.out", tmp && *tmp ? tmp : "/tmp") >= (int)sizeof trace_dir ||
        !hw_trace_open(trace_dir))
        return false;
    dprintf(2, "hookwatch: %s cannot be written; traces go to %s\n", first, trace_dir);
    return true;
}

bool hw_start(void)
{
    if (__builtin_expect(__atomic_load_n(&start_state, __ATOMIC_ACQUIRE) == START_OPEN, 1)) {
        note_python();
        return true;
    }
    int idle = START_IDLE;
    if (!__atomic_compare_exchange_n(&start_state, &idle, START_OPENING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        /* Another thread opens it now. Waiting here could deadlock with a lock of ours nowhere in sight; wait a little. */
        for (int i = 0; i < 1000 && __atomic_load_n(&start_state, __ATOMIC_ACQUIRE) == START_OPENING; i++)
            usleep(100);
        bool open = __atomic_load_n(&start_state, __ATOMIC_ACQUIRE) == START_OPEN;
        if (!open)
            __atomic_fetch_add(&lost_early, 1, __ATOMIC_RELAXED);
        return open;
    }
    static bool once;
    if (!once) {
        once = true;
        if (!hw_roots_read_environment())
            early_bits |= HW_COVERAGE_SETTINGS;
        pthread_atfork(NULL, NULL, after_fork);
    }
    bool open = open_trace();
    if (open)
        hw_look_at_objects();
    __atomic_store_n(&start_state, open ? START_OPEN : START_FAILED, __ATOMIC_RELEASE);
    if (open)
        note_python();
    return open;
}

uint16_t hw_thread_slot(struct hw_thread *thread)
{
    if (thread->slot && hw_trace)
        return thread->slot;
    int saved = errno;
    if (!hw_start()) {
        errno = saved;
        return 0;
    }
    uint16_t mine = __atomic_add_fetch(&slots, 1, __ATOMIC_RELAXED);
    thread->slot = mine < HW_TRACE_THREADS ? mine : HW_TRACE_THREADS;
    thread->id = (uint32_t)syscall(SYS_gettid);
    errno = saved;
    return thread->slot;
}

static bool counted_anything(void)
{
    for (unsigned i = 0; i < HW_TRACE_THREADS; i++)
        if (hw_trace->threads[i].launches || hw_trace->threads[i].plain)
            return true;
    return false;
}

__attribute__((destructor)) static void unload(void)
{
    if (!hw_enabled)
        return;
    int saved = errno;
    if (hw_trace || (hw_unseen_library() && hw_start())) {
        if (!hw_trace->calls && !counted_anything())
            __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_NOTHING_SEEN, __ATOMIC_RELAXED);
        hw_look_at_objects();
        __atomic_fetch_or(&hw_trace->coverage, early_bits | (lost_early ? HW_COVERAGE_LOST : 0), __ATOMIC_RELAXED);
        hw_trace->lost += lost_early;
    }
    hw_trace_finish();
    errno = saved;
}

#define HW_EXPORT __attribute__((visibility("default")))
HW_EXPORT void hw_window_begin(const char *name);
HW_EXPORT void hw_window_end(void);
HW_EXPORT const char *hw_shim_version(void);
HW_EXPORT const char *hw_trace_totals(unsigned scope, struct hw_trace_totals *out);

HW_EXPORT void hw_window_begin(const char *name)
{
    struct hw_thread *thread = &hw_thread;
    if (thread->windows < HW_WINDOWS)
        thread->window[thread->windows] = name ? name : "window";
    if (thread->windows < UINT8_MAX)
        thread->windows++;
    thread->copy_pending = false; /* what was copied outside is not waited for in here */
}

HW_EXPORT void hw_window_end(void)
{
    if (hw_thread.windows)
        hw_thread.windows--;
    hw_thread.copy_pending = false;
}

HW_EXPORT const char *hw_shim_version(void)
{
    return HW_VERSION;
}

/* For assertions inside the process: the totals of a scope so far (all zero before the first call), and the directory of the
 * traces; NULL while no trace could be opened. */
HW_EXPORT const char *hw_trace_totals(unsigned scope, struct hw_trace_totals *out)
{
    *out = (struct hw_trace_totals){0};
    if (!hw_enabled || scope >= HW_SCOPE_COUNT || !hw_start())
        return NULL;
    *out = hw_trace->totals[scope];
    return trace_dir;
}
