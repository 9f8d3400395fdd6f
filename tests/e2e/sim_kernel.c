/* A program with a kernel of its own, as nvcc would have compiled it: registers the host stub, launches it, and gives a twin. */
#include <stdio.h>
#include <stdlib.h>
#include "interpose/sim/include/hw_sim.h"

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

void **__cudaRegisterFatBinary(void *fat);
void __cudaRegisterFunction(void **fat, const char *host, char *device, const char *name, int limit, void *tid, void *bid,
                            void *block, void *grid, int *warp);
int cudaMalloc(void **out, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, void *stream);

static void host_stub(void)
{
}

static void scale_twin(const hw_sim_launch *launch)
{
    float *x = *(float **)launch->args[0], factor = *(float *)launch->args[1];
    for (unsigned i = 0; i < launch->grid[0] * launch->block[0]; i++)
        x[i] *= factor;
    printf("%s <<<%u, %u, %zu>>>\n", launch->name, launch->grid[0], launch->block[0], launch->shared_bytes);
}

int main(int argc, char **argv)
{
    const char *twin = argc > 1 ? argv[1] : "";
    float host[6] = {1, 2, 3, 4, 5, 6}, factor = 10;
    void *device;
    static int fat;
    __cudaRegisterFunction(__cudaRegisterFatBinary(&fat), (const char *)host_stub, NULL, "_ZN3own5scaleEPff", -1, NULL, NULL,
                           NULL, NULL, NULL);
    if (*twin)
        printf("simulated %d\n", hw_sim_register_kernel(twin, scale_twin));
    void *args[] = {&device, &factor};
    if (cudaMalloc(&device, sizeof host) || cudaMemcpy(device, host, sizeof host, 1))
        return 1;
    if (cudaLaunchKernel((void *)host_stub, (dim3){2, 1, 1}, (dim3){3, 1, 1}, args, 16, NULL))
        return 1;
    if (cudaMemcpy(host, device, sizeof host, 2))
        return 1;
    for (int i = 0; i < 6; i++)
        printf("%g%c", (double)host[i], i < 5 ? ' ' : '\n');
    return 0;
}
