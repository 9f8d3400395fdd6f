/* Preloaded in front of a CUDA runtime and an NCCL, real or simulated: appends a line per call to
 * $HOOKWATCH_RECORD.<process id>, in the words of the simulated stack's own trace. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "interpose/shim/shim.h"

static __thread int depth; /* what a recorded call calls in turn is not the program's */

/* The real function: behind us in the global scope, or in a runtime that was opened without joining it. */
static void *real(const char *name)
{
    static const char *const libraries[] = {"libcudart.so.13", "libcudart.so.12", "libnccl.so.2"};
    void *found = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
        void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = handle ? dlsym(handle, name) : NULL;
        if (handle)
            dlclose(handle);
    }
    return found;
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
    static int file = -1;
    const char *name = getenv("HOOKWATCH_RECORD");
    if (!name)
        return;
    if (file < 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", name, (int)getpid());
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    }
    char line[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (file < 0 || n < 0)
        return;
    n = n < (int)sizeof line - 1 ? n : (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(file, line, (size_t)n) != n)
        abort(); /* an incomplete record would pass for a complete one */
}

/* What a pointer is: 0 not registered, 1 pinned, 2 device, 3 managed. */
static int kind_of(const void *pointer)
{
    struct {
        int type, device;
        void *pointers[2];
        long reserved[8];
    } attributes = {0};
    int (*ask)(void *, const void *) = (int (*)(void *, const void *))real("cudaPointerGetAttributes");
    return ask && !ask(&attributes, pointer) ? attributes.type : 0;
}

static void record(const char *name, const struct hw_event *e)
{
    static const char *const directions[] = {"H2H", "H2D", "D2H", "D2D"};
    if (e->kind == HW_KIND_COPY || e->kind == HW_KIND_COPY_ASYNC) {
        int from = kind_of(e->src), to = kind_of(e->dst);
        int direction = (from > 1 ? 2 : 0) + (to > 1 ? 1 : 0), host = from > 1 ? to : from;
        note("%s %s %zu %s", name, directions[direction], e->bytes, direction == 3 ? "" : host == 1 ? "pinned" : "pageable");
    } else if (e->bytes) {
        note("%s %zu", name, e->bytes);
    } else {
        note("%s", name);
    }
}

#undef HW_HOOK
#define HW_HOOK(layer, name, params, args, kind_, ...)                                                                         \
    __attribute__((visibility("default"))) int name params                                                                     \
    {                                                                                                                          \
        static int(*hw_call) params;                                                                                           \
        if (!hw_call)                                                                                                          \
            hw_call = (int(*) params)real(#name);                                                                              \
        if (!hw_call)                                                                                                          \
            return HW_LAYER_##layer == HW_LAYER_RUNTIME ? 500 : 2;                                                             \
        if (!depth++) {                                                                                                        \
            struct hw_event hw_event = {.kind = HW_KIND_##kind_, ##__VA_ARGS__};                                               \
            record(#name, &hw_event);                                                                                          \
        }                                                                                                                      \
        int hw_result = hw_call args;                                                                                          \
        depth--;                                                                                                               \
        return hw_result;                                                                                                      \
    }
#include "interpose/hooks.def"
/* Order between streams, of which the shim has no need. */
HW_HOOK(RUNTIME, cudaEventRecord, (void *event, void *stream), (event, stream), PLAIN)
HW_HOOK(RUNTIME, cudaEventRecordWithFlags, (void *event, void *stream, unsigned flags), (event, stream, flags), PLAIN)
HW_HOOK(RUNTIME, cudaStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags), PLAIN)
