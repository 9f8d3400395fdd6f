/* Calls: evaluating arguments, choosing the callee, binding parameters, and the summary of each activation. */
#include <stdlib.h>
#include <string.h>

#include "core/glob.h"
#include "lint/evaluate.h"

hw_val hw_argument(const struct hw_args *args, const char *keyword, int position)
{
    int seen = 0;
    for (size_t i = 0; i < args->count; i++) {
        if (args->keywords[i]) {
            if (keyword && !strcmp(args->keywords[i], keyword))
                return args->values[i];
        } else if (seen++ == position) {
            return args->values[i];
        }
    }
    return NULL;
}

static void add_argument(struct hw_world *world, struct hw_args *args, hw_val value, const char *keyword, TSNode node)
{
    if (args->count < HW_ARGUMENTS) {
        args->values[args->count] = value;
        args->keywords[args->count] = keyword;
        args->nodes[args->count++] = node;
    } else {
        args->rest = hw_value_join(world, args->rest, value);
    }
}

static void evaluate_arguments(struct hw_world *world, struct hw_frame *frame, TSNode list, struct hw_args *args)
{
    TSNode child;
    if (hw_node_kind(list) == HW_N_GENERATOR) {
        add_argument(world, args, hw_evaluate(world, frame, list), NULL, list);
        return;
    }
    if (ts_node_is_null(list))
        return;
    HW_EACH_CHILD (child, list) {
        switch (hw_node_kind(child)) {
        case HW_N_KEYWORD_ARGUMENT: {
            const char *name = hw_node_text(world, frame->module, hw_node_field(child, HW_F_NAME));
            add_argument(world, args, hw_evaluate(world, frame, hw_node_field(child, HW_F_VALUE)), name, child);
            break;
        }
        case HW_N_LIST_SPLAT: {
            hw_val value = hw_evaluate(world, frame, hw_node_child(child, 0));
            if (value->kind == HW_TUPLE)
                for (size_t i = 0; i < value->count; i++)
                    add_argument(world, args, value->items[i], NULL, child);
            else
                args->rest = hw_value_join(world, args->rest, hw_value_element(world, value));
            break;
        }
        case HW_N_DICTIONARY_SPLAT: {
            hw_val value = hw_evaluate(world, frame, hw_node_child(child, 0));
            for (size_t i = 1; value->kind == HW_DICT && i + 1 < value->count; i += 2)
                add_argument(world, args, value->items[i + 1], value->items[i]->text, child);
            hw_val others = value->kind == HW_DICT ? value->items[0] : world->unknown;
            if (value->kind != HW_DICT || value->count == 1 || others != world->unknown)
                args->rest_keywords = hw_value_join(world, args->rest_keywords, others);
            break;
        }
        default:
            add_argument(world, args, hw_evaluate(world, frame, child), NULL, child);
        }
    }
}

/* One parameter of a def or lambda. */
struct parameter {
    const char *name;
    TSNode type, fallback;
    enum { PLAIN, STAR, STAR_STAR } star;
    bool keyword_only;
};

static size_t read_parameters(struct hw_world *world, struct hw_function *function, struct parameter *out, size_t room)
{
    TSNode list = hw_node_field(function->node, HW_F_PARAMETERS), child;
    size_t count = 0;
    bool keyword_only = false;
    if (ts_node_is_null(list))
        return 0;
    HW_EACH_CHILD (child, list) {
        struct parameter parameter = {.keyword_only = keyword_only};
        TSNode name = child;
        switch (hw_node_kind(child)) {
        case HW_N_IDENTIFIER:
            break;
        case HW_N_TYPED_PARAMETER:
            name = hw_node_child(child, 0);
            parameter.type = hw_node_field(child, HW_F_TYPE);
            break;
        case HW_N_DEFAULT_PARAMETER:
        case HW_N_TYPED_DEFAULT_PARAMETER:
            name = hw_node_field(child, HW_F_NAME);
            parameter.type = hw_node_field(child, HW_F_TYPE);
            parameter.fallback = hw_node_field(child, HW_F_VALUE);
            break;
        case HW_N_LIST_SPLAT_PATTERN:
        case HW_N_DICTIONARY_SPLAT_PATTERN:
            break;
        case HW_N_KEYWORD_SEPARATOR:
            keyword_only = true;
            continue;
        default:
            continue;
        }
        if (hw_node_kind(name) == HW_N_LIST_SPLAT_PATTERN) {
            parameter.star = STAR;
            name = hw_node_child(name, 0);
            keyword_only = true;
        } else if (hw_node_kind(name) == HW_N_DICTIONARY_SPLAT_PATTERN) {
            parameter.star = STAR_STAR;
            name = hw_node_child(name, 0);
        }
        if (ts_node_is_null(name) || count == room)
            continue;
        parameter.name = hw_node_text(world, function->module, name);
        out[count++] = parameter;
    }
    return count;
}

/* A default is evaluated where the def stands, which is no part of the hook. */
static hw_val evaluate_default(struct hw_world *world, struct hw_frame *parent, TSNode node)
{
    bool recording = world->recording;
    world->recording = false;
    hw_val value = parent ? hw_evaluate(world, parent, node) : world->unknown;
    world->recording = recording;
    return value;
}

static void bind_parameters(struct hw_world *world, hw_val callee, const struct hw_args *args,
                            const struct parameter *parameters, size_t count, hw_val *values)
{
    struct hw_frame *parent = (struct hw_frame *)(uintptr_t)callee->b;
    bool used[HW_ARGUMENTS] = {0};
    size_t next = 0, self = callee->count ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        const struct parameter *parameter = &parameters[i];
        hw_val value = NULL;
        if (parameter->star == PLAIN) {
            if (self && i == 0) {
                values[i] = callee->items[0];
                continue;
            }
            while (next < args->count && args->keywords[next])
                next++;
            if (!parameter->keyword_only && next < args->count) {
                used[next] = true;
                value = args->values[next++];
            }
            for (size_t j = 0; !value && j < args->count; j++)
                if (args->keywords[j] == parameter->name) {
                    used[j] = true;
                    value = args->values[j];
                }
            bool has_default = !ts_node_is_null(parameter->fallback);
            if (!value && args->rest && !parameter->keyword_only && !has_default)
                value = args->rest;
            if (!value && args->rest_keywords && !has_default)
                value = args->rest_keywords;
            if (!value && has_default)
                value = evaluate_default(world, parent, parameter->fallback);
            if (!value)
                value = world->unknown;
            if (value->kind == HW_BOUND && !hw_knowledge_registration(value->text, 0))
                value = world->unknown;
            if ((value->kind == HW_UNKNOWN || value->kind == HW_NONE) && !ts_node_is_null(parameter->type)) {
                hw_val annotated = hw_annotation(world, parent, parameter->type);
                value = value->kind == HW_NONE ? value : annotated;
            }
        } else {
            bool keywords = parameter->star == STAR_STAR;
            hw_val rest = keywords ? args->rest_keywords : args->rest;
            hw_val items[HW_ARGUMENTS];
            size_t taken = 0;
            if (keywords)
                value = hw_value_empty_dict(world);
            if (keywords && rest && rest != world->unknown)
                value = hw_value_entered(world, value, world->host, rest);
            for (size_t j = 0; j < args->count; j++)
                if (!used[j] && (args->keywords[j] != NULL) == keywords) {
                    if (keywords)
                        value = hw_value_entered(world, value, hw_value_simple(world, HW_HOST, 0, args->keywords[j]),
                                                 args->values[j]);
                    else
                        items[taken++] = args->values[j];
                    used[j] = true;
                }
            if (!keywords && !rest) {
                value = hw_value_tuple(world, items, taken);
            } else if (!keywords) {
                for (size_t j = 0; j < taken; j++)
                    rest = hw_value_join(world, rest, items[j]);
                value = hw_value_list(world, rest ? rest : world->unknown);
            }
        }
        values[i] = value;
    }
}

static struct hw_frame *find_frame(const struct hw_world *world, const struct hw_function *function,
                                   const struct hw_frame *parent, const hw_val *values, size_t count)
{
    for (size_t i = function->frame_count; i-- > 0;) {
        struct hw_frame *frame = function->frames[i];
        if (frame->generation != world->generation)
            return NULL; /* older ones only from here down */
        if (frame->parent == parent && frame->hot == world->hot && frame->recording == world->recording &&
            frame->argument_count == count && (count == 0 || !memcmp(frame->arguments, values, count * sizeof *values)))
            return frame;
    }
    return NULL;
}

static size_t contexts(const struct hw_world *world, const struct hw_function *function)
{
    size_t count = 0;
    for (size_t i = function->frame_count; i-- > 0 && function->frames[i]->generation == world->generation;)
        count += function->frames[i]->hot == world->hot;
    return count;
}

/* Whether the tree below has an ERROR node; reported once per function reached from a hook. */
static void report_errors(struct hw_world *world, struct hw_function *function)
{
    if (!world->hot || !world->recording || !ts_node_has_error(function->node))
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(function->node);
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_error(node) || ts_node_is_missing(node)) {
            hw_report(world, function->module, 901, HW_SEVERITY_ERROR, node, node, NULL);
            break;
        }
        if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
}

hw_val hw_invoke(struct hw_world *world, const struct hw_site *site, hw_val callee, const struct hw_args *args)
{
    enum { PARAMETERS = 64 };
    struct hw_function *function = (struct hw_function *)(uintptr_t)callee->a;
    struct hw_frame *parent = (struct hw_frame *)(uintptr_t)callee->b;
    if (world->hot && (function->module->framework || hw_strings_match(&function->module->settings->cold, function->qualname)))
        return world->unknown;
    struct parameter parameters[PARAMETERS];
    hw_val values[PARAMETERS];
    size_t count = read_parameters(world, function, parameters, PARAMETERS);
    bind_parameters(world, callee, args, parameters, count, values);
    struct hw_frame *frame = find_frame(world, function, parent, values, count);
    if (!frame && contexts(world, function) >= HW_CONTEXTS) {
        for (size_t i = callee->count ? 1 : 0; i < count; i++)
            if (parameters[i].star == PLAIN && values[i]->kind != HW_DEVICE)
                values[i] = world->unknown;
        frame = find_frame(world, function, parent, values, count);
        if (!frame && contexts(world, function) >= 2 * HW_CONTEXTS)
            return world->unknown;
    }
    if (frame)
        return frame->result ? frame->result : world->unknown;
    unsigned turns = 0; /* a function that calls itself with ever other arguments: three turns show all it does */
    for (size_t i = 0; i < world->hop_count; i++)
        turns += world->hops[i].function == function;
    if (turns >= 3)
        return world->unknown;
    if (world->hop_count >= HW_CALL_DEPTH) {
        if (site && world->root && world->recording && !world->root->cut) { /* one such report a hook says it all */
            world->root->cut = true;
            hw_report(world, site->frame->module, 901, HW_SEVERITY_ERROR, site->token, site->call,
                      "this call is further from the hook than calls are followed");
        }
        return world->unknown;
    }
    frame = hw_frame_new(world, function->module, parent);
    frame->function = function;
    frame->arguments = hw_arena_alloc(world->arena, (count + 1) * sizeof *frame->arguments);
    memcpy(frame->arguments, values, count * sizeof *values);
    frame->argument_count = count;
    if (function->frame_count == function->frame_room)
        function->frames =
            hw_realloc(function->frames, (function->frame_room = function->frame_room * 2 + 4) * sizeof *function->frames);
    function->frames[function->frame_count++] = frame;
    for (size_t i = 0; i < count; i++)
        hw_name_set(world, frame, parameters[i].name, values[i]);

    struct hw_guard guard = world->guard;
    bool flush = world->flush;
    world->flush = !world->hot && (flush || hw_strings_match(&function->module->settings->flush_roots, function->qualname));
    world->no_grad += function->no_grad;
    struct hw_hop *hop = &world->hops[world->hop_count++];
    *hop = (struct hw_hop){.function = function};
    if (site) {
        hop->row = ts_node_start_point(site->token).row + 1;
        hop->caller = site->frame->module;
    }
    TSNode around = world->statement;
    world->statement = (TSNode){0}; /* a lambda's body belongs to the statement it is written in */
    report_errors(world, function);
    TSNode body = hw_node_field(function->node, HW_F_BODY);
    if (hw_node_kind(function->node) == HW_N_LAMBDA)
        frame->result = hw_evaluate(world, frame, body);
    else
        hw_execute(world, frame, body);
    if (!frame->result)
        frame->result = world->none;
    world->statement = around;
    frame->state = HW_FRAME_DONE;
    hw_env_free(&frame->now); /* closures look into `all` */
    world->hop_count--;
    world->guard = guard;
    world->flush = flush;
    world->no_grad -= function->no_grad;
    return frame->result;
}

hw_val hw_invoke_root(struct hw_world *world, const struct hw_root *root)
{
    struct hw_args args = {0};
    world->guard = (struct hw_guard){0};
    world->no_grad = 0;
    for (const char *p = root->parameters; *p; p++) {
        hw_val value = world->unknown;
        if (*p == 'm')
            value = hw_value_simple(world, HW_UNKNOWN, HW_MODULE_ITSELF, NULL);
        else if (*p == 'i' || *p == 'd')
            value = hw_value_list(world,
                                  hw_value_simple(world, HW_DEVICE, HW_TOKENS | (*p == 'i' ? (unsigned)HW_GRAPH : 0u), NULL));
        else if (*p == 'l')
            value = hw_value_list(world, world->device);
        else if (*p == 'o')
            value = hw_value_simple(world, HW_DEVICE, HW_MAYBE_TUPLE | HW_TOKENS | HW_GRAPH, NULL);
        else if (*p == 'g')
            value = world->device;
        args.values[args.count++] = value;
    }
    return hw_call(world, root->at, root->function, &args);
}

static hw_val instantiate(struct hw_world *world, const struct hw_site *site, hw_val callee, struct hw_args *args)
{
    struct hw_class *cls = (struct hw_class *)(uintptr_t)callee->a, *owner;
    hw_val self = hw_value_make(world, &(struct hw_value){.kind = HW_INSTANCE, .a = cls}, NULL);
    hw_val initialiser = hw_class_find(world, cls, hw_intern(world, "__init__"), &owner, false);
    if (initialiser && initialiser->kind == HW_FUNCTION) {
        hw_val bound = hw_value_make(
            world, &(struct hw_value){.kind = HW_FUNCTION, .a = initialiser->a, .b = initialiser->b, .count = 1}, &self);
        hw_invoke(world, site, bound, args);
    } else { /* a dataclass or named tuple: keywords name its fields */
        for (size_t i = 0; i < args->count; i++)
            if (args->keywords[i])
                hw_attribute_store(world, cls, args->keywords[i], args->values[i]);
    }
    return self;
}

static hw_val call_partial(struct hw_world *world, const struct hw_site *site, hw_val callee, const struct hw_args *args)
{
    const struct hw_names *names = callee->b;
    struct hw_args all = {.rest = args->rest, .rest_keywords = args->rest_keywords};
    for (size_t i = 1; i < callee->count && all.count < HW_ARGUMENTS; i++) {
        all.values[all.count] = callee->items[i];
        all.keywords[all.count++] = names->names[i - 1];
    }
    for (size_t i = 0; i < args->count && all.count < HW_ARGUMENTS; i++) {
        all.values[all.count] = args->values[i];
        all.keywords[all.count] = args->keywords[i];
        all.nodes[all.count++] = args->nodes[i];
    }
    return hw_call(world, site, callee->items[0], &all);
}

static hw_val make_partial(struct hw_world *world, const struct hw_args *args)
{
    if (args->count == 0)
        return world->unknown;
    struct hw_names *names = hw_arena_alloc(world->arena, sizeof *names + args->count * sizeof *names->names);
    names->count = args->count - 1;
    for (size_t i = 1; i < args->count; i++)
        names->names[i - 1] = args->keywords[i];
    return hw_value_make(world, &(struct hw_value){.kind = HW_PARTIAL, .b = names, .count = args->count}, args->values);
}

static hw_val make_super(struct hw_world *world, struct hw_frame *frame, const struct hw_args *args)
{
    for (; frame && !(frame->function && frame->function->owner && frame->argument_count); frame = frame->parent)
        ;
    if (!frame || args->count == 1)
        return world->unknown;
    hw_val self = args->count >= 2 ? args->values[1] : frame->arguments[0];
    return hw_value_make(world, &(struct hw_value){.kind = HW_SUPER, .a = frame->function->owner, .count = 1}, &self);
}

/* Builtins and standard functions that make or read Python objects rather than data. */
static hw_val call_reflection(struct hw_world *world, const struct hw_site *site, const char *dotted, struct hw_args *args)
{
    if (!strcmp(dotted, "functools.partial") || !strcmp(dotted, "functools.partialmethod"))
        return make_partial(world, args);
    if (!strcmp(dotted, "builtins.super"))
        return make_super(world, site->frame, args);
    if (!strcmp(dotted, "builtins.getattr") && args->count >= 2 && hw_value_string(args->values[1])) {
        hw_val value = hw_read_attribute(world, site->frame, site->call, args->values[0], args->values[1]->text);
        return args->count > 2 ? hw_value_join(world, value, args->values[2]) : value;
    }
    if (!strcmp(dotted, "builtins.setattr") && args->count == 3 && hw_value_string(args->values[1])) {
        for (size_t i = 0; i < hw_value_count(args->values[0]); i++)
            if (hw_value_at(args->values[0], i)->kind == HW_INSTANCE)
                hw_attribute_store(world, (struct hw_class *)(uintptr_t)hw_value_at(args->values[0], i)->a,
                                   args->values[1]->text, args->values[2]);
        return world->none;
    }
    if (!strcmp(dotted, "builtins.dict")) {
        hw_val dict = args->count && args->values[0]->kind == HW_DICT ? args->values[0] : hw_value_empty_dict(world);
        for (size_t i = 0; i < args->count; i++)
            if (args->keywords[i])
                dict = hw_value_entered(world, dict, hw_value_simple(world, HW_HOST, 0, args->keywords[i]), args->values[i]);
        return dict;
    }
    return NULL;
}

/* The dotted name of a function or class whose source is at hand, if the tables know better than its body what it does. */
static const char *known_as(struct hw_world *world, const struct hw_module *module, const char *qualname)
{
    const char *dotted = hw_arena_format(world->arena, "%s.%s", module->name, qualname);
    return hw_knowledge_call(dotted) ? dotted : NULL;
}

static hw_val call_one(struct hw_world *world, const struct hw_site *site, hw_val callee, struct hw_args *args)
{
    switch (callee->kind) {
    case HW_FUNCTION: {
        const struct hw_function *function = callee->a;
        const char *dotted = known_as(world, function->module, function->qualname);
        return dotted && site ? hw_call_library(world, site, dotted, args) : hw_invoke(world, site, callee, args);
    }
    case HW_PARTIAL:
        return call_partial(world, site, callee, args);
    case HW_CLASS: {
        const struct hw_class *cls = callee->a;
        const char *dotted = known_as(world, cls->module, cls->qualname);
        return dotted && site ? hw_call_library(world, site, dotted, args) : instantiate(world, site, callee, args);
    }
    case HW_INSTANCE: {
        struct hw_class *owner;
        hw_val method =
            hw_class_find(world, (struct hw_class *)(uintptr_t)callee->a, hw_intern(world, "__call__"), &owner, false);
        if (!method || method->kind != HW_FUNCTION)
            return world->unknown;
        return hw_invoke(
            world, site,
            hw_value_make(world, &(struct hw_value){.kind = HW_FUNCTION, .a = method->a, .b = method->b, .count = 1}, &callee),
            args);
    }
    case HW_EXTERN: {
        hw_val value = site ? call_reflection(world, site, callee->text, args) : NULL;
        return value ? value : site ? hw_call_library(world, site, callee->text, args) : world->unknown;
    }
    case HW_BOUND:
        return site ? hw_call_method(world, site, callee->items[0], callee->text, args) : world->unknown;
    case HW_DEVICE:
    case HW_HOST:
        return callee;
    default:
        return world->unknown;
    }
}

hw_val hw_call(struct hw_world *world, const struct hw_site *site, hw_val callee, struct hw_args *args)
{
    hw_val value = NULL;
    for (size_t i = 0; i < hw_value_count(callee); i++)
        value = hw_value_join(world, value, call_one(world, site, hw_value_at(callee, i), args));
    return value;
}

/* x.append(v), x.add(v), x.extend(v): what the container holds from now on. */
static void grow(struct hw_world *world, struct hw_frame *frame, TSNode container, hw_val object, const char *method,
                 const struct hw_args *args)
{
    bool one = !strcmp(method, "append") || !strcmp(method, "add") || !strcmp(method, "appendleft");
    bool many = !strcmp(method, "extend") || !strcmp(method, "update");
    enum hw_node kind = hw_node_kind(container);
    if ((!one && !many) || args->count != 1 || (kind != HW_N_IDENTIFIER && kind != HW_N_ATTRIBUTE))
        return;
    hw_val list = hw_value_find(object, HW_LIST);
    if (!list && strncmp(method, "append", 6) != 0)
        return;
    hw_rule_retained(world, frame, container, one ? args->values[0] : hw_value_element(world, args->values[0]));
    if (!list)
        return;
    hw_val added = one ? args->values[0] : hw_value_element(world, args->values[0]);
    hw_val grown = hw_value_grown(world, list, added);
    if (grown != list)
        hw_assign(world, frame, container, grown, true);
}

static bool is_project_object(hw_val object)
{
    switch (object->kind) {
    case HW_INSTANCE:
    case HW_SUPER:
    case HW_CLASS:
    case HW_PROJECT:
    case HW_EXTERN:
        return true;
    default:
        return false;
    }
}

static hw_val call_attribute(struct hw_world *world, const struct hw_site *site, hw_val object, const char *name,
                             struct hw_args *args)
{
    if (!is_project_object(object))
        return hw_call_method(world, site, object, name, args);
    hw_val member = hw_read_attribute(world, site->frame, site->callee, object, name);
    if (member == world->unknown && object->kind == HW_SUPER && !strcmp(name, "__init__")) {
        const struct hw_class *cls = object->a; /* class Pack(saved_tensors_hooks): its base registers what it is given */
        for (size_t i = 0; i < cls->base_count; i++) {
            hw_val base = hw_resolve(world, cls->bases[i]);
            const char *last = base->kind == HW_EXTERN ? strrchr(base->text, '.') : NULL;
            if (last)
                hw_register(world, site, last + 1, args);
        }
    }
    if (member == world->unknown) /* inherited from outside the sources */
        return hw_call_method(world, site, world->unknown, name, args);
    return hw_call(world, site, member, args);
}

hw_val hw_call_node(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode callee = hw_node_field(node, HW_F_FUNCTION);
    struct hw_site site = {frame, node, callee, callee};
    struct hw_args args = {0};
    if (hw_node_kind(callee) != HW_N_ATTRIBUTE) {
        hw_val function = hw_evaluate(world, frame, callee);
        evaluate_arguments(world, frame, hw_node_field(node, HW_F_ARGUMENTS), &args);
        if (frame->module->settings->wrappers.count)
            hw_wrapper_call(world, &site, hw_node_text(world, frame->module, callee), &args);
        return hw_call(world, &site, function, &args);
    }
    TSNode container = hw_node_field(callee, HW_F_OBJECT);
    site.token = hw_node_field(callee, HW_F_ATTRIBUTE);
    const char *name = hw_node_text(world, frame->module, site.token);
    hw_val object = hw_evaluate(world, frame, container), value = NULL;
    evaluate_arguments(world, frame, hw_node_field(node, HW_F_ARGUMENTS), &args);
    if (frame->module->settings->wrappers.count)
        hw_wrapper_call(world, &site, hw_node_text(world, frame->module, callee), &args);
    for (size_t i = 0; i < hw_value_count(object); i++)
        hw_schema_call(world, &site, hw_value_at(object, i), name, &args);
    for (size_t i = 0; i < hw_value_count(object); i++)
        value = hw_value_join(world, value, call_attribute(world, &site, hw_value_at(object, i), name, &args));
    grow(world, frame, container, object, name, &args);
    return value;
}
