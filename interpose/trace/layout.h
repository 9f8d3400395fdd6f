/* The trace file: one per process, named <host>.<rank>.<pid>.hwt, mapped shared by the shim so that what was recorded
 * survives any death of the process, and read by `report`. All integers are little-endian; all offsets count from the
 * start of the file. The reader trusts nothing in it. */
#ifndef HW_TRACE_LAYOUT_H
#define HW_TRACE_LAYOUT_H

#include <stdint.h>

#define HW_TRACE_MAGIC   "HWTRACE" /* eight bytes with the terminator */
#define HW_TRACE_FORMAT  1u
#define HW_TRACE_SUFFIX  ".hwt"
#define HW_TRACE_POINTER ".hwt-at"             /* a small text file holding the path of a trace on a node-local disk */
#define HW_TRACE_CHUNK   (256u * 1024u)        /* the file grows by this much, allocated before its first use */
#define HW_TRACE_MAX     (32u * 1024u * 1024u) /* and never beyond this */
#define HW_TRACE_RING    256u                  /* last calls kept */
#define HW_TRACE_THREADS 64u                   /* threads with a counter of their own; more share the last one */
#define HW_TRACE_HIST    24u                   /* log2 buckets */
#define HW_TRACE_STACK   8u                    /* frames kept below a site */

/* Where a call was made. */
enum hw_scope { HW_SCOPE_OUTSIDE, HW_SCOPE_HOOK, HW_SCOPE_FLUSH, HW_SCOPE_FRAMEWORK, HW_SCOPE_COUNT };

/* What could not be seen (coverage bits of the header). */
enum hw_coverage {
    HW_COVERAGE_NOTHING_SEEN = 1 << 0,   /* a CUDA or NCCL library was mapped, no call of it came through us */
    HW_COVERAGE_NO_PYTHON = 1 << 1,      /* calls came from a process without a Python interpreter */
    HW_COVERAGE_PY_UNKNOWN = 1 << 2,     /* a Python version whose frames we do not know: no window, no site */
    HW_COVERAGE_PY_CHECK = 1 << 3,       /* the start-up check of the frame layout failed: no window, no site */
    HW_COVERAGE_SITES_FULL = 1 << 4,     /* more sites than the table holds; counted in the totals only */
    HW_COVERAGE_TRACE_FULL = 1 << 5,     /* the file reached its bound or the disk was full */
    HW_COVERAGE_LOST = 1 << 6,           /* calls made while the trace was being opened */
    HW_COVERAGE_DRIVER_USER = 1 << 7,    /* a library that calls the driver API directly was mapped (text: driver_user) */
    HW_COVERAGE_STATIC_RUNTIME = 1 << 8, /* a library with its own copy of the CUDA runtime was mapped */
    HW_COVERAGE_DEEP_STACK = 1 << 9,     /* a Python stack was deeper than the walk goes */
    HW_COVERAGE_SETTINGS = 1 << 10       /* a list in a HOOKWATCH_* variable was too long and was not read */
};

/* How a process ended, as far as it could say itself. */
enum hw_ended { HW_ENDED_UNKNOWN, HW_ENDED_EXIT };

/* What a step is. */
enum hw_step_kind { HW_STEPS_NONE, HW_STEPS_CALLED, HW_STEPS_FLUSHED };

/* hw_sim_mode() of the simulated stack. */
enum hw_sim_mode { HW_SIM_NONE, HW_SIM_ZEROS, HW_SIM_VALUES, HW_SIM_VALUES_INACTIVE };

struct hw_trace_totals {
    uint64_t waits, wait_ns, d2h_copies, pageable_uploads, collectives, allocations, launches, reserved;
};

/* Written by one thread only, on a cache line of its own. */
struct hw_trace_thread {
    uint64_t launches; /* kernel and graph launches */
    uint64_t plain;    /* other calls that cannot wait: device-to-device copies, memsets */
    uint64_t reserved[6];
};

/* One of the last calls. */
struct hw_trace_call {
    uint64_t sequence; /* 1 for the first call; 0: free */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t wait_ns;
    uint64_t communicator;
    uint64_t bytes;
    uint32_t site; /* offset of a site record, 0: none */
    uint32_t api;  /* offset of a string */
    uint32_t thread;
    uint32_t in_flight; /* 1 until the call returned */
};

struct hw_trace_header {
    char magic[8];
    uint32_t format;
    uint32_t header_bytes; /* sizeof(struct hw_trace_header) */
    uint64_t used;         /* bytes of the file that hold records */
    uint32_t pid, ppid;
    int32_t rank, local_rank, world; /* -1: not told */
    uint32_t ended;                  /* enum hw_ended */
    uint32_t sim_mode;               /* enum hw_sim_mode */
    uint32_t coverage;               /* bits of enum hw_coverage */
    uint64_t start_realtime_ns, start_monotonic_ns, last_ns;
    uint64_t steps;     /* 0: unknown */
    uint32_t step_kind; /* enum hw_step_kind */
    uint32_t launch_blocking;
    uint64_t calls; /* intercepted calls that were classified */
    uint64_t lost;  /* calls that could not be recorded */
    uint64_t flush_windows, flush_d2h_max;
    uint64_t unvalued; /* operations of the simulated stack that computed no true value */
    char host[64];
    char python[16];
    char shim[16];
    char driver_user[64]; /* file name of a library with HW_COVERAGE_DRIVER_USER or _STATIC_RUNTIME */
    struct hw_trace_totals totals[HW_SCOPE_COUNT];
    uint64_t step_waits[HW_TRACE_HIST]; /* steps by log2 of in-hook waits: bucket 0 none, n: [2^(n-1), 2^n) */
    uint64_t ring_next;
    struct hw_trace_call ring[HW_TRACE_RING];
    struct hw_trace_thread threads[HW_TRACE_THREADS];
};

enum hw_record_kind { HW_RECORD_STRING = 1, HW_RECORD_SITE, HW_RECORD_COMM };

/* Records follow the header, each a multiple of eight bytes. A kind of 0 is a record not yet finished: skip it by its size. */
struct hw_record {
    uint32_t kind;
    uint32_t bytes; /* of the whole record */
};

struct hw_record_string {
    struct hw_record record;
    uint32_t length;
    char text[4]; /* length bytes of UTF-8 and a terminator */
};

struct hw_trace_frame {
    uint32_t function; /* offsets of strings */
    uint32_t filename;
    uint32_t row; /* 0: unknown */
    uint32_t reserved;
};

/* A line that made calls: one record per (function called, code object, instruction, window, scope, kind of copy). */
struct hw_record_site {
    struct hw_record record;
    uint16_t rule;                               /* number of the rule, 0: none applies */
    uint8_t scope;                               /* enum hw_scope */
    uint8_t frames;                              /* used entries of stack */
    uint32_t api;                                /* strings: name of the intercepted function */
    uint32_t callee;                             /* name of what the line calls, 0: unknown */
    struct hw_trace_frame site;                  /* function 0: no Python site */
    struct hw_trace_frame hook;                  /* the window's root */
    struct hw_trace_frame stack[HW_TRACE_STACK]; /* from just below the site inwards */
    uint64_t count;                              /* copy and wait folded into one */
    uint64_t late;  /* of count: after the first step and visit; without steps, after the first visits */
    uint64_t waits; /* of count: the host waited */
    uint64_t wait_ns, max_wait_ns;
    uint64_t bytes;
    uint64_t first_step, last_step, steps_seen, max_per_step;
    uint64_t step_now, step_count; /* the running step's number and count */
    uint64_t flush_max;            /* most device-to-host copies in one flush window */
    uint64_t communicator;         /* last one used */
};

struct hw_record_comm {
    struct hw_record record;
    uint64_t handle;  /* address of the communicator in the process */
    uint64_t id_hash; /* equal on all ranks of the communicator */
    uint64_t parent;  /* handle it was split from, 0: none */
    int32_t rank, size;
};

#endif
