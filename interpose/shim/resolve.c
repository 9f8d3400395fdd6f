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

extern char __executable_start[] __attribute__((weak));

struct object {
    uintptr_t address; /* asked for */
    uintptr_t low, high;
    const char *path;
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
    if (o->address < low || o->address >= high)
        return 0;
    o->low = low;
    o->high = high;
    o->path = info->dlpi_name;
    return 1;
}

static bool is_ours(const void *function)
{
    static struct object self;
    if (!self.high) {
        struct object o = {.address = (uintptr_t)&is_ours};
        dl_iterate_phdr(find_object, &o);
        self = o;
    }
    return (uintptr_t)function >= self.low && (uintptr_t)function < self.high;
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
    const char *name;
    const char *prefix; /* of the file name */
    char path[512];
};

static int find_library(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    struct search *s = user;
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, s->prefix, strlen(s->prefix)) != 0 || strlen(info->dlpi_name) >= sizeof s->path)
        return 0;
    strcpy(s->path, info->dlpi_name);
    return 1;
}

void *hw_resolve_name(const char *name, enum hw_layer layer, const void *caller)
{
    struct object o = {.address = (uintptr_t)caller};
    char path[512] = "";
    /* No loader call from inside dl_iterate_phdr's callback: it holds the loader's lock. */
    if (dl_iterate_phdr(find_object, &o) && o.path && strlen(o.path) < sizeof path)
        strcpy(path, o.path);
    void *function = from_object(path, name);
    if (!function) {
        function = dlsym(RTLD_NEXT, name);
        if (function && is_ours(function))
            function = NULL;
    }
    if (!function) {
        struct search s = {.name = name, .prefix = layer == HW_LAYER_RUNTIME ? "libcudart.so" : "libnccl.so"};
        if (dl_iterate_phdr(find_library, &s))
            function = from_object(s.path, name);
    }
    return function;
}

void *hw_resolve(struct hw_hook *hook, const void *caller)
{
    int saved = errno;
    void *function = hw_resolve_name(hook->name, hook->layer, caller);
    struct object o = {.address = (uintptr_t)caller};
    if (function && dl_iterate_phdr(find_object, &o)) {
        for (int i = 0; i < HW_CALLERS; i++) {
            struct hw_caller *c = &hook->callers[i];
            uintptr_t free_size = 0, busy = 1;
            if (__atomic_load_n(&c->low, __ATOMIC_ACQUIRE) == o.low)
                break; /* another thread was faster */
            /* low = 1 claims the entry; size is set last, so that a reader sees it whole */
            if (__atomic_compare_exchange_n(&c->low, &free_size, busy, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
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
