/* The memory a communicator's ranks share: where it lies, how they meet in it, and the report of one that never comes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "interpose/sim/nccl.h"

double hw_nccl_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* An unnamed file in memory: no /dev/shm, which containers often make small, and nothing to leave behind. Where the kernel has
 * none, a file in $TMPDIR, whose name goes as soon as all ranks have it open. */
int hw_nccl_segment_name(char out[HW_NCCL_NAME])
{
    const char *dir = getenv("TMPDIR");
    int fd = memfd_create("hookwatch-nccl", MFD_CLOEXEC);
    memset(out, 0, HW_NCCL_NAME);
    if (fd >= 0) {
        snprintf(out, HW_NCCL_NAME, "/proc/%d/fd/%d", (int)getpid(), fd);
        return HW_NCCL_OK;
    }
    if (!dir || !*dir || strlen(dir) > 100)
        dir = "/tmp";
    snprintf(out, HW_NCCL_NAME, "%.100s/hookwatch-XXXXXX", dir);
    fd = mkostemp(out, O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr,
                "hookwatch: simulate: %s: no file for a communicator: %s; set TMPDIR to a directory that can be written\n", dir,
                strerror(errno));
        return HW_NCCL_SYSTEM_ERROR;
    }
    close(fd);
    return HW_NCCL_OK;
}

/* All ranks have the segment open: whatever kills the job now leaves nothing behind. */
static void forget_name(const hw_nccl_comm *comm)
{
    int pid, fd;
    if (sscanf(comm->name, "/proc/%d/fd/%d", &pid, &fd) != 2) {
        if (!__atomic_exchange_n(&comm->segment.shared->unlinked, 1, __ATOMIC_ACQ_REL))
            unlink(comm->name);
    } else if (pid == getpid() && !__atomic_exchange_n(&comm->segment.shared->unlinked, 1, __ATOMIC_ACQ_REL)) {
        close(fd);
    }
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
    PLACE(offspring, ranks * sizeof *s->offspring);
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
    int fd = open(comm->name, O_RDWR | O_CLOEXEC);
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
    forget_name(comm);
    return HW_NCCL_OK;
}

int hw_nccl_segment_offspring(hw_nccl_comm *comm, int leader, unsigned number, const char *doing, char out[HW_NCCL_NAME])
{
    hw_nccl_offspring *o = &comm->segment.offspring[leader];
    hw_nccl_patience patience = {hw_nccl_now(), 0};
    if (leader == comm->rank) {
        int error = hw_nccl_segment_name(o->name);
        __atomic_store_n(&o->made, number, __ATOMIC_RELEASE);
        hw_nccl_wake(&o->made);
        memcpy(out, o->name, sizeof o->name);
        return error;
    }
    for (uint32_t seen; (seen = __atomic_load_n(&o->made, __ATOMIC_ACQUIRE)) != number;) {
        hw_nccl_sleep(&o->made, seen);
        hw_nccl_check_stuck(comm, &patience, doing, leader);
    }
    memcpy(out, o->name, sizeof o->name);
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
    char label[HW_NCCL_NAME];
    size_t n = 0;
    for (const char *c = comm->name; *c; c++) /* /proc/12/fd/3: the communicator 12.3 */
        if (*c >= '0' && *c <= '9')
            label[n++] = *c;
        else if (n && label[n - 1] != '.')
            label[n++] = '.';
    label[n] = '\0';
    fprintf(stderr,
            "hookwatch: simulate: STUCK: rank %d of %d, communicator %s, operation %llu (%s): not done after %g s; waits for "
            "rank%s\n",
            comm->rank, comm->ranks, label, (unsigned long long)comm->segment.operations[comm->rank], doing,
            hw_sim_config.stuck, missing[0] ? missing : " unknown");
}
