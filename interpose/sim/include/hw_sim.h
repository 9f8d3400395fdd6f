/* Kernel twins: host functions that stand in for a program's own CUDA kernels on the simulated stack. */
#ifndef HW_SIM_H
#define HW_SIM_H

#include <stddef.h>
#ifndef HW_SIM_INSIDE
#include <dlfcn.h>
#endif

/* One launch of a kernel. `args` points to the kernel's parameters, as cudaLaunchKernel receives them; device pointers among
 * them can be read and written by the host. Valid during the call only. `name` is the name the kernel was registered under:
 * the device name given to __cudaRegisterFunction (mangled for C++), or the one given to cuModuleGetFunction. */
typedef struct hw_sim_launch {
    const char *name;
    unsigned grid[3];
    unsigned block[3];
    size_t shared_bytes;
    void **args;
    void *stream;
} hw_sim_launch;

typedef void (*hw_sim_twin)(const hw_sim_launch *launch);

#ifndef HW_SIM_INSIDE
/* Makes `twin` run, in stream order, whenever a kernel called `name` is launched. `name` is the registered device name or,
 * for a C++ kernel, its plain identifier. Returns 1 on the simulated stack, 0 (and does nothing) on a real device, so that it
 * can be called unconditionally. `name` must outlive the process. */
static inline int hw_sim_register_kernel(const char *name, hw_sim_twin twin)
{
    void (*add)(const char *, hw_sim_twin);
    *(void **)&add = dlsym(RTLD_DEFAULT, "hw_sim_register_kernel");
    if (!add)
        return 0;
    add(name, twin);
    return 1;
}
#endif
#endif
