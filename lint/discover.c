/* From paths to Python files: git's list of a repository, or a walk through directories. */
#define _GNU_SOURCE
#include "lint/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"

/* What one search goes by. */
struct search {
    struct hw_files *files;
    struct hw_projects *projects;
    const char *argument;
    bool named;
    bool broken; /* a configuration on the way is wrong */
};

static void add(struct search *search, const char *path, bool forced)
{
    struct hw_files *files = search->files;
    const struct hw_settings *settings = hw_projects_of_file(search->projects, path);
    search->broken |= !settings;
    if (!settings || (!forced && hw_settings_excluded(settings, path)))
        return;
    if (files->count == files->room)
        files->items = hw_realloc(files->items, (files->room = files->room * 2 + 64) * sizeof *files->items);
    char *copy = hw_alloc(strlen(path) + 1);
    strcpy(copy, path);
    files->items[files->count++] = (struct hw_file){copy, search->argument, search->named};
}

static bool is_python(const char *name)
{
    size_t length = strlen(name);
    return (length > 3 && !strcmp(name + length - 3, ".py")) || (length > 4 && !strcmp(name + length - 4, ".pyi"));
}

static bool is_skipped(const char *name)
{
    static const char *const skipped[] = {"__pycache__", "build",         "dist",          "node_modules",
                                          "venv",        "site-packages", "__pypackages__"};
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (!strcmp(name, skipped[i]))
            return true;
    return name[0] == '.';
}

/* Directories still to read: a heap-held stack, so that depth costs no C stack. */
struct stack {
    char **items;
    size_t count, room;
};

static void push(struct stack *stack, const char *directory, const char *name)
{
    if (stack->count == stack->room)
        stack->items = hw_realloc(stack->items, (stack->room = stack->room * 2 + 16) * sizeof *stack->items);
    size_t length = strlen(directory) + strlen(name) + 2;
    char *path = hw_alloc(length);
    snprintf(path, length, "%s%s%s", directory, *name ? "/" : "", name);
    stack->items[stack->count++] = path;
}

static int walk(struct search *search, const char *root)
{
    struct stack stack = {0};
    int status = 0;
    push(&stack, root, "");
    while (stack.count) {
        char *directory = stack.items[--stack.count];
        DIR *handle = opendir(directory);
        if (!handle && stack.count == 0 && !strcmp(directory, root)) {
            fprintf(stderr, "hookwatch: %s: %s; name a readable directory\n", directory, strerror(errno));
            status = -1;
        } else if (!handle) {
            fprintf(stderr, "hookwatch: %s: %s; skipped\n", directory, strerror(errno));
        }
        for (struct dirent *entry; handle && (entry = readdir(handle));) {
            const char *name = entry->d_name;
            char path[PATH_MAX];
            struct stat st;
            if (!strcmp(name, ".") || !strcmp(name, "..") ||
                snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path || lstat(path, &st) < 0)
                continue;
            bool link = S_ISLNK(st.st_mode);
            if (link && stat(path, &st) < 0)
                continue;
            if (S_ISDIR(st.st_mode) && !link && !is_skipped(name))
                push(&stack, directory, name);
            else if (S_ISREG(st.st_mode) && is_python(name)) {
                char real[PATH_MAX];
                if (realpath(path, real))
                    add(search, real, false);
            }
        }
        if (handle)
            closedir(handle);
        free(directory);
    }
    free(stack.items);
    return status;
}

/* The nearest directory at or above `path` that holds .git; false if there is none. */
static bool repository_of(const char *path, char *out)
{
    char probe[PATH_MAX + 8];
    snprintf(out, PATH_MAX, "%s", path);
    for (char *slash; *out; *slash = 0) {
        snprintf(probe, sizeof probe, "%s/.git", out);
        if (access(probe, F_OK) == 0)
            return true;
        slash = strrchr(out, '/');
        if (!slash)
            break;
    }
    return false;
}

/* `git ls-files` of a directory: a stream of paths below it, each ended by a NUL. NULL where git cannot be run. */
static FILE *open_git(const char *directory, pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, 0);
        dup2(ends[1], 1);
        dup2(null, 2);
        unsetenv("GIT_DIR"); /* set where git itself runs us as a hook */
        unsetenv("GIT_WORK_TREE");
        unsetenv("GIT_INDEX_FILE");
        unsetenv("GIT_PREFIX");
        execlp("git", "git", "-c", "core.fsmonitor=false", "-C", directory, "ls-files", "-z", "--cached", "--others",
               "--exclude-standard", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *stream = *child < 0 ? NULL : fdopen(ends[0], "r");
    if (!stream)
        close(ends[0]);
    return stream;
}

/* Whether a directory on the way down to the file is one that is skipped. */
static bool below_skipped(char *path)
{
    for (char *part = path, *slash; (slash = strchr(part, '/')); part = slash + 1) {
        *slash = 0;
        bool skipped = is_skipped(part);
        *slash = '/';
        if (skipped)
            return true;
    }
    return false;
}

/* False where git lists nothing: no repository, no git, or a directory that is ignored. */
static bool list(struct search *search, const char *root)
{
    char repository[PATH_MAX], *line = NULL, path[PATH_MAX], real[PATH_MAX];
    size_t room = 0;
    bool any = false;
    pid_t child;
    FILE *stream = repository_of(root, repository) ? open_git(root, &child) : NULL;
    if (!stream)
        return false;
    for (ssize_t length; (length = getdelim(&line, &room, 0, stream)) > 0;) {
        struct stat st;
        any = true;
        if (below_skipped(line) || snprintf(path, sizeof path, "%s/%s", root, line) >= (int)sizeof path ||
            stat(path, &st) < 0 || !realpath(path, real))
            continue;
        bool directory = S_ISDIR(st.st_mode) && line[length - 2] == '/'; /* a repository of its own that is not tracked */
        if (directory && lstat(path, &st) == 0)
            walk(search, real);
        else if (S_ISREG(st.st_mode) && is_python(line))
            add(search, real, false);
    }
    free(line);
    fclose(stream);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return any;
}

static int gather(struct search *search, const char *root)
{
    return list(search, root) ? 0 : walk(search, root);
}

/* The directory whose files are the world of `path`: false if it belongs to no project. */
static bool project_of(struct search *search, const char *path, char *out)
{
    const struct hw_settings *settings = hw_projects_of_file(search->projects, path);
    struct stat st;
    if (settings && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        settings = hw_projects_of_directory(search->projects, path);
    search->broken |= !settings;
    if (!settings)
        return false;
    if (settings->file)
        snprintf(out, PATH_MAX, "%s", settings->root);
    return settings->file || repository_of(path, out);
}

static int add_world(struct search *search, const char *path)
{
    char root[PATH_MAX];
    if (!project_of(search, path, root))
        return search->broken ? -1 : 0;
    struct hw_files *files = search->files;
    for (size_t i = 0; i < files->argument_count; i++)
        if (!strcmp(files->arguments[i], root))
            return 0;
    files->arguments = hw_realloc(files->arguments, (files->argument_count + 1) * sizeof *files->arguments);
    search->argument = files->arguments[files->argument_count++] = strdup(root);
    search->named = false;
    return gather(search, root);
}

/* Named files first among equals. */
static int by_path(const void *left, const void *right)
{
    const struct hw_file *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    return order ? order : b->named - a->named;
}

int hw_discover(const char *const *paths, size_t count, const char *beside, struct hw_projects *projects, bool force_exclude,
                struct hw_files *files)
{
    *files = (struct hw_files){0};
    files->arguments = hw_alloc((count + 1) * sizeof *files->arguments);
    struct search search = {.files = files, .projects = projects};
    for (size_t i = 0; i < count; i++) {
        char *real = realpath(paths[i], NULL);
        struct stat st;
        if (!real || stat(real, &st) < 0) {
            fprintf(stderr, "hookwatch: %s: %s; name an existing file or directory\n", paths[i], strerror(errno));
            free(real);
            return -1;
        }
        files->arguments[files->argument_count++] = real;
        search.argument = real;
        search.named = true;
        if (!S_ISDIR(st.st_mode))
            add(&search, real, !force_exclude);
        else if (gather(&search, real) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (add_world(&search, files->arguments[i]) < 0)
            return -1;
    if ((beside && add_world(&search, beside) < 0) || search.broken)
        return -1;
    if (files->count)
        qsort(files->items, files->count, sizeof *files->items, by_path);
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (kept && !strcmp(files->items[kept - 1].path, files->items[i].path))
            free(files->items[i].path);
        else
            files->items[kept++] = files->items[i];
    }
    files->count = kept;
    return 0;
}

void hw_discover_free(struct hw_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    for (size_t i = 0; i < files->argument_count; i++)
        free(files->arguments[i]);
    free(files->items);
    free(files->arguments);
}
