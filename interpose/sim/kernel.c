/* Kernels: registration by host stub, launches, device variables, and the twins that stand in for a program's own kernels. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

typedef struct symbol { /* a registered kernel or device variable, keyed by its host address */
    const void *host;
    const char *name;
    void *device; /* of a variable, once asked for */
    size_t bytes;
} symbol;
typedef struct table {
    symbol *slot;
    size_t room, count;
} table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static table kernels, variables;
static struct {
    const char *name;
    hw_sim_twin twin;
} * twins;
static size_t twin_count;

/* ---- open addressing; PyTorch registers about 24,000 kernels before main() ---- */
static size_t slot_of(const table *t, const void *host)
{
    size_t i = (size_t)(((uintptr_t)host >> 4) * 0x9E3779B97F4A7C15u >> 32) & (t->room - 1);
    while (t->slot[i].host && t->slot[i].host != host)
        i = (i + 1) & (t->room - 1);
    return i;
}

static symbol *find(const table *t, const void *host)
{
    if (!t->room)
        return NULL;
    symbol *s = &t->slot[slot_of(t, host)];
    return s->host ? s : NULL;
}

static void put(table *t, const void *host, const char *name, size_t bytes)
{
    if ((t->count + 1) * 2 > t->room) {
        table grown = {NULL, t->room ? t->room * 2 : 1024, t->count};
        grown.slot = calloc(grown.room, sizeof *grown.slot);
        if (!grown.slot)
            abort();
        for (size_t i = 0; i < t->room; i++)
            if (t->slot[i].host)
                grown.slot[slot_of(&grown, t->slot[i].host)] = t->slot[i];
        free(t->slot);
        *t = grown;
    }
    symbol *s = &t->slot[slot_of(t, host)];
    if (!s->host)
        t->count++;
    *s = (symbol){host, name, NULL, bytes};
}

HW_API void **__cudaRegisterFatBinary(void *fat)
{
    static void *handle;
    return &handle;
}

HW_API void __cudaRegisterFatBinaryEnd(void **fat)
{
}

HW_API void __cudaUnregisterFatBinary(void **fat)
{
}

HW_API void __cudaRegisterFunction(void **fat, const char *host, char *device, const char *name, int limit, void *tid,
                                   void *bid, void *block, void *grid, int *warp)
{
    pthread_mutex_lock(&lock);
    put(&kernels, host, name, 0);
    pthread_mutex_unlock(&lock);
}

HW_API void __cudaRegisterVar(void **fat, char *host, char *device, const char *name, int external, size_t bytes, int constant,
                              int global)
{
    pthread_mutex_lock(&lock);
    put(&variables, host, name, bytes);
    pthread_mutex_unlock(&lock);
}

/* ---- device variables ---- */
HW_API int cudaMalloc(void **out, size_t bytes);
HW_API int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);

HW_API int cudaGetSymbolAddress(void **out, const void *host)
{
    HW_ENTER();
    HW_TRACE("cudaGetSymbolAddress");
    pthread_mutex_lock(&lock);
    symbol *s = find(&variables, host);
    int error = s ? 0 : HW_CUDA_INVALID_VALUE;
    if (s && !s->device)
        error = cudaMalloc(&s->device, s->bytes);
    *out = s ? s->device : NULL;
    pthread_mutex_unlock(&lock);
    return error ? hw_sim_fail(error) : 0;
}

HW_API int cudaGetSymbolSize(size_t *out, const void *host)
{
    HW_ENTER();
    pthread_mutex_lock(&lock);
    symbol *s = find(&variables, host);
    *out = s ? s->bytes : 0;
    pthread_mutex_unlock(&lock);
    return s ? 0 : hw_sim_fail(HW_CUDA_INVALID_VALUE);
}

HW_API int cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, int kind)
{
    HW_ENTER();
    void *to;
    int error = cudaGetSymbolAddress(&to, host);
    return error ? error : cudaMemcpy((char *)to + offset, from, bytes, kind);
}

HW_API int cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, int kind)
{
    HW_ENTER();
    void *from;
    int error = cudaGetSymbolAddress(&from, host);
    return error ? error : cudaMemcpy(to, (char *)from + offset, bytes, kind);
}

/* ---- twins ---- */
HW_API void hw_sim_register_kernel(const char *name, hw_sim_twin twin)
{
    pthread_mutex_lock(&lock);
    void *grown = realloc(twins, (twin_count + 1) * sizeof *twins);
    if (!grown)
        abort();
    twins = grown;
    twins[twin_count].name = name;
    twins[twin_count].twin = twin;
    __atomic_store_n(&twin_count, twin_count + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/* The whole registered name, or the identifier inside a mangled one, where it stands behind its own length. */
static int same_kernel(const char *registered, const char *name)
{
    char mangled[512];
    if (!strcmp(registered, name))
        return 1;
    if (strncmp(registered, "_Z", 2) ||
        (size_t)snprintf(mangled, sizeof mangled, "%zu%s", strlen(name), name) >= sizeof mangled)
        return 0;
    for (const char *at = registered; (at = strstr(at, mangled)); at++)
        if (at[-1] < '0' || at[-1] > '9')
            return 1;
    return 0;
}

static hw_sim_twin twin_of(const char *name)
{
    hw_sim_twin found = NULL;
    if (!name || !__atomic_load_n(&twin_count, __ATOMIC_ACQUIRE))
        return NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = twin_count; i-- > 0 && !found;)
        if (same_kernel(name, twins[i].name))
            found = twins[i].twin;
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- launches ---- */
int hw_sim_launch_named(const char *api, const char *name, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args, size_t shared,
                        void *stream)
{
    static int said;
    HW_COUNT(launches, 1);
    HW_TRACE("%s %s", api, name ? name : "?");
    hw_sim_twin twin = twin_of(name);
    if (hw_sim_capture(stream, HW_NODE_KERNEL, NULL, NULL, 0)) {
        if (twin)
            hw_sim_say_once(&said, "kernel %s is captured into a graph: its twin does not run when the graph is launched",
                            name);
        return 0;
    }
    hw_sim_stream_busy(stream, api, "kernel");
    if (!twin) {
        hw_sim_value_check(name);
        return 0;
    }
    hw_sim_launch launch = {name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, args, stream};
    hw_sim_fence(stream);
    HW_COUNT(twins, 1);
    twin(&launch);
    return 0;
}

static int launch(const char *api, const void *host, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args, size_t shared,
                  void *stream)
{
    const char *name = NULL;
    if (hw_sim_tracing || hw_sim_mode() == 2 || __atomic_load_n(&twin_count, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        symbol *s = find(&kernels, host);
        name = s ? s->name : NULL;
        pthread_mutex_unlock(&lock);
    }
    return hw_sim_launch_named(api, name, grid, block, args, shared, stream);
}

HW_API int cudaLaunchKernel(const void *host, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args, size_t shared, void *stream)
{
    HW_ENTER();
    return launch("cudaLaunchKernel", host, grid, block, args, shared, stream);
}

/* A kernel handle is the address of its host stub. */
HW_API int __cudaGetKernel(const void **out, const void *host)
{
    *out = host;
    return 0;
}

HW_API int __cudaLaunchKernel(const void *kernel, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args, size_t shared,
                              void *stream)
{
    HW_ENTER();
    return launch("cudaLaunchKernel", kernel, grid, block, args, shared, stream);
}

HW_API int cudaLaunchCooperativeKernel(const void *host, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args, size_t shared,
                                       void *stream)
{
    HW_ENTER();
    return launch("cudaLaunchCooperativeKernel", host, grid, block, args, shared, stream);
}

HW_API int cudaLaunchKernelExC(const hw_cuda_launch_config *c, const void *host, void **args)
{
    HW_ENTER();
    return launch("cudaLaunchKernelExC", host, c->grid, c->block, args, c->shared_bytes, c->stream);
}

typedef struct host_call {
    void (*call)(void *);
    void *data;
} host_call;

static void run_host(void *stream, const void *data)
{
    const host_call *h = data;
    h->call(h->data);
}

HW_API int cudaLaunchHostFunc(void *stream, void (*call)(void *), void *data)
{
    HW_ENTER();
    host_call h = {call, data};
    HW_TRACE("cudaLaunchHostFunc");
    if (hw_sim_capture(stream, HW_NODE_HOST, run_host, &h, sizeof h))
        return 0;
    hw_sim_fence(stream);
    hw_sim_stream_busy(stream, "cudaLaunchHostFunc", "");
    call(data);
    return 0;
}

HW_API int cudaStreamAddCallback(void *stream, void (*call)(void *stream, int status, void *data), void *data, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudaStreamAddCallback");
    hw_sim_fence(stream);
    call(stream, 0, data);
    return 0;
}

/* ---- the <<<>>> syntax pushes its configuration, the host stub pops it ---- */
static __thread struct {
    hw_cuda_dim3 grid, block;
    size_t shared;
    void *stream;
} pushed[16];
static __thread unsigned pushed_count;

HW_API unsigned __cudaPushCallConfiguration(hw_cuda_dim3 grid, hw_cuda_dim3 block, size_t shared, void *stream)
{
    if (pushed_count == sizeof pushed / sizeof *pushed)
        return 1;
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count++].stream = stream;
    return 0;
}

HW_API int __cudaPopCallConfiguration(hw_cuda_dim3 *grid, hw_cuda_dim3 *block, size_t *shared, void **stream)
{
    if (!pushed_count)
        return hw_sim_fail(HW_CUDA_INVALID_VALUE);
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *stream = pushed[pushed_count].stream;
    return 0;
}
