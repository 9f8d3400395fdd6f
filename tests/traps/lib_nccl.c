/* link: -fno-optimize-sibling-calls -Wl,-soname,lib_nccl.so */
/* A small NCCL: counts, and calls one of its own exported names from another, as the real one does. */
#include <stddef.h>
#include <unistd.h>

int trap_broadcasts, trap_reduces, trap_in_group;

int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, void *comm, void *stream);
int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, void *comm, void *stream)
{
    (void)send, (void)recv, (void)count, (void)type, (void)root, (void)comm, (void)stream;
    trap_broadcasts++;
    return 0;
}

int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream);
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream)
{
    (void)send, (void)recv, (void)count, (void)type, (void)op, (void)comm, (void)stream;
    trap_reduces++;
    return 0;
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
    trap_in_group++;
    return 0;
}

/* The work of a group is enqueued, and paid for, at its end. */
int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
    trap_in_group--;
    usleep(20000);
    return 0;
}
