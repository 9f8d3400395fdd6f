/* cuDNN's recurrent networks: where each weight matrix and bias lies in the packed weights, which PyTorch asks for and checks. */
#include <string.h>
#include "interpose/sim/sim.h"

enum { CELL_LSTM = 2, CELL_GRU = 3, MAX_DIMS = 8 };

typedef struct network { /* behind a cudnnRNNDescriptor_t */
    size_t element;      /* bytes */
    int cell, biases, directions, input, hidden, projected, layers;
} network;
typedef struct shape { /* behind a cudnnTensorDescriptor_t */
    int type, count;
    int dims[MAX_DIMS], strides[MAX_DIMS];
} shape;

HW_API int cudnnSetRNNDescriptor_v8(network *n, int algorithm, int cell, int bias_mode, int bidirectional, int input_mode,
                                    int type, int precision, int math, int input, int hidden, int projected, int layers,
                                    void *dropout, unsigned flags)
{
    HW_ENTER();
    HW_TRACE("cudnnSetRNNDescriptor_v8");
    size_t element = type == 0 ? 4 : type == 1 ? 8 : 2; /* float, double, half and bfloat16 */
    *n = (network){element, cell, bias_mode, bidirectional + 1, input, hidden, projected == hidden ? 0 : projected, layers};
    return 0;
}

/* Matrices on the input and on the previous state, one pair per gate. */
static int matrices(const network *n)
{
    return n->cell == CELL_LSTM ? 8 : n->cell == CELL_GRU ? 6 : 2;
}

static int state(const network *n)
{
    return n->projected ? n->projected : n->hidden;
}

/* Rows and columns of matrix `id` in pseudo layer `layer` (one per layer and direction); id matrices() is the projection. */
static void size_of(const network *n, int layer, int id, int *rows, int *columns)
{
    int first = layer < n->directions;
    *rows = id == matrices(n) ? n->projected : n->hidden;
    *columns = id == matrices(n) ? n->hidden : id >= matrices(n) / 2 ? state(n) : first ? n->input : state(n) * n->directions;
}

/* Elements before matrix `id` of `layer`: all matrices lie before all biases, each by layer and then by id. */
static size_t matrix_offset(const network *n, int layer, int id)
{
    int per_layer = matrices(n) + (n->projected != 0), rows, columns;
    size_t offset = 0;
    for (int l = 0; l <= layer; l++)
        for (int i = 0; i < (l < layer ? per_layer : id); i++) {
            size_of(n, l, i, &rows, &columns);
            offset += (size_t)rows * (size_t)columns;
        }
    return offset;
}

static size_t bias_offset(const network *n, int layer, int id)
{
    return matrix_offset(n, n->layers * n->directions, 0) + (size_t)(layer * matrices(n) + id) * (size_t)n->hidden;
}

HW_API int cudnnGetRNNWeightSpaceSize(void *handle, const network *n, size_t *bytes)
{
    HW_ENTER();
    int all = n->layers * n->directions;
    *bytes = n->element * (n->biases ? bias_offset(n, all, 0) : matrix_offset(n, all, 0));
    return 0;
}

static void describe(shape *s, int rows, int columns)
{
    *s = (shape){0, 3, {1, rows, columns}, {rows * columns, columns, 1}};
}

/* The matrix and the bias are each asked for only where their pointers are given; NULL stands for one there is not. */
HW_API int cudnnGetRNNWeightParams(void *handle, const network *n, int layer, size_t bytes, const void *space, int id,
                                   shape *matrix, void **matrix_at, shape *bias, void **bias_at)
{
    HW_ENTER();
    int rows, columns, biased = n->biases && id < matrices(n);
    HW_TRACE("cudnnGetRNNWeightParams");
    size_of(n, layer, id, &rows, &columns);
    if (matrix)
        describe(matrix, rows, columns);
    if (matrix_at)
        *matrix_at = (char *)space + n->element * matrix_offset(n, layer, id);
    if (bias && biased)
        describe(bias, n->hidden, 1);
    if (bias_at)
        *bias_at = biased ? (char *)space + n->element * bias_offset(n, layer, id) : NULL;
    return 0;
}

HW_API int cudnnSetTensorNdDescriptor(shape *s, int type, int count, const int *dims, const int *strides)
{
    HW_ENTER();
    HW_TRACE("cudnnSetTensorNdDescriptor");
    if (count < 1 || count > MAX_DIMS)
        return 2000; /* CUDNN_STATUS_BAD_PARAM */
    s->type = type;
    s->count = count;
    memcpy(s->dims, dims, (size_t)count * sizeof *dims);
    memcpy(s->strides, strides, (size_t)count * sizeof *strides);
    return 0;
}

HW_API int cudnnGetTensorNdDescriptor(const shape *s, int room, int *type, int *count, int *dims, int *strides)
{
    HW_ENTER();
    *type = s->type;
    *count = s->count;
    for (int i = 0; i < room && i < s->count; i++) {
        dims[i] = s->dims[i];
        strides[i] = s->strides[i];
    }
    return 0;
}
