/* link: -fno-optimize-sibling-calls -l:lib_cudart13.so -l:lib_nccl.so */
/* A plugin built for CUDA 13 and NCCL. */
#define MAJOR 13
#include "user.h"

struct dim3 {
    unsigned x, y, z;
};
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);

int cudaMalloc(void **pointer, size_t size);
int cudaEventQuery(void *event);

int user_allocate(void);
int user_allocate(void)
{
    void *pointer;
    return cudaMalloc(&pointer, 8);
}

int user_synchronize(void);
int user_synchronize(void)
{
    return cudaStreamSynchronize(NULL);
}

int user_poll(int times);
int user_poll(int times)
{
    int result = 0;
    for (int i = 0; i < times; i++)
        result = cudaEventQuery(NULL);
    return result;
}

int user_launch(void);
int user_launch(void)
{
    return cudaLaunchKernel(NULL, (struct dim3){3, 1, 1}, (struct dim3){1, 1, 7}, NULL, 0, NULL);
}

int user_broadcast(void);
int user_broadcast(void)
{
    int value = 0;
    return ncclBcast(&value, 1, 2, 0, NULL, NULL);
}

int user_group(int calls);
int user_group(int calls)
{
    int value = 0;
    ncclGroupStart();
    for (int i = 0; i < calls; i++)
        ncclAllReduce(&value, &value, 1, 2, 0, NULL, NULL);
    return ncclGroupEnd();
}

int user_begin_capture(void);
int user_begin_capture(void)
{
    return cudaStreamBeginCapture(NULL, 0);
}

int user_end_capture(void);
int user_end_capture(void)
{
    void *graph;
    return cudaStreamEndCapture(NULL, &graph);
}

/* Calls when the process ends, maybe after the shim's own destructor. */
int user_at_exit;
__attribute__((destructor)) static void leave(void)
{
    char from[8] = "leaving", to[8] = "";
    if (user_at_exit && cudaMemcpy(to, from, 8, 2) != MAJOR)
        __builtin_trap();
}
