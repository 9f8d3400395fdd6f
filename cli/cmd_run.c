/* hookwatch run: sets the environment that loads the shim, and becomes the command. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "interpose/sim/plan.h"
#include "interpose/trace/names.h"
#include "interpose/trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: hookwatch run [options] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs COMMAND with the shim preloaded. Host waits, copies and collectives made inside hooks are\n"
    "recorded, one trace per process; `hookwatch report` shows them. Exits as COMMAND does.\n"
    "\n"
    "  -o, --output DIR      where the traces go (default: ./hookwatch.out; an older run moves to DIR.old)\n"
    "      --simulate        run on the simulated CUDA stack: needs no GPU, counts are exact\n"
    "      --zeros           with --simulate: kernels compute nothing; fast, but branches see zeros\n"
    "      --devices N       with --simulate: number of devices (default: 1)\n"
    "      --device-profile NAME\n"
    "                        with --simulate: which device: h100 (default), a100, b200\n"
    "      --backend NAME    symbols (default)\n"
    "      --report          print the report when COMMAND has ended\n"
    "      --fail-on CODES   exit 1 if COMMAND succeeded but a finding has one of these codes (HW101,HW2,...)\n"
    "      --strict          exit 1 if COMMAND succeeded but there are findings or unknown coverage\n"
    "  -h, --help            show this text\n"
    "\n"
    "A bare LD_PRELOAD of libhookwatch.so works too: this command only sets variables.\n";

static void print_help(void)
{
    static const struct {
        const char *name, *standard, *text;
    } variables[] = {
#define HW_ENV(name, field, standard, text) {name, standard, text},
#include "interpose/env.def"
    };
    fputs(usage, stdout);
    puts("\nVariables:");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        printf("  %s%s%s\n      %s\n", variables[i].name, *variables[i].standard ? "=" : "", variables[i].standard,
               variables[i].text);
}

struct run {
    const char *dir;
    bool simulate, zeros, report, strict;
    const char *fail_on, *devices, *profile;
};

static int die(const char *what, const char *why)
{
    fprintf(stderr, "hookwatch run: %s: %s\n", what, why);
    return 2;
}

int hw_find_libraries(char *out, size_t size)
{
    char exe[PATH_MAX], path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return die("/proc/self/exe", strerror(errno));
    exe[n] = '\0';
    *strrchr(exe, '/') = '\0';
    for (size_t i = 0; i < 2; i++) {
        char dir[PATH_MAX], shim[PATH_MAX];
        if (snprintf(dir, sizeof dir, i ? "%s/../lib/hookwatch" : "%s/../lib", exe) >= (int)sizeof dir ||
            !realpath(dir, path) || snprintf(shim, sizeof shim, "%s/libhookwatch.so", path) >= (int)sizeof shim ||
            access(shim, R_OK) != 0)
            continue;
        if (strpbrk(path, " :"))
            return die(path, "the loader splits LD_PRELOAD at spaces and colons; install hookwatch under another path");
        if (snprintf(out, size, "%s", path) >= (int)size)
            return die(path, "too long");
        return 0;
    }
    return die("libhookwatch.so", "not found beside this program; build or install it");
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_trace(const char *name)
{
    return ends_with(name, HW_TRACE_SUFFIX) || ends_with(name, HW_TRACE_POINTER);
}

static int make_dir(const char *dir)
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return errno;
    return access(dir, W_OK | X_OK) == 0 ? 0 : errno;
}

/* Start of a process in nanoseconds since the epoch; 0: no such process. */
static uint64_t start_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    unsigned long long ticks = 0;
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &ticks) != 1)
        return 0;
    struct timespec now, boot;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t born = (uint64_t)(now.tv_sec - boot.tv_sec) * 1000000000u;
    return born + ticks * 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Our rank where a launcher starts one `hookwatch run` per rank, so that siblings write to the same directory; NULL elsewhere. */
static const char *launched_rank(void)
{
    for (size_t i = 0; hw_trace_rank_variables[i]; i++) {
        const char *value = getenv(hw_trace_rank_variables[i]);
        if (value && *value && strspn(value, "0123456789") == strlen(value))
            return value;
    }
    return NULL;
}

/* Whether a trace's name, HOST.RANK.PID and a suffix, is of this rank. */
static bool is_of_rank(const char *name, const char *rank)
{
    const char *at = strchr(name, '.');
    size_t n = strlen(rank);
    return at && strncmp(at + 1, rank, n) == 0 && at[1 + n] == '.';
}

enum age { AGE_EARLIER, AGE_THIS, AGE_RUNNING };

/* Whether a trace is of an earlier run: if its process has ended; and under a launcher, only if it is of our own rank or older
 * than the launcher, as ranks may start one after the other. A file that cannot be read is of an earlier run. */
static enum age age_of(const char *path, const char *name, const char *host, const char *rank)
{
    struct hw_trace_view view;
    char error[512];
    if (hw_trace_view_open(path, &view, error, sizeof error) != 0)
        return rank && !is_of_rank(name, rank) ? AGE_THIS : AGE_EARLIER;
    const struct hw_trace_header *h = &view.header;
    uint64_t born = start_of((pid_t)h->pid), second = 1000000000u;
    bool running = strcmp(h->host, host) == 0 && born && born < h->start_realtime_ns + second;
    bool older = h->start_realtime_ns + second < start_of(getppid());
    hw_trace_view_close(&view);
    if (rank)
        return !running && (older || is_of_rank(name, rank)) ? AGE_EARLIER : AGE_THIS;
    return running ? AGE_RUNNING : AGE_EARLIER;
}

/* Copies a file to another file system and removes it, as DIR may be a mount point. */
static bool move_across(const char *from, const char *to)
{
    char buffer[65536];
    FILE *in = fopen(from, "re"), *out = in ? fopen(to, "we") : NULL;
    bool good = out != NULL;
    for (size_t n; good && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        good = fwrite(buffer, 1, n, out) == n;
    if (out && fclose(out) != 0)
        good = false;
    if (in)
        fclose(in);
    return good && unlink(from) == 0;
}

/* Empties DIR.old of traces (of our rank, under a launcher) and moves the earlier run's there. Other files stay. */
static int move_earlier(const char *dir, char **names, size_t count, const char *rank)
{
    char old[PATH_MAX + 8], from[PATH_MAX * 2], to[PATH_MAX * 2];
    snprintf(old, sizeof old, "%s.old", dir);
    int error = make_dir(old);
    DIR *stream = error ? NULL : opendir(old);
    if (!stream)
        return die(old, strerror(error ? error : errno));
    for (struct dirent *e; (e = readdir(stream));)
        if (is_trace(e->d_name) && (!rank || is_of_rank(e->d_name, rank)))
            unlinkat(dirfd(stream), e->d_name, 0);
    closedir(stream);
    for (size_t i = 0; i < count; i++) {
        snprintf(from, sizeof from, "%s/%s", dir, names[i]);
        snprintf(to, sizeof to, "%s/%s", old, names[i]);
        if (rename(from, to) != 0 && errno != ENOENT &&
            (errno != EXDEV || !move_across(from, to))) /* a sibling may be faster */
            return die(from, strerror(errno));
    }
    return 0;
}

/* Moves an earlier run's traces from `dir` (an absolute path) to DIR.old. */
static int make_room(const char *dir)
{
    char host[64], path[PATH_MAX * 2], **names = NULL;
    hw_trace_host(host, sizeof host);
    size_t count = 0, running = 0;
    const char *rank = launched_rank();
    DIR *stream = opendir(dir);
    if (!stream)
        return die(dir, strerror(errno));
    for (struct dirent *e; (e = readdir(stream));) {
        if (!is_trace(e->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        enum age age = age_of(path, e->d_name, host, rank);
        running += age == AGE_RUNNING;
        char **grown = age == AGE_EARLIER ? realloc(names, (count + 1) * sizeof *names) : NULL;
        if (!grown)
            continue;
        names = grown;
        names[count] = strdup(e->d_name);
        count += names[count] != NULL;
    }
    closedir(stream);
    if (running)
        fprintf(stderr, "hookwatch run: %s: a job that still runs writes there too; its report will hold both\n", dir);
    int status = count && !running ? move_earlier(dir, names, count, rank) : 0;
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

/* Makes the directory for the traces, an earlier run moved aside; its absolute path goes to `out`. */
static int prepare_dir(const struct run *run, char *out)
{
    char fallback[PATH_MAX];
    const char *dir = run->dir ? run->dir : getenv("HOOKWATCH_DIR"), *tmp = getenv("TMPDIR");
    bool named = dir && *dir;
    if (!named)
        dir = "hookwatch.out";
    int error = make_dir(dir);
    if (error && !named) {
        snprintf(fallback, sizeof fallback, "%s/hookwatch.out", tmp && *tmp ? tmp : "/tmp");
        fprintf(stderr, "hookwatch run: %s: %s; traces go to %s\n", dir, strerror(error), fallback);
        dir = fallback;
        error = make_dir(dir);
    }
    if (error)
        return die(dir, strerror(error));
    if (!realpath(dir, out))
        return die(dir, strerror(errno));
    return make_room(out);
}

/* Puts `value` in front of or behind what a list variable holds. */
static int extend(const char *name, const char *value, bool front)
{
    const char *have = getenv(name);
    char *text = NULL;
    int n = have && *have ? asprintf(&text, "%s:%s", front ? value : have, front ? have : value) : asprintf(&text, "%s", value);
    if (n < 0 || setenv(name, text, 1) != 0)
        return die(name, "out of memory");
    free(text);
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_library(const struct dirent *e)
{
    return strstr(e->d_name, ".so") != NULL;
}

/* Preloads the simulated stack, all of it: one real CUDA library beside ours would find a device that is none. What is
 * looked for by name only when used (the driver, NVML) goes to the library path. */
static int set_simulation(const struct run *run, const char *libraries)
{
    if (access("/proc/driver/nvidia/version", F_OK) == 0)
        return die("--simulate",
                   "this machine has an NVIDIA driver; the simulated stack would hide the GPU. Leave the option away, or "
                   "run in a container without the driver");
    char sim[PATH_MAX], path[PATH_MAX + 256];
    snprintf(sim, sizeof sim, "%s/sim", libraries);
    struct dirent **entries = NULL;
    int count = scandir(sim, &entries, is_library, by_name), status = 0;
    if (count <= 0)
        return die(sim, "the simulated stack is not built; run make");
    for (int i = 0; i < count; i++) {
        bool late =
            strncmp(entries[i]->d_name, "libcuda.so", 10) == 0 || strncmp(entries[i]->d_name, "libnvidia-ml.so", 15) == 0;
        snprintf(path, sizeof path, "%s/%s", sim, entries[i]->d_name);
        if (!late && !status)
            status = extend("LD_PRELOAD", path, false);
        free(entries[i]);
    }
    free(entries);
    if (status || extend("LD_LIBRARY_PATH", sim, true))
        return 2;
    if (run->profile)
        setenv("HOOKWATCH_SIM_DEVICE", run->profile, 1);
    if (run->devices)
        setenv("HOOKWATCH_SIM_DEVICES", run->devices, 1);
    setenv("HOOKWATCH_SIM_VALUES", run->zeros ? "0" : "1", 1);
    if (run->zeros) /* a cached block would hold the bytes of an earlier tensor */
        setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
    return 0;
}

static int become(char **command)
{
    execvp(command[0], command);
    int error = errno;
    fprintf(stderr, "hookwatch run: %s: %s\n", command[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

static volatile sig_atomic_t child_pid;

/* What the terminal sends reaches the command by itself: it is in the same process group. */
static void forward(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (child_pid > 0 && info->si_code != SI_KERNEL)
        kill(child_pid, signal);
}

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

/* Runs the command as a child; returns its wait status, or -1. */
static int run_child(char **command)
{
    struct sigaction chld, standard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &standard, &chld); /* ignored by our parent, it would take the status away */
    sigset_t block, before;
    sigemptyset(&block);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&block, forwarded[i]);
    sigprocmask(SIG_BLOCK, &block, &before);
    pid_t pid = fork();
    if (pid < 0) {
        die("fork", strerror(errno));
        return -1;
    }
    if (pid == 0) {
        sigaction(SIGCHLD, &chld, NULL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(become(command));
    }
    child_pid = pid;
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaction(forwarded[i], &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return hw_wait_for(pid);
}

int hw_wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Ends as the child did: by its signal, or with its status. */
static int end_like(int status)
{
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        prctl(PR_SET_DUMPABLE, 0); /* one core dump is enough, and it is not ours */
        signal(number, SIG_DFL);
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, number);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        raise(number);
        return 128 + number;
    }
    return WEXITSTATUS(status);
}

/* The simulated stack refuses the same, but only when the first process has begun. */
static int check_plans(void)
{
    hw_plan_latency latencies[HW_PLAN_ITEMS];
    hw_plan_fault faults[HW_PLAN_ITEMS];
    char why[512], name[PATH_MAX];
    const char *latency = getenv("HOOKWATCH_SIM_LATENCY"), *fail = getenv("HOOKWATCH_SIM_FAIL"),
               *device = getenv("HOOKWATCH_SIM_DEVICE"), *bad = NULL, *value = NULL;
    if (latency && hw_plan_latencies(latency, latencies, why, sizeof why) < 0)
        bad = "HOOKWATCH_SIM_LATENCY", value = latency;
    else if (fail && hw_plan_faults(fail, faults, why, sizeof why) < 0)
        bad = "HOOKWATCH_SIM_FAIL", value = fail;
    else if (device && *device && hw_plan_device(device, why, sizeof why) < 0)
        bad = "HOOKWATCH_SIM_DEVICE", value = device;
    if (!bad)
        return 0;
    snprintf(name, sizeof name, "%s=%s", bad, value);
    return die(name, why);
}

static int parse(int argc, char **argv, struct run *run)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"simulate", no_argument, NULL, 'S'},
                                            {"zeros", no_argument, NULL, 'Z'},
                                            {"devices", required_argument, NULL, 'D'},
                                            {"device-profile", required_argument, NULL, 'P'},
                                            {"backend", required_argument, NULL, 'B'},
                                            {"report", no_argument, NULL, 'R'},
                                            {"fail-on", required_argument, NULL, 'F'},
                                            {"strict", no_argument, NULL, 'T'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "+o:h", options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            run->dir = optarg;
            break;
        case 'S':
            run->simulate = true;
            break;
        case 'Z':
            run->zeros = true;
            break;
        case 'D':
            if (strspn(optarg, "0123456789") != strlen(optarg) || atoi(optarg) < 1 || atoi(optarg) > 64)
                return die("--devices", "wants a number from 1 to 64");
            run->devices = optarg;
            break;
        case 'P': {
            char why[256];
            if (hw_plan_device(optarg, why, sizeof why) < 0)
                return die("--device-profile", why);
            run->profile = optarg;
            break;
        }
        case 'B':
            if (strcmp(optarg, "symbols") != 0)
                return die("--backend", "this build has the backend symbols only");
            break;
        case 'R':
            run->report = true;
            break;
        case 'F':
            if (!hw_report_codes_valid(optarg))
                return die("--fail-on", "wants rule codes or their beginnings, such as HW101,HW2");
            run->fail_on = optarg;
            break;
        case 'T':
            run->strict = true;
            break;
        case 'h':
            print_help();
            exit(0);
        default:
            fputs("Try 'hookwatch run --help'.\n", stderr);
            return 2;
        }
    }
    if (optind == argc)
        return die("no command", "name the program to run, as in: hookwatch run -- python train.py");
    if ((run->zeros || run->devices || run->profile) && !run->simulate)
        return die(run->zeros ? "--zeros" : run->devices ? "--devices" : "--device-profile", "belongs to --simulate");
    return run->simulate ? check_plans() : 0;
}

int hw_cmd_run(int argc, char **argv)
{
    static char name[] = "hookwatch run"; /* getopt's messages begin with it */
    argv[0] = name;
    struct run run = {0};
    char libraries[PATH_MAX - 64], shim[PATH_MAX], dir[PATH_MAX];
    int status = parse(argc, argv, &run);
    if (status || (status = hw_find_libraries(libraries, sizeof libraries)) || (status = prepare_dir(&run, dir)))
        return status;
    snprintf(shim, sizeof shim, "%s/libhookwatch.so", libraries);
    /* The user's own preloads stay in front of ours: their order matters to them. */
    if (setenv("HOOKWATCH_DIR", dir, 1) != 0 || extend("LD_PRELOAD", shim, false) ||
        (run.simulate && set_simulation(&run, libraries)))
        return 2;
    char **command = argv + optind;
    if (!run.report && !run.strict && !run.fail_on)
        return become(command);
    status = run_child(command);
    if (status < 0)
        return 2;
    unsetenv("LD_PRELOAD");
    int verdict = hw_report_after_run(dir, run.report, run.strict, run.fail_on);
    int own = end_like(status);
    return own == 0 ? verdict : own;
}
