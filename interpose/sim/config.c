/* Settings of the simulated stack, read once from HOOKWATCH_SIM_*. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "interpose/sim/sim.h"
#include "interpose/sim/plan.h"

hw_sim_settings hw_sim_config = {1, 1, 0, 20, 0};
static int values_active;

/* A size such as 80GiB, 512MiB, 4096; 0 when it is none. */
static size_t parse_size(const char *text)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && !strcmp(end, units[i].unit) && n <= SIZE_MAX >> units[i].shift)
            return (size_t)n << units[i].shift;
    return 0;
}

static void complain(const char *variable, const char *text, const char *want)
{
    fprintf(stderr, "hookwatch: simulate: %s=%s: want %s; using the default\n", variable, text, want);
}

/* Runs before any library that registers kernels, because those libraries depend on this one. */
__attribute__((constructor)) static void read_settings(void)
{
    const char *text = getenv("HOOKWATCH_SIM_VALUES");
    if (text && *text)
        hw_sim_config.values = strcmp(text, "0") != 0;
    if ((text = getenv("HOOKWATCH_SIM_DEVICES")) && *text) {
        char *end;
        long n = strtol(text, &end, 10);
        if (*end || n < 0 || n > 64)
            complain("HOOKWATCH_SIM_DEVICES", text, "0 to 64");
        else
            hw_sim_config.devices = (int)n;
    }
    if ((text = getenv("HOOKWATCH_SIM_DEVICE")) && *text) {
        char why[256];
        int row = hw_plan_device(text, why, sizeof why);
        if (row < 0) {
            fprintf(stderr, "hookwatch: simulate: HOOKWATCH_SIM_DEVICE=%s: %s\n", text, why);
            _exit(2);
        }
        hw_sim_config.profile = row;
    }
    hw_sim_config.memory = hw_sim_device_memory(hw_sim_config.profile);
    if ((text = getenv("HOOKWATCH_SIM_MEMORY")) && *text) {
        size_t n = parse_size(text);
        if (n < (size_t)1 << 20 || n > (size_t)1 << 40)
            complain("HOOKWATCH_SIM_MEMORY", text, "a size from 1MiB to 1TiB");
        else
            hw_sim_config.memory = n;
    }
    if ((text = getenv("HOOKWATCH_SIM_STUCK")) && *text) {
        char *end;
        double s = strtod(text, &end);
        if (*end || !(s > 0))
            complain("HOOKWATCH_SIM_STUCK", text, "seconds");
        else
            hw_sim_config.stuck = s;
    }
    text = getenv("HOOKWATCH_SIM_TRACE");
    hw_sim_tracing = text && *text;
}

int hw_sim_mode(void)
{
    return !hw_sim_config.values ? 1 : values_active ? 2 : 3;
}

void hw_sim_set_values(int active)
{
    values_active = active;
}
