/* The module index: which file an import names, and what its names are. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/glob.h"
#include "lint/directives.h"
#include "lint/evaluate.h"
#include "lint/project.h"
#include "lint/world.h"

#include "uthash.h"

struct hw_path_entry {
    UT_hash_handle hh;
    const void *key; /* interned path, or a node's identity */
    void *value;
};

const char *hw_intern(struct hw_world *world, const char *text)
{
    return hw_arena_intern(world->arena, text, strlen(text));
}

const char *hw_node_text(struct hw_world *world, struct hw_module *module, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return hw_arena_intern(world->arena, module->source->text + start, end - start);
}

struct hw_world *hw_world_new(const struct hw_lint_options *options, struct hw_projects *projects)
{
    struct hw_world *world = hw_alloc(sizeof *world);
    memset(world, 0, sizeof *world);
    world->arena = hw_arena_new();
    world->modules_tail = &world->modules;
    world->options = options;
    world->projects = projects;
    world->unknown = hw_value_simple(world, HW_UNKNOWN, 0, NULL);
    world->none = hw_value_simple(world, HW_NONE, 0, NULL);
    world->host = hw_value_simple(world, HW_HOST, 0, NULL);
    world->device = hw_value_simple(world, HW_DEVICE, 0, NULL);
    world->mask = hw_value_simple(world, HW_DEVICE, HW_MASK, NULL);
    world->scalar = hw_value_simple(world, HW_DEVICE, HW_SCALAR, NULL);
    world->host_tensor = hw_value_simple(world, HW_HOST_TENSOR, 0, NULL);
    world->empty_list = hw_value_list(world, world->unknown);
    return world;
}

static void clear_table(struct hw_path_entry **table)
{
    struct hw_path_entry *entry, *next;
    HASH_ITER (hh, *table, entry, next) {
        HASH_DEL(*table, entry);
        free(entry);
    }
}

void hw_world_free(struct hw_world *world)
{
    struct hw_path_entry *entry, *next;
    HASH_ITER (hh, world->nodes, entry, next) {
        struct hw_function *function = entry->value;
        free(function->frames);
    }
    for (struct hw_frame *frame = world->frames; frame; frame = frame->next) {
        hw_env_free(&frame->now);
        hw_env_free(&frame->all);
        free(frame->outer);
    }
    for (struct hw_module *module = world->modules; module; module = module->next) {
        for (struct hw_class *cls = module->classes; cls; cls = cls->next) {
            hw_env_free(&cls->attrs);
            hw_env_free(&cls->earlier);
            free(cls->bases);
        }
        hw_text_free(module->source);
        hw_directives_free(module->directives);
        free(module->stars);
    }
    clear_table(&world->by_path);
    clear_table(&world->nodes);
    clear_table(&world->absent);
    hw_values_forget(world);
    hw_findings_forget(world);
    free(world->search);
    free(world->pending);
    free(world->roots);
    free(world->carriers);
    free(world->records);
    hw_arena_free(world->arena);
    free(world);
}

static void *table_find(struct hw_path_entry *table, const void *key)
{
    struct hw_path_entry *entry;
    HASH_FIND_PTR(table, &key, entry);
    return entry ? entry->value : NULL;
}

static void table_add(struct hw_path_entry **table, const void *key, void *value)
{
    struct hw_path_entry *entry = hw_alloc(sizeof *entry);
    entry->key = key;
    entry->value = value;
    HASH_ADD_PTR(*table, key, entry);
}

static void add_search(struct hw_world *world, const char *directory)
{
    directory = hw_intern(world, directory);
    for (size_t i = 0; i < world->search_count; i++)
        if (world->search[i] == directory)
            return;
    if (world->search_count == world->search_room)
        world->search = hw_realloc(world->search, (world->search_room = world->search_room * 2 + 8) * sizeof *world->search);
    world->search[world->search_count++] = directory;
}

/* Splits an absolute path into the directory that holds its outermost package and the dotted name below it. */
static void package_of(struct hw_world *world, const char *path, char *root, const char **name)
{
    char directory[PATH_MAX], probe[PATH_MAX + 16];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    *slash = 0;
    for (;;) {
        snprintf(probe, sizeof probe, "%s/__init__.py", directory);
        slash = strrchr(directory, '/');
        if (access(probe, F_OK) != 0 || !slash || slash == directory)
            break;
        *slash = 0;
    }
    strcpy(root, directory);
    const char *below = path + strlen(directory) + 1;
    char *dotted = hw_arena_copy(world->arena, below, strlen(below));
    size_t length = strlen(dotted);
    if (length > 3 && !strcmp(dotted + length - 3, ".py"))
        dotted[length -= 3] = 0;
    if (length > 9 && !strcmp(dotted + length - 9, "/__init__"))
        dotted[length - 9] = 0;
    for (char *p = dotted; *p; p++)
        if (*p == '/')
            *p = '.';
    *name = hw_intern(world, dotted);
}

struct hw_module *hw_module_known(struct hw_world *world, const char *path)
{
    return table_find(world->by_path, hw_intern(world, path));
}

struct hw_module *hw_module_add(struct hw_world *world, const char *path, struct hw_text *source)
{
    path = hw_intern(world, path);
    struct hw_module *module = table_find(world->by_path, path);
    if (module) {
        hw_text_free(source);
        return module;
    }
    module = hw_arena_alloc(world->arena, sizeof *module);
    module->path = path;
    module->source = source;
    module->settings = hw_projects_of_file(world->projects, path);
    if (!module->settings) { /* it has been said; the run ends without findings */
        world->broken = true;
        module->settings = hw_projects_defaults(world->projects);
    }
    module->framework = hw_project_is_framework(path, module->settings);
    char root[PATH_MAX];
    package_of(world, path, root, &module->name);
    add_search(world, root);
    for (size_t i = 0; i < module->settings->python_path.count; i++)
        add_search(world,
                   hw_arena_format(world->arena, "%s/%s", module->settings->root, module->settings->python_path.items[i]));
    table_add(&world->by_path, path, module);
    *world->modules_tail = module;
    world->modules_tail = &module->next;
    return module;
}

/* The module at directory/a/b.py or directory/a/b/__init__.py, or a namespace package's directory (no module). */
static struct hw_module *load(struct hw_world *world, const char *directory, const char *dotted)
{
    char path[PATH_MAX + 16];
    size_t base = strlen(directory), length = strlen(dotted);
    if (base + length + 16 >= PATH_MAX)
        return NULL;
    memcpy(path, directory, base);
    path[base] = '/';
    for (size_t i = 0; i < length; i++)
        path[base + 1 + i] = dotted[i] == '.' ? '/' : dotted[i];
    size_t end = length ? base + 1 + length : base;
    static const char *const endings[] = {".py", "/__init__.py"};
    for (int i = length ? 0 : 1; i < 2; i++) {
        strcpy(path + end, endings[i]);
        const char *interned = hw_intern(world, path);
        struct hw_module *known = table_find(world->by_path, interned);
        if (known)
            return known;
        if (table_find(world->absent, interned))
            continue;
        char real[PATH_MAX];
        if (realpath(path, real)) {
            known = table_find(world->by_path, hw_intern(world, real));
            struct hw_text *source = known ? NULL : hw_text_read(real);
            if (source)
                known = hw_module_add(world, real, source);
            if (known)
                return known;
        }
        table_add(&world->absent, interned, world);
    }
    return NULL;
}

struct hw_module *hw_module_import(struct hw_world *world, struct hw_module *from, unsigned dots, const char *name)
{
    char directory[PATH_MAX];
    if (dots) {
        snprintf(directory, sizeof directory, "%s", from->path);
        for (unsigned i = 0; i < dots; i++) {
            char *slash = strrchr(directory, '/');
            if (!slash || slash == directory)
                return NULL;
            *slash = 0;
        }
        return load(world, directory, name);
    }
    const char *unused;
    package_of(world, from->path, directory, &unused);
    struct hw_module *module = load(world, directory, name);
    for (size_t i = 0; !module && i < world->search_count; i++)
        module = load(world, world->search[i], name);
    return module;
}

void hw_module_execute(struct hw_world *world, struct hw_module *module)
{
    if (module->executed && module->generation == world->generation)
        return;
    module->executed = true;
    module->generation = world->generation;
    module->frame = hw_frame_new(world, module, NULL);
    module->star_count = 0;
    TSNode root = hw_source_parse(module->source);
    bool hot = world->hot, recording = world->recording;
    unsigned nesting = world->nesting;
    world->hot = world->recording = false;
    module->frame->hot = false;
    world->nesting = 0;
    hw_execute(world, module->frame, root);
    module->frame->state = HW_FRAME_DONE;
    world->hot = hot;
    world->recording = recording;
    world->nesting = nesting;
}

hw_val hw_module_attribute(struct hw_world *world, struct hw_module *module, const char *name)
{
    hw_module_execute(world, module);
    hw_val value = hw_env_get(&module->frame->all, name);
    for (size_t i = 0; !value && i < module->star_count; i++)
        if (module->stars[i] != module && module->stars[i]->frame != NULL)
            value = hw_env_get(&module->stars[i]->frame->all, name);
    const char *slash = strrchr(module->path, '/');
    if (!value && !strcmp(slash, "/__init__.py")) {
        struct hw_module *below = hw_module_import(world, module, 1, name);
        if (below && below != module)
            value = hw_value_make(world, &(struct hw_value){.kind = HW_PROJECT, .a = below}, NULL);
    }
    return value;
}

struct hw_function *hw_function_of(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    struct hw_function *function = table_find(world->nodes, node.id);
    if (function)
        return function;
    function = hw_arena_alloc(world->arena, sizeof *function);
    function->module = frame->module;
    function->node = node;
    function->owner = frame->class_body;
    TSNode name = hw_node_field(node, HW_F_NAME);
    function->name = ts_node_is_null(name) ? "<lambda>" : hw_node_text(world, frame->module, name);
    if (frame->class_body)
        function->qualname = hw_arena_format(world->arena, "%s.%s", frame->class_body->qualname, function->name);
    else if (frame->function)
        function->qualname = hw_arena_format(world->arena, "%s.<locals>.%s", frame->function->qualname, function->name);
    else
        function->qualname = function->name;
    table_add(&world->nodes, node.id, function);
    return function;
}

struct hw_class *hw_class_of(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    for (struct hw_class *cls = frame->module->classes; cls; cls = cls->next)
        if (cls->node.id == node.id)
            return cls;
    struct hw_class *cls = hw_arena_alloc(world->arena, sizeof *cls);
    cls->module = frame->module;
    cls->node = node;
    TSNode name = hw_node_field(node, HW_F_NAME);
    cls->name = hw_node_text(world, frame->module, name);
    if (frame->class_body)
        cls->qualname = hw_arena_format(world->arena, "%s.%s", frame->class_body->qualname, cls->name);
    else if (frame->function)
        cls->qualname = hw_arena_format(world->arena, "%s.<locals>.%s", frame->function->qualname, cls->name);
    else
        cls->qualname = cls->name;
    cls->next = frame->module->classes;
    frame->module->classes = cls;
    return cls;
}
