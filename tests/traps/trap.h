/* What the traps share: starting themselves again under the shim, opening plugins, reading their own trace. Each trap is one
 * program and proves what its first comment says. Exit status 0: it holds, 1: it does not. */
#ifndef TRAP_H
#define TRAP_H

#include "interpose/trace/reader.c"

#include <dlfcn.h>
#include <sys/wait.h>

static char trap_dir[PATH_MAX]; /* where the traps and their libraries are built */

#define CHECK(condition)                                                                                                       \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                    \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

/* Runs main again with the shim preloaded between two libraries of the traps (either may be NULL), traces in ./traces. */
static inline void trap_start(char **argv, const char *before, const char *after)
{
    ssize_t n = readlink("/proc/self/exe", trap_dir, sizeof trap_dir - 1);
    CHECK(n > 0);
    trap_dir[n] = '\0';
    *strrchr(trap_dir, '/') = '\0';
    if (getenv("TRAP_CHILD"))
        return;
    char first[PATH_MAX] = "", last[PATH_MAX] = "", preload[4 * PATH_MAX];
    if (before)
        snprintf(first, sizeof first, "%.4000s/%s:", trap_dir, before);
    if (after)
        snprintf(last, sizeof last, ":%.4000s/%s", trap_dir, after);
    snprintf(preload, sizeof preload, "%s%s/../../lib/libhookwatch.so%s", first, trap_dir, last);
    setenv("LD_PRELOAD", preload, 1);
    setenv("TRAP_CHILD", "1", 1);
    setenv("HOOKWATCH_DIR", "traces", 1);
    execv("/proc/self/exe", argv);
    CHECK(!"execv");
}

/* Runs main again with the shim preloaded, the library `first` (may be NULL) in front of it, or `next` behind it. */
static inline void trap_under_shim(char **argv, const char *first)
{
    trap_start(argv, first, NULL);
}
static inline void trap_under_shim_before(char **argv, const char *next)
{
    trap_start(argv, NULL, next);
}

static inline void *trap_open(const char *library)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s", trap_dir, library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(handle);
    return handle;
}

static inline void *trap_symbol(void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);
    CHECK(symbol);
    return symbol;
}

/* The counter `name` of a library that a plugin needs. */
static inline int trap_count(const char *library, const char *name)
{
    void *handle = trap_open(library);
    return *(int *)trap_symbol(handle, name);
}

/* The trace of process `pid`, or a check that there is none. */
static inline bool trap_trace(int pid, struct hw_trace_view *view)
{
    char **paths, error[512], tail[32];
    size_t elsewhere;
    bool found = false;
    long count = hw_trace_list("traces", &paths, &elsewhere);
    snprintf(tail, sizeof tail, ".%d" HW_TRACE_SUFFIX, pid);
    for (long i = 0; i < count; i++) {
        if (!found && ends_with(paths[i], tail)) {
            found = hw_trace_view_open(paths[i], view, error, sizeof error) == 0;
            if (!found)
                fprintf(stderr, "%s\n", error);
        }
        free(paths[i]);
    }
    free(paths);
    return found;
}

/* The n-th site of an intercepted function; NULL if there is none. */
static inline const struct hw_record_site *trap_site(const struct hw_trace_view *view, const char *api, int n)
{
    size_t cursor = 0;
    for (const struct hw_record *record; (record = hw_trace_view_next(view, &cursor));)
        if (record->kind == HW_RECORD_SITE &&
            strcmp(hw_trace_view_text(view, ((const struct hw_record_site *)record)->api), api) == 0 && n-- == 0)
            return (const struct hw_record_site *)record;
    return NULL;
}

/* The shim's explicit windows, as hookwatch.h finds them. */
static inline void trap_window(const char *name)
{
    if (name)
        ((void (*)(const char *))trap_symbol(RTLD_DEFAULT, "hw_window_begin"))(name);
    else
        ((void (*)(void))trap_symbol(RTLD_DEFAULT, "hw_window_end"))();
}

#endif
