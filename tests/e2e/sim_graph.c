/* Twins under capture and from the driver: what was captured runs at each launch of the graph, with the arguments of the capture. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "interpose/sim/include/hw_sim.h"

#undef NDEBUG
typedef struct dim3 {
    unsigned x, y, z;
} dim3;

void **__cudaRegisterFatBinary(void *fat);
void __cudaRegisterFunction(void **fat, const char *host, char *device, const char *name, int limit, void *tid, void *bid,
                            void *block, void *grid, int *warp);
int cudaMalloc(void **out, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream);
int cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, void *stream);
int cudaStreamCreate(void **out);
int cudaStreamSynchronize(void *stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphInstantiate(void **out, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *graph, void *stream);
int cudaGraphDestroy(void *graph);

typedef struct step {
    float by;
    char pad[20];
} step;

static void host_stub(void)
{
}

static void add_twin(const hw_sim_launch *l)
{
    float *x = *(float **)l->args[0];
    char tag = *(char *)l->args[1];
    const step *s = l->args[2];
    assert(tag == 'a' && !strcmp(l->name, "add") && l->grid[0] == 2 && l->block[1] == 3);
    for (unsigned i = 0; i < l->grid[0]; i++)
        x[i] += s->by;
}

static void show(const char *what, void *device, void *stream)
{
    float host[2];
    cudaStreamSynchronize(stream);
    cudaMemcpy(host, device, sizeof host, 2);
    printf("%s %g %g\n", what, (double)host[0], (double)host[1]);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {sizeof(float *), sizeof(char), sizeof(step)};
    static int fat;
    int sized = argc < 2;
    void *x, *y, *stream, *graph, *exec;
    __cudaRegisterFunction(__cudaRegisterFatBinary(&fat), (const char *)host_stub, NULL, "add", -1, NULL, NULL, NULL, NULL,
                           NULL);
    assert(sized ? hw_sim_register_kernel_sized("add", add_twin, sizes, 3) : hw_sim_register_kernel("add", add_twin));
    assert(!cudaMalloc(&x, 8) && !cudaMalloc(&y, 8) && !cudaStreamCreate(&stream));

    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *function;
    int (*get)(void **, void *, const char *),
        (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    *(void **)&get = dlsym(driver, "cuModuleGetFunction");
    *(void **)&launch = dlsym(driver, "cuLaunchKernel");
    assert(!get(&function, NULL, "add"));

    char tag = 'a';
    step s = {1, ""};
    void *args[] = {&x, &tag, &s};
    assert(!launch(function, 2, 1, 1, 1, 3, 1, 0, stream, args, NULL));
    show("driver", x, stream);
    struct {
        float *x;
        char tag;
        step s;
    } packed = {x, 'a', {1, ""}};
    size_t bytes = sizeof packed;
    char buffer[64];
    memcpy(buffer, &packed.x, 8);
    buffer[8] = 'a';
    memcpy(buffer + 16, &packed.s, sizeof packed.s);
    void *extra[] = {(void *)1, buffer, (void *)2, &bytes, NULL};
    assert(!launch(function, 2, 1, 1, 1, 3, 1, 0, stream, NULL, extra));
    show("buffer", x, stream);

    assert(!cudaStreamBeginCapture(stream, 0));
    s.by = 10;
    assert(!cudaLaunchKernel((void *)host_stub, (dim3){2, 1, 1}, (dim3){1, 3, 1}, args, 0, stream));
    s.by = 100;
    assert(!launch(function, 2, 1, 1, 1, 3, 1, 0, stream, args, NULL));
    assert(!cudaMemcpyAsync(y, x, 8, 3, stream));
    assert(!cudaMemsetAsync(y, 0, 4, stream));
    assert(!cudaStreamEndCapture(stream, &graph) && !cudaGraphInstantiate(&exec, graph, 0) && !cudaGraphDestroy(graph));
    s.by = 5000;
    tag = 'b';
    show("captured", x, stream);
    for (int i = 0; i < 2; i++)
        assert(!cudaGraphLaunch(exec, stream));
    show("replayed", x, stream);
    show("copied", y, stream);
    return 0;
}
