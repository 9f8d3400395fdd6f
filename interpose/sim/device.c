/* The simulated device: its number, limits and attributes, errors, and the way to the driver's entry points. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "interpose/sim/sim.h"

#define DRIVER_VERSION 13020

static __thread int current;
static __thread int last_error;

enum {
    THREADS_PER_BLOCK = 1024,
    THREADS_PER_PROCESSOR = 2048,
    BLOCKS_PER_PROCESSOR = 32,
    REGISTERS = 65536,
    SHARED_PER_BLOCK = 48 << 10,
};

/* The rows of profiles.def, sizes in bytes. */
static const struct profile {
    char name[16];
    size_t memory;
    int major, minor, processors, l2, shared, clock, memory_clock, bus;
} profiles[] = {
#define HW_PROFILE(name, shown, memory, major, minor, processors, l2, shared, clock, memory_clock, bus)                        \
    {shown, (size_t)memory << 20, major, minor, processors, l2 << 10, shared << 10, clock, memory_clock, bus},
#include "interpose/sim/profiles.def"
#undef HW_PROFILE
};

static const struct profile *profile(void)
{
    return &profiles[hw_sim_config.profile];
}

const char *hw_sim_device_name(void)
{
    return profile()->name;
}

size_t hw_sim_device_memory(int row)
{
    return profiles[row].memory;
}

static int shared_per_block_optin(void)
{
    return profile()->shared - 1024;
}

int hw_sim_fail(int error)
{
    last_error = error;
    return error;
}

int hw_sim_device_of(void)
{
    return current;
}

HW_API int cudaGetDeviceCount(int *count)
{
    HW_ENTER();
    *count = hw_sim_config.devices;
    return *count ? 0 : hw_sim_fail(100); /* cudaErrorNoDevice */
}

HW_API int cudaGetDevice(int *device)
{
    *device = current;
    return 0;
}

HW_API int cudaSetDevice(int device)
{
    HW_ENTER();
    if (device < 0 || device >= hw_sim_config.devices)
        return hw_sim_fail(HW_CUDA_INVALID_DEVICE);
    current = device;
    return 0;
}

HW_API int cudaDriverGetVersion(int *version)
{
    HW_ENTER();
    *version = DRIVER_VERSION;
    return 0;
}

HW_API int cudaRuntimeGetVersion(int *version)
{
    HW_ENTER();
    *version = DRIVER_VERSION;
    return 0;
}

/* An error that lost the device is never forgotten. */
HW_API int cudaGetLastError(void)
{
    int error = hw_sim_sticky() ? hw_sim_sticky() : last_error;
    last_error = 0;
    return error;
}

HW_API int cudaPeekAtLastError(void)
{
    return hw_sim_sticky() ? hw_sim_sticky() : last_error;
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {0, "cudaSuccess", "no error"},
    {HW_CUDA_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {HW_CUDA_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {HW_CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {HW_CUDA_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {HW_CUDA_ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {HW_CUDA_NOT_FOUND, "cudaErrorSymbolNotFound", "named symbol not found"},
    {HW_CUDA_NOT_READY, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {999, "cudaErrorUnknown", "unknown error"},
    {HW_CUDA_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported (by the simulated device)"},
    {HW_CUDA_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {HW_CUDA_CAPTURE_INVALIDATED, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {HW_CUDA_CAPTURED_EVENT, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
};

HW_API const char *cudaGetErrorName(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "unrecognized error code";
}

HW_API const char *cudaGetErrorString(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].text;
    return "unrecognized error code";
}

HW_API int cudaGetDeviceProperties(hw_cuda_device_prop *p, int device)
{
    HW_ENTER();
    if (device < 0 || device >= hw_sim_config.devices)
        return hw_sim_fail(HW_CUDA_INVALID_DEVICE);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Simulated %s", profile()->name);
    memset(p->uuid, 0x11 + device, sizeof p->uuid);
    p->total_global_mem = hw_sim_config.memory;
    p->shared_mem_per_block = SHARED_PER_BLOCK;
    p->regs_per_block = p->regs_per_multiprocessor = REGISTERS;
    p->warp_size = 32;
    p->mem_pitch = 0x7fffffff;
    p->max_threads_per_block = THREADS_PER_BLOCK;
    p->max_threads_dim[0] = p->max_threads_dim[1] = 1024;
    p->max_threads_dim[2] = 64;
    p->max_grid_size[0] = 0x7fffffff;
    p->max_grid_size[1] = p->max_grid_size[2] = 65535;
    p->total_const_mem = 65536;
    p->major = profile()->major;
    p->minor = profile()->minor;
    p->texture_alignment = p->surface_alignment = 512;
    p->multi_processor_count = profile()->processors;
    p->can_map_host_memory = p->unified_addressing = p->concurrent_kernels = p->managed_memory = 1;
    p->pci_bus_id = 1 + device;
    p->async_engine_count = 3;
    p->memory_bus_width = profile()->bus;
    p->l2_cache_size = profile()->l2;
    p->max_threads_per_multi_processor = THREADS_PER_PROCESSOR;
    p->stream_priorities_supported = p->cooperative_launch = 1;
    p->shared_mem_per_multiprocessor = (size_t)profile()->shared;
    p->shared_mem_per_block_optin = (size_t)shared_per_block_optin();
    p->max_blocks_per_multi_processor = BLOCKS_PER_PROCESSOR;
    p->reserved_shared_mem_per_block = 1024;
    return 0;
}

/* cudaDeviceAttr and CUdevice_attribute share their numbers. Those not listed are capabilities: 1, present. */
static const struct {
    int attribute, value;
} attributes[] = {
    {1, THREADS_PER_BLOCK},
    {2, 1024},
    {3, 1024},
    {4, 64},
    {5, 0x7fffffff},
    {6, 65535},
    {7, 65535},
    {8, SHARED_PER_BLOCK},
    {9, 65536}, /* constant memory */
    {10, 32},   /* warp */
    {11, 0x7fffffff},
    {12, REGISTERS},
    {14, 512},
    {17, 0}, /* kernel time-out */
    {18, 0}, /* integrated */
    {20, 0}, /* compute mode */
    {34, 0}, /* PCI device */
    {35, 0},
    {39, THREADS_PER_PROCESSOR},
    {40, 3}, /* copy engines */
    {50, 0}, /* PCI domain */
    {82, REGISTERS},
    {84, 0}, /* multi-GPU board */
    {85, 0},
    {86, 0},
    {88, 0}, /* pageable memory access */
    {100, 0},
    {101, 0},
    {106, BLOCKS_PER_PROCESSOR},
    {108, 32 << 20},
    {109, 128 << 20},
    {111, 1024},
    {130, 0},
    {131, -1},
    {132, 0}, /* multicast */
    {134, -1},
};

/* Those in which the devices differ; -1 for any other. */
static int profile_attribute(int attribute)
{
    switch (attribute) {
    case 13:
        return profile()->clock;
    case 16:
        return profile()->processors;
    case 36:
        return profile()->memory_clock;
    case 37:
        return profile()->bus;
    case 38:
        return profile()->l2;
    case 75:
        return profile()->major;
    case 76:
        return profile()->minor;
    case 81:
        return profile()->shared;
    case 97:
        return shared_per_block_optin();
    default:
        return -1;
    }
}

HW_API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    HW_ENTER();
    if (device < 0 || device >= hw_sim_config.devices)
        return hw_sim_fail(HW_CUDA_INVALID_DEVICE);
    *value = attribute == 33 ? 1 + device : 1; /* PCI bus */
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute)
            *value = attributes[i].value;
    int own = profile_attribute(attribute);
    if (own >= 0)
        *value = own;
    return 0;
}

HW_API int cudaFuncGetAttributes(hw_cuda_func_attributes *out, const void *kernel)
{
    HW_ENTER();
    memset(out, 0, sizeof *out);
    out->max_threads_per_block = THREADS_PER_BLOCK;
    out->num_regs = 32;
    out->ptx_version = out->binary_version = profile()->major * 10 + profile()->minor;
    out->max_dynamic_shared_size_bytes = shared_per_block_optin();
    return 0;
}

HW_API int cudaDeviceGetPCIBusId(char *out, int length, int device)
{
    HW_ENTER();
    snprintf(out, (size_t)length, "0000:%02x:00.0", 1 + device);
    return 0;
}

/* The driver's entry points are asked for without their version suffix. */
HW_API int cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags,
                                            int *status)
{
    static void *driver;
    char versioned[256];
    *out = NULL;
    if (status)
        *status = 1; /* cudaDriverEntryPointSymbolNotFound */
    HW_ENTER();
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    snprintf(versioned, sizeof versioned, "%s_v2", name);
    *out = driver ? dlsym(driver, versioned) : NULL;
    if (!*out && driver)
        *out = dlsym(driver, name);
    HW_TRACE("cudaGetDriverEntryPoint %s%s", name, *out ? "" : " missing");
    if (status)
        *status = *out ? 0 : 1;
    return *out ? 0 : hw_sim_fail(HW_CUDA_NOT_FOUND);
}

HW_API int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status)
{
    HW_ENTER();
    return cudaGetDriverEntryPointByVersion(name, out, DRIVER_VERSION, flags, status);
}
