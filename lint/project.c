/* Framework, test and documentation files by their paths, and which files are worth a look. */
#define _GNU_SOURCE
#include "lint/project.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/glob.h"

/* A package name covers every directory of that name; what has a slash or a star is a path glob. */
static bool is_configured(const char *framework, const char *path)
{
    char glob[PATH_MAX];
    if (strpbrk(framework, "/*"))
        return hw_glob_match(framework, path);
    if (snprintf(glob, sizeof glob, "*/%s/*", framework) >= (int)sizeof glob)
        return false;
    for (char *p = glob; *p; p++)
        *p = *p == '.' ? '/' : *p;
    return hw_glob_match(glob, path);
}

bool hw_project_is_framework(const char *path, const struct hw_settings *settings)
{
    static const char *const packages[] = {
#define HW_FRAMEWORK_PACKAGE(name) "*/site-packages/" name "/*", "*/dist-packages/" name "/*",
#define HW_FRAMEWORK_PATH(glob)    glob,
#include "core/roots.def"
    };
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (hw_glob_match(packages[i], path))
            return true;
    for (size_t i = 0; i < settings->frameworks.count; i++)
        if (is_configured(settings->frameworks.items[i], path))
            return true;
    return false;
}

static bool holds(const char *text, size_t size, const char *word, size_t length)
{
    return memmem(text, size, word, length) != NULL;
}

/* Whether the text has all that a function of such a qualified name must be written with: the runs between stars and dots. */
static bool may_define(const char *text, size_t size, const char *glob)
{
    for (const char *p = glob; *p;) {
        size_t run = strcspn(p, "*?.<>");
        bool locals = run == 6 && p > glob && p[-1] == '<';
        if (run && !locals && !holds(text, size, p, run))
            return false;
        p += run + (p[run] != 0);
    }
    return true;
}

bool hw_project_may_be_hot(const char *text, size_t size, const struct hw_settings *settings)
{
    const struct hw_strings *lists[] = {&settings->hot_functions, &settings->wrappers, &settings->hook_roots,
                                        &settings->flush_roots};
    if (holds(text, size, "hook", 4) && (holds(text, size, "register", 8) || holds(text, size, "saved_tensors_hooks", 19)))
        return true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            if (may_define(text, size, lists[i]->items[j]))
                return true;
    return false;
}

bool hw_project_is_relaxed(const char *path, const char *argument, const struct hw_settings *settings)
{
    static const char *const folders[] = {"tests", "test", "testing", "docs", "doc"};
    bool configured = settings->file != NULL;
    if (settings->strict_tests)
        return false;
    size_t base = configured ? strlen(settings->root) : strlen(argument);
    if (base > strlen(path) || strncmp(path, argument, configured ? 0 : base) != 0)
        base = (size_t)(strrchr(path, '/') - path);
    const char *name = strrchr(path, '/') + 1;
    if (path[base] == 0) /* the argument is the file itself: only its name speaks */
        base = (size_t)(name - path) - 1;
    if (!strncmp(name, "test_", 5) || hw_glob_match("*_test.py", name) || !strcmp(name, "conftest.py"))
        return true;
    for (const char *part = path + base; part < name; part++) {
        if (*part != '/')
            continue;
        size_t length = strcspn(part + 1, "/");
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
            if (part + 1 + length < name && strlen(folders[i]) == length && !strncmp(part + 1, folders[i], length))
                return true;
    }
    return false;
}
