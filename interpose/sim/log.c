/* The trace of received calls and the counters: the simulator's own account, used as ground truth. */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "interpose/sim/sim.h"

hw_sim_counters hw_sim_counter;
int hw_sim_tracing;
static int trace_fd = -1;
static pthread_once_t trace_once = PTHREAD_ONCE_INIT;

void hw_sim_counts(hw_sim_counters *out)
{
    const uint64_t *from = (const uint64_t *)&hw_sim_counter;
    uint64_t *to = (uint64_t *)out;
    for (size_t i = 0; i < sizeof *out / sizeof *to; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* "%p" in the name becomes the process id, so that ranks can have a file each. */
static void trace_open(void)
{
    const char *name = getenv("HOOKWATCH_SIM_TRACE");
    char path[4096];
    const char *mark = name ? strstr(name, "%p") : NULL;
    if (mark)
        snprintf(path, sizeof path, "%.*s%d%s", (int)(mark - name), name, (int)getpid(), mark + 2);
    else
        snprintf(path, sizeof path, "%s", name ? name : "");
    trace_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (trace_fd < 0) {
        hw_sim_tracing = 0;
        fprintf(stderr, "hookwatch: simulate: %s: cannot be written; no trace of calls\n", path);
    }
}

/* One write per line: complete lines survive whatever ends the process, and lines of several processes do not mix. */
void hw_sim_trace(const char *format, ...)
{
    char line[1024];
    va_list args;
    pthread_once(&trace_once, trace_open);
    if (trace_fd < 0)
        return;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(trace_fd, line, (size_t)n) != n)
        hw_sim_tracing = 0;
}

void hw_sim_say_once(int *said, const char *format, ...)
{
    va_list args;
    if (__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        return;
    char line[512];
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "hookwatch: simulate: %s\n", line);
}
