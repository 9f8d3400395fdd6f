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
 * for a C++ kernel, its plain identifier. `sizes` are the sizes in bytes of the kernel's `count` parameters, in their order: with
 * them the twin also runs when a CUDA graph that captured the launch is launched, and for launches that pass their arguments in
 * one buffer (there structures must lie at multiples of 8). Returns 1 on the simulated stack, 0 (and does nothing) on a real
 * device, so that it can be called unconditionally. `name` and `sizes` must outlive the process. */
static inline int hw_sim_register_kernel_sized(const char *name, hw_sim_twin twin, const size_t *sizes, int count)
{
    void (*add)(const char *, hw_sim_twin, const size_t *, int);
    *(void **)&add = dlsym(RTLD_DEFAULT, "hw_sim_register_kernel_sized");
    if (!add)
        return 0;
    add(name, twin, sizes, count);
    return 1;
}

/* The same without the sizes: the twin does not run for graphs. */
static inline int hw_sim_register_kernel(const char *name, hw_sim_twin twin)
{
    return hw_sim_register_kernel_sized(name, twin, NULL, 0);
}
#endif
#endif
