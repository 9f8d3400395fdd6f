/* What the files and libraries of the simulated stack share; libcudart.so.13 exports it to the others. */
#ifndef HW_SIM_SIM_H
#define HW_SIM_SIM_H

#define HW_SIM_INSIDE
#include <stdint.h>
#include <stddef.h>
#include "interpose/sim/cuda_abi.h"
#include "interpose/sim/include/hw_sim.h"

/* ---- config.c: HOOKWATCH_SIM_* ---- */
typedef struct hw_sim_settings {
    int values;    /* 1: value mode asked for */
    int devices;   /* visible devices */
    size_t memory; /* bytes per device */
    double stuck;  /* seconds before an unfinished collective is named */
    int profile;   /* row of profiles.def */
} hw_sim_settings;
extern HW_API hw_sim_settings hw_sim_config;

/* How this process computes values: 1 not at all (zeros), 2 by the Python module, 3 asked for but the module is not active. */
HW_API int hw_sim_mode(void);
HW_API void hw_sim_set_values(int active);

/* ---- log.c: the trace file and the counters ---- */
typedef struct hw_sim_counters {
    uint64_t h2d, d2h, d2d; /* copies by direction */
    uint64_t h2d_bytes, d2h_bytes;
    uint64_t waits; /* host waits asked for by the program */
    uint64_t launches, twins, memsets;
    uint64_t allocs, frees, queries;
    uint64_t collectives;
    uint64_t graph_launches;
    uint64_t unvalued; /* operations value mode could not compute */
} hw_sim_counters;
HW_API void hw_sim_counts(hw_sim_counters *out);
extern HW_API hw_sim_counters hw_sim_counter;
#define HW_COUNT(field, n) ((void)__atomic_fetch_add(&hw_sim_counter.field, (uint64_t)(n), __ATOMIC_RELAXED))

extern HW_API int hw_sim_tracing;
HW_API void hw_sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define HW_TRACE(...)                                                                                                          \
    do {                                                                                                                       \
        if (__builtin_expect(hw_sim_tracing, 0))                                                                               \
            hw_sim_trace(__VA_ARGS__);                                                                                         \
    } while (0)
/* One line on stderr, the first time `*said` is seen 0. */
HW_API void hw_sim_say_once(int *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- plan.c: HOOKWATCH_SIM_FAIL and HOOKWATCH_SIM_LATENCY ---- */
extern HW_API int hw_sim_faults, hw_sim_latencies; /* items of each */
HW_API int hw_sim_fault(const char *name);         /* what this call of the entry point must return; 0: do its work */
/* Replaces what HOOKWATCH_SIM_FAIL asked for and brings a lost device back: for tests. 0, or -1 with a line on stderr. */
HW_API int hw_sim_inject(const char *text);
int hw_sim_sticky(void); /* the error every call returns from now on, or 0 */
/* How long work takes that `name` queues, in nanoseconds; `class` is kernel, copy or nccl. */
HW_API uint64_t hw_sim_latency(const char *name, const char *class);
/* The first statement of every entry point that returns a code. */
#define HW_ENTER()                                                                                                             \
    do {                                                                                                                       \
        int injected = __builtin_expect(hw_sim_faults, 0) ? hw_sim_fault(__func__) : 0;                                        \
        if (injected)                                                                                                          \
            return injected;                                                                                                   \
    } while (0)

/* ---- stream.c: what a stream still waits for ---- */
/* Asynchronous work (collectives) is named by the channel that does it and a number that grows; the values of everything else are
 * there when its call returns, and it counts as done when the time has come that HOOKWATCH_SIM_LATENCY gives it. */
typedef struct hw_sim_async {
    int (*done)(uint32_t channel, uint64_t number);
    void (*wait)(uint32_t channel, uint64_t number);
    void (*wait_all)(void);
} hw_sim_async;
typedef struct hw_sim_deps { /* a set of (channel, number), one entry per channel; owned by whoever holds it */
    uint32_t count, room;
    uint64_t ready; /* CLOCK_MONOTONIC, nanoseconds: not done before; 0 without latencies */
    struct hw_sim_ticket {
        uint32_t channel;
        uint64_t number;
    } * ticket;
} hw_sim_deps;

HW_API void hw_sim_async_set(const hw_sim_async *provider);
HW_API void hw_sim_stream_ticket(void *stream, uint32_t channel, uint64_t number);
HW_API void hw_sim_stream_deps(void *stream, hw_sim_deps *add_to);
/* Waits until all work queued on `stream` is done: before the host touches memory the stream writes. Not a program's wait. */
HW_API void hw_sim_fence(void *stream);
HW_API void hw_sim_fence_device(void);
HW_API void hw_sim_deps_wait(const hw_sim_deps *deps);
/* Work that `name` (of `class`) queues on `stream` takes its time from when what is queued before it is done. */
HW_API void hw_sim_stream_busy(void *stream, const char *name, const char *class);
HW_API void hw_sim_sleep(uint64_t ns);

typedef struct hw_sim_stream {
    hw_sim_deps deps;
    struct hw_sim_graph *capture; /* the graph under capture, or NULL */
    int priority;
    unsigned flags;
} hw_sim_stream;
hw_sim_stream *hw_sim_stream_of(void *handle);

/* ---- graph.c ---- */
enum { HW_NODE_KERNEL, HW_NODE_COPY, HW_NODE_SET, HW_NODE_HOST, HW_NODE_COLLECTIVE, HW_NODE_KINDS };
/* Adds a node when `stream` is under capture and returns 1: the caller must then not do the work. At replay `run` is called
 * with the launching stream and the node's copy of `size` bytes at `data`. `run` NULL: nothing to do at replay. */
HW_API int hw_sim_capture(void *stream, int kind, void (*run)(void *stream, const void *data), const void *data, size_t size);
/* 0, or the error a call that waits (on `stream`, NULL for the whole device) must return because of a capture; spoils it. */
int hw_sim_capture_forbids(hw_sim_stream *stream, int whole_device);
void hw_sim_capture_join(hw_sim_stream *stream, struct hw_sim_graph *graph);
unsigned long long hw_sim_graph_serial(const struct hw_sim_graph *graph);

/* ---- ipc.c ---- */
/* A handle other processes can open for as long as this one keeps `fd`; and the file of such a handle, -1 when there is none. */
typedef struct hw_sim_ipc { /* cudaIpcMemHandle_t, cudaIpcEventHandle_t */
    uint64_t kind, pid, fd, device, inode, bytes, more[2];
} hw_sim_ipc;
int hw_sim_ipc_make(hw_sim_ipc *out, uint64_t kind, int fd, size_t bytes);
int hw_sim_ipc_open(const hw_sim_ipc *handle, uint64_t kind);

/* ---- memory.c ---- */
enum { HW_PAGEABLE, HW_PINNED, HW_DEVICE };
int hw_sim_where(const void *pointer, int *device);
HW_API void *hw_sim_device_reserve(size_t bytes, int device); /* address range only, for cuMemAddressReserve */
HW_API void hw_sim_device_unreserve(void *pointer);
HW_API int hw_sim_device_map(void *pointer, size_t bytes, int map);
/* The file in which the block around `p` lies from now on, owned by the block, and the block's size; -1: no such block, or no file. */
int hw_sim_device_share(const void *p, size_t *bytes);
/* Device memory that is the first `bytes` of a file, given back by hw_sim_device_unreserve; NULL: not to be had. */
void *hw_sim_device_adopt(int fd, size_t bytes);
HW_API int hw_sim_device_of(void);
HW_API int hw_sim_pointer_kind(const void *pointer, int *device);

/* ---- kernel.c ---- */
/* Arguments come one by one in `args`, or in one buffer by `extra` (the driver's form). `name` NULL: not known. */
HW_API int hw_sim_launch_named(const char *api, const char *name, hw_cuda_dim3 grid, hw_cuda_dim3 block, void **args,
                               void **extra, size_t shared, void *stream);

/* ---- copy.c ---- */
/* Value mode knows what the next small device-to-host copies of this thread would hold on hardware (a count that sizes an
 * output): the next `count` copies of at most 8 bytes deliver these instead of what lies in memory. 0 ends it. */
HW_API void hw_sim_script_d2h(int count, const int64_t *values);

/* ---- values.c: value mode's side of each operation ---- */
/* Begins an operation of this thread on `stream` whose result value mode computes: waits for what the stream waits for.
 * Returns 1, and begins nothing, when the stream is under capture. */
HW_API int hw_sim_value_begin(void *stream);
HW_API void hw_sim_value_end(void);
/* Counts an operation or kernel left without values; each name is said once on stderr. */
HW_API void hw_sim_unvalued(const char *what, const char *why);
HW_API uint64_t hw_sim_unvalued_count(void); /* operations and kernels without true values so far */
/* A kernel without twin is launched: notes it unless value mode computes what it should have done. */
HW_API void hw_sim_value_check(const char *kernel);

/* ---- stub.c: generated entry points ---- */
typedef struct hw_sim_handle { /* what every math library's Create call hands out */
    void *stream;
} hw_sim_handle;
HW_API void *hw_sim_handle_new(void);
HW_API void hw_sim_stub(const char *name);
HW_API void hw_sim_stub_launch(const char *name, const hw_sim_handle *handle);
HW_API void hw_sim_put_int(long address, int value, long count);
HW_API void hw_sim_put_size(long address, size_t value);
HW_API void hw_sim_put_handle(long address);

HW_API const char *hw_sim_device_name(void); /* device.c: of the profile, such as H100 */
size_t hw_sim_device_memory(int row);
HW_API int hw_sim_fail(int error); /* device.c: remembers it for cudaGetLastError and returns it */

#endif
