/* Injected errors and the time queued work takes: what HOOKWATCH_SIM_FAIL and HOOKWATCH_SIM_LATENCY ask for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
#include "interpose/sim/sim.h"
#include "interpose/sim/plan.h"

int hw_sim_faults, hw_sim_latencies;
static hw_plan_fault faults[HW_PLAN_ITEMS];
static unsigned long seen[HW_PLAN_ITEMS];
static hw_plan_latency latencies[HW_PLAN_ITEMS];
static int sticky;

/* A plan that cannot be obeyed must not look like one that was. */
static void refuse(const char *variable, const char *text, const char *why)
{
    fprintf(stderr, "hookwatch: simulate: %s=%s: %s\n", variable, text, why);
    _exit(2);
}

/* Takes over what `text` asks for; -1 with the reason, and then nothing has changed. */
static int plan_faults(const char *text, char *why, size_t size)
{
    hw_plan_fault plan[HW_PLAN_ITEMS];
    const char *rank = getenv("RANK");
    int count = hw_plan_faults(text, plan, why, size);
    for (int i = 0; i < count; i++) {
        /* the driver and NVML are opened when first used; the rest is in the process */
        int late =
            !strncmp(plan[i].name, "nvml", 4) || (!strncmp(plan[i].name, "cu", 2) && isupper((unsigned char)plan[i].name[2]));
        if (!late && !dlsym(RTLD_DEFAULT, plan[i].name))
            return hw_plan_refuse(why, size, plan[i].name, "an entry point of the simulated libraries");
        if (plan[i].rank >= 0 && (!rank || atoi(rank) != plan[i].rank))
            plan[i].name[0] = '\0';
    }
    if (count < 0)
        return -1;
    memcpy(faults, plan, (size_t)count * sizeof *plan);
    memset(seen, 0, sizeof seen);
    sticky = 0;
    hw_sim_faults = count;
    return 0;
}

HW_API int hw_sim_inject(const char *text)
{
    char why[512];
    int error = plan_faults(text, why, sizeof why);
    if (error)
        fprintf(stderr, "hookwatch: simulate: %s\n", why);
    return error;
}

__attribute__((constructor)) static void read_plan(void)
{
    char why[512];
    const char *text = getenv("HOOKWATCH_SIM_FAIL");
    if (text && plan_faults(text, why, sizeof why))
        refuse("HOOKWATCH_SIM_FAIL", text, why);
    text = getenv("HOOKWATCH_SIM_LATENCY");
    int count = text ? hw_plan_latencies(text, latencies, why, sizeof why) : 0;
    if (count < 0)
        refuse("HOOKWATCH_SIM_LATENCY", text, why);
    hw_sim_latencies = count;
}

int hw_sim_sticky(void)
{
    return __atomic_load_n(&sticky, __ATOMIC_RELAXED);
}

/* Calls that only describe something answer even when the device is lost. */
static int describes(const char *name)
{
    static const char *const beginnings[] = {"cudaGet",       "cudaDeviceGet", "cudaDriverGet", "cudaRuntimeGet",
                                             "cudaSetDevice", "cudaThread",    "cuGet",         "cuInit",
                                             "cuDeviceGet",   "cuDriverGet",   "cuCtxGet"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
            return 1;
    return strncmp(name, "cuda", 4) && (strncmp(name, "cu", 2) || !isupper((unsigned char)name[2]));
}

int hw_sim_fault(const char *name)
{
    int code = 0;
    while (*name == '_')
        name++;
    for (int i = 0; i < hw_sim_faults; i++) {
        const hw_plan_fault *f = &faults[i];
        if (strcmp(f->name, name))
            continue;
        unsigned long n = __atomic_add_fetch(&seen[i], 1, __ATOMIC_RELAXED);
        if (code || (f->nth && n != f->nth && !(f->from_then_on && n > f->nth)))
            continue;
        code = f->code;
        if (f->sticky)
            __atomic_store_n(&sticky, code, __ATOMIC_RELAXED);
        HW_TRACE("injected %s %d", name, code);
    }
    if (!code && !describes(name))
        code = hw_sim_sticky();
    return !strncmp(name, "cuda", 4) && code ? hw_sim_fail(code) : code;
}

uint64_t hw_sim_latency(const char *name, const char *class)
{
    for (int i = hw_sim_latencies; i-- > 0;)
        if (!strcmp(latencies[i].name, name) || !strcmp(latencies[i].name, class))
            return latencies[i].ns;
    return 0;
}
