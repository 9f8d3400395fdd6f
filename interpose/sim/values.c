/* Value mode as the C side sees it: which operations compute values, and which kernels ran without. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **said;
static size_t said_count;
static __thread int depth; /* operations under way in this thread */

int hw_sim_value_begin(void *stream)
{
    if (hw_sim_stream_of(stream)->capture)
        return 1;
    depth++;
    hw_sim_fence(stream);
    return 0;
}

void hw_sim_value_end(void)
{
    depth--;
}

void hw_sim_unvalued(const char *what, const char *why)
{
    HW_COUNT(unvalued, 1);
    HW_TRACE("no value %s", what);
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < said_count && strcmp(said[i], what))
        i++;
    void *grown = i == said_count ? realloc(said, (said_count + 1) * sizeof *said) : NULL;
    char *copy = grown ? strdup(what) : NULL;
    if (grown)
        said = grown;
    if (copy)
        said[said_count++] = copy;
    pthread_mutex_unlock(&lock);
    if (copy)
        fprintf(stderr, "hookwatch: simulate: no value for %s: %s\n", what, why);
}

uint64_t hw_sim_unvalued_count(void)
{
    return __atomic_load_n(&hw_sim_counter.unvalued, __ATOMIC_RELAXED);
}

void hw_sim_value_check(const char *kernel)
{
    if (!depth && hw_sim_mode() == 2)
        hw_sim_unvalued(kernel ? kernel : "a kernel", "launched outside an operation value mode computes; register a twin");
}
