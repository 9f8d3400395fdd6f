/* Loops over one CUDA runtime call each, for `make bench`: nanoseconds per call, by the monotonic clock. */
#include <time.h>

struct dim3 {
    unsigned x, y, z;
};

int cudaMalloc(void **pointer, unsigned long size);
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args, unsigned long shared,
                     void *stream);
int cudaMemcpyAsync(void *dst, const void *src, unsigned long count, int direction, void *stream);
int cudaStreamSynchronize(void *stream);

enum { DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, WARM_UP = 100 };

double hw_bench_launch(long calls);
double hw_bench_device_copy(long calls);
double hw_bench_host_copy(long calls);
double hw_bench_synchronize(long calls);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static float *device_memory(void)
{
    static float *memory;
    if (memory == 0)
        cudaMalloc((void **)&memory, 64);
    return memory;
}

/* Defines hw_bench_NAME, which makes the call some times unmeasured and then `calls` times. */
#define LOOP(name, call)                                                                                                       \
    double hw_bench_##name(long calls)                                                                                         \
    {                                                                                                                          \
        float *memory = device_memory();                                                                                       \
        float host[1];                                                                                                         \
        (void)memory, (void)host;                                                                                              \
        for (int i = 0; i < WARM_UP; i++)                                                                                      \
            call;                                                                                                              \
        double start = now();                                                                                                  \
        for (long i = 0; i < calls; i++)                                                                                       \
            call;                                                                                                              \
        return (now() - start) / (double)calls;                                                                                \
    }

LOOP(launch, cudaLaunchKernel((const void *)hw_bench_launch, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, 0, 0, 0))
LOOP(device_copy, cudaMemcpyAsync(memory + 1, memory, sizeof *memory, DEVICE_TO_DEVICE, 0))
LOOP(host_copy, cudaMemcpyAsync(host, memory, sizeof *host, DEVICE_TO_HOST, 0))
LOOP(synchronize, cudaStreamSynchronize(0))
