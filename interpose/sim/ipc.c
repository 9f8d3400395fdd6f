/* Memory shared between processes of the machine: a handle names an open file of the process that made it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "interpose/sim/sim.h"

#define MEMORY_KIND 0x6d65736d77680001u

_Static_assert(sizeof(hw_sim_ipc) == 64, "CUDA's handles have 64 bytes");

int hw_sim_ipc_make(hw_sim_ipc *out, uint64_t kind, int fd, size_t bytes)
{
    struct stat file;
    if (fstat(fd, &file))
        return -1;
    *out = (hw_sim_ipc){kind, (uint64_t)getpid(), (uint64_t)fd, file.st_dev, file.st_ino, bytes, {0, 0}};
    return 0;
}

int hw_sim_ipc_open(const hw_sim_ipc *h, uint64_t kind)
{
    char path[64];
    struct stat file;
    if (h->kind != kind)
        return -1;
    snprintf(path, sizeof path, "/proc/%u/fd/%u", (unsigned)h->pid, (unsigned)h->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &file) || file.st_dev != h->device || file.st_ino != h->inode)) {
        close(fd); /* the memory is gone, and the number means another file */
        return -1;
    }
    return fd;
}

HW_API int cudaIpcGetMemHandle(hw_sim_ipc *out, void *p)
{
    size_t bytes;
    HW_ENTER();
    HW_TRACE("cudaIpcGetMemHandle");
    hw_sim_fence_device();
    int fd = hw_sim_device_share(p, &bytes);
    return fd < 0 || hw_sim_ipc_make(out, MEMORY_KIND, fd, bytes) ? hw_sim_fail(HW_CUDA_INVALID_VALUE) : 0;
}

HW_API int cudaIpcOpenMemHandle(void **out, hw_sim_ipc handle, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudaIpcOpenMemHandle %llu", (unsigned long long)handle.bytes);
    int fd = hw_sim_ipc_open(&handle, MEMORY_KIND);
    *out = fd < 0 ? NULL : hw_sim_device_adopt(fd, handle.bytes);
    if (fd >= 0)
        close(fd);
    return *out ? 0 : hw_sim_fail(fd < 0 ? HW_CUDA_INVALID_VALUE : HW_CUDA_OUT_OF_MEMORY);
}

HW_API int cudaIpcCloseMemHandle(void *p)
{
    HW_ENTER();
    HW_TRACE("cudaIpcCloseMemHandle");
    hw_sim_fence_device();
    hw_sim_device_unreserve(p);
    return 0;
}
