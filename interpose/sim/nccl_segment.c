/* The memory a communicator's ranks share: where it lies, how they meet in it, and the report of one that never comes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "interpose/sim/nccl.h"

/* Containers often have a /dev/shm of 64 MiB: a job's communicators need more, so then a file in $TMPDIR does it. */
#define ENOUGH_SHM ((unsigned long long)256 << 20)
#define SHM_DIR    "/dev/shm"

double hw_nccl_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int hw_nccl_segment_name(char out[128])
{
    struct statvfs fs;
    unsigned long long random;
    const char *dir = SHM_DIR;
    if (statvfs(SHM_DIR, &fs) || (unsigned long long)fs.f_bavail * fs.f_frsize < ENOUGH_SHM || access(SHM_DIR, W_OK)) {
        dir = getenv("TMPDIR");
        if (!dir || strlen(dir) > 48)
            dir = "/tmp";
    }
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return HW_NCCL_SYSTEM_ERROR;
    memset(out, 0, 128);
    snprintf(out, 96, "%s/hookwatch-%016llx", dir, random);
    return HW_NCCL_OK;
}

static size_t lay_out(hw_nccl_segment *s, char *base, size_t ranks)
{
    size_t at = 0;
#define PLACE(field, bytes)                                                                                                    \
    do {                                                                                                                       \
        s->field = (void *)(base + at);                                                                                        \
        at += ((bytes) + 63) & ~(size_t)63;                                                                                    \
    } while (0)
    PLACE(shared, sizeof *s->shared);
    PLACE(operations, ranks * sizeof *s->operations);
    PLACE(bells, ranks * sizeof *s->bells);
    PLACE(split, ranks * sizeof *s->split);
    PLACE(rings, ranks * ranks * sizeof *s->rings);
    at = (at + 4095) & ~(size_t)4095;
    PLACE(slots, ranks * HW_NCCL_SLOT);
    PLACE(ring_bytes, ranks * ranks * HW_NCCL_RING);
#undef PLACE
    return at;
}

int hw_nccl_segment_join(hw_nccl_comm *comm)
{
    hw_nccl_segment *s = &comm->segment;
    s->bytes = lay_out(s, NULL, (size_t)comm->ranks);
    int fd = open(comm->name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)s->bytes);
    void *base = error ? MAP_FAILED : mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (base == MAP_FAILED) {
        fprintf(stderr, "hookwatch: simulate: %s: cannot have %zu bytes for a communicator of %d ranks: %s\n", comm->name,
                s->bytes, comm->ranks, strerror(error ? error : errno));
        return HW_NCCL_SYSTEM_ERROR;
    }
    lay_out(s, base, (size_t)comm->ranks);
    hw_nccl_patience patience = {hw_nccl_now(), 0};
    __atomic_add_fetch(&s->shared->joined, 1, __ATOMIC_ACQ_REL);
    hw_nccl_wake(&s->shared->joined);
    for (uint32_t seen; (seen = __atomic_load_n(&s->shared->joined, __ATOMIC_ACQUIRE)) < (uint32_t)comm->ranks;) {
        hw_nccl_sleep(&s->shared->joined, seen);
        hw_nccl_check_stuck(comm, &patience, "init", -1);
    }
    if (comm->rank == 0) /* all have it open: whatever kills the job now leaves nothing behind */
        unlink(comm->name);
    return HW_NCCL_OK;
}

void hw_nccl_segment_leave(hw_nccl_comm *comm)
{
    if (comm->segment.shared)
        munmap(comm->segment.shared, comm->segment.bytes);
    comm->segment.shared = NULL;
}

void hw_nccl_sleep(uint32_t *word, uint32_t seen)
{
    const struct timespec moment = {0, 20000000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &moment, NULL, 0);
}

void hw_nccl_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void hw_nccl_barrier_wait(hw_nccl_comm *comm, hw_nccl_barrier *b, const char *doing)
{
    uint32_t generation = __atomic_load_n(&b->generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == (uint32_t)comm->ranks) {
        __atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&b->generation, 1, __ATOMIC_RELEASE);
        hw_nccl_wake(&b->generation);
        return;
    }
    hw_nccl_patience patience = {hw_nccl_now(), 0};
    while (__atomic_load_n(&b->generation, __ATOMIC_ACQUIRE) == generation &&
           !__atomic_load_n(&comm->aborted, __ATOMIC_ACQUIRE)) {
        hw_nccl_sleep(&b->generation, generation);
        hw_nccl_check_stuck(comm, &patience, doing, -1);
    }
}

void hw_nccl_check_stuck(hw_nccl_comm *comm, hw_nccl_patience *patience, const char *doing, int peer)
{
    char missing[256] = "";
    size_t used = 0;
    if (patience->said || hw_nccl_now() - patience->since < hw_sim_config.stuck)
        return;
    patience->said = 1;
    if (peer >= 0) {
        snprintf(missing, sizeof missing, " %d", peer);
    } else {
        const uint64_t *begun = comm->segment.operations;
        for (int r = 0; r < comm->ranks && used + 12 < sizeof missing; r++)
            if (__atomic_load_n(&begun[r], __ATOMIC_RELAXED) < __atomic_load_n(&begun[comm->rank], __ATOMIC_RELAXED))
                used += (size_t)snprintf(missing + used, sizeof missing - used, " %d", r);
    }
    const char *base = strrchr(comm->name, '/');
    fprintf(stderr,
            "hookwatch: simulate: STUCK: rank %d of %d, communicator %s, operation %llu (%s): not done after %g s; waits for "
            "rank%s\n",
            comm->rank, comm->ranks, base ? base + 1 : comm->name, (unsigned long long)comm->segment.operations[comm->rank],
            doing, hw_sim_config.stuck, missing[0] ? missing : " unknown");
}
