/* The texts of HOOKWATCH_SIM_LATENCY, HOOKWATCH_SIM_FAIL and HOOKWATCH_SIM_DEVICE: parsed here for the simulated stack, which
 * obeys them, and for `hookwatch run`, which refuses bad ones before anything starts. */
#ifndef HW_SIM_PLAN_H
#define HW_SIM_PLAN_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HW_PLAN_ITEMS 64

/* How long queued work takes: of a class, or of one entry point, whichever is named later. */
typedef struct hw_plan_latency {
    char name[64];
    uint64_t ns;
} hw_plan_latency;
/* What a call returns instead of working: the nth call of `name` in a process, all from the nth on, or all (nth 0). */
typedef struct hw_plan_fault {
    char name[64];
    unsigned long nth;
    int from_then_on;
    int code;
    int sticky; /* every later call of the CUDA API fails with the code too, as when a device is lost */
    int rank;   /* only in the process whose RANK it is; -1: in all */
} hw_plan_fault;

/* Classes, and the entry points that queue work. */
static const char *const hw_plan_queued[] = {
    "kernel",
    "copy",
    "nccl",
    "cudaMemcpyAsync",
    "cudaMemcpy2DAsync",
    "cudaMemcpyPeerAsync",
    "cudaMemsetAsync",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cudaLaunchHostFunc",
    "cudaGraphLaunch",
};
static const char *const hw_plan_devices[] = {
#define HW_PROFILE(name, ...) #name,
#include "interpose/sim/profiles.def"
#undef HW_PROFILE
};

/* The next item of a list separated by commas, at most `size` - 1 bytes; where the rest begins, NULL at the end or when the item is
 * too long or empty (then `item` is what there was). */
static inline const char *hw_plan_next(const char *text, char *item, size_t size)
{
    size_t n = strcspn(text, ",");
    snprintf(item, size, "%.*s", (int)n, text);
    return !n || n >= size ? NULL : text + n + (text[n] == ',');
}

static inline int hw_plan_refuse(char *why, size_t size, const char *item, const char *want)
{
    snprintf(why, size, "'%.128s': want %.100s", item, want);
    return -1;
}

/* Items of HOOKWATCH_SIM_LATENCY; their number, or -1 with the reason in `why`. */
static inline int hw_plan_latencies(const char *text, hw_plan_latency out[HW_PLAN_ITEMS], char *why, size_t size)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    int count = 0;
    char item[128];
    while (*text) {
        text = hw_plan_next(text, item, sizeof item);
        char *equals = strchr(item, '='), *end = NULL;
        double number = equals ? strtod(equals + 1, &end) : 0, ns = -1;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (end && end != equals + 1 && !strcmp(end, units[i].unit))
                ns = number * units[i].ns;
        if (!text || !equals || !(ns >= 0) || ns > 1e12)
            return hw_plan_refuse(why, size, item, "NAME=TIME, such as cudaMemcpyAsync=50us,kernel=10us,nccl=1ms");
        *equals = '\0';
        int known = !strncmp(item, "nccl", 4) && strlen(item) < sizeof out->name;
        for (size_t i = 0; i < sizeof hw_plan_queued / sizeof *hw_plan_queued; i++)
            known |= !strcmp(item, hw_plan_queued[i]);
        if (!known)
            return hw_plan_refuse(why, size, item, "kernel, copy, nccl, or an entry point that queues work on a stream");
        if (count == HW_PLAN_ITEMS)
            return hw_plan_refuse(why, size, item, "at most 64 items");
        snprintf(out[count].name, sizeof out->name, "%.63s", item);
        out[count++].ns = (uint64_t)ns;
    }
    return count;
}

/* A number from `low` at `*at`, which moves behind it; -1 when there is none. */
static inline long hw_plan_number(char **at, long low)
{
    char *end;
    long n = isdigit((unsigned char)**at) ? strtol(*at, &end, 10) : -1;
    if (n < low || n > 1000000000)
        return -1;
    *at = end;
    return n;
}

/* Items of HOOKWATCH_SIM_FAIL; their number, or -1 with the reason in `why`. */
static inline int hw_plan_faults(const char *text, hw_plan_fault out[HW_PLAN_ITEMS], char *why, size_t size)
{
    int count = 0;
    char item[128];
    while (*text) {
        text = hw_plan_next(text, item, sizeof item);
        hw_plan_fault f = {.rank = -1};
        size_t n = strspn(item, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        char *at = item + n;
        int good = text && n && n < sizeof f.name;
        if (good && *at == '@') {
            at++;
            long nth = hw_plan_number(&at, 1);
            good = nth >= 0;
            f.nth = (unsigned long)nth;
            if (good && *at == '+') {
                f.from_then_on = 1;
                at++;
            }
        }
        good = good && *at == '=';
        if (good) {
            at++;
            f.code = (int)hw_plan_number(&at, 1);
            good = f.code > 0;
        }
        if (good && !strncmp(at, ":sticky", 7)) {
            f.sticky = 1;
            at += 7;
        }
        if (good && *at == '#') {
            at++;
            f.rank = (int)hw_plan_number(&at, 0);
            good = f.rank >= 0;
        }
        if (!good || *at)
            return hw_plan_refuse(why, size, item,
                                  "CALL[@N[+]]=CODE[:sticky][#RANK], such as cudaMalloc@3=2 or ncclAllReduce=1#0");
        if (count == HW_PLAN_ITEMS)
            return hw_plan_refuse(why, size, item, "at most 64 items");
        snprintf(f.name, sizeof f.name, "%.*s", (int)n, item);
        out[count++] = f;
    }
    return count;
}

/* The row of profiles.def called `name`, or -1 with the reason in `why`. */
static inline int hw_plan_device(const char *name, char *why, size_t size)
{
    char all[256] = "";
    for (size_t i = 0, used = 0; i < sizeof hw_plan_devices / sizeof *hw_plan_devices; i++) {
        if (!strcmp(name, hw_plan_devices[i]))
            return (int)i;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "one of ", hw_plan_devices[i]);
    }
    return hw_plan_refuse(why, size, name, all);
}

#endif
