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
typedef struct twin {
    const char *name;
    hw_sim_twin run; /* NULL: no twin */
    const size_t *sizes;
    int count; /* of parameters; 0: their sizes are not known */
} twin;
static twin *twins;
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
#define PARAMETERS_MAX 256

HW_API void hw_sim_register_kernel_sized(const char *name, hw_sim_twin run, const size_t *sizes, int count)
{
    if (count < 0 || count > PARAMETERS_MAX) {
        fprintf(stderr, "hookwatch: simulate: twin %s: %d parameters; a kernel has at most %d\n", name, count, PARAMETERS_MAX);
        count = 0;
    }
    pthread_mutex_lock(&lock);
    void *grown = realloc(twins, (twin_count + 1) * sizeof *twins);
    if (!grown)
        abort();
    twins = grown;
    twins[twin_count] = (twin){name, run, sizes, sizes ? count : 0};
    __atomic_store_n(&twin_count, twin_count + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

HW_API void hw_sim_register_kernel(const char *name, hw_sim_twin run)
{
    hw_sim_register_kernel_sized(name, run, NULL, 0);
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

static twin twin_of(const char *name)
{
    twin found = {NULL, NULL, NULL, 0};
    if (!name || !__atomic_load_n(&twin_count, __ATOMIC_ACQUIRE))
        return found;
    pthread_mutex_lock(&lock);
    for (size_t i = twin_count; i-- > 0 && !found.run;)
        if (same_kernel(name, twins[i].name))
            found = twins[i];
    pthread_mutex_unlock(&lock);
    return found;
}

/* A launch kept for replay; behind it lie the name and then the parameters, each where any type may lie. */
typedef struct kept {
    twin twin;
    unsigned grid[3], block[3];
    size_t shared, name_bytes;
    int count;
    size_t sizes[PARAMETERS_MAX];
} kept;

static size_t aligned(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

static void replay(void *stream, const void *data)
{
    const kept *k = data;
    char *at = (char *)(uintptr_t)data + aligned(sizeof *k);
    void *args[PARAMETERS_MAX];
    const char *name = at;
    at += aligned(k->name_bytes);
    for (int i = 0; i < k->count; at += aligned(k->sizes[i++]))
        args[i] = at;
    hw_sim_launch launch = {
        name, {k->grid[0], k->grid[1], k->grid[2]}, {k->block[0], k->block[1], k->block[2]}, k->shared, args, stream};
    HW_COUNT(twins, 1);
    k->twin.run(&launch);
}

static void capture(const twin *t, const hw_sim_launch *launch)
{
    static int said;
    if (!t->run || !t->count || !launch->args) {
        if (t->run)
            hw_sim_say_once(&said,
                            "kernel %s is captured into a graph, but its twin was registered without the sizes of its "
                            "parameters: the twin does not run when the graph is launched",
                            launch->name);
        hw_sim_capture(launch->stream, HW_NODE_KERNEL, NULL, NULL, 0);
        return;
    }
    size_t bytes = aligned(sizeof(kept)) + aligned(strlen(launch->name) + 1);
    for (int i = 0; i < t->count; i++)
        bytes += aligned(t->sizes[i]);
    kept *k = calloc(1, bytes);
    if (!k)
        abort();
    *k = (kept){.twin = *t, .shared = launch->shared_bytes, .name_bytes = strlen(launch->name) + 1, .count = t->count};
    memcpy(k->grid, launch->grid, sizeof k->grid);
    memcpy(k->block, launch->block, sizeof k->block);
    memcpy(k->sizes, t->sizes, (size_t)t->count * sizeof *t->sizes);
    char *at = (char *)k + aligned(sizeof *k);
    memcpy(at, launch->name, k->name_bytes);
    at += aligned(k->name_bytes);
    for (int i = 0; i < t->count; at += aligned(t->sizes[i++]))
        memcpy(at, launch->args[i], t->sizes[i]);
    hw_sim_capture(launch->stream, HW_NODE_KERNEL, replay, k, bytes);
    free(k);
}

/* The arguments of a launch that passes them in one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER): each lies where its size aligns it.
 * NULL when the sizes are not known. */
static void **from_buffer(const twin *t, void **extra, void *args[PARAMETERS_MAX])
{
    char *buffer = NULL;
    for (; extra && *extra; extra += 2) /* pairs of a key and a value, ended by key 0 */
        if ((uintptr_t)*extra == 1)
            buffer = extra[1];
    if (!buffer || !t->count)
        return NULL;
    size_t at = 0;
    for (int i = 0; i < t->count; at += t->sizes[i++]) {
        size_t align = t->sizes[i] && !(t->sizes[i] & (t->sizes[i] - 1)) && t->sizes[i] <= 16 ? t->sizes[i] : 8;
        at = (at + align - 1) & ~(align - 1);
        args[i] = buffer + at;
    }
    return args;
}

/* ---- launches ---- */
int hw_sim_launch_named(const char *api, const char *name, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args, void **extra,
                        size_t shared, void *stream)
{
    void *unpacked[PARAMETERS_MAX];
    HW_COUNT(launches, 1);
    HW_TRACE("%s %s", api, name ? name : "?");
    twin t = twin_of(name);
    if (t.run && !args && extra)
        args = from_buffer(&t, extra, unpacked);
    hw_sim_launch launch = {name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, args, stream};
    if (hw_sim_stream_of(stream)->capture) {
        capture(&t, &launch);
        return 0;
    }
    hw_sim_stream_busy(stream, api, "kernel");
    if (!t.run) {
        hw_sim_value_check(name);
        return 0;
    }
    if (!args && extra) {
        hw_sim_unvalued(name, "its arguments come in one buffer, and its twin was registered without their sizes");
        return 0;
    }
    hw_sim_fence(stream);
    HW_COUNT(twins, 1);
    t.run(&launch);
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
    return hw_sim_launch_named(api, name, grid, block, args, NULL, shared, stream);
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
