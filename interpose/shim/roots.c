/* Matching names and paths against core/roots.def and the globs of the environment. */
#define _GNU_SOURCE
#include "interpose/shim/roots.h"

#include "core/glob.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    const char *file, *name, *variables;
};

#define HW_HOOK_ROOT(glob) glob,
static const char *const hooks[] = {
#include "core/roots.def"
    NULL};

#define HW_NESTED(glob) glob,
static const char *const nested[] = {
#include "core/roots.def"
    NULL};

#define HW_FLUSH_ROOT(glob) glob,
static const char *const flushes[] = {
#include "core/roots.def"
    NULL};

#define HW_DISPATCH(file, name, variables) {file, name, variables},
static const struct pair dispatchers[] = {
#include "core/roots.def"
};

#define HW_ENGINE(file, name) {file, name, NULL},
static const struct pair engines[] = {
#include "core/roots.def"
};

#define HW_WRAPPER(file, name) {file, name, NULL},
static const struct pair wrappers[] = {
#include "core/roots.def"
};

#define HW_NOT_A_HOOK(glob) glob,
static const char *const no_hooks[] = {
#include "core/roots.def"
    NULL};

#define HW_NOT_A_HOOK_TYPE(glob) glob,
static const char *const no_hook_types[] = {
#include "core/roots.def"
    NULL};

#define HW_FRAMEWORK_PACKAGE(name) "*/site-packages/" name "/*", "*/dist-packages/" name "/*",
#define HW_FRAMEWORK_PATH(glob)    glob,
static const char *const frameworks[] = {
#include "core/roots.def"
    NULL};

#define HW_OWN_PATH(glob) glob,
static const char *const own[] = {
#include "core/roots.def"
    NULL};

/* Globs of the environment, split in place. */
#define MORE 256
static char more_text[3][16384];
static const char *more[3][MORE + 1];

/* False if the list is longer than there is room for. */
static bool split(int list, const char *variable)
{
    const char *text = getenv(variable);
    if (!text)
        return true;
    if (strlen(text) >= sizeof more_text[0])
        return false;
    strcpy(more_text[list], text);
    int n = 0;
    char *save = NULL, *word = strtok_r(more_text[list], ":", &save);
    for (; word && n < MORE; word = strtok_r(NULL, ":", &save))
        more[list][n++] = word;
    return !word;
}

bool hw_roots_read_environment(void)
{
    bool hook_roots = split(0, "HOOKWATCH_HOOK_ROOTS"), flush_roots = split(1, "HOOKWATCH_FLUSH_ROOTS");
    return split(2, "HOOKWATCH_FRAMEWORK_PATHS") && hook_roots && flush_roots;
}

static bool any(const char *const *globs, const char *text)
{
    for (; *globs; globs++)
        if (hw_glob_match(*globs, text))
            return true;
    return false;
}

static bool any_pair(const struct pair *pairs, size_t count, const char *file, const char *name, uint16_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (hw_glob_match(pairs[i].file, file) && hw_glob_match(pairs[i].name, name)) {
            if (index)
                *index = (uint16_t)i;
            return true;
        }
    }
    return false;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

bool hw_roots_hook(const char *qualname)
{
    return any(hooks, qualname) || any(more[0], qualname);
}

bool hw_roots_nested(const char *qualname)
{
    return any(nested, qualname);
}

bool hw_roots_no_hook_type(const char *type)
{
    return any(no_hook_types, type);
}

bool hw_roots_framework(const char *file)
{
    return any(frameworks, file) || any(more[2], file);
}

bool hw_roots_flush(const char *qualname, const char *file)
{
    return (any(flushes, qualname) && !hw_roots_framework(file)) || any(more[1], qualname);
}

bool hw_roots_stdlib(const char *file)
{
    return strncmp(file, "<frozen ", 8) == 0 ||
           (hw_glob_match("*/lib/python3.*/*", file) && !strstr(file, "/site-packages/") && !strstr(file, "/dist-packages/"));
}

bool hw_roots_own(const char *file)
{
    return any(own, file);
}

bool hw_roots_wrapper(const char *file, const char *qualname)
{
    return any_pair(wrappers, COUNT(wrappers), file, qualname, NULL);
}

bool hw_roots_engine(const char *file, const char *qualname)
{
    return any_pair(engines, COUNT(engines), file, qualname, NULL);
}

bool hw_roots_no_hook(const char *qualname)
{
    return any(no_hooks, qualname);
}

bool hw_roots_dispatch(const char *file, const char *qualname, uint16_t *dispatch)
{
    return any_pair(dispatchers, COUNT(dispatchers), file, qualname, dispatch);
}

bool hw_roots_dispatch_name(uint16_t dispatch, const char *variable)
{
    size_t length = strlen(variable);
    if (!length || dispatch >= COUNT(dispatchers))
        return false;
    for (const char *at = dispatchers[dispatch].variables; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, variable, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}
