/* Start, end, forks, and the explicit windows. The constructor does nothing but read two variables: the trace is opened by
 * the first intercepted call, so that children that never touch CUDA leave nothing behind. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "interpose/python/frames.h"
#include "interpose/shim/roots.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool hw_enabled = true;
int hw_captures;
static char trace_dir[4096];
static uint16_t slots; /* thread counters given out */

enum { START_IDLE, START_OPENING, START_OPEN, START_FAILED };
static int start_state;

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
    hw_captures = 0;
    slots = 0;
    start_state = START_IDLE;
}

__attribute__((constructor)) static void load(void)
{
    const char *disable = getenv("HOOKWATCH_DISABLE");
    if (disable && strcmp(disable, "0") != 0 && *disable)
        hw_enabled = false;
}

/* Remembers the interpreter's state in the header; window.c and site.c use hw_py only when it is set. */
static void note_python(void)
{
    static bool decided;
    if (__atomic_load_n(&decided, __ATOMIC_RELAXED))
        return;
    enum hw_py_state state = hw_py_attach();
    if (state == HW_PY_NONE)
        return;
    memcpy(hw_trace->python, hw_py_version, sizeof hw_trace->python);
    if (state == HW_PY_UNKNOWN_VERSION)
        __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_PY_UNKNOWN, __ATOMIC_RELAXED);
    if (state == HW_PY_CHECK_FAILED)
        __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_PY_CHECK, __ATOMIC_RELAXED);
    __atomic_store_n(&decided, true, __ATOMIC_RELAXED);
}

static bool open_trace(void)
{
    const char *dir = getenv("HOOKWATCH_DIR"), *tmp = getenv("TMPDIR");
    if (!dir || !*dir)
        dir = "hookwatch.out";
    if (strlen(dir) >= sizeof trace_dir)
        return false;
    strcpy(trace_dir, dir);
    if (hw_trace_open(trace_dir))
        return true;
    /* A read-only working directory: the default moves, a directory that was asked for does not. */
    if (getenv("HOOKWATCH_DIR") || strlen(tmp && *tmp ? tmp : "/tmp") + sizeof "/hookwatch.out" > sizeof trace_dir)
        return false;
    strcpy(trace_dir, tmp && *tmp ? tmp : "/tmp");
    strcat(trace_dir, "/hookwatch.out");
    return hw_trace_open(trace_dir);
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
        return __atomic_load_n(&start_state, __ATOMIC_ACQUIRE) == START_OPEN;
    }
    static bool once;
    if (!once) {
        once = true;
        hw_roots_read_environment();
        pthread_atfork(NULL, NULL, after_fork);
    }
    bool open = open_trace();
    if (open && hw_py) /* a forked child: the interpreter is known */
        memcpy(hw_trace->python, hw_py_version, sizeof hw_trace->python);
    __atomic_store_n(&start_state, open ? START_OPEN : START_FAILED, __ATOMIC_RELEASE);
    if (open) {
        hw_look_at_simulation();
        note_python();
    }
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

__attribute__((destructor)) static void unload(void)
{
    if (!hw_enabled)
        return;
    int saved = errno;
    hw_look_at_objects();
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
}

HW_EXPORT void hw_window_end(void)
{
    if (hw_thread.windows)
        hw_thread.windows--;
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
