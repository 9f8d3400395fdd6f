/* cuDNN: any descriptor is accepted; queries answer so that a plan is found and runs as one launch. */
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

enum { TYPE_DESCRIPTOR = 15 }; /* CUDNN_TYPE_BACKEND_DESCRIPTOR */

HW_API int cudnnBackendCreateDescriptor(int type, void **out)
{
    HW_ENTER();
    HW_TRACE("cudnnBackendCreateDescriptor %d", type);
    *out = hw_sim_handle_new();
    return *out ? 0 : 2000; /* CUDNN_STATUS_BAD_PARAM family */
}

HW_API int cudnnBackendDestroyDescriptor(void *descriptor)
{
    HW_ENTER();
    free(descriptor);
    return 0;
}

/* A question for descriptors (engine configurations of a heuristic) gets one; numbers are zero. The sizes are those of the
 * first values of cudnnBackendAttributeType_t: handle, data type, boolean, int64, float, double, pointer. */
HW_API int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t asked, int64_t *count, void *out)
{
    HW_ENTER();
    static const unsigned char sizes[] = {8, 4, 1, 8, 4, 8, 8};
    HW_TRACE("cudnnBackendGetAttribute");
    if (out && type != TYPE_DESCRIPTOR && asked > 0)
        memset(out, 0, type >= 0 && (size_t)type < sizeof sizes ? sizes[type] : 4);
    if (count)
        *count = type == TYPE_DESCRIPTOR || (out && asked > 0);
    return 0;
}

HW_API int cudnnBackendExecute(const hw_sim_handle *handle, void *plan, void *pack)
{
    HW_ENTER();
    hw_sim_stub_launch("cudnnBackendExecute", handle);
    return 0;
}

HW_API int cudnnGetStream(const hw_sim_handle *handle, void **out)
{
    HW_ENTER();
    *out = handle->stream;
    return 0;
}

/* 9.26.0, as cudnnGetVersion says: PyTorch compares it with the version it was built for. */
HW_API int cudnnGetProperty(int which, int *out)
{
    HW_ENTER();
    static const int version[] = {9, 26, 0}; /* major, minor, patch */
    *out = which >= 0 && which < 3 ? version[which] : 0;
    return 0;
}

HW_API void cudnnGetLastErrorString(char *out, size_t length)
{
    if (length)
        out[0] = 0;
}

/* Convolution algorithm searches: one result, algorithm 0, no workspace. */
typedef struct performance { /* cudnnConvolutionFwdAlgoPerf_t and its backward twins share this layout */
    int algo;
    int status;
    float time;
    size_t memory;
    int determinism;
    int math_type;
    int reserved[3];
} performance;

static int one_algorithm(const char *name, int *count, performance *out)
{
    HW_TRACE("%s", name);
    memset(out, 0, sizeof *out);
    out->determinism = 1;
    *count = 1;
    return 0;
}

#define ALGORITHM(name)                                                                                                        \
    HW_API int name(void *handle, void *a, void *b, void *c, void *d, int asked, int *count, performance *out)                 \
    {                                                                                                                          \
        return one_algorithm(#name, count, out);                                                                               \
    }
ALGORITHM(cudnnGetConvolutionForwardAlgorithm_v7)
ALGORITHM(cudnnGetConvolutionBackwardDataAlgorithm_v7)
ALGORITHM(cudnnGetConvolutionBackwardFilterAlgorithm_v7)

#define SEARCH(name)                                                                                                           \
    HW_API int name(void *handle, void *a, const void *pa, void *b, const void *pb, void *c, void *d, void *pd, int asked,     \
                    int *count, performance *out)                                                                              \
    {                                                                                                                          \
        return one_algorithm(#name, count, out);                                                                               \
    }
SEARCH(cudnnFindConvolutionForwardAlgorithmEx)
SEARCH(cudnnFindConvolutionBackwardDataAlgorithmEx)
SEARCH(cudnnFindConvolutionBackwardFilterAlgorithmEx)
