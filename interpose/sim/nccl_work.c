/* What collectives do with the bytes: reductions by type, chunks through each rank's slot, sends and receives through rings. */
#include <string.h>
#include "interpose/sim/nccl.h"

/* ---- types ---- */
static float from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023, bits;
    float f;
    if (exponent == 0) { /* zero or subnormal: its value is mantissa * 2^-24 */
        f = (float)mantissa * 0x1p-24f;
        return sign ? -f : f;
    }
    bits = sign | (exponent == 31 ? 0x7f800000u | mantissa << 13 : (exponent + 112) << 23 | mantissa << 13);
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint16_t to_half(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x7f800000) /* infinity, or a quiet NaN */
        return (uint16_t)(sign | 0x7c00 | (magnitude > 0x7f800000 ? 0x200 : 0));
    if (magnitude >= 0x477ff000) /* rounds to 65520 or more */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) { /* subnormal: the addition rounds to a multiple of 2^-24 */
        float positive, shifted;
        memcpy(&positive, &magnitude, sizeof positive);
        shifted = positive + 0.5f;
        memcpy(&bits, &shifted, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000));
    }
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | ((rounded - 0x38000000) >> 13));
}

static float from_bfloat(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint16_t to_bfloat(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define SAME(x) (x)
/* ncclDataType_t, stored type, type that is computed in, conversions. */
#define REDUCIBLE(X)                                                                                                           \
    X(0, int8_t, int64_t, SAME, (int8_t))                                                                                      \
    X(1, uint8_t, uint64_t, SAME, (uint8_t))                                                                                   \
    X(2, int32_t, int64_t, SAME, (int32_t))                                                                                    \
    X(3, uint32_t, uint64_t, SAME, (uint32_t))                                                                                 \
    X(4, int64_t, int64_t, SAME, SAME)                                                                                         \
    X(5, uint64_t, uint64_t, SAME, SAME)                                                                                       \
    X(6, uint16_t, float, from_half, to_half)                                                                                  \
    X(7, float, float, SAME, SAME)                                                                                             \
    X(8, double, double, SAME, SAME)                                                                                           \
    X(9, uint16_t, float, from_bfloat, to_bfloat)

size_t hw_nccl_size_of(int type)
{
    static const unsigned char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}

int hw_nccl_can_reduce(int type)
{
    return type >= 0 && type <= 9;
}

/* out[i] = reduction over ranks r of from[r * stride ...][i]. All ranks add in the same order, so all get the same bits.
 * `factor` multiplies each contribution (1 unless a scaled sum); an average divides at the end. */
static void reduce(void *out, const char *from, size_t stride, int ranks, size_t count, int type, int reduction, double factor)
{
    switch (type) {
#define CASE(code, T, A, LOAD, STORE)                                                                                          \
    case code:                                                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                                   \
            A acc = 0;                                                                                                         \
            for (int r = 0; r < ranks; r++) {                                                                                  \
                A x = (A)LOAD(((const T *)(from + (size_t)r * stride))[i]);                                                    \
                if (factor != 1)                                                                                               \
                    x = (A)((double)x * factor);                                                                               \
                if (!r)                                                                                                        \
                    acc = x;                                                                                                   \
                else if (reduction == HW_NCCL_PROD)                                                                            \
                    acc = (A)(acc * x);                                                                                        \
                else if (reduction == HW_NCCL_MAX)                                                                             \
                    acc = x > acc || x != x ? x : acc;                                                                         \
                else if (reduction == HW_NCCL_MIN)                                                                             \
                    acc = x < acc || x != x ? x : acc;                                                                         \
                else                                                                                                           \
                    acc = (A)(acc + x);                                                                                        \
            }                                                                                                                  \
            if (reduction == HW_NCCL_AVG)                                                                                      \
                acc = (A)(acc / (A)ranks);                                                                                     \
            ((T *)out)[i] = STORE(acc);                                                                                        \
        }                                                                                                                      \
        break;
        REDUCIBLE(CASE)
#undef CASE
    }
}

const char *hw_nccl_kind_name(hw_nccl_kind kind)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                        "all_to_all", "gather",     "scatter",        "send",      "recv"};
    return names[kind];
}

/* ---- collectives ---- */
static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from)
        memmove(to, from, bytes);
}

/* One chunk of `n` elements at element `at`: what this rank puts into its slot. Kinds that address each rank put one part
 * per rank side by side. */
static void put(hw_nccl_comm *c, const hw_nccl_op *op, char *slot, size_t at, size_t n, size_t size)
{
    const char *from = op->from;
    switch (op->kind) {
    case HW_ALL_REDUCE:
    case HW_ALL_GATHER:
    case HW_REDUCE:
    case HW_GATHER:
        copy(slot, from + at * size, n * size);
        break;
    case HW_BROADCAST:
        if (c->rank == op->peer)
            copy(slot, from + at * size, n * size);
        break;
    case HW_SCATTER:
        if (c->rank != op->peer)
            break;
        /* fall through */
    case HW_REDUCE_SCATTER:
    case HW_ALL_TO_ALL:
        for (size_t p = 0; p < (size_t)c->ranks; p++)
            copy(slot + p * n * size, from + (p * op->count + at) * size, n * size);
        break;
    default:
        break;
    }
}

/* ... and what it takes from the others' slots. */
static void take(hw_nccl_comm *c, const hw_nccl_op *op, const char *slots, size_t at, size_t n, size_t size, double factor)
{
    char *to = op->to;
    size_t mine = (size_t)c->rank * n * size;
    switch (op->kind) {
    case HW_REDUCE:
        if (c->rank != op->peer)
            break;
        /* fall through */
    case HW_ALL_REDUCE:
        reduce(to + at * size, slots, HW_NCCL_SLOT, c->ranks, n, op->type, op->reduction, factor);
        break;
    case HW_REDUCE_SCATTER:
        reduce(to + at * size, slots + mine, HW_NCCL_SLOT, c->ranks, n, op->type, op->reduction, factor);
        break;
    case HW_GATHER:
        if (c->rank != op->peer)
            break;
        /* fall through */
    case HW_ALL_GATHER:
        for (size_t p = 0; p < (size_t)c->ranks; p++)
            copy(to + (p * op->count + at) * size, slots + p * HW_NCCL_SLOT, n * size);
        break;
    case HW_BROADCAST:
        copy(to + at * size, slots + (size_t)op->peer * HW_NCCL_SLOT, n * size);
        break;
    case HW_SCATTER:
        copy(to + at * size, slots + (size_t)op->peer * HW_NCCL_SLOT + mine, n * size);
        break;
    case HW_ALL_TO_ALL:
        for (size_t p = 0; p < (size_t)c->ranks; p++)
            copy(to + (p * op->count + at) * size, slots + p * HW_NCCL_SLOT + mine, n * size);
        break;
    default:
        break;
    }
}

static void collective(hw_nccl_comm *c, const hw_nccl_op *op)
{
    const char *name = hw_nccl_kind_name(op->kind);
    size_t size = hw_nccl_size_of(op->type), at = 0;
    if (!size)
        return;
    size_t chunk = HW_NCCL_SLOT / size;
    double factor = 1;
    if (op->kind == HW_REDUCE_SCATTER || op->kind == HW_ALL_TO_ALL || op->kind == HW_SCATTER)
        chunk /= (size_t)c->ranks;
    if (op->reduction >= HW_NCCL_FIRST_OWN && op->reduction < HW_NCCL_FIRST_OWN + c->scale_count)
        factor = c->scales[op->reduction - HW_NCCL_FIRST_OWN];
    if (c->ranks == 1) { /* nobody to meet: the caller's buffer is the slot */
        if (op->kind == HW_ALL_REDUCE || op->kind == HW_REDUCE || op->kind == HW_REDUCE_SCATTER)
            reduce(op->to, op->from, 0, 1, op->count, op->type, op->reduction, factor);
        else
            copy(op->to, op->from, op->count * size);
        return;
    }
    do {
        size_t n = op->count - at < chunk ? op->count - at : chunk;
        put(c, op, c->segment.slots + (size_t)c->rank * HW_NCCL_SLOT, at, n, size);
        hw_nccl_barrier_wait(c, &c->segment.shared->data, name);
        if (__atomic_load_n(&c->aborted, __ATOMIC_ACQUIRE))
            return;
        take(c, op, c->segment.slots, at, n, size, factor);
        hw_nccl_barrier_wait(c, &c->segment.shared->data, name);
        at += n;
    } while (at < op->count && !__atomic_load_n(&c->aborted, __ATOMIC_ACQUIRE));
}

/* ---- sends and receives ---- */
static int is_p2p(const hw_nccl_op *op)
{
    return op->kind == HW_SEND || op->kind == HW_RECV;
}

static size_t bytes_of(const hw_nccl_op *op)
{
    return op->count * hw_nccl_size_of(op->type);
}

/* Moves what fits now; returns whether anything moved. */
static int move(hw_nccl_comm *c, hw_nccl_op *op)
{
    int sends = op->kind == HW_SEND;
    size_t index =
        sends ? (size_t)c->rank * (size_t)c->ranks + (size_t)op->peer : (size_t)op->peer * (size_t)c->ranks + (size_t)c->rank;
    hw_nccl_ring *ring = &c->segment.rings[index];
    char *bytes = c->segment.ring_bytes + index * HW_NCCL_RING;
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    size_t before = op->moved;
    for (size_t n; op->moved < bytes_of(op); op->moved += n) {
        size_t offset = (sends ? head : tail) % HW_NCCL_RING;
        n = sends ? HW_NCCL_RING - (size_t)(head - tail) : (size_t)(head - tail);
        if (n > HW_NCCL_RING - offset)
            n = HW_NCCL_RING - offset;
        if (n > bytes_of(op) - op->moved)
            n = bytes_of(op) - op->moved;
        if (!n)
            break;
        if (sends) {
            memcpy(bytes + offset, (const char *)op->from + op->moved, n);
            head += n;
        } else {
            memcpy((char *)op->to + op->moved, bytes + offset, n);
            tail += n;
        }
    }
    if (op->moved == before)
        return 0;
    __atomic_store_n(sends ? &ring->head : &ring->tail, sends ? head : tail, __ATOMIC_RELEASE);
    __atomic_add_fetch(&c->segment.bells[op->peer], 1, __ATOMIC_RELEASE);
    hw_nccl_wake(&c->segment.bells[op->peer]);
    return 1;
}

/* An earlier operation with the same peer and direction is not finished: bytes must keep their order. */
static int must_wait(const hw_nccl_op *ops, const hw_nccl_op *op)
{
    for (const hw_nccl_op *p = ops; p != op; p = p->next)
        if (p->kind == op->kind && p->peer == op->peer && p->moved < bytes_of(p))
            return 1;
    return 0;
}

/* A rank's message to itself needs no ring: the group's matching receive gets it. */
static void to_self(hw_nccl_comm *c, hw_nccl_op *ops)
{
    for (hw_nccl_op *s = ops; s; s = s->next) {
        if (s->kind != HW_SEND || s->peer != c->rank)
            continue;
        for (hw_nccl_op *r = ops; r; r = r->next)
            if (r->kind == HW_RECV && r->peer == c->rank && !r->moved && bytes_of(r) == bytes_of(s)) {
                copy(r->to, s->from, bytes_of(s));
                r->moved = s->moved = bytes_of(s);
                break;
            }
    }
}

static void exchange(hw_nccl_comm *c, hw_nccl_op *ops)
{
    hw_nccl_patience patience = {hw_nccl_now(), 0};
    to_self(c, ops);
    while (!__atomic_load_n(&c->aborted, __ATOMIC_ACQUIRE)) {
        uint32_t bell = c->ranks > 1 ? __atomic_load_n(&c->segment.bells[c->rank], __ATOMIC_ACQUIRE) : 0;
        const hw_nccl_op *left = NULL;
        int moved = 0;
        for (hw_nccl_op *op = ops; op; op = op->next) {
            if (!is_p2p(op) || op->moved >= bytes_of(op))
                continue;
            if (c->ranks > 1 && !must_wait(ops, op))
                moved |= move(c, op);
            if (op->moved < bytes_of(op))
                left = op;
        }
        if (!left || c->ranks == 1)
            return;
        if (!moved) {
            hw_nccl_sleep(&c->segment.bells[c->rank], bell);
            hw_nccl_check_stuck(c, &patience, hw_nccl_kind_name(left->kind), left->peer);
        }
    }
}

void hw_nccl_work(hw_nccl_comm *c, hw_nccl_op *ops)
{
    int p2p = 0;
    for (const hw_nccl_op *op = ops; op; op = op->next)
        p2p |= is_p2p(op);
    if (p2p)
        exchange(c, ops);
    for (const hw_nccl_op *op = ops; op; op = op->next) {
        if (is_p2p(op) || __atomic_load_n(&c->aborted, __ATOMIC_ACQUIRE))
            continue;
        if (c->ranks > 1)
            __atomic_add_fetch(&c->segment.operations[c->rank], 1, __ATOMIC_RELAXED);
        collective(c, op);
    }
}
