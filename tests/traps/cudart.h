/* A small CUDA runtime of major version MAJOR: counts what reaches it. Included by the libraries that are one. */
#include <stddef.h>
#include <unistd.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

int JOIN(trap_copies_, MAJOR), JOIN(trap_waits_, MAJOR), JOIN(trap_asks_, MAJOR), JOIN(trap_errors_read_, MAJOR),
    JOIN(trap_launches_, MAJOR), JOIN(trap_hang_, MAJOR);

int cudaStreamSynchronize(void *stream);
int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    JOIN(trap_waits_, MAJOR)++;
    if (JOIN(trap_hang_, MAJOR)) { /* a descriptor to tell that we are here, for ever */
        ssize_t told = write(JOIN(trap_hang_, MAJOR), "x", 1);
        for (; told == 1;)
            pause();
    }
    return 0;
}

int cudaMemcpyAsync(void *dst, const void *src, size_t count, int direction, void *stream);
int cudaMemcpyAsync(void *dst, const void *src, size_t count, int direction, void *stream)
{
    (void)stream;
    (void)direction;
    __builtin_memcpy(dst, src, count);
    JOIN(trap_copies_, MAJOR)++;
    return MAJOR;
}

/* As a runtime might: through its own exported names, which the loader binds to a preloaded shim. */
int cudaMemcpy(void *dst, const void *src, size_t count, int direction);
int cudaMemcpy(void *dst, const void *src, size_t count, int direction)
{
    int result = cudaMemcpyAsync(dst, src, count, direction, NULL);
    cudaStreamSynchronize(NULL);
    return result;
}

int cudaPointerGetAttributes(void *attributes, const void *pointer);
int cudaPointerGetAttributes(void *attributes, const void *pointer)
{
    (void)pointer;
    *(int *)attributes = 0; /* cudaMemoryTypeUnregistered: pageable */
    JOIN(trap_asks_, MAJOR)++;
    return 0;
}

int cudaGetLastError(void);
int cudaGetLastError(void)
{
    JOIN(trap_errors_read_, MAJOR)++;
    return 0;
}

int cudaMalloc(void **pointer, size_t size);
int cudaMalloc(void **pointer, size_t size)
{
    static char memory[64];
    *pointer = size <= sizeof memory ? memory : NULL;
    return 0;
}

int cudaEventQuery(void *event);
int cudaEventQuery(void *event)
{
    (void)event;
    return 600; /* cudaErrorNotReady */
}

struct dim3 {
    unsigned x, y, z;
};
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream);
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream)
{
    (void)function, (void)args, (void)shared, (void)stream;
    JOIN(trap_launches_, MAJOR)++;
    return (int)(grid.x * 100 + block.z);
}

int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamBeginCapture(void *stream, int mode)
{
    (void)stream, (void)mode;
    return 0;
}

int cudaStreamEndCapture(void *stream, void **graph);
int cudaStreamEndCapture(void *stream, void **graph)
{
    (void)stream;
    *graph = NULL;
    return 0;
}
