/* cuFFT: a plan is a small number; each has a stream. */
#include "interpose/sim/sim.h"

#define PLANS 4096
static hw_sim_handle plans[PLANS];
static unsigned last;

HW_API int cufftCreate(int *plan)
{
    HW_ENTER();
    HW_TRACE("cufftCreate");
    *plan = (int)(__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) % PLANS);
    return 0;
}

HW_API int cufftSetStream(int plan, void *stream)
{
    HW_ENTER();
    plans[(unsigned)plan % PLANS].stream = stream;
    return 0;
}

HW_API int cufftXtMakePlanMany(int plan, int rank, long long *n, long long *in_embed, long long in_stride, long long in_dist,
                               int in_type, long long *out_embed, long long out_stride, long long out_dist, int out_type,
                               long long batch, size_t *workspace, int execution_type)
{
    HW_ENTER();
    HW_TRACE("cufftXtMakePlanMany");
    *workspace = 64;
    return 0;
}

HW_API int cufftXtExec(int plan, void *in, void *out, int direction)
{
    HW_ENTER();
    hw_sim_stub_launch("cufftXtExec", &plans[(unsigned)plan % PLANS]);
    return 0;
}
