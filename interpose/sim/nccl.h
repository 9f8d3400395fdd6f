/* The simulated NCCL in three parts: entry points and groups (nccl.c), the shared segment of a communicator (nccl_segment.c),
 * and what a collective does with the bytes (nccl_work.c). */
#ifndef HW_SIM_NCCL_H
#define HW_SIM_NCCL_H

#include <pthread.h>
#include "interpose/sim/sim.h"

enum { HW_NCCL_OK = 0, HW_NCCL_SYSTEM_ERROR = 2, HW_NCCL_INTERNAL_ERROR = 3, HW_NCCL_INVALID_ARGUMENT = 4 };
#define HW_NCCL_NAME 128                                                                      /* bytes of an ncclUniqueId */
enum { HW_NCCL_SUM, HW_NCCL_PROD, HW_NCCL_MAX, HW_NCCL_MIN, HW_NCCL_AVG, HW_NCCL_FIRST_OWN }; /* ncclRedOp_t */

typedef enum hw_nccl_kind {
    HW_ALL_REDUCE,
    HW_ALL_GATHER,
    HW_REDUCE_SCATTER,
    HW_BROADCAST,
    HW_REDUCE,
    HW_ALL_TO_ALL,
    HW_GATHER,
    HW_SCATTER,
    HW_SEND,
    HW_RECV,
} hw_nccl_kind;

typedef struct hw_nccl_op {
    hw_nccl_kind kind;
    const void *from;
    void *to;
    size_t count; /* elements, as the caller gave them */
    int type;     /* ncclDataType_t */
    int reduction;
    int peer;     /* root, or the other side of a send or receive */
    size_t moved; /* bytes of a send or receive so far */
    uint64_t ns;  /* the time it takes, by HOOKWATCH_SIM_LATENCY */
    struct hw_nccl_op *next;
} hw_nccl_op;

/* What the ranks of a communicator share; followed by one arrival counter and one bell per rank, the split table, the ring
 * positions, the slots and the rings (see nccl_segment.c). */
typedef struct hw_nccl_barrier {
    uint32_t arrived, generation;
} hw_nccl_barrier;
typedef struct hw_nccl_shared {
    uint32_t joined;
    uint32_t unlinked; /* the name is gone, or being taken away by who set this */
    hw_nccl_barrier data, control;
} hw_nccl_shared;
typedef struct hw_nccl_ring { /* bytes written and read so far */
    uint64_t head, tail;
} hw_nccl_ring;

typedef struct hw_nccl_offspring { /* what a rank says of a new communicator while one is made from another */
    int colour, key;
    uint32_t made; /* which one `name` is for, by the first rank of the new communicator */
    char name[HW_NCCL_NAME];
} hw_nccl_offspring;

typedef struct hw_nccl_segment {
    hw_nccl_shared *shared;
    uint64_t *operations;         /* per rank: operations begun */
    uint32_t *bells;              /* per rank: rung by whoever moved bytes of a ring of that rank */
    hw_nccl_offspring *offspring; /* per rank */
    hw_nccl_ring *rings;          /* [from * ranks + to] */
    char *slots, *ring_bytes;
    size_t bytes;
} hw_nccl_segment;

#define HW_NCCL_SLOT ((size_t)256 << 10)
#define HW_NCCL_RING ((size_t)64 << 10)

typedef struct hw_nccl_batch { /* what one group handed to one communicator */
    hw_nccl_op *ops;
    hw_sim_deps deps;
    uint64_t number;
    struct hw_nccl_batch *next;
} hw_nccl_batch;

typedef struct hw_nccl_comm {
    char name[HW_NCCL_NAME];
    int ranks, rank;
    uint32_t channel; /* its number among this process's communicators; never reused */
    unsigned splits;
    hw_nccl_segment segment;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    hw_nccl_batch *first, **last;
    uint64_t submitted, finished; /* batch numbers; `lock` */
    int stopping;
    int aborted;
    double *scales; /* of the reductions made by ncclRedOpCreatePreMulSum */
    int scale_count;
} hw_nccl_comm;

/* ---- nccl_segment.c ---- */
/* Makes the file the segment will lie in; its name, under which any process of this user can open it, lies in at most HW_NCCL_NAME bytes at
 * `out`. Nothing is left of it when this process ends. 0, or an ncclResult_t. */
int hw_nccl_segment_name(char out[HW_NCCL_NAME]);
/* Maps the segment `comm->name` and returns when all ranks have; it has no name any more then. 0, or an ncclResult_t. */
int hw_nccl_segment_join(hw_nccl_comm *comm);
void hw_nccl_segment_leave(hw_nccl_comm *comm);
/* The name that rank `leader` of `comm` gives to its `number`th offspring: made by the leader, awaited by the others. */
int hw_nccl_segment_offspring(hw_nccl_comm *comm, int leader, unsigned number, const char *doing, char out[HW_NCCL_NAME]);
/* Waits for all ranks, or for an abort. `doing` names the operation for the report of a stuck rank. */
void hw_nccl_barrier_wait(hw_nccl_comm *comm, hw_nccl_barrier *barrier, const char *doing);
/* Sleeps until `*word` is no longer `seen`, something is aborted, or a moment has passed. */
void hw_nccl_sleep(uint32_t *word, uint32_t seen);
void hw_nccl_wake(uint32_t *word);
/* Names this rank's operation on stderr, once, when it has waited longer than HOOKWATCH_SIM_STUCK says. */
typedef struct hw_nccl_patience {
    double since;
    int said;
} hw_nccl_patience;
void hw_nccl_check_stuck(hw_nccl_comm *comm, hw_nccl_patience *patience, const char *doing, int peer);
double hw_nccl_now(void);

/* ---- nccl_work.c ---- */
size_t hw_nccl_size_of(int type); /* bytes of an ncclDataType_t, 0 for none */
int hw_nccl_can_reduce(int type);
const char *hw_nccl_kind_name(hw_nccl_kind kind);
/* Does all operations of a group: sends and receives together, then the collectives in order. */
void hw_nccl_work(hw_nccl_comm *comm, hw_nccl_op *ops);

#endif
