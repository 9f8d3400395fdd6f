/* Finding the function that a caller would have reached without us. Symbol scopes differ per caller (a framework opened with
 * RTLD_LOCAL, two CUDA majors in one process), so the answer is looked up once per calling object and kept. The caller is the
 * object of the return address: a plugin that ends a function by jumping to ours passes for its own caller, which matters only
 * where two majors are loaded. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

/* The first and last byte of our own object, from the linker. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

struct object {
    uintptr_t address; /* asked for */
    uintptr_t low, high;
    const char *path;
    bool after_us; /* in the loader's order: not the program, not what is preloaded in front of us */
};

static int find_object(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    struct object *o = user;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        low = start < low ? start : low;
        high = start + p->p_memsz > high ? start + p->p_memsz : high;
    }
    if ((uintptr_t)&__ehdr_start >= low && (uintptr_t)&__ehdr_start < high)
        o->after_us = true;
    if (o->address < low || o->address >= high)
        return 0;
    o->low = low;
    o->high = high;
    o->path = info->dlpi_name;
    return 1;
}

static bool is_ours(const void *function)
{
    return (uintptr_t)function >= (uintptr_t)&__ehdr_start && (uintptr_t)function < (uintptr_t)&_end;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *library_prefix(enum hw_layer layer)
{
    return layer == HW_LAYER_RUNTIME ? "libcudart.so" : "libnccl.so";
}

/* `name` as the loaded object `path` and its dependencies see it. */
static void *from_object(const char *path, const char *name)
{
    if (!path || !*path)
        return NULL;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    void *function = dlsym(handle, name);
    dlclose(handle); /* NOLOAD took a reference; the object stays loaded for its owner */
    return function && !is_ours(function) ? function : NULL;
}

struct search {
    const char *prefix; /* of the file name */
    char path[512];
};

static int find_library(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    struct search *s = user;
    if (strncmp(base_name(info->dlpi_name), s->prefix, strlen(s->prefix)) != 0 || strlen(info->dlpi_name) >= sizeof s->path)
        return 0;
    strcpy(s->path, info->dlpi_name);
    return 1;
}

/* True if the function lies in NVIDIA's own library, not in another interposer that stands behind us. */
static bool is_library(const void *function, enum hw_layer layer)
{
    struct object o = {.address = (uintptr_t)function};
    return dl_iterate_phdr(find_object, &o) && o.path &&
           strncmp(base_name(o.path), library_prefix(layer), strlen(library_prefix(layer))) == 0;
}

/* First the next definition after ours, as the loader would have chosen: it may be another interposer's. A library that the
 * caller itself was linked with comes before it only where both are NVIDIA's: two majors in one process. An interposer in
 * front of us that calls on must never be given its own function back. */
void *hw_resolve_name(const char *name, enum hw_layer layer, const void *caller)
{
    struct object o = {.address = (uintptr_t)caller};
    char path[512] = "";
    /* No loader call from inside dl_iterate_phdr's callback: it holds the loader's lock. */
    if (dl_iterate_phdr(find_object, &o) && o.path && strlen(o.path) < sizeof path)
        strcpy(path, o.path);
    void *next = dlsym(RTLD_NEXT, name), *own = from_object(path, name);
    if (next && is_ours(next))
        next = NULL;
    if (own && !o.after_us && (uintptr_t)own >= o.low && (uintptr_t)own < o.high)
        own = NULL;
    if (next && !(own && own != next && is_library(next, layer) && is_library(own, layer)))
        return next;
    if (own)
        return own;
    struct search s = {.prefix = library_prefix(layer)};
    return dl_iterate_phdr(find_library, &s) ? from_object(s.path, name) : NULL;
}

/* Keeps the object of a function that is remembered: it may have been opened privately and be closed again. */
static void pin(const void *function)
{
    Dl_info info;
    if (dladdr(function, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* With more calling objects than entries, all known ones meaning the same function is taken for all. */
static void *unanimous(const struct hw_hook *hook)
{
    if (!__atomic_load_n(&hook->callers[HW_CALLERS - 1].size, __ATOMIC_ACQUIRE))
        return NULL;
    for (int i = 1; i < HW_CALLERS; i++)
        if (hook->callers[i].real != hook->callers[0].real)
            return NULL;
    return hook->callers[0].real;
}

void *hw_resolve(struct hw_hook *hook, const void *caller)
{
    void *function = unanimous(hook);
    if (function)
        return function;
    int saved = errno;
    function = hw_resolve_name(hook->name, hook->layer, caller);
    struct object o = {.address = (uintptr_t)caller};
    if (function && dl_iterate_phdr(find_object, &o)) {
        for (int i = 0; i < HW_CALLERS; i++) {
            struct hw_caller *c = &hook->callers[i];
            uintptr_t free_size = 0, busy = 1;
            if (__atomic_load_n(&c->low, __ATOMIC_ACQUIRE) == o.low)
                break; /* another thread was faster */
            /* low = 1 claims the entry; size is set last, so that a reader sees it whole */
            if (__atomic_compare_exchange_n(&c->low, &free_size, busy, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
                pin(function);
                c->real = function;
                __atomic_store_n(&c->low, o.low, __ATOMIC_RELEASE);
                __atomic_store_n(&c->size, o.high - o.low, __ATOMIC_RELEASE);
                break;
            }
        }
    }
    errno = saved;
    return function;
}
