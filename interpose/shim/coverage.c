/* What the process had mapped that we cannot see through: said in the trace, so that a zero is never a silent one. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "interpose/python/frames.h"
#include "interpose/python/objects.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct finding {
    bool cuda;      /* a CUDA or NCCL library is mapped */
    bool framework; /* and something that uses it */
    char driver_user[64];
    uint32_t bits;
};

/* Objects known to call past the runtime's symbols. */
static const struct {
    const char *prefix;
    uint32_t bit;
} blind[] = {
    {"libtriton.so", HW_COVERAGE_DRIVER_USER},
    {"cuda_utils.", HW_COVERAGE_DRIVER_USER}, /* Triton's launcher */
    {"libpaddle.so", HW_COVERAGE_STATIC_RUNTIME},
};

static int look(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    struct finding *f = user;
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, "libcudart.so", 12) == 0 || strncmp(base, "libnccl.so", 10) == 0 || strncmp(base, "libcuda.so", 10) == 0)
        f->cuda = true;
    if (strncmp(base, "libc10_cuda.so", 14) == 0)
        f->framework = true;
    for (size_t i = 0; i < sizeof blind / sizeof blind[0]; i++) {
        if (strncmp(base, blind[i].prefix, strlen(blind[i].prefix)) != 0)
            continue;
        f->bits |= blind[i].bit;
        if (!f->driver_user[0])
            snprintf(f->driver_user, sizeof f->driver_user, "%s", base);
    }
    return 0;
}

/* hw_sim_mode of the simulated stack, NULL without it. It is preloaded or not there at all, so that one look is enough; a
 * look-up that fails allocates. */
static int (*simulation(void))(void)
{
    static int (*mode)(void);
    static bool looked;
    if (!looked)
        mode = (int (*)(void))dlsym(RTLD_DEFAULT, "hw_sim_mode");
    looked = true;
    return mode;
}

static void look_at_simulation(void)
{
    static uint64_t (*unvalued)(void);
    if (!simulation())
        return;
    hw_trace->sim_mode = (uint32_t)simulation()();
    if (!unvalued)
        unvalued = (uint64_t(*)(void))dlsym(RTLD_DEFAULT, "hw_sim_unvalued_count");
    if (unvalued)
        hw_trace->unvalued = unvalued();
}

/* At the start, at the end, and whenever a new line is seen: a process that is killed says no more. */
void hw_look_at_objects(void)
{
    static unsigned long long seen;
    static const struct hw_trace_header *looked_at;
    unsigned long long adds = hw_loaded_objects();
    look_at_simulation();
    if (adds == seen && looked_at == hw_trace)
        return;
    seen = adds;
    looked_at = hw_trace;
    struct finding f = {0};
    dl_iterate_phdr(look, &f);
    memcpy(hw_trace->driver_user, f.driver_user, sizeof f.driver_user);
    __atomic_fetch_or(&hw_trace->coverage, f.bits, __ATOMIC_RELAXED);
}

bool hw_unseen_library(void)
{
    struct finding f = {0};
    dl_iterate_phdr(look, &f);
    /* The simulated libraries are in every child, because they are preloaded: there, ask for a user of them. */
    return f.cuda && (f.framework || !simulation());
}
