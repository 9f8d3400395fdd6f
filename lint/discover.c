/* Walking directories for Python files. */
#include "lint/discover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

static void add(struct hw_files *files, const char *path, const char *argument)
{
    if (files->count == files->room)
        files->items = hw_realloc(files->items, (files->room = files->room * 2 + 64) * sizeof *files->items);
    char *copy = hw_alloc(strlen(path) + 1);
    strcpy(copy, path);
    files->items[files->count++] = (struct hw_file){copy, argument};
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

static int walk(struct hw_files *files, const char *root, const char *argument)
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
                    add(files, real, argument);
            }
        }
        if (handle)
            closedir(handle);
        free(directory);
    }
    free(stack.items);
    return status;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct hw_file *)left)->path, ((const struct hw_file *)right)->path);
}

int hw_discover(const char *const *paths, size_t count, struct hw_files *files)
{
    *files = (struct hw_files){0};
    files->arguments = hw_alloc((count + 1) * sizeof *files->arguments);
    for (size_t i = 0; i < count; i++) {
        char *real = realpath(paths[i], NULL);
        struct stat st;
        if (!real || stat(real, &st) < 0) {
            fprintf(stderr, "hookwatch: %s: %s; name an existing file or directory\n", paths[i], strerror(errno));
            free(real);
            return -1;
        }
        files->arguments[files->argument_count++] = real;
        if (S_ISDIR(st.st_mode)) {
            if (walk(files, real, real) < 0)
                return -1;
        } else {
            add(files, real, real);
        }
    }
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
