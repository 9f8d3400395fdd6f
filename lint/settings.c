/* Finding, reading and checking a project's configuration. */
#define _GNU_SOURCE
#include "lint/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/glob.h"
#include "core/memory.h"
#include "core/nearest.h"
#include "core/rules.h"
#include "core/toml.h"

#include "uthash.h"

const struct hw_setting hw_setting_keys[] = {
#define HW_SETTING(key, field, kind, first, second)                                                                            \
    {key, offsetof(struct hw_settings, field), HW_SETTING_##kind, {first, second}},
#include "lint/settings.def"
#undef HW_SETTING
};
const size_t hw_setting_count = sizeof hw_setting_keys / sizeof *hw_setting_keys;

struct directory {
    UT_hash_handle hh;
    char *path;
    const struct hw_settings *settings;
};

struct hw_projects {
    struct hw_arena *arena;
    struct directory *directories;
    const struct hw_settings *only; /* of the one file that was named */
    struct hw_settings defaults;
};

static const char *default_hook_roots[] = {
#define HW_HOOK_ROOT(glob) glob,
#include "core/roots.def"
};
static const char *default_flush_roots[] = {
#define HW_FLUSH_ROOT(glob) glob,
#include "core/roots.def"
};

static bool wrong(const char *file, uint32_t row, const char *format, const char *word, const char *other)
{
    fprintf(stderr, "hookwatch: %s:%u: ", file, row);
    fprintf(stderr, format, word, other);
    fputc('\n', stderr);
    return false;
}

static bool begins_a_code(const char *word)
{
    for (size_t i = 0; i < hw_rules_count && strlen(word) >= 2; i++)
        if (!strncmp(hw_rules[i].code, word, strlen(word)))
            return true;
    return false;
}

static bool read_strings(struct hw_arena *arena, const char *file, const struct hw_toml *value, bool codes,
                         struct hw_strings *out)
{
    if (value->kind != HW_TOML_ARRAY)
        return wrong(file, value->row, "`%s` wants a list of %s", value->key, codes ? "codes, as in [\"HW1\"]" : "strings");
    out->items = hw_arena_alloc(arena, (value->count + 1) * sizeof *out->items);
    out->count = 0;
    for (size_t i = 0; i < value->count; i++) {
        const struct hw_toml *item = value->items[i];
        if (item->kind != HW_TOML_STRING || strlen(item->text) != item->length || !item->length)
            return wrong(file, item->row, "`%s` wants a list of %s", value->key, "non-empty strings");
        if (codes && !begins_a_code(item->text))
            return wrong(file, item->row, "no rule's code is or begins with `%s`; write codes such as %s", item->text,
                         "HW101 or HW1");
        out->items[out->count++] = item->text;
    }
    return true;
}

static bool read_value(struct hw_arena *arena, const char *file, const struct hw_setting *setting, const struct hw_toml *value,
                       struct hw_settings *settings)
{
    char *field = (char *)settings + setting->offset;
    switch (setting->kind) {
    case HW_SETTING_CODES:
    case HW_SETTING_STRINGS:
        return read_strings(arena, file, value, setting->kind == HW_SETTING_CODES, (struct hw_strings *)(void *)field);
    case HW_SETTING_CHOICE:
        if (value->kind == HW_TOML_STRING && !strcmp(value->text, setting->words[0]))
            *(bool *)field = false;
        else if (value->kind == HW_TOML_STRING && !strcmp(value->text, setting->words[1]))
            *(bool *)field = true;
        else
            return wrong(file, value->row, "`%s` is \"%s\"", setting->key,
                         hw_arena_format(arena, "%s\" or \"%s", setting->words[0], setting->words[1]));
        return true;
    case HW_SETTING_CODES_BY_GLOB:
        if (value->kind != HW_TOML_TABLE)
            return wrong(file, value->row, "`%s` wants a table from path globs to codes, as in %s", setting->key,
                         "{\"scripts/*\" = [\"HW1\"]}");
        struct hw_glob_code_list *list = (struct hw_glob_code_list *)(void *)field;
        list->items = hw_arena_alloc(arena, (value->count + 1) * sizeof *list->items);
        for (size_t i = 0; i < value->count; i++) {
            struct hw_glob_codes *entry = &list->items[list->count++];
            entry->glob = value->items[i]->key;
            if (!read_strings(arena, file, value->items[i], true, &entry->codes))
                return false;
        }
        return true;
    }
    return false;
}

static bool read_table(struct hw_arena *arena, const char *file, const struct hw_toml *table, struct hw_settings *settings)
{
    const char *names[32];
    for (size_t i = 0; i < hw_setting_count; i++)
        names[i] = hw_setting_keys[i].key;
    for (size_t i = 0; i < table->count; i++) {
        const struct hw_toml *value = table->items[i];
        const struct hw_setting *setting = NULL;
        for (size_t j = 0; j < hw_setting_count; j++)
            if (!strcmp(hw_setting_keys[j].key, value->key))
                setting = &hw_setting_keys[j];
        if (!setting)
            return wrong(file, value->row, "no setting is named `%s`; the nearest is `%s`", value->key,
                         hw_nearest(value->key, names, hw_setting_count, SIZE_MAX - 1));
        if (!read_value(arena, file, setting, value, settings))
            return false;
    }
    return true;
}

static char *read_file(struct hw_arena *arena, const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *text = NULL, chunk[8192];
    size_t room = 0, got;
    *size = 0;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        if (*size + got > room)
            text = hw_realloc(text, room = (*size + got) * 2);
        memcpy(text + *size, chunk, got);
        *size += got;
    }
    bool failed = ferror(file);
    fclose(file);
    char *kept = failed ? NULL : hw_arena_copy(arena, text ? text : "", *size);
    free(text);
    return kept;
}

/* Reads a configuration. *found: the file is there and speaks of hookwatch. False after one line on stderr. */
static bool read_settings(struct hw_projects *projects, const char *path, bool pyproject, const struct hw_settings **found)
{
    size_t size;
    *found = NULL;
    char *text = read_file(projects->arena, path, &size);
    if (!text) {
        if (errno == ENOENT || errno == ENOTDIR || errno == EISDIR || (pyproject && errno == EACCES))
            return true;
        fprintf(stderr, "hookwatch: %s: %s; make it readable or delete it\n", path, strerror(errno));
        return false;
    }
    if (pyproject && !memmem(text, size, "hookwatch", 9))
        return true;
    uint32_t row;
    const char *error;
    struct hw_toml *document = hw_toml_parse(projects->arena, text, size, &row, &error);
    if (!document)
        return wrong(path, row, "%s%s", error, "; write TOML");
    const struct hw_toml *table = pyproject ? hw_toml_get(hw_toml_get(document, "tool"), "hookwatch") : document;
    if (!table)
        return true;
    if (table->kind != HW_TOML_TABLE)
        return wrong(path, table->row, "`%s` is a table%s", "tool.hookwatch", "");
    struct hw_settings *settings = hw_arena_alloc(projects->arena, sizeof *settings);
    *settings = projects->defaults;
    settings->file = hw_arena_copy(projects->arena, path, strlen(path));
    settings->root = hw_arena_copy(projects->arena, path, (size_t)(strrchr(path, '/') - path));
    if (!read_table(projects->arena, path, table, settings))
        return false;
    *found = settings;
    return true;
}

struct hw_projects *hw_projects_new(const char *config)
{
    struct hw_projects *projects = hw_alloc(sizeof *projects);
    memset(projects, 0, sizeof *projects);
    projects->arena = hw_arena_new();
    projects->defaults.hook_roots =
        (struct hw_strings){default_hook_roots, sizeof default_hook_roots / sizeof *default_hook_roots};
    projects->defaults.flush_roots =
        (struct hw_strings){default_flush_roots, sizeof default_flush_roots / sizeof *default_flush_roots};
    if (!config)
        return projects;
    char *path = realpath(config, NULL);
    const char *name = path ? strrchr(path, '/') + 1 : config;
    bool right = path && read_settings(projects, path, !strcmp(name, "pyproject.toml"), &projects->only);
    if (!path)
        fprintf(stderr, "hookwatch: %s: %s; name an existing configuration\n", config, strerror(errno));
    else if (right && !projects->only)
        fprintf(stderr, "hookwatch: %s: has no [tool.hookwatch]; add it or name another file\n", path);
    free(path);
    if (!projects->only) {
        hw_projects_free(projects);
        return NULL;
    }
    return projects;
}

const struct hw_settings *hw_projects_defaults(const struct hw_projects *projects)
{
    return &projects->defaults;
}

void hw_projects_free(struct hw_projects *projects)
{
    struct directory *directory, *next;
    HASH_ITER (hh, projects->directories, directory, next) {
        HASH_DEL(projects->directories, directory);
        free(directory->path);
        free(directory);
    }
    hw_arena_free(projects->arena);
    free(projects);
}

static const struct hw_settings *remember(struct hw_projects *projects, const char *path, const struct hw_settings *settings)
{
    struct directory *directory = hw_alloc(sizeof *directory);
    directory->path = strdup(path);
    directory->settings = settings;
    HASH_ADD_KEYPTR(hh, projects->directories, directory->path, strlen(directory->path), directory);
    return settings;
}

const struct hw_settings *hw_projects_of_directory(struct hw_projects *projects, const char *path)
{
    if (projects->only)
        return projects->only;
    struct directory *known;
    HASH_FIND_STR(projects->directories, path, known);
    if (known)
        return known->settings;
    char name[PATH_MAX + 32];
    const struct hw_settings *found;
    snprintf(name, sizeof name, "%s/hookwatch.toml", strcmp(path, "/") ? path : "");
    if (!read_settings(projects, name, false, &found))
        return remember(projects, path, NULL);
    if (!found) {
        snprintf(name, sizeof name, "%s/pyproject.toml", strcmp(path, "/") ? path : "");
        if (!read_settings(projects, name, true, &found))
            return remember(projects, path, NULL);
    }
    const char *slash = strrchr(path, '/');
    if (!found && slash && path[1]) {
        char above[PATH_MAX];
        snprintf(above, sizeof above, "%.*s", slash == path ? 1 : (int)(slash - path), path);
        found = hw_projects_of_directory(projects, above);
    } else if (!found) {
        found = &projects->defaults;
    }
    return remember(projects, path, found);
}

const struct hw_settings *hw_projects_of_file(struct hw_projects *projects, const char *path)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return hw_projects_of_directory(projects, directory);
}

bool hw_settings_cover(const struct hw_settings *settings, const char *glob, const char *path)
{
    size_t base = settings->root ? strlen(settings->root) : 0;
    if (base && (strncmp(path, settings->root, base) != 0 || path[base] != '/'))
        return false;
    const char *below = path + base + 1;
    bool any_part = strchr(glob, '/') == NULL;
    for (const char *end = below;; end++) { /* each directory above the file, then the file */
        if (*end && *end != '/')
            continue;
        char part[PATH_MAX];
        snprintf(part, sizeof part, "%.*s", (int)(end - below), below);
        const char *last = strrchr(part, '/');
        if (hw_glob_match(glob, part) || (any_part && last && hw_glob_match(glob, last + 1)))
            return true;
        if (!*end)
            return false;
    }
}

bool hw_settings_excluded(const struct hw_settings *settings, const char *path)
{
    for (size_t i = 0; i < settings->exclude.count; i++)
        if (hw_settings_cover(settings, settings->exclude.items[i], path))
            return true;
    return false;
}

bool hw_strings_match(const struct hw_strings *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t length = strlen(list->items[i]), whole = strlen(name);
        if (hw_glob_match(list->items[i], name) ||
            (whole > length && name[whole - length - 1] == '.' && !strcmp(name + whole - length, list->items[i])))
            return true;
    }
    return false;
}
