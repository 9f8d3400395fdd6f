/* hookwatch run: sets the environment that loads the shim, and becomes the command. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "interpose/trace/layout.h"

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
    "      --backend NAME    symbols (default)\n"
    "      --report          print the report when COMMAND has ended\n"
    "      --fail-on CODES   exit 1 if COMMAND succeeded but a finding has one of these codes (HW101,HW2,...)\n"
    "      --strict          exit 1 if COMMAND succeeded but there are findings or unknown coverage\n"
    "  -h, --help            show this text\n"
    "\n"
    "Every option is also a HOOKWATCH_* variable, so that a bare LD_PRELOAD of libhookwatch.so works too.\n";

struct run {
    const char *dir;
    bool simulate, zeros, report, strict;
    const char *fail_on, *devices;
};

static int die(const char *what, const char *why)
{
    fprintf(stderr, "hookwatch run: %s: %s\n", what, why);
    return 2;
}

/* The directory of the libraries: beside this program's own. */
static int find_libraries(char *out, size_t size)
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

/* Count of traces in `dir` and of other files; -1 if there is no such directory. */
static long count_entries(const char *dir, long *others)
{
    DIR *stream = opendir(dir);
    long traces = 0;
    *others = 0;
    if (!stream)
        return -1;
    for (struct dirent *e; (e = readdir(stream));) {
        if (is_trace(e->d_name))
            traces++;
        else if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (*others)++;
    }
    closedir(stream);
    return traces;
}

/* Removes an older run: traces only, so that a directory of the user's is never lost. */
static int remove_old(const char *dir)
{
    DIR *stream = opendir(dir);
    if (!stream)
        return errno == ENOENT ? 0 : die(dir, strerror(errno));
    for (struct dirent *e; (e = readdir(stream));)
        if (is_trace(e->d_name) && unlinkat(dirfd(stream), e->d_name, 0) != 0) {
            closedir(stream);
            return die(dir, strerror(errno));
        }
    closedir(stream);
    if (rmdir(dir) != 0)
        return die(dir, "holds files that are no traces; move it away, or choose another directory with -o");
    return 0;
}

static int make_dir(const char *dir)
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return errno;
    return access(dir, W_OK | X_OK) == 0 ? 0 : errno;
}

/* Makes the directory for the traces, an older run moved aside; prints its absolute path into `out`. */
static int prepare_dir(const struct run *run, char *out)
{
    char fallback[PATH_MAX], old[PATH_MAX + 8];
    const char *dir = run->dir ? run->dir : getenv("HOOKWATCH_DIR");
    bool named = dir && *dir;
    if (!named)
        dir = "hookwatch.out";
    long others, traces = count_entries(dir, &others);
    if (traces > 0) {
        snprintf(old, sizeof old, "%s.old", dir);
        int status = remove_old(old);
        if (status)
            return status;
        if (rename(dir, old) != 0)
            return die(dir, strerror(errno));
    }
    int error = make_dir(dir);
    if (error && !named) {
        const char *tmp = getenv("TMPDIR");
        snprintf(fallback, sizeof fallback, "%s/hookwatch.out", tmp && *tmp ? tmp : "/tmp");
        fprintf(stderr, "hookwatch run: %s: %s; traces go to %s\n", dir, strerror(error), fallback);
        dir = fallback;
        if (count_entries(dir, &others) > 0) {
            snprintf(old, sizeof old, "%s.old", dir);
            if (remove_old(old) || rename(dir, old) != 0)
                return 2;
        }
        error = make_dir(dir);
    }
    if (error)
        return die(dir, strerror(error));
    return realpath(dir, out) ? 0 : die(dir, strerror(errno));
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
    snprintf(path, sizeof path, "%s/python", sim);
    if (status || extend("LD_LIBRARY_PATH", sim, true) || extend("PYTHONPATH", path, true))
        return 2;
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

static void forward(int signal)
{
    if (child_pid > 0)
        kill(child_pid, signal);
}

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

/* Runs the command as a child; returns its wait status, or -1. */
static int run_child(char **command)
{
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
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(become(command));
    }
    child_pid = pid;
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        signal(forwarded[i], forward);
    sigprocmask(SIG_SETMASK, &before, NULL);
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

static int parse(int argc, char **argv, struct run *run)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},  {"simulate", no_argument, NULL, 'S'},
        {"zeros", no_argument, NULL, 'Z'},         {"devices", required_argument, NULL, 'D'},
        {"backend", required_argument, NULL, 'B'}, {"report", no_argument, NULL, 'R'},
        {"fail-on", required_argument, NULL, 'F'}, {"strict", no_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
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
            fputs(usage, stdout);
            exit(0);
        default:
            fputs("Try 'hookwatch run --help'.\n", stderr);
            return 2;
        }
    }
    if (optind == argc)
        return die("no command", "name the program to run, as in: hookwatch run -- python train.py");
    if ((run->zeros || run->devices) && !run->simulate)
        return die(run->zeros ? "--zeros" : "--devices", "belongs to --simulate");
    return 0;
}

int hw_cmd_run(int argc, char **argv)
{
    struct run run = {0};
    char libraries[PATH_MAX - 64], shim[PATH_MAX], dir[PATH_MAX];
    int status = parse(argc, argv, &run);
    if (status || (status = find_libraries(libraries, sizeof libraries)) || (status = prepare_dir(&run, dir)))
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
