/* How traces are named, HOST.RANK.PID and a suffix: the parts that writer and readers must agree on. */
#ifndef HW_TRACE_NAMES_H
#define HW_TRACE_NAMES_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The variables in which launchers tell a process its rank, in the order in which they are asked; ends with NULL. */
static const char *const hw_trace_rank_variables[] = {"RANK",     "PADDLE_TRAINER_ID", "OMPI_COMM_WORLD_RANK",
                                                      "PMI_RANK", "SLURM_PROCID",      NULL};

/* This host as traces name it: at most size - 1 bytes, no dot and no slash. */
static inline void hw_trace_host(char *out, size_t size)
{
    memset(out, 0, size); /* it goes into the file whole */
    if (gethostname(out, size - 1) != 0)
        snprintf(out, size, "host");
    for (char *c = out; *c; c++)
        if (*c == '/' || *c == '.')
            *c = '-';
}

#endif
