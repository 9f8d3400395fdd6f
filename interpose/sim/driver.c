/* The driver API as PyTorch, Triton and NVRTC users reach it: modules, launches, contexts, and memory mapped piece by piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

/* The runtime's own entry points, which the driver's are defined by. */
int cudaGetDeviceCount(int *count);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
const char *cudaGetErrorString(int code);
const char *cudaGetErrorName(int code);
int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status);
int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *p);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream);
int cudaStreamSynchronize(void *stream);
int cudaDeviceSynchronize(void);
int cudaMemGetInfo(size_t *free_bytes, size_t *total);

typedef unsigned long long device_pointer;
/* One context per device; its handle is this table's entry. */
static char contexts[64];

HW_API int cuInit(unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cuInit");
    return hw_sim_config.devices ? 0 : 100;
}

HW_API int cuDriverGetVersion(int *version)
{
    HW_ENTER();
    *version = 13020;
    return 0;
}

HW_API int cuDeviceGet(int *device, int ordinal)
{
    HW_ENTER();
    if (ordinal < 0 || ordinal >= hw_sim_config.devices)
        return HW_CUDA_INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

HW_API int cuDeviceGetCount(int *count)
{
    HW_ENTER();
    *count = hw_sim_config.devices;
    return 0;
}

HW_API int cuDeviceGetName(char *out, int length, int device)
{
    HW_ENTER();
    snprintf(out, (size_t)length, "Simulated %s", hw_sim_device_name());
    return 0;
}

HW_API int cuDeviceGetUuid_v2(void *out, int device)
{
    HW_ENTER();
    memset(out, 0x11 + device, 16);
    return 0;
}

HW_API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    HW_ENTER();
    *bytes = hw_sim_config.memory;
    return 0;
}

HW_API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    HW_ENTER();
    return cudaDeviceGetAttribute(value, attribute, device);
}

HW_API int cuCtxGetCurrent(void **context)
{
    HW_ENTER();
    int device;
    cudaGetDevice(&device);
    *context = &contexts[device];
    return 0;
}

HW_API int cuCtxSetCurrent(void *context)
{
    HW_ENTER();
    return context ? cudaSetDevice((int)((char *)context - contexts)) : 0;
}

HW_API int cuCtxGetDevice(int *device)
{
    HW_ENTER();
    return cudaGetDevice(device);
}

HW_API int cuCtxSynchronize(void)
{
    HW_ENTER();
    return cudaDeviceSynchronize();
}

HW_API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    HW_ENTER();
    *context = &contexts[device];
    return 0;
}

HW_API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    HW_ENTER();
    *flags = 0;
    *active = 1;
    return 0;
}

HW_API int cuGetErrorString(int code, const char **out)
{
    HW_ENTER();
    *out = cudaGetErrorString(code);
    return 0;
}

HW_API int cuGetErrorName(int code, const char **out)
{
    HW_ENTER();
    *out = cudaGetErrorName(code);
    return 0;
}

HW_API int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status)
{
    HW_ENTER();
    return cudaGetDriverEntryPoint(name, out, flags, status);
}

/* ---- modules: an image is never looked into; a function is its name ---- */
HW_API int cuModuleLoadData(void **module, const void *image)
{
    HW_ENTER();
    HW_TRACE("cuModuleLoadData");
    *module = hw_sim_handle_new();
    return 0;
}

HW_API int cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options, void **values)
{
    HW_ENTER();
    return cuModuleLoadData(module, image);
}

HW_API int cuModuleLoad(void **module, const char *path)
{
    HW_ENTER();
    HW_TRACE("cuModuleLoad");
    *module = hw_sim_handle_new();
    return 0;
}

HW_API int cuModuleUnload(void *module)
{
    HW_ENTER();
    HW_TRACE("cuModuleUnload");
    free(module);
    return 0;
}

HW_API int cuModuleGetFunction(void **out, void *module, const char *name)
{
    HW_ENTER();
    HW_TRACE("cuModuleGetFunction %s", name);
    *out = strdup(name);
    return *out ? 0 : HW_CUDA_OUT_OF_MEMORY;
}

HW_API int cuFuncGetAttribute(int *value, int attribute, void *f)
{
    HW_ENTER();
    *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0; /* threads per block, registers */
    return 0;
}

HW_API int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **args, void **extra)
{
    HW_ENTER();
    return hw_sim_launch_named("cuLaunchKernel", f, (hw_cuda_dim3){gx, gy, gz}, (hw_cuda_dim3){bx, by, bz}, args, extra, shared,
                               stream);
}

HW_API int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                     unsigned shared, void *stream, void **args)
{
    HW_ENTER();
    return hw_sim_launch_named("cuLaunchCooperativeKernel", f, (hw_cuda_dim3){gx, gy, gz}, (hw_cuda_dim3){bx, by, bz}, args,
                               NULL, shared, stream);
}

HW_API int cuLaunchKernelEx(const hw_cu_launch_config *c, void *f, void **args, void **extra)
{
    HW_ENTER();
    return hw_sim_launch_named("cuLaunchKernelEx", f, c->grid, c->block, args, extra, c->shared_bytes, c->stream);
}

/* ---- pointers ---- */
HW_API int cuPointerGetAttribute(void *out, int attribute, device_pointer p)
{
    HW_ENTER();
    int device, kind = hw_sim_pointer_kind((void *)p, &device);
    HW_TRACE("cuPointerGetAttribute %d", attribute);
    switch (attribute) {
    case 1: /* CU_POINTER_ATTRIBUTE_CONTEXT */
        *(void **)out = kind == HW_PAGEABLE ? NULL : &contexts[device];
        break;
    case 2: /* MEMORY_TYPE: host 1, device 2 */
        *(unsigned *)out = kind == HW_DEVICE ? 2 : 1;
        break;
    case 3: /* DEVICE_POINTER */
        *(device_pointer *)out = p;
        break;
    case 4: /* HOST_POINTER */
        *(void **)out = kind == HW_PINNED ? (void *)p : NULL;
        break;
    case 9: /* DEVICE_ORDINAL */
        *(int *)out = device;
        break;
    default:
        *(int *)out = 0;
    }
    return kind == HW_PAGEABLE ? HW_CUDA_INVALID_VALUE : 0;
}

/* ---- memory, streams: what the runtime does under another name ---- */
HW_API int cuMemAlloc_v2(device_pointer *out, size_t bytes)
{
    HW_ENTER();
    return cudaMalloc((void **)out, bytes);
}

HW_API int cuMemFree_v2(device_pointer p)
{
    HW_ENTER();
    return cudaFree((void *)p);
}

HW_API int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t bytes)
{
    HW_ENTER();
    return cudaMemcpy((void *)to, from, bytes, 1);
}

HW_API int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t bytes)
{
    HW_ENTER();
    return cudaMemcpy(to, (void *)from, bytes, 2);
}

HW_API int cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t bytes, void *stream)
{
    HW_ENTER();
    return cudaMemcpyAsync((void *)to, from, bytes, 1, stream);
}

HW_API int cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t bytes, void *stream)
{
    HW_ENTER();
    return cudaMemcpyAsync(to, (void *)from, bytes, 2, stream);
}

HW_API int cuMemcpyDtoDAsync_v2(device_pointer to, device_pointer from, size_t bytes, void *stream)
{
    HW_ENTER();
    return cudaMemcpyAsync((void *)to, (void *)from, bytes, 3, stream);
}

HW_API int cuMemsetD8Async(device_pointer to, unsigned char value, size_t bytes, void *stream)
{
    HW_ENTER();
    return cudaMemsetAsync((void *)to, value, bytes, stream);
}

HW_API int cuStreamSynchronize(void *stream)
{
    HW_ENTER();
    return cudaStreamSynchronize(stream);
}

HW_API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    HW_ENTER();
    return cudaMemGetInfo(free_bytes, total);
}

/* ---- address ranges and the memory mapped into them (expandable segments) ---- */
HW_API int cuMemAddressReserve(device_pointer *out, size_t bytes, size_t align, device_pointer wish, unsigned long long flags)
{
    HW_ENTER();
    int device;
    cudaGetDevice(&device);
    HW_TRACE("cuMemAddressReserve %zu", bytes);
    *out = (device_pointer)hw_sim_device_reserve(bytes, device);
    return *out ? 0 : HW_CUDA_OUT_OF_MEMORY;
}

HW_API int cuMemAddressFree(device_pointer p, size_t bytes)
{
    HW_ENTER();
    HW_TRACE("cuMemAddressFree");
    hw_sim_device_unreserve((void *)p);
    return 0;
}

HW_API int cuMemGetAllocationGranularity(size_t *out, const void *properties, int option)
{
    HW_ENTER();
    *out = (size_t)2 << 20;
    return 0;
}

HW_API int cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties, unsigned long long flags)
{
    HW_ENTER();
    static unsigned long long last;
    size_t free_bytes, total;
    HW_TRACE("cuMemCreate %zu", bytes);
    cudaMemGetInfo(&free_bytes, &total);
    if (bytes > free_bytes)
        return HW_CUDA_OUT_OF_MEMORY;
    *handle = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return 0;
}

HW_API int cuMemMap(device_pointer p, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags)
{
    HW_ENTER();
    HW_TRACE("cuMemMap %zu", bytes);
    return hw_sim_device_map((void *)p, bytes, 1);
}

HW_API int cuMemUnmap(device_pointer p, size_t bytes)
{
    HW_ENTER();
    HW_TRACE("cuMemUnmap %zu", bytes);
    return hw_sim_device_map((void *)p, bytes, 0);
}
