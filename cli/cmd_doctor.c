/* hookwatch doctor: whether the pieces a run needs are there and fit together, before a job is spent on finding out. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "core/elf.h"
#include "interpose/python/versions.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char usage[] =
    "usage: hookwatch doctor [options]\n"
    "\n"
    "Checks this installation and this machine, a line each. Exits 0: all is well, 1: something would fail,\n"
    "2: a check could not be made.\n"
    "\n"
    "      --simulate      also compare what the installed PyTorch asks of CUDA with the simulated stack\n"
    "      --python PROG   the Python that will run the job (default: python3)\n"
    "  -h, --help          show this text\n";

struct doctor {
    const char *python;
    bool simulate;
    bool failed;
    char libraries[PATH_MAX - 64];
    char version[64], implementation[64], torch[PATH_MAX], torch_version[128];
};

enum verdict { GOOD, NOTE, BAD };

static void say(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void say(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "FAIL"};
    va_list args;
    printf("%-5s %-16s ", words[verdict], what);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    d->failed |= verdict == BAD;
}

static void check_shim(struct doctor *d)
{
    char path[PATH_MAX];
    const char *why;
    struct hw_elf elf;
    snprintf(path, sizeof path, "%s/libhookwatch.so", d->libraries);
    if (hw_elf_open(path, &elf, &why) != 0) {
        say(d, BAD, "shim", "%s: %s", path, why);
        return;
    }
    size_t hooks = 0, foreign = 0;
    for (size_t i = 0; i < elf.symbol_count; i++)
        hooks += elf.symbols[i].defined &&
                 (strncmp(elf.symbols[i].name, "cuda", 4) == 0 || strncmp(elf.symbols[i].name, "nccl", 4) == 0);
    for (size_t i = 0; i < elf.needed_count; i++)
        foreign += strncmp(elf.needed[i], "libc.so.", 8) != 0 && strncmp(elf.needed[i], "ld-linux", 8) != 0;
    if (foreign)
        say(d, BAD, "shim", "%s needs libraries that other programs may not have", path);
    else
        say(d, GOOD, "shim", "%s, %zu CUDA and NCCL functions", path, hooks);
    hw_elf_close(&elf);
}

/* Runs the Python and reads one line per answer: version, implementation, directory and version of torch. */
static bool ask_python(struct doctor *d)
{
    static const char script[] = "import importlib.util,platform,sys\n"
                                 "print('%d.%d.%d'%sys.version_info[:3]);print(platform.python_implementation())\n"
                                 "s=importlib.util.find_spec('torch')\n"
                                 "print(s.submodule_search_locations[0] if s else '')\n"
                                 "v={}\n"
                                 "if s: exec(open(s.submodule_search_locations[0]+'/version.py').read(),v)\n"
                                 "print(v.get('__version__',''))\n";
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execlp(d->python, d->python, "-c", script, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *answers = fdopen(ends[0], "r");
    char *fields[] = {d->version, d->implementation, d->torch, d->torch_version};
    size_t sizes[] = {sizeof d->version, sizeof d->implementation, sizeof d->torch, sizeof d->torch_version}, got = 0;
    for (; answers && got < 4 && fgets(fields[got], (int)sizes[got], answers); got++)
        fields[got][strcspn(fields[got], "\n")] = '\0';
    if (answers)
        fclose(answers);
    hw_wait_for(pid);
    return got == 4;
}

static bool check_python(struct doctor *d)
{
    if (!ask_python(d)) {
        say(d, BAD, "python", "%s cannot be run; name one with --python", d->python);
        return false;
    }
    if (strcmp(d->implementation, "CPython") != 0)
        say(d, BAD, "python", "%s %s: only CPython's frames can be read", d->implementation, d->version);
    else if (!hw_py_version_known(d->version))
        say(d, BAD, "python", "CPython %s: frames can be read on %s; elsewhere calls are counted without hooks", d->version,
            HW_PY_VERSIONS);
    else
        say(d, GOOD, "python", "CPython %s: frames can be read", d->version);
    if (!d->torch[0])
        say(d, d->simulate ? BAD : NOTE, "torch", "not installed for %s", d->python);
    else
        say(d, GOOD, "torch", "%s in %s", d->torch_version, d->torch);
    return true;
}

static void check_gpu(struct doctor *d)
{
    bool driver = access("/proc/driver/nvidia/version", F_OK) == 0;
    if (!driver)
        say(d, NOTE, "GPU", "no NVIDIA driver here: use `hookwatch run --simulate`");
    else if (d->simulate)
        say(d, BAD, "GPU", "there is an NVIDIA driver: `hookwatch run --simulate` refuses to hide the GPU");
    else
        say(d, GOOD, "GPU", "NVIDIA driver found");
}

static void check_shared_memory(struct doctor *d)
{
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) != 0) {
        say(d, NOTE, "shared memory", "/dev/shm: %s; several simulated ranks need it", strerror(errno));
        return;
    }
    unsigned long long bytes = (unsigned long long)fs.f_bavail * fs.f_frsize;
    if (bytes < 256ull << 20)
        say(d, NOTE, "shared memory", "/dev/shm has %llu MiB free; several simulated ranks may need more", bytes >> 20);
    else
        say(d, GOOD, "shared memory", "/dev/shm has %llu MiB free", bytes >> 20);
}

/* The symbols of many objects, sorted by name. */
struct names {
    const char **list;
    size_t count, room;
};

static void add_name(struct names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room ? names->room * 2 : 4096;
        const char **list = realloc(names->list, room * sizeof *list);
        if (!list)
            return;
        names->list = list;
        names->room = room;
    }
    names->list[names->count++] = name;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_name(const struct names *names, const char *name)
{
    return names->count && bsearch(&name, names->list, names->count, sizeof *names->list, by_text);
}

static int is_object(const struct dirent *e)
{
    return strstr(e->d_name, ".so") != NULL;
}

/* Opens all shared objects of a directory; *count of them, NULL when there is none. */
static struct hw_elf *open_all(const char *dir, size_t *count)
{
    struct dirent **entries = NULL;
    int found = scandir(dir, &entries, is_object, alphasort);
    struct hw_elf *all = found > 0 ? calloc((size_t)found, sizeof *all) : NULL;
    *count = 0;
    for (int i = 0; i < found; i++) {
        char path[PATH_MAX * 2];
        const char *why;
        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        if (all && hw_elf_open(path, &all[*count], &why) == 0)
            (*count)++;
        free(entries[i]);
    }
    free(entries);
    return all;
}

static void close_all(struct hw_elf *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hw_elf_close(&all[i]);
    free(all);
}

/* Libraries of the CUDA stack by the start of their SONAME; a wheel needs others too, which are not ours. */
static bool is_cuda(const char *soname)
{
    static const char *const starts[] = {"libcu", "libnccl.", "libnv", "libnvidia"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(soname, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Functions of the stack's libraries that carry no version node. */
static bool is_cuda_name(const char *name)
{
    static const char *const starts[] = {"nccl", "nvml", "cufile", "cuFile", "cusparseLt", "cuda", "__cuda", "cudnn", "cublas"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return strncmp(name, "cu", 2) == 0 && name[2] >= 'A' && name[2] <= 'Z';
}

static bool simulated(const struct hw_elf *sim, size_t count, const char *soname)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(sim[i].soname, soname) == 0)
            return true;
    return false;
}

static void compare(struct doctor *d, const struct hw_elf *torch, size_t torch_count, const struct hw_elf *sim,
                    size_t sim_count)
{
    struct names ours = {0}, theirs = {0}, said = {0};
    size_t asked = 0, missing = 0;
    for (size_t i = 0; i < sim_count; i++)
        for (size_t k = 0; k < sim[i].symbol_count; k++)
            if (sim[i].symbols[k].defined)
                add_name(&ours, sim[i].symbols[k].name);
    for (size_t i = 0; i < torch_count; i++)
        for (size_t k = 0; k < torch[i].symbol_count; k++)
            if (torch[i].symbols[k].defined)
                add_name(&theirs, torch[i].symbols[k].name);
    if (ours.count)
        qsort(ours.list, ours.count, sizeof *ours.list, by_text);
    if (theirs.count)
        qsort(theirs.list, theirs.count, sizeof *theirs.list, by_text);
    for (size_t i = 0; i < torch_count; i++) {
        for (size_t k = 0; k < torch[i].needed_count; k++) {
            const char *soname = torch[i].needed[k];
            if (is_cuda(soname) && !simulated(sim, sim_count, soname) && !has_name(&said, soname)) {
                say(d, BAD, "simulated stack", "%s: no such library is simulated", soname);
                add_name(&said, soname);
                if (said.count)
                    qsort(said.list, said.count, sizeof *said.list, by_text);
            }
        }
        for (size_t k = 0; k < torch[i].symbol_count; k++) {
            const struct hw_elf_symbol *s = &torch[i].symbols[k];
            if (s->defined || !(is_cuda(s->version) || (!*s->version && is_cuda_name(s->name))) || has_name(&theirs, s->name))
                continue;
            asked++;
            if (has_name(&ours, s->name) || s->weak || has_name(&said, s->name))
                continue;
            missing++;
            say(d, BAD, "simulated stack", "%s%s%s: torch asks for it, it is not there", s->name, *s->version ? "@" : "",
                s->version);
            add_name(&said, s->name);
            if (said.count)
                qsort(said.list, said.count, sizeof *said.list, by_text);
        }
    }
    if (!asked)
        say(d, BAD, "simulated stack", "%s asks nothing of CUDA: not a CUDA build", d->torch);
    else if (!missing)
        say(d, GOOD, "simulated stack", "%zu libraries; each of the %zu symbols that torch asks for is there", sim_count,
            asked);
    free(ours.list);
    free(theirs.list);
    free(said.list);
}

static void check_simulation(struct doctor *d)
{
    char sim_dir[PATH_MAX], torch_dir[PATH_MAX + 8];
    snprintf(sim_dir, sizeof sim_dir, "%s/sim", d->libraries);
    snprintf(torch_dir, sizeof torch_dir, "%s/lib", d->torch);
    size_t sim_count, torch_count;
    struct hw_elf *sim = open_all(sim_dir, &sim_count), *torch = d->torch[0] ? open_all(torch_dir, &torch_count) : NULL;
    if (!sim_count)
        say(d, BAD, "simulated stack", "%s: not built", sim_dir);
    else if (torch)
        compare(d, torch, torch_count, sim, sim_count);
    close_all(sim, sim_count);
    if (torch)
        close_all(torch, torch_count);
    check_shared_memory(d);
}

int hw_cmd_doctor(int argc, char **argv)
{
    static char name[] = "hookwatch doctor";
    static const struct option options[] = {{"simulate", no_argument, NULL, 'S'},
                                            {"python", required_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct doctor d = {.python = "python3"};
    argv[0] = name;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case 'S':
            d.simulate = true;
            break;
        case 'p':
            d.python = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fputs("Try 'hookwatch doctor --help'.\n", stderr);
            return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "hookwatch doctor: %s: takes no argument\n", argv[optind]);
        return 2;
    }
    if (hw_find_libraries(d.libraries, sizeof d.libraries) != 0)
        return 2;
    check_shim(&d);
    bool python = check_python(&d);
    check_gpu(&d);
    if (d.simulate && python)
        check_simulation(&d);
    return fflush(stdout) != 0 ? 2 : d.failed;
}
