/* NVML: what PyTorch asks when it maps memory piece by piece or explains an out-of-memory error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

int cudaMemGetInfo(size_t *free_bytes, size_t *total);

enum { NVML_INVALID_ARGUMENT = 2 };

/* A device handle is the address of its entry. */
static char handles[64];

static int index_of(const void *device)
{
    return (int)((const char *)device - handles);
}

HW_API int nvmlDeviceGetCount_v2(unsigned *count)
{
    HW_ENTER();
    *count = (unsigned)hw_sim_config.devices;
    return 0;
}

HW_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out)
{
    HW_ENTER();
    if (index >= (unsigned)hw_sim_config.devices)
        return NVML_INVALID_ARGUMENT;
    *out = &handles[index];
    return 0;
}

/* Bus numbers are one more than the device's index. */
HW_API int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **out)
{
    HW_ENTER();
    unsigned domain, bus;
    if (sscanf(id, "%x:%x", &domain, &bus) != 2 || bus < 1)
        return NVML_INVALID_ARGUMENT;
    return nvmlDeviceGetHandleByIndex_v2(bus - 1, out);
}

HW_API int nvmlDeviceGetMemoryInfo(void *device, unsigned long long out[3])
{
    HW_ENTER();
    size_t free_bytes, total;
    cudaMemGetInfo(&free_bytes, &total);
    out[0] = total;
    out[1] = free_bytes;
    out[2] = total - free_bytes;
    return 0;
}

HW_API int nvmlDeviceGetUUID(void *device, char *out, unsigned length)
{
    HW_ENTER();
    snprintf(out, length, "GPU-%08x-0000-0000-0000-000000000000", index_of(device));
    return 0;
}

/* No NVLink fabric between hosts. */
typedef struct fabric { /* nvmlGpuFabricInfoV_t */
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
} fabric;

HW_API int nvmlDeviceGetGpuFabricInfoV(void *device, fabric *out)
{
    HW_ENTER();
    *out = (fabric){.version = out->version};
    return 0;
}

HW_API int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    HW_ENTER();
    *version = 13020;
    return 0;
}

HW_API const char *nvmlErrorString(int code)
{
    return code ? "not supported by the simulated device" : "success";
}
