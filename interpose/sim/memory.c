/* Device, pinned and pageable memory: two reserved address ranges, so that what a pointer is takes two comparisons. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "interpose/sim/sim.h"

#define PAGE       4096ul
#define PINNED_MAX ((size_t)1 << 38)
/* Address space per device: room for fragmentation beyond what can be in use. */
#define SPREAD 4

/* A range is cut into blocks in address order; free neighbours are merged. */
typedef struct block {
    char *start;
    size_t bytes;
    int used;     /* handed out */
    int reserved; /* address range only (cuMemAddressReserve): its bytes are counted when mapped */
    int shared;   /* one more than the descriptor of the file it lies in, once another process may map it; else 0 */
    struct block *next;
} block;
typedef struct range {
    char *base;
    size_t bytes;
    block *first;
    size_t in_use;
} range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static range *devices;
static range pinned;
static char *device_base;
static size_t device_stride;
static struct {
    char *start;
    size_t bytes;
} * registered;
static size_t registered_count;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static char *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Call with the lock held. Returns 0 when the address space could not be had. */
static int ready(void)
{
    if (devices)
        return 1;
    device_stride = round_up(hw_sim_config.memory * SPREAD, (size_t)1 << 30);
    range *all = calloc((size_t)hw_sim_config.devices + 1, sizeof *all);
    device_base = reserve(device_stride * (size_t)(hw_sim_config.devices + 1));
    pinned.base = reserve(PINNED_MAX);
    pinned.bytes = PINNED_MAX;
    if (!all || !device_base || !pinned.base)
        return 0;
    for (int i = 0; i <= hw_sim_config.devices; i++)
        all[i] = (range){device_base + device_stride * (size_t)i, device_stride, NULL, 0};
    pthread_atfork(before_fork, after_fork, after_fork);
    devices = all;
    return 1;
}

static block *take(range *r, size_t bytes, size_t align)
{
    if (!r->first) {
        r->first = calloc(1, sizeof *r->first);
        if (!r->first)
            return NULL;
        r->first->start = r->base;
        r->first->bytes = r->bytes;
    }
    for (block *b = r->first; b; b = b->next) {
        size_t skip = (size_t)(-(uintptr_t)b->start & (align - 1));
        if (b->used || b->bytes < skip || b->bytes - skip < bytes)
            continue;
        if (skip) { /* leave the unaligned head free */
            block *rest = calloc(1, sizeof *rest);
            if (!rest)
                return NULL;
            *rest = (block){b->start + skip, b->bytes - skip, 0, 0, 0, b->next};
            b->bytes = skip;
            b->next = rest;
            b = rest;
        }
        if (b->bytes > bytes) {
            block *rest = calloc(1, sizeof *rest);
            if (!rest)
                return NULL;
            *rest = (block){b->start + bytes, b->bytes - bytes, 0, 0, 0, b->next};
            b->bytes = bytes;
            b->next = rest;
        }
        b->used = 1;
        b->reserved = 0;
        return b;
    }
    return NULL;
}

/* Gives `p` back; 0 when it is no block of `r`. Its pages return to the system, so the next use reads zeros. */
static int give_back(range *r, const void *p)
{
    block *before = NULL;
    for (block *b = r->first; b; before = b, b = b->next) {
        if (b->start != p || !b->used)
            continue;
        if (!b->reserved)
            r->in_use -= b->bytes;
        b->used = 0;
        if (b->shared)
            close(b->shared - 1);
        b->shared = 0;
        (void)mmap(b->start, b->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        if (b->next && !b->next->used) {
            block *gone = b->next;
            b->bytes += gone->bytes;
            b->next = gone->next;
            free(gone);
        }
        if (before && !before->used) {
            before->bytes += b->bytes;
            before->next = b->next;
            free(b);
        }
        return 1;
    }
    return 0;
}

/* Pages that were never touched stay holes. */
static int write_all(int fd, const char *from, size_t bytes)
{
    static const char zeros[PAGE];
    for (size_t at = 0; at < bytes; at += PAGE)
        if (memcmp(from + at, zeros, PAGE) && pwrite(fd, from + at, PAGE, (off_t)at) != (ssize_t)PAGE)
            return 0;
    return 1;
}

/* Zero-filled memory, NULL when `limit` bytes in use would be exceeded. */
static void *allocate(range *r, size_t bytes, size_t limit)
{
    bytes = bytes > SIZE_MAX - PAGE ? 0 : round_up(bytes ? bytes : 1, PAGE);
    if (!bytes || bytes > limit || r->in_use > limit - bytes)
        return NULL;
    block *b = take(r, bytes, PAGE);
    if (!b)
        return NULL;
    if (mprotect(b->start, bytes, PROT_READ | PROT_WRITE)) {
        b->reserved = 1;
        give_back(r, b->start);
        return NULL;
    }
    r->in_use += bytes;
    return b->start;
}

static int allocate_device(void **out, size_t bytes)
{
    int device = hw_sim_device_of();
    pthread_mutex_lock(&lock);
    *out = ready() ? allocate(&devices[device], bytes, hw_sim_config.memory) : NULL;
    pthread_mutex_unlock(&lock);
    return *out ? 0 : hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
}

static int allocate_pinned(void **out, size_t bytes)
{
    pthread_mutex_lock(&lock);
    *out = ready() ? allocate(&pinned, bytes, PINNED_MAX) : NULL;
    pthread_mutex_unlock(&lock);
    return *out ? 0 : hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
}

static int device_index(const void *p)
{
    size_t offset = (size_t)((const char *)p - device_base);
    return device_base && (const char *)p >= device_base && offset < device_stride * (size_t)(hw_sim_config.devices + 1)
               ? (int)(offset / device_stride)
               : -1;
}

static int free_device(void *p)
{
    int device = device_index(p);
    if (!p)
        return 0;
    pthread_mutex_lock(&lock);
    int found = device >= 0 && give_back(&devices[device], p);
    pthread_mutex_unlock(&lock);
    return found ? 0 : hw_sim_fail(HW_CUDA_INVALID_VALUE);
}

int hw_sim_where(const void *p, int *device)
{
    int d = device_index(p);
    if (device)
        *device = d >= 0 ? d : hw_sim_device_of();
    if (d >= 0)
        return HW_DEVICE;
    if (pinned.base && (const char *)p >= pinned.base && (const char *)p < pinned.base + pinned.bytes)
        return HW_PINNED;
    int kind = HW_PAGEABLE;
    if (__atomic_load_n(&registered_count, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < registered_count && kind == HW_PAGEABLE; i++)
            if ((const char *)p >= registered[i].start && (const char *)p < registered[i].start + registered[i].bytes)
                kind = HW_PINNED;
        pthread_mutex_unlock(&lock);
    }
    return kind;
}

int hw_sim_pointer_kind(const void *p, int *device)
{
    return hw_sim_where(p, device);
}

void *hw_sim_device_reserve(size_t bytes, int device)
{
    pthread_mutex_lock(&lock);
    block *b = ready() && device >= 0 && device <= hw_sim_config.devices
                   ? take(&devices[device], round_up(bytes, (size_t)2 << 20), (size_t)2 << 20)
                   : NULL;
    if (b)
        b->reserved = 1;
    pthread_mutex_unlock(&lock);
    return b ? b->start : NULL;
}

void hw_sim_device_unreserve(void *p)
{
    int device = device_index(p);
    pthread_mutex_lock(&lock);
    if (device >= 0)
        give_back(&devices[device], p);
    pthread_mutex_unlock(&lock);
}

int hw_sim_device_map(void *p, size_t bytes, int map)
{
    int device = device_index(p), error = 0;
    if (device < 0)
        return HW_CUDA_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (map && devices[device].in_use + bytes > hw_sim_config.memory)
        error = HW_CUDA_OUT_OF_MEMORY;
    else if (mmap(p, bytes, map ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                  -1, 0) == MAP_FAILED)
        error = HW_CUDA_OUT_OF_MEMORY;
    else
        devices[device].in_use += map ? bytes : -bytes;
    pthread_mutex_unlock(&lock);
    return error;
}

/* The block moves into a file once, its address and bytes stay. Whoever writes to it meanwhile has no event to wait for: as on
 * hardware, what is shared is what was written before the handle was asked for. */
int hw_sim_device_share(const void *p, size_t *bytes)
{
    int device = device_index(p), fd = -1;
    if (device < 0)
        return -1;
    pthread_mutex_lock(&lock);
    block *b = devices[device].first;
    while (b && !(b->used && !b->reserved && (const char *)p >= b->start && (const char *)p < b->start + b->bytes))
        b = b->next;
    if (b && !b->shared && (fd = memfd_create("hookwatch-ipc", MFD_CLOEXEC)) >= 0) {
        if (!ftruncate(fd, (off_t)b->bytes) && write_all(fd, b->start, b->bytes) &&
            mmap(b->start, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
            b->shared = fd + 1;
        else
            close(fd);
    }
    fd = b ? b->shared - 1 : -1;
    *bytes = b ? b->bytes : 0;
    pthread_mutex_unlock(&lock);
    return fd;
}

void *hw_sim_device_adopt(int fd, size_t bytes)
{
    void *p = hw_sim_device_reserve(bytes, hw_sim_device_of());
    if (p && mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        hw_sim_device_unreserve(p);
        p = NULL;
    }
    return p;
}

HW_API int cudaMalloc(void **out, size_t bytes)
{
    HW_ENTER();
    HW_COUNT(allocs, 1);
    HW_TRACE("cudaMalloc %zu", bytes);
    int error = hw_sim_capture_forbids(NULL, 1);
    return error ? error : allocate_device(out, bytes);
}

HW_API int cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    HW_ENTER();
    HW_COUNT(allocs, 1);
    HW_TRACE("cudaMallocManaged %zu", bytes);
    return allocate_device(out, bytes);
}

HW_API int cudaMallocAsync(void **out, size_t bytes, void *stream)
{
    HW_ENTER();
    HW_COUNT(allocs, 1);
    HW_TRACE("cudaMallocAsync %zu", bytes);
    return allocate_device(out, bytes);
}

HW_API int cudaFree(void *p)
{
    HW_ENTER();
    HW_TRACE(p ? "cudaFree" : "cudaFree NULL");
    if (!p)
        return 0;
    HW_COUNT(frees, 1);
    hw_sim_fence_device();
    return free_device(p);
}

HW_API int cudaFreeAsync(void *p, void *stream)
{
    HW_ENTER();
    HW_COUNT(frees, 1);
    HW_TRACE("cudaFreeAsync");
    hw_sim_fence(stream);
    return free_device(p);
}

HW_API int cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    HW_ENTER();
    HW_COUNT(allocs, 1);
    HW_TRACE("cudaHostAlloc %zu", bytes);
    return allocate_pinned(out, bytes);
}

HW_API int cudaMallocHost(void **out, size_t bytes)
{
    HW_ENTER();
    HW_COUNT(allocs, 1);
    HW_TRACE("cudaMallocHost %zu", bytes);
    return allocate_pinned(out, bytes);
}

HW_API int cudaFreeHost(void *p)
{
    HW_ENTER();
    HW_COUNT(frees, 1);
    HW_TRACE("cudaFreeHost");
    hw_sim_fence_device();
    pthread_mutex_lock(&lock);
    int found = !p || give_back(&pinned, p);
    pthread_mutex_unlock(&lock);
    return found ? 0 : hw_sim_fail(HW_CUDA_INVALID_VALUE);
}

HW_API int cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudaHostRegister %zu", bytes);
    pthread_mutex_lock(&lock);
    void *grown = realloc(registered, (registered_count + 1) * sizeof *registered);
    if (grown) {
        registered = grown;
        registered[registered_count].start = p;
        registered[registered_count].bytes = bytes;
        __atomic_store_n(&registered_count, registered_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return grown ? 0 : hw_sim_fail(HW_CUDA_OUT_OF_MEMORY);
}

HW_API int cudaHostUnregister(void *p)
{
    HW_ENTER();
    HW_TRACE("cudaHostUnregister");
    int found = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < registered_count && !found; i++)
        if (registered[i].start == p) {
            registered[i] = registered[registered_count - 1];
            __atomic_store_n(&registered_count, registered_count - 1, __ATOMIC_RELEASE);
            found = 1;
        }
    pthread_mutex_unlock(&lock);
    return found ? 0 : hw_sim_fail(HW_CUDA_INVALID_VALUE);
}

HW_API int cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    HW_ENTER();
    *out = host;
    return 0;
}

HW_API int cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    HW_ENTER();
    HW_TRACE("cudaMemGetInfo");
    pthread_mutex_lock(&lock);
    size_t used = ready() ? devices[hw_sim_device_of()].in_use : 0;
    pthread_mutex_unlock(&lock);
    *total = hw_sim_config.memory;
    *free_bytes = hw_sim_config.memory - used;
    return 0;
}

HW_API int cudaPointerGetAttributes(hw_cuda_pointer_attributes *out, const void *p)
{
    HW_ENTER();
    static const char *names[] = {"pageable", "pinned", "device"};
    int device, kind = hw_sim_where(p, &device);
    HW_TRACE("cudaPointerGetAttributes %s", names[kind]);
    memset(out, 0, sizeof *out);
    out->type = kind == HW_DEVICE ? HW_CUDA_DEVICE : kind == HW_PINNED ? HW_CUDA_HOST : HW_CUDA_UNREGISTERED;
    out->device = kind == HW_PAGEABLE ? -1 : device;
    out->device_pointer = kind == HW_PAGEABLE ? NULL : (void *)(uintptr_t)p;
    out->host_pointer = kind == HW_PINNED ? (void *)(uintptr_t)p : NULL;
    return 0;
}
