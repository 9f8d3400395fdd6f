/* Finding hooks: by registration, by name, and the functions that carry registrations for others. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "core/glob.h"
#include "lint/evaluate.h"

/* The autograd engine calls it, yet it is no hook: checkpoint recompute and the like (core/roots.def). */
static bool is_no_hook(hw_val value)
{
    static const char *const globs[] = {
#define HW_NOT_A_HOOK(glob) glob,
#include "core/roots.def"
    };
    while (value->kind == HW_PARTIAL)
        value = value->items[0];
    for (size_t i = 0; value->kind == HW_FUNCTION && i < sizeof globs / sizeof *globs; i++)
        if (hw_glob_match(globs[i], ((const struct hw_function *)value->a)->qualname))
            return true;
    return false;
}

void hw_root_add(struct hw_world *world, hw_val function, const char *parameters, bool by_name)
{
    if (is_no_hook(function))
        return;
    for (size_t i = 0; i < world->root_count; i++) {
        struct hw_root *root = &world->roots[i];
        if (!root->at && root->function == function && (by_name || !strcmp(root->parameters, parameters)))
            return;
    }
    if (world->root_count == world->root_room)
        world->roots = hw_realloc(world->roots, (world->root_room = world->root_room * 2 + 16) * sizeof *world->roots);
    world->roots[world->root_count++] = (struct hw_root){.function = function, .parameters = parameters, .by_name = by_name};
}

/* print, logging.info and the like, or a partial of one. */
static bool is_library_function(hw_val value)
{
    while (value->kind == HW_PARTIAL)
        value = value->items[0];
    return value->kind == HW_EXTERN || value->kind == HW_BOUND;
}

static void add_library_root(struct hw_world *world, const struct hw_site *site, hw_val function, TSNode node,
                             const char *parameters)
{
    for (size_t i = 0; i < world->root_count; i++)
        if (world->roots[i].at && world->roots[i].at->call.id == site->call.id && world->roots[i].function == function)
            return;
    hw_root_add(world, function, parameters, false);
    struct hw_root *root = &world->roots[world->root_count - 1];
    struct hw_site *at = hw_arena_alloc(world->arena, sizeof *at);
    if (hw_node_kind(node) == HW_N_KEYWORD_ARGUMENT)
        node = hw_node_field(node, HW_F_VALUE);
    *at = (struct hw_site){site->frame, ts_node_is_null(node) ? site->call : node, ts_node_is_null(node) ? site->token : node,
                           ts_node_is_null(node) ? site->callee : node};
    root->at = at;
}

void hw_root_carrier(struct hw_world *world, const char *name)
{
    for (size_t i = 0; i < world->carrier_count; i++)
        if (world->carriers[i] == name)
            return;
    if (world->carrier_count == world->carrier_room)
        world->carriers =
            hw_realloc(world->carriers, (world->carrier_room = world->carrier_room * 2 + 8) * sizeof *world->carriers);
    world->carriers[world->carrier_count++] = name;
}

static bool is_callable(hw_val value)
{
    return value->kind == HW_FUNCTION || value->kind == HW_PARTIAL || value->kind == HW_INSTANCE;
}

/* The functions inside a call whose callee is unknown: register(wrap(fn)). */
static size_t functions_inside(struct hw_world *world, const struct hw_site *site, TSNode node, hw_val *out, size_t room)
{
    TSNode argument;
    size_t count = 0;
    if (hw_node_kind(node) == HW_N_KEYWORD_ARGUMENT)
        node = hw_node_field(node, HW_F_VALUE);
    if (hw_node_kind(node) != HW_N_CALL)
        return 0;
    TSNode list = hw_node_field(node, HW_F_ARGUMENTS);
    HW_EACH_CHILD (argument, list) {
        hw_val value = hw_evaluate(world, site->frame, argument);
        for (size_t i = 0; i < hw_value_count(value) && count < room; i++)
            if (is_callable(hw_value_at(value, i)))
                out[count++] = hw_value_at(value, i);
    }
    return count;
}

/* A hook that works through self does what a subclass makes of it: subclasses may stand in files that do not speak of hooks. */
static void carry_class(struct hw_world *world, hw_val hook)
{
    if (hook->kind != HW_FUNCTION)
        return;
    const struct hw_function *function = hook->a;
    const struct hw_frame *frame = hook->b;
    const struct hw_class *owner = function->owner;
    for (; !owner && frame; frame = frame->parent)
        owner = frame->function ? frame->function->owner : NULL;
    uint32_t start = ts_node_start_byte(function->node), end = ts_node_end_byte(function->node);
    if (owner && memmem(function->module->source->text + start, end - start, "self.", 5))
        hw_root_carrier(world, owner->name);
}

static void register_value(struct hw_world *world, const struct hw_site *site, hw_val hook, TSNode node, const char *parameters)
{
    bool any = false;
    for (size_t i = 0; i < hw_value_count(hook); i++)
        if (is_library_function(hw_value_at(hook, i))) {
            add_library_root(world, site, hw_value_at(hook, i), node, parameters);
            any = true;
        } else if (is_callable(hw_value_at(hook, i))) {
            hw_root_add(world, hw_value_at(hook, i), parameters, false);
            carry_class(world, hw_value_at(hook, i));
            any = true;
        }
    if (any)
        return;
    hw_val inside[8];
    size_t count = functions_inside(world, site, node, inside, 8);
    for (size_t i = 0; i < count; i++)
        hw_root_add(world, inside[i], parameters, false);
    if (count || !site->frame->function)
        return;
    /* The hook comes from the caller: whoever names this function or its class registers hooks too. */
    struct hw_frame *frame = site->frame;
    while (frame->parent && frame->parent->function)
        frame = frame->parent;
    hw_root_carrier(world, frame->function->name);
    if (frame->function->owner)
        hw_root_carrier(world, frame->function->owner->name);
}

bool hw_register(struct hw_world *world, const struct hw_site *site, const char *function, struct hw_args *args)
{
    const struct hw_registration *row;
    size_t n = 0;
    for (; (row = hw_knowledge_registration(function, n)); n++) {
        hw_val hook = hw_argument(args, row->keyword, row->position);
        hw_val kwargs = hw_argument(args, "with_kwargs", -1);
        if (!hook)
            continue;
        TSNode node = {0};
        for (size_t i = 0; i < args->count; i++)
            if (args->values[i] == hook)
                node = args->nodes[i];
        register_value(world, site, hook, node, kwargs ? row->with_kwargs : row->parameters);
    }
    return n > 0;
}

void hw_pending_add(struct hw_world *world, hw_val function, struct hw_class *self)
{
    if (world->pending_count == world->pending_room)
        world->pending =
            hw_realloc(world->pending, (world->pending_room = world->pending_room * 2 + 64) * sizeof *world->pending);
    world->pending[world->pending_count++] = (struct hw_pending){function, self};
}

static const char *parameters_of(const struct hw_function *function)
{
    static const char *const by_count[] = {"", "g", "mi", "mio", "miko"};
    TSNode list = hw_node_field(function->node, HW_F_PARAMETERS);
    uint32_t count = ts_node_is_null(list) ? 0 : hw_node_children(list);
    return count < 5 ? by_count[count] : "mio";
}

static bool named_like_a_hook(hw_val value, const struct hw_frame *frame)
{
    if (value->kind != HW_FUNCTION || (frame && value->b != frame))
        return false;
    const struct hw_function *function = value->a;
    return hw_strings_match(&function->module->settings->hook_roots, function->qualname);
}

/* A factory named like one (_make_*_hook) makes hooks: those it returns, or if it returns none that is known, those it
 * defines. */
static void find_named(struct hw_world *world, struct hw_frame *frame)
{
    bool returned = false;
    for (size_t i = 0; frame->result && i < hw_value_count(frame->result); i++) {
        hw_val value = hw_value_at(frame->result, i);
        if (named_like_a_hook(value, frame)) {
            hw_root_add(world, value, parameters_of(value->a), true);
            returned = true;
        }
    }
    for (size_t i = 0; !returned && i < frame->all.count; i++)
        for (size_t j = 0; j < hw_value_count(frame->all.items[i].value); j++) {
            hw_val value = hw_value_at(frame->all.items[i].value, j);
            if (named_like_a_hook(value, frame))
                hw_root_add(world, value, parameters_of(value->a), true);
        }
}

/* What a function that the settings call hot is handed: tensors, but for what has an annotation or a default to go by. */
static const char *hot_parameters(struct hw_world *world, const struct hw_function *function, bool bound)
{
    char letters[32];
    size_t count = 0;
    TSNode list = hw_node_field(function->node, HW_F_PARAMETERS), parameter;
    if (ts_node_is_null(list))
        return "";
    HW_EACH_CHILD (parameter, list) {
        enum hw_node kind = hw_node_kind(parameter);
        if (bound) {
            bound = false;
            continue;
        }
        if ((kind != HW_N_IDENTIFIER && kind != HW_N_TYPED_PARAMETER) || count + 1 == sizeof letters)
            break;
        letters[count++] = kind == HW_N_IDENTIFIER ? 'o' : 'u';
    }
    return hw_arena_intern(world->arena, letters, count);
}

/* Functions that the project's configuration says run inside a forward or backward. */
static void find_configured(struct hw_world *world, hw_val value)
{
    const struct hw_function *function = value->a;
    const struct hw_settings *settings = function->module->settings;
    if (!settings->file)
        return;
    if (hw_strings_match(&settings->hot_functions, function->qualname))
        hw_root_add(world, value, hot_parameters(world, function, value->count > 0), true);
    else if (!strstr(function->qualname, "<locals>") && hw_strings_match(&settings->hook_roots, function->qualname))
        hw_root_add(world, value, hot_parameters(world, function, value->count > 0), true);
}

void hw_wrapper_call(struct hw_world *world, const struct hw_site *site, const char *name, const struct hw_args *args)
{
    if (!hw_strings_match(&site->frame->module->settings->wrappers, name))
        return;
    for (size_t i = 0; i < args->count; i++)
        for (size_t j = 0; j < hw_value_count(args->values[i]); j++) {
            hw_val value = hw_value_at(args->values[i], j);
            if (value->kind == HW_FUNCTION)
                hw_root_add(world, value, hot_parameters(world, value->a, value->count > 0), false);
            else if (is_callable(value))
                hw_root_add(world, value, "mio", false);
        }
}

static void run_generic(struct hw_world *world, hw_val value, hw_val self)
{
    struct hw_function *function = (struct hw_function *)(uintptr_t)value->a;
    struct hw_args args = {0};
    hw_val bound = value;
    if (self && function->owner && !function->is_static && !value->count)
        bound = hw_value_make(world, &(struct hw_value){.kind = HW_FUNCTION, .a = value->a, .b = value->b, .count = 1}, &self);
    hw_invoke(world, NULL, bound, &args);
    find_configured(world, bound);
    for (size_t i = 0; i < function->frame_count; i++) /* those of earlier calls too: a factory may have been called by name */
        find_named(world, function->frames[i]);
}

static bool speaks_of_hooks(const struct hw_function *function)
{
    uint32_t start = ts_node_start_byte(function->node), end = ts_node_end_byte(function->node);
    return memmem(function->module->source->text + start, end - start, "hook", 4) != NULL;
}

static void run_class(struct hw_world *world, struct hw_class *cls)
{
    hw_val self = hw_value_make(world, &(struct hw_value){.kind = HW_INSTANCE, .a = cls}, NULL);
    hw_val type = hw_value_make(world, &(struct hw_value){.kind = HW_CLASS, .a = cls}, NULL);
    struct hw_class *line[16];
    size_t count = 0;
    line[count++] = cls;
    for (size_t i = 0; i < count; i++) /* the class, then its bases */
        for (size_t j = 0; j < line[i]->base_count && count < 16; j++) {
            hw_val base = hw_resolve(world, line[i]->bases[j]);
            bool known = base->kind != HW_CLASS;
            for (size_t k = 0; !known && k < count; k++)
                known = line[k] == base->a;
            if (!known)
                line[count++] = (struct hw_class *)(uintptr_t)base->a;
        }
    for (int constructors = 1; constructors >= 0; constructors--) /* what __init__ stores, the others use */
        for (size_t i = 0; i < count; i++) {
            struct hw_env *members = line[i]->frame ? &line[i]->frame->all : NULL;
            for (size_t j = 0; members && j < members->count; j++)
                for (size_t k = 0; k < hw_value_count(members->items[j].value); k++) {
                    hw_val value = hw_value_at(members->items[j].value, k);
                    const struct hw_function *function = value->a;
                    if (value->kind != HW_FUNCTION || !function->owner || (!strcmp(function->name, "__init__")) != constructors)
                        continue;
                    if (i > 0 && !speaks_of_hooks(function)) /* ran with its own class; what it stored is inherited */
                        continue;
                    run_generic(world, value, function->is_classmethod ? type : self);
                }
        }
}

void hw_roots_run_pending(struct hw_world *world)
{
    for (size_t i = 0; i < world->pending_count; i++) {
        struct hw_pending pending = world->pending[i];
        if (pending.self)
            run_class(world, pending.self);
        else
            run_generic(world, pending.function, NULL);
    }
    world->pending_count = 0;
}
