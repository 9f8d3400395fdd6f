/* Writing the trace file from inside the traced process: only system calls, a bump pointer and compare-and-swap. */
#define _GNU_SOURCE
#include "interpose/trace/writer.h"

#include "interpose/trace/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

struct hw_trace_header *hw_trace;

static int trace_fd = -1;
static dev_t trace_device; /* what the descriptor must still be: programs close and reuse numbers */
static ino_t trace_inode;
static _Atomic uint64_t trace_allocated; /* bytes of the file that are backed by the disk */
static char trace_path[PATH_MAX];        /* where the file is */
static char trace_home[PATH_MAX];        /* where it belongs, "" when it is there already */

#define STRING_SLOTS 16384u
static _Atomic uint32_t strings[STRING_SLOTS];

/* File systems on which a mapped file may raise SIGBUS or lose pages when a server goes away (magic numbers of
 * linux/magic.h and of the file systems' own headers). */
static bool is_network(const char *dir)
{
    struct statfs fs;
    if (statfs(dir, &fs) != 0)
        return true;
    switch ((unsigned long)fs.f_type) {
    case 0x6969:     /* NFS */
    case 0xff534d42: /* CIFS */
    case 0xfe534d42: /* SMB2 */
    case 0x517b:     /* SMB */
    case 0x01021997: /* 9P */
    case 0x65735546: /* FUSE */
    case 0x00c36400: /* Ceph */
    case 0x0bd00bd0: /* Lustre */
    case 0x47504653: /* GPFS */
    case 0x19830326: /* BeeGFS */
    case 0x5346414f: /* AFS */
        return true;
    default:
        return false;
    }
}

static int32_t number_of(const char *const *names)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end;
        if (!text || !*text)
            continue;
        long value = strtol(text, &end, 10);
        if (*end == '\0' && value >= 0 && value < INT_MAX)
            return (int32_t)value;
    }
    return -1;
}

static const char *const world_names[] = {"WORLD_SIZE", "PADDLE_TRAINERS_NUM", "OMPI_COMM_WORLD_SIZE",
                                          "PMI_SIZE",   "SLURM_NTASKS",        NULL};
static const char *const local_names[] = {"LOCAL_RANK", "PADDLE_RANK_IN_NODE", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",
                                          NULL};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Backs bytes of a file with disk blocks. A limit on file sizes would not fail the call but kill the process. */
static int allocate_blocks(int fd, uint64_t start, uint64_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && start + size > limit.rlim_cur)
        return EFBIG;
    int error;
    do
        error = posix_fallocate(fd, (off_t)start, (off_t)size);
    while (error == EINTR);
    return error;
}

static bool descriptor_is_ours(void)
{
    struct stat st;
    return fstat(trace_fd, &st) == 0 && st.st_dev == trace_device && st.st_ino == trace_inode;
}

/* Creates path and allocates its first chunk on the disk. */
static int create_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int error = allocate_blocks(fd, 0, HW_TRACE_CHUNK);
    if (error) {
        close(fd);
        unlink(path);
        errno = error;
        return -1;
    }
    /* A low descriptor may be one that the program expects to be free, as shells and daemons do. */
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    return fd;
}

static bool make_local_dir(char *local, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    if (snprintf(local, size, "%s/hookwatch-%u", tmp && *tmp ? tmp : "/tmp", (unsigned)getuid()) >= (int)size)
        return false;
    struct stat st;
    if (mkdir(local, 0700) != 0 && errno != EEXIST)
        return false;
    return lstat(local, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid() && !is_network(local);
}

/* Chooses the file's place: `dir`, or a node-local directory named by a pointer file in `dir`. */
static int place_file(const char *dir, const char *name)
{
    char path[PATH_MAX], local[PATH_MAX];
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return -1;
    char full[PATH_MAX];
    if (!realpath(dir, full) || snprintf(path, sizeof path, "%s/%s" HW_TRACE_SUFFIX, full, name) >= (int)sizeof path)
        return -1;
    if (!is_network(full)) {
        int fd = create_file(path);
        if (fd >= 0) {
            memcpy(trace_path, path, sizeof path);
            trace_home[0] = '\0';
        }
        return fd;
    }
    if (!make_local_dir(local, sizeof local) ||
        snprintf(trace_path, sizeof trace_path, "%s/%s" HW_TRACE_SUFFIX, local, name) >= (int)sizeof trace_path)
        return -1;
    int fd = create_file(trace_path);
    if (fd < 0)
        return -1;
    memcpy(trace_home, path, sizeof path);
    char pointer[PATH_MAX];
    if (snprintf(pointer, sizeof pointer, "%s/%s" HW_TRACE_POINTER, full, name) < (int)sizeof pointer) {
        int out = open(pointer, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (out >= 0) {
            ssize_t n = write(out, trace_path, strlen(trace_path));
            (void)n; /* without the pointer the trace still arrives at exit */
            close(out);
        }
    }
    return fd;
}

bool hw_trace_open(const char *dir)
{
    char host[64], name[160];
    hw_trace_host(host, sizeof host);
    int32_t rank = number_of(hw_trace_rank_variables);
    char rank_text[16] = "-";
    if (rank >= 0)
        snprintf(rank_text, sizeof rank_text, "%d", rank);
    int fd = -1;
    /* A pid comes back after a wrap or in another container: never write over an older file. */
    for (int try = 0; try < 100 && fd < 0; try++) {
        if (try == 0)
            snprintf(name, sizeof name, "%s.%s.%d", host, rank_text, (int)getpid());
        else
            snprintf(name, sizeof name, "%s.%s.%d-%d", host, rank_text, (int)getpid(), try);
        fd = place_file(dir, name);
        if (fd < 0 && errno != EEXIST)
            return false;
    }
    if (fd < 0)
        return false;
    struct hw_trace_header *h = mmap(NULL, HW_TRACE_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h == MAP_FAILED) {
        close(fd);
        unlink(trace_path);
        return false;
    }
    struct stat st;
    fstat(fd, &st);
    trace_fd = fd;
    trace_device = st.st_dev;
    trace_inode = st.st_ino;
    atomic_store(&trace_allocated, HW_TRACE_CHUNK);
    for (unsigned i = 0; i < STRING_SLOTS; i++)
        atomic_store_explicit(&strings[i], 0, memory_order_relaxed);
    h->format = HW_TRACE_FORMAT;
    h->header_bytes = (uint32_t)sizeof *h;
    h->used = (sizeof *h + 7) & ~(uint64_t)7;
    h->pid = (uint32_t)getpid();
    h->ppid = (uint32_t)getppid();
    h->rank = rank;
    h->local_rank = number_of(local_names);
    h->world = number_of(world_names);
    h->start_realtime_ns = clock_ns(CLOCK_REALTIME);
    h->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    memcpy(h->host, host, sizeof h->host);
    snprintf(h->shim, sizeof h->shim, "%s", HW_VERSION);
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    h->launch_blocking = blocking && *blocking && strcmp(blocking, "0") != 0;
    memcpy(h->magic, HW_TRACE_MAGIC, sizeof h->magic);
    __atomic_store_n(&hw_trace, h, __ATOMIC_RELEASE);
    return true;
}

static void copy_home(void)
{
    static char buffer[65536];
    int in = open(trace_path, O_RDONLY | O_CLOEXEC), out = open(trace_home, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool good = in >= 0 && out >= 0;
    for (ssize_t n; good && (n = read(in, buffer, sizeof buffer)) != 0;)
        good = n > 0 && write(out, buffer, (size_t)n) == n;
    if (out >= 0)
        good = close(out) == 0 && good;
    if (in >= 0)
        close(in);
    if (good) {
        unlink(trace_path);
        char pointer[PATH_MAX];
        size_t stem = strlen(trace_home) - strlen(HW_TRACE_SUFFIX);
        if (snprintf(pointer, sizeof pointer, "%.*s" HW_TRACE_POINTER, (int)stem, trace_home) < (int)sizeof pointer)
            unlink(pointer);
    } else if (out >= 0) {
        unlink(trace_home);
    }
}

void hw_trace_finish(void)
{
    if (!hw_trace)
        return;
    hw_trace->last_ns = clock_ns(CLOCK_MONOTONIC);
    hw_trace->ended = HW_ENDED_EXIT;
    /* The mapping stays: other destructors may still make calls. The file keeps its allocated chunks for them. */
    if (trace_home[0])
        copy_home();
}

void hw_trace_after_fork(void)
{
    if (hw_trace) {
        munmap(hw_trace, HW_TRACE_MAX);
        if (descriptor_is_ours())
            close(trace_fd);
    }
    hw_trace = NULL;
    trace_fd = -1;
}

/* Extends the file to hold `end` bytes. Several threads may do so at once: allocating twice is harmless. */
static bool ensure(uint64_t end)
{
    uint64_t have = atomic_load_explicit(&trace_allocated, memory_order_acquire);
    while (have < end) {
        if (have + HW_TRACE_CHUNK > HW_TRACE_MAX || !descriptor_is_ours() ||
            allocate_blocks(trace_fd, have, HW_TRACE_CHUNK) != 0) {
            __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_TRACE_FULL, __ATOMIC_RELAXED);
            return false;
        }
        if (atomic_compare_exchange_strong(&trace_allocated, &have, have + HW_TRACE_CHUNK))
            have += HW_TRACE_CHUNK;
    }
    return true;
}

uint32_t hw_trace_allocate(size_t bytes)
{
    uint64_t size = (bytes + 7) & ~(uint64_t)7;
    if (size > HW_TRACE_CHUNK / 2 || (hw_trace->coverage & HW_COVERAGE_TRACE_FULL))
        return 0;
    uint64_t start = __atomic_load_n(&hw_trace->used, __ATOMIC_RELAXED);
    do {
        int saved = errno;
        bool room = ensure(start + size);
        errno = saved;
        if (!room)
            return 0;
    } while (!__atomic_compare_exchange_n(&hw_trace->used, &start, start + size, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    struct hw_record *record = hw_trace_at((uint32_t)start);
    record->bytes = (uint32_t)size;
    return (uint32_t)start;
}

void hw_trace_publish(uint32_t offset, enum hw_record_kind kind)
{
    struct hw_record *record = hw_trace_at(offset);
    __atomic_store_n(&record->kind, (uint32_t)kind, __ATOMIC_RELEASE);
}

static uint32_t hash_bytes(const char *text, size_t length)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

uint32_t hw_trace_string(const char *text, size_t length)
{
    if (!text || !hw_trace || length > 4096)
        return 0;
    uint32_t slot = hash_bytes(text, length) % STRING_SLOTS, made = 0;
    for (uint32_t probe = 0; probe < 64; probe++, slot = (slot + 1) % STRING_SLOTS) {
        uint32_t offset = atomic_load_explicit(&strings[slot], memory_order_acquire);
        if (!offset) {
            if (!made) {
                made = hw_trace_allocate(sizeof(struct hw_record_string) + length);
                if (!made)
                    return 0;
                struct hw_record_string *s = hw_trace_at(made);
                s->length = (uint32_t)length;
                memcpy(s->text, text, length);
                hw_trace_publish(made, HW_RECORD_STRING);
            }
            if (atomic_compare_exchange_strong(&strings[slot], &offset, made))
                return made;
        }
        const struct hw_record_string *s = hw_trace_at(offset);
        if (s->length == length && memcmp(s->text, text, length) == 0)
            return offset;
    }
    return made;
}
