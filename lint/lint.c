/* The linter's door: from paths to findings, and the look-up of directives that report needs. */
#define _GNU_SOURCE
#include "lint/lint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lint/directives.h"
#include "lint/discover.h"
#include "lint/evaluate.h"
#include "lint/project.h"

/* Files that do not speak of hooks: read again only if a function that registers hooks for its callers is named in them. */
struct plain {
    const struct hw_file *file;
    bool taken;
};

static bool mentions(const struct hw_text *text, const char *word)
{
    return memmem(text->text, text->size, word, strlen(word)) != NULL;
}

static void take(struct hw_world *world, const struct hw_file *file, struct hw_text *text)
{
    struct hw_module *module = hw_module_add(world, file->path, text);
    module->linted = true;
    module->named = file->named;
    module->relaxed = hw_project_is_relaxed(file->path, file->argument, module->settings);
}

static int read_files(struct hw_world *world, const struct hw_files *files, struct plain **plain, size_t *plain_count)
{
    *plain = hw_alloc((files->count + 1) * sizeof **plain);
    *plain_count = 0;
    for (size_t i = 0; i < files->count; i++) {
        const struct hw_file *file = &files->items[i];
        struct hw_text *text = hw_text_read(file->path);
        const struct hw_settings *settings = hw_projects_of_file(world->projects, file->path);
        if (!settings) {
            hw_text_free(text);
            return -1;
        }
        if (!text && (!file->named || (errno == ENOENT && strcmp(file->path, file->argument) != 0)))
            continue; /* not asked for, or gone since the directory was read */
        if (!text) {
            fprintf(stderr, "hookwatch: %s: %s; make it readable or leave it out\n", file->path, strerror(errno));
            return -1;
        }
        if (hw_project_may_be_hot(text->text, text->size, settings)) {
            take(world, file, text);
        } else {
            hw_text_free(text);
            (*plain)[(*plain_count)++] = (struct plain){file, false};
        }
    }
    return 0;
}

/* Everything that is no hook: what is defined, stored on self, registered. `afresh`: a new pass; else only files that this pass
 * has not run yet. */
static void run_cold(struct hw_world *world, bool afresh)
{
    world->hot = world->recording = false;
    if (afresh) {
        world->generation++;
        world->root_count = 0;
    }
    for (struct hw_module *module = world->modules; module; module = module->next)
        if (module->linted)
            hw_module_execute(world, module);
    hw_roots_run_pending(world);
}

/* Adds the files in which a carrier of registrations is named; false when there is none left. */
static bool take_carried(struct hw_world *world, struct plain *plain, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct hw_text *text = plain[i].taken ? NULL : hw_text_read(plain[i].file->path);
        if (!text)
            continue;
        bool named = false;
        for (size_t j = 0; j < world->carrier_count && !named; j++)
            named = mentions(text, world->carriers[j]);
        if (named) {
            take(world, plain[i].file, text);
            plain[i].taken = any = true;
        } else {
            hw_text_free(text);
        }
    }
    return any;
}

/* A file of the project that was read because something imports it. */
static void mark_imported(struct hw_world *world, const struct plain *plain, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hw_module *module = hw_module_known(world, plain[i].file->path);
        if (!module)
            continue;
        module->named = plain[i].file->named;
        module->relaxed = hw_project_is_relaxed(module->path, plain[i].file->argument, module->settings);
    }
}

static const struct hw_function *function_of(hw_val value)
{
    while (value->kind == HW_PARTIAL)
        value = value->items[0];
    return value->kind == HW_FUNCTION ? value->a : NULL;
}

static const struct hw_module *module_of(const struct hw_root *root)
{
    hw_val value = root->function;
    if (root->at)
        return root->at->frame->module;
    const struct hw_function *function = function_of(value);
    if (function)
        return function->module;
    return value->kind == HW_INSTANCE ? ((const struct hw_class *)value->a)->module : NULL;
}

/* Named files first, product code before tests, each by file and place: what several reach is the first one's. */
static int by_place(const void *left, const void *right)
{
    const struct hw_root *a = left, *b = right;
    const struct hw_module *m = module_of(a), *n = module_of(b);
    if (!m || !n)
        return (m != NULL) - (n != NULL);
    if (m->named != n->named)
        return n->named - m->named;
    if (m->relaxed != n->relaxed)
        return m->relaxed - n->relaxed;
    int order = strcmp(m->path, n->path);
    if (order)
        return order;
    const struct hw_function *f = function_of(a->function), *g = function_of(b->function);
    uint32_t x = f ? ts_node_start_byte(f->node) : a->at ? ts_node_start_byte(a->at->call) : 0;
    uint32_t y = g ? ts_node_start_byte(g->node) : b->at ? ts_node_start_byte(b->at->call) : 0;
    return x < y ? -1 : x > y;
}

/* A hook found by its name only says less than the same one seen being registered. */
static bool is_superseded(const struct hw_world *world, const struct hw_root *root)
{
    for (size_t i = 0; root->by_name && i < world->root_count; i++)
        if (!world->roots[i].by_name && function_of(world->roots[i].function) &&
            function_of(world->roots[i].function) == function_of(root->function))
            return true;
    return false;
}

static void run_hooks(struct hw_world *world, bool recording, struct hw_lint_stats *stats)
{
    world->generation++;
    world->hot = true;
    world->recording = recording;
    if (world->root_count)
        qsort(world->roots, world->root_count, sizeof *world->roots, by_place);
    for (size_t i = 0; i < world->root_count; i++) { /* hooks that hooks register are added on the way */
        struct hw_root root = world->roots[i];
        const struct hw_module *module = module_of(&root);
        if (!module || module->framework || is_superseded(world, &root))
            continue;
        world->root = &root;
        world->hop_count = 0;
        world->nesting = 0;
        hw_invoke_root(world, &root);
        if (recording && module->named)
            stats->hooks++;
    }
    world->root = NULL;
}

static int lint(struct hw_world *world, const struct hw_lint_options *options, struct hw_files *files,
                void (*emit)(const struct hw_finding *, void *), void *user, struct hw_lint_stats *stats)
{
    struct plain *plain = NULL;
    size_t plain_count = 0;
    if (hw_discover(options->paths, options->path_count, options->stdin_filename, world->projects, options->force_exclude,
                    files) < 0)
        return -1;
    if (options->stdin_filename) {
        const char *path = options->stdin_filename;
        struct hw_file file = {(char *)(uintptr_t)path, path, true};
        take(world, &file, hw_text_from_bytes(path, options->stdin_text, options->stdin_size));
        stats->files++;
    }
    for (size_t i = 0; i < files->count; i++)
        stats->files += files->items[i].named;
    int status = read_files(world, files, &plain, &plain_count);
    if (status == 0) {
        for (int pass = 0; pass < 2; pass++) { /* the second knows every attribute of self */
            run_cold(world, true);
            while (take_carried(world, plain, plain_count))
                run_cold(world, false);
        }
        run_hooks(world, false, stats);
        mark_imported(world, plain, plain_count);
        run_hooks(world, true, stats);
        mark_imported(world, plain, plain_count); /* imports that only the last pass met */
        for (struct hw_module *module = world->modules; module; module = module->next)
            if (module->named) {
                hw_rule_unread(world, module);
                hw_rule_chunks(world, module);
            }
        if (world->broken)
            status = -1;
        else
            hw_findings_emit(world, emit, user, stats);
    }
    free(plain);
    return status;
}

char *hw_lint_absolute(const char *filename)
{
    char *path = realpath(filename, NULL);
    if (path)
        return path;
    char *here = filename[0] == '/' ? NULL : realpath(".", NULL);
    size_t size = strlen(filename) + (here ? strlen(here) : 0) + 2;
    path = hw_alloc(size);
    snprintf(path, size, "%s%s%s", here ? here : "", here ? "/" : "", filename);
    free(here);
    return path;
}

int hw_lint_run(const struct hw_lint_options *options, void (*emit)(const struct hw_finding *finding, void *user), void *user,
                struct hw_lint_stats *stats)
{
    struct hw_lint_stats unused;
    stats = stats ? stats : &unused;
    *stats = (struct hw_lint_stats){0};
    struct hw_files files = {0};
    struct hw_projects *projects = hw_projects_new(options->config);
    if (!projects)
        return -1;
    struct hw_world *world = hw_world_new(options, projects);
    int status = lint(world, options, &files, emit, user, stats);
    hw_world_free(world);
    hw_discover_free(&files);
    hw_projects_free(projects);
    return status;
}

int hw_lint_allowed(const char *filename, uint32_t row, const char *code, char **reason)
{
    static struct hw_text *last; /* report asks for many rows of few files */
    static struct hw_directives *directives;
    *reason = NULL;
    if (!last || strcmp(last->path, filename)) {
        hw_directives_free(directives);
        hw_text_free(last);
        directives = NULL;
        last = hw_text_read(filename);
        if (!last)
            return -1;
        hw_source_parse(last);
        directives = hw_directives_read(last);
    }
    uint32_t first = row, end = row;
    if (directives->count == 0)
        return 0;
    hw_node_statement_at(hw_source_parse(last), row, &first, &end);
    const struct hw_directive *directive = hw_directives_find(directives, code, first, end);
    if (!directive)
        return 0;
    *reason = strdup(directive->reason);
    return *reason ? 1 : -1;
}
