/* What a project says about itself: hookwatch.toml, or [tool.hookwatch] in pyproject.toml. */
#ifndef HW_LINT_SETTINGS_H
#define HW_LINT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct hw_strings {
    const char **items;
    size_t count;
};

struct hw_glob_codes {
    const char *glob;
    struct hw_strings codes;
};

struct hw_glob_code_list {
    struct hw_glob_codes *items;
    size_t count;
};

struct hw_settings {
    const char *file; /* absolute path it was read from; NULL: nothing is configured */
    const char *root; /* its directory */
    struct hw_strings select, ignore;
    struct hw_glob_code_list per_file_ignores;
    struct hw_strings exclude;
    bool strict_tests;             /* findings in test files fail */
    bool comment_justifies;        /* a plain comment, or the helper's docstring, allows a collective */
    struct hw_strings hook_roots;  /* globs over qualified names; default: core/roots.def */
    struct hw_strings flush_roots; /* the same */
    struct hw_strings
        hot_functions;             /* names or globs of functions that run in a forward or backward without being registered */
    struct hw_strings cold;        /* of functions that no hook's path follows */
    struct hw_strings wrappers;    /* of functions that register the functions they are handed as hooks */
    struct hw_strings frameworks;  /* packages, or path globs, whose hooks are their own business */
    struct hw_strings python_path; /* directories below root in which imports are looked up */
};

/* The settings met so far, by directory. */
struct hw_projects;

/* `config`: a file that settles everything, or NULL to look for the nearest one above each file. NULL after one line on
 * stderr when it cannot be read. */
struct hw_projects *hw_projects_new(const char *config);
void hw_projects_free(struct hw_projects *projects);

/* The settings of the nearest hookwatch.toml or pyproject.toml with [tool.hookwatch] at or above the file's directory
 * (absolute); the built-in ones where there is none. NULL after one line on stderr that names file and line, if that
 * configuration is wrong. */
const struct hw_settings *hw_projects_of_file(struct hw_projects *projects, const char *path);
const struct hw_settings *hw_projects_of_directory(struct hw_projects *projects, const char *path);

/* The built-in ones. */
const struct hw_settings *hw_projects_defaults(const struct hw_projects *projects);

/* Whether a glob of the list, taken from the settings' root, covers the file: its path, a directory above it, or, for a glob
 * without a slash, any part of it. */
bool hw_settings_cover(const struct hw_settings *settings, const char *glob, const char *path);
bool hw_settings_excluded(const struct hw_settings *settings, const char *path);

/* Whether a name or glob of the list is `name` or ends a dotted name with it. */
bool hw_strings_match(const struct hw_strings *list, const char *name);

/* All keys, in the order of settings.def. */
enum hw_setting_kind { HW_SETTING_CODES, HW_SETTING_STRINGS, HW_SETTING_CODES_BY_GLOB, HW_SETTING_CHOICE };
struct hw_setting {
    const char *key;
    size_t offset;
    enum hw_setting_kind kind;
    const char *words[2];
};
extern const struct hw_setting hw_setting_keys[];
extern const size_t hw_setting_count;

#endif
