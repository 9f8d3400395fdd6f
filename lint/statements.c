/* Statements: control flow, bindings, definitions, imports. */
#include <stdlib.h>
#include <string.h>

#include "lint/evaluate.h"

static void execute(struct hw_world *world, struct hw_frame *frame, TSNode node);
static hw_val evaluate_header(struct hw_world *world, struct hw_frame *frame, TSNode clause, TSNode expression,
                              const char *reader);

/* now = what either path may have left; a dead path leaves nothing. */
static void merge(struct hw_world *world, struct hw_env *into, bool *into_dead, const struct hw_env *other, bool other_dead)
{
    if (other_dead)
        return;
    if (*into_dead) {
        hw_env_copy(into, other);
        *into_dead = false;
        return;
    }
    for (size_t i = 0; i < other->count; i++)
        hw_env_join(world, into, other->items[i].name, other->items[i].value);
}

static TSNode body_of(TSNode node)
{
    return hw_node_field(node, HW_F_BODY);
}

static TSNode child_of_kind(TSNode node, enum hw_node kind)
{
    TSNode child;
    HW_EACH_CHILD (child, node)
        if (hw_node_kind(child) == kind)
            return child;
    return (TSNode){0};
}

/* Whether a block ends by leaving what is around it, other than by an error. */
static bool leaves(TSNode block)
{
    uint32_t count = hw_node_children(block);
    enum hw_node last = count ? hw_node_kind(hw_node_child(block, count - 1)) : HW_N_OTHER;
    return last == HW_N_RETURN || last == HW_N_CONTINUE || last == HW_N_BREAK;
}

/* if 0: and if False: keep code that never runs. */
static bool never_holds(const struct hw_frame *frame, TSNode test)
{
    uint32_t start = ts_node_start_byte(test);
    return hw_node_kind(test) == HW_N_FALSE || (hw_node_kind(test) == HW_N_INTEGER && ts_node_end_byte(test) == start + 1 &&
                                                frame->module->source->text[start] == '0');
}

static void execute_if(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode test = hw_node_field(node, HW_F_CONDITION), consequence = hw_node_field(node, HW_F_CONSEQUENCE);
    hw_val value = hw_evaluate(world, frame, test);
    hw_truth(world, frame, test, value, hw_node_kind(node) == HW_N_ELIF ? "elif" : "if");
    struct hw_env before = {0}, after = {0};
    bool after_dead = true;
    struct hw_guard around = world->guard;
    const char *why = hw_rank_local(world, frame, test, value);
    if (why)
        world->guard = (struct hw_guard){.module = frame->module, .node = test, .why = why};
    hw_env_copy(&before, &frame->now);
    hw_narrow(world, frame, test, true);
    frame->dead = never_holds(frame, test);
    if (!frame->dead)
        hw_execute(world, frame, consequence);
    bool left = frame->dead && leaves(consequence);
    merge(world, &after, &after_dead, &frame->now, frame->dead);

    /* The first elif or else goes on in the environment where the test failed; each later one likewise. */
    hw_env_copy(&frame->now, &before);
    frame->dead = false;
    hw_narrow(world, frame, test, false);
    TSNode child;
    HW_EACH_CHILD (child, node) {
        enum hw_node kind = hw_node_kind(child);
        if (kind == HW_N_ELIF) {
            TSNode condition = hw_node_field(child, HW_F_CONDITION);
            evaluate_header(world, frame, child, condition, "elif");
            hw_env_copy(&before, &frame->now);
            hw_narrow(world, frame, condition, true);
            hw_execute(world, frame, hw_node_field(child, HW_F_CONSEQUENCE));
            merge(world, &after, &after_dead, &frame->now, frame->dead);
            hw_env_copy(&frame->now, &before);
            frame->dead = false;
            hw_narrow(world, frame, condition, false);
        } else if (kind == HW_N_ELSE) {
            hw_execute(world, frame, body_of(child));
        }
    }
    world->guard = around;
    if (why && left) /* what follows is only for ranks that stayed */
        world->guard = (struct hw_guard){frame->module, test, node, why};
    merge(world, &frame->now, &frame->dead, &after, after_dead);
    hw_env_free(&before);
    hw_env_free(&after);
}

static void execute_loop(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    bool is_for = hw_node_kind(node) == HW_N_FOR;
    TSNode test = hw_node_field(node, HW_F_CONDITION), target = hw_node_field(node, HW_F_LEFT);
    if (!is_for)
        hw_rule_poll(world, frame, test);
    hw_val iterable = is_for ? hw_evaluate(world, frame, hw_node_field(node, HW_F_RIGHT)) : NULL;
    struct hw_guard around = world->guard;
    const char *why = is_for ? hw_rank_local_loop(world, frame, hw_node_field(node, HW_F_RIGHT), iterable) : NULL;
    int passes = frame->loops < 3 ? 2 : 1; /* the second sees what the first left behind */
    frame->loops++;
    for (int pass = 0; pass < passes; pass++) {
        struct hw_env before = {0};
        hw_env_copy(&before, &frame->now);
        if (is_for)
            hw_assign(world, frame, target, hw_value_element(world, iterable), false);
        else
            hw_truth(world, frame, test, hw_evaluate(world, frame, test), "while");
        if (why)
            world->guard = (struct hw_guard){.module = frame->module, .node = hw_node_field(node, HW_F_RIGHT), .why = why};
        hw_execute(world, frame, body_of(node));
        world->guard = around;
        frame->dead = false;
        for (size_t i = 0; i < before.count; i++)
            hw_env_join(world, &frame->now, before.items[i].name, before.items[i].value);
        hw_env_free(&before);
    }
    frame->loops--;
    TSNode otherwise = child_of_kind(node, HW_N_ELSE);
    if (!ts_node_is_null(otherwise))
        hw_execute(world, frame, body_of(otherwise));
}

static void execute_try(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    struct hw_env before = {0}, after = {0}, raised = {0};
    bool after_dead = true, never = false;
    hw_env_copy(&before, &frame->now);
    hw_execute(world, frame, body_of(node));
    hw_env_copy(&raised, &before);
    merge(world, &raised, &never, &frame->now, false);
    TSNode child;
    HW_EACH_CHILD (child, node)
        if (hw_node_kind(child) == HW_N_ELSE)
            hw_execute(world, frame, body_of(child));
    merge(world, &after, &after_dead, &frame->now, frame->dead);
    HW_EACH_CHILD (child, node) {
        enum hw_node kind = hw_node_kind(child);
        if (kind != HW_N_EXCEPT && kind != HW_N_EXCEPT_GROUP)
            continue;
        hw_env_copy(&frame->now, &raised);
        frame->dead = false;
        size_t first_record = world->record_count;
        TSNode part;
        HW_EACH_CHILD (part, child) {
            if (hw_node_kind(part) == HW_N_BLOCK)
                hw_execute(world, frame, part);
            else
                evaluate_header(world, frame, child, part, NULL);
        }
        hw_rule_fallback(world, frame, child, first_record);
        merge(world, &after, &after_dead, &frame->now, frame->dead);
    }
    hw_env_copy(&frame->now, &after);
    frame->dead = after_dead;
    HW_EACH_CHILD (child, node)
        if (hw_node_kind(child) == HW_N_FINALLY) {
            bool dead = frame->dead;
            frame->dead = false;
            hw_execute(world, frame, child_of_kind(child, HW_N_BLOCK));
            frame->dead |= dead;
        }
    hw_env_free(&before);
    hw_env_free(&after);
    hw_env_free(&raised);
}

static void execute_match(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    hw_val subject = world->unknown;
    struct hw_env before = {0}, after = {0};
    bool after_dead = true, started = false;
    TSNode child, part;
    HW_EACH_CHILD (child, node) {
        if (hw_node_kind(child) != HW_N_BLOCK) {
            subject = hw_evaluate(world, frame, child);
            continue;
        }
        hw_env_copy(&before, &frame->now);
        started = true;
        HW_EACH_CHILD (part, child) {
            if (hw_node_kind(part) != HW_N_CASE)
                continue;
            hw_env_copy(&frame->now, &before);
            frame->dead = false;
            TSNode piece;
            HW_EACH_CHILD (piece, part) {
                if (hw_node_kind(piece) == HW_N_BLOCK) {
                    hw_execute(world, frame, piece);
                } else if (hw_node_kind(piece) == HW_N_IF_CLAUSE) {
                    TSNode guard = hw_node_child(piece, 0);
                    evaluate_header(world, frame, part, guard, "case guard");
                } else {
                    TSNode value = hw_node_child(piece, 0);
                    enum hw_node kind = hw_node_kind(value);
                    TSNode around = world->statement;
                    world->statement = part;
                    if (kind == HW_N_INTEGER || kind == HW_N_FLOAT || kind == HW_N_STRING)
                        hw_truth(world, frame, value, subject, "case");
                    world->statement = around;
                }
            }
            merge(world, &after, &after_dead, &frame->now, frame->dead);
        }
    }
    if (started) {
        hw_env_copy(&frame->now, &before);
        frame->dead = false;
        merge(world, &frame->now, &frame->dead, &after, after_dead);
    }
    hw_env_free(&before);
    hw_env_free(&after);
}

static bool turns_off_autograd(const char *text)
{
    return strstr(text, "no_grad") || strstr(text, "inference_mode") || strstr(text, "set_grad_enabled(False)");
}

static void execute_with(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode clause = child_of_kind(node, HW_N_WITH_CLAUSE), item;
    bool no_grad = turns_off_autograd(hw_node_text(world, frame->module, clause));
    HW_EACH_CHILD (item, clause) {
        TSNode value = hw_node_field(item, HW_F_VALUE);
        if (hw_node_kind(value) == HW_N_AS_PATTERN) {
            hw_val entered = hw_evaluate(world, frame, hw_node_child(value, 0));
            TSNode target = hw_node_field(value, HW_F_ALIAS);
            if (!ts_node_is_null(target))
                hw_assign(world, frame, hw_node_child(target, 0), entered, false);
        } else if (!ts_node_is_null(value)) {
            hw_evaluate(world, frame, value);
        }
    }
    world->no_grad += no_grad;
    hw_execute(world, frame, body_of(node));
    world->no_grad -= no_grad;
}

static void define_function(struct hw_world *world, struct hw_frame *frame, TSNode node, TSNode decorated)
{
    struct hw_function *function = hw_function_of(world, frame, node);
    hw_val value = hw_value_make(world, &(struct hw_value){.kind = HW_FUNCTION, .a = function, .b = frame}, NULL);
    if (!world->hot && !frame->class_body)
        hw_pending_add(world, value, NULL);
    /* Decorators apply from the last to the first; one that is not in the sources leaves the function what it is. */
    TSNode decorators[16], child;
    size_t count = 0;
    if (!ts_node_is_null(decorated))
        HW_EACH_CHILD (child, decorated)
            if (hw_node_kind(child) == HW_N_DECORATOR && count < 16)
                decorators[count++] = child;
    while (count-- > 0) {
        TSNode expression = hw_node_child(decorators[count], 0);
        const char *text = hw_node_text(world, frame->module, expression);
        size_t length = strlen(text);
        function->no_grad |= turns_off_autograd(text);
        if (!strcmp(text, "staticmethod")) {
            function->is_static = true;
        } else if (!strcmp(text, "classmethod")) {
            function->is_classmethod = true;
        } else if ((length >= 8 && !strcmp(text + length - 8, "property")) ||
                   (length >= 7 && !strcmp(text + length - 7, ".getter"))) {
            function->is_property = true;
        } else if (length >= 7 && (!strcmp(text + length - 7, ".setter"))) {
            return; /* the property keeps its getter */
        } else {
            struct hw_args args = {.values = {value}, .nodes = {node}, .count = 1};
            struct hw_site site = {frame, expression, expression, expression};
            hw_val decorator = hw_evaluate(world, frame, expression);
            if (decorator->kind == HW_FUNCTION) {
                hw_val result = hw_call(world, &site, decorator, &args);
                if (hw_value_find(result, HW_FUNCTION) || hw_value_find(result, HW_PARTIAL) ||
                    hw_value_find(result, HW_INSTANCE))
                    value = result;
            }
        }
    }
    hw_name_set(world, frame, function->name, value);
}

static void define_class(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    struct hw_class *cls = hw_class_of(world, frame, node);
    if (!cls->frame || cls->frame->generation != world->generation) {
        hw_env_free(&cls->earlier);
        cls->earlier = cls->attrs;
        cls->attrs = (struct hw_env){0};
    }
    cls->base_count = 0;
    TSNode bases = hw_node_field(node, HW_F_SUPERCLASSES), base;
    if (!ts_node_is_null(bases))
        HW_EACH_CHILD (base, bases)
            if (hw_node_kind(base) != HW_N_KEYWORD_ARGUMENT) {
                cls->bases = hw_realloc(cls->bases, (cls->base_count + 1) * sizeof *cls->bases);
                hw_val value = hw_evaluate(world, frame, base);
                cls->bases[cls->base_count++] = value;
            }
    cls->frame = hw_frame_new(world, frame->module, frame);
    cls->frame->class_body = cls;
    cls->frame->function = frame->function;
    hw_val value = hw_value_make(world, &(struct hw_value){.kind = HW_CLASS, .a = cls}, NULL);
    hw_name_set(world, frame, cls->name, value);
    hw_execute(world, cls->frame, body_of(node));
    cls->frame->state = HW_FRAME_DONE;
    if (!world->hot)
        hw_pending_add(world, value, cls);
}

static void import_name(struct hw_world *world, struct hw_frame *frame, const char *as, const char *dotted,
                        struct hw_module *module, const char *member)
{
    hw_val value;
    if (module && member)
        value = hw_value_make(world, &(struct hw_value){.kind = HW_LAZY, .a = module, .text = member}, NULL);
    else if (module)
        value = hw_value_make(world, &(struct hw_value){.kind = HW_PROJECT, .a = module}, NULL);
    else
        value = hw_value_simple(world, HW_EXTERN, 0,
                                member ? hw_intern(world, hw_arena_format(world->arena, "%s.%s", dotted, member)) : dotted);
    hw_name_set(world, frame, as, value);
}

static void execute_import(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode child;
    HW_EACH_CHILD (child, node) {
        bool aliased = hw_node_kind(child) == HW_N_ALIASED_IMPORT;
        const char *dotted = hw_node_text(world, frame->module, aliased ? hw_node_field(child, HW_F_NAME) : child);
        if (aliased) {
            const char *as = hw_node_text(world, frame->module, hw_node_field(child, HW_F_ALIAS));
            import_name(world, frame, as, dotted, hw_module_import(world, frame->module, 0, dotted), NULL);
        } else { /* `import a.b` binds a */
            const char *first = hw_arena_intern(world->arena, dotted, strcspn(dotted, "."));
            struct hw_module *module = hw_module_import(world, frame->module, 0, first);
            if (!module && first != dotted && hw_module_import(world, frame->module, 0, dotted))
                hw_name_set(world, frame, first, hw_value_simple(world, HW_EXTERN, HW_NAMESPACE, first));
            else
                import_name(world, frame, first, first, module, NULL);
        }
    }
}

static void execute_import_from(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode from = hw_node_field(node, HW_F_MODULE_NAME), child;
    const char *dotted = "";
    unsigned dots = 0;
    if (hw_node_kind(from) == HW_N_RELATIVE_IMPORT) {
        HW_EACH_CHILD (child, from) {
            if (hw_node_kind(child) == HW_N_IMPORT_PREFIX) {
                for (const char *p = hw_node_text(world, frame->module, child); *p; p++)
                    dots += *p == '.';
            } else {
                dotted = hw_node_text(world, frame->module, child);
            }
        }
    } else {
        dotted = hw_node_text(world, frame->module, from);
    }
    struct hw_module *module = hw_module_import(world, frame->module, dots, dotted);
    HW_EACH_CHILD (child, node) {
        enum hw_node kind = hw_node_kind(child);
        if (ts_node_eq(child, from))
            continue;
        if (kind == HW_N_WILDCARD_IMPORT) {
            if (module && module != frame->module) {
                hw_module_execute(world, module);
                frame->module->stars =
                    hw_realloc(frame->module->stars, (frame->module->star_count + 1) * sizeof *frame->module->stars);
                frame->module->stars[frame->module->star_count++] = module;
            }
            continue;
        }
        bool aliased = kind == HW_N_ALIASED_IMPORT;
        if (!aliased && kind != HW_N_DOTTED_NAME)
            continue;
        const char *name = hw_node_text(world, frame->module, aliased ? hw_node_field(child, HW_F_NAME) : child);
        const char *as = aliased ? hw_node_text(world, frame->module, hw_node_field(child, HW_F_ALIAS)) : name;
        struct hw_module *below = NULL;
        if (!module) { /* `from . import x` or `from namespace import x`, where the package has no file of its own */
            const char *full = *dotted ? hw_intern(world, hw_arena_format(world->arena, "%s.%s", dotted, name)) : name;
            below = hw_module_import(world, frame->module, dots, full);
        }
        if (below)
            import_name(world, frame, as, dotted, below, NULL);
        else
            import_name(world, frame, as, dotted, module, name);
    }
}

static void execute_return(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode value = hw_node_child(node, 0);
    hw_val result = ts_node_is_null(value) ? world->none : hw_evaluate(world, frame, value);
    frame->result = hw_value_join(world, frame->result, result);
    frame->dead = true;
}

/* What only runs when the job is about to fail: a message that reads the device is worth its wait. */
static void execute_failing(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    bool recording = world->recording;
    world->recording = false;
    TSNode child;
    HW_EACH_CHILD (child, node)
        hw_evaluate(world, frame, child);
    world->recording = recording;
}

static void execute_statement(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode child, definition;
    switch (hw_node_kind(node)) {
    case HW_N_EXPRESSION_STATEMENT:
        HW_EACH_CHILD (child, node)
            hw_evaluate(world, frame, child);
        break;
    case HW_N_RETURN:
        execute_return(world, frame, node);
        break;
    case HW_N_RAISE:
        execute_failing(world, frame, node);
        frame->dead = true;
        break;
    case HW_N_BREAK:
    case HW_N_CONTINUE:
        frame->dead = frame->loops > 0;
        break;
    case HW_N_GLOBAL:
    case HW_N_NONLOCAL:
        HW_EACH_CHILD (child, node) {
            frame->outer = hw_realloc(frame->outer, (frame->outer_count + 1) * sizeof *frame->outer);
            frame->outer[frame->outer_count++] = hw_node_text(world, frame->module, child);
        }
        break;
    case HW_N_IMPORT:
        execute_import(world, frame, node);
        break;
    case HW_N_IMPORT_FROM:
        execute_import_from(world, frame, node);
        break;
    case HW_N_ASSERT: {
        TSNode test = hw_node_child(node, 0), message = hw_node_child(node, 1);
        hw_truth(world, frame, test, hw_evaluate(world, frame, test), "assert");
        hw_narrow(world, frame, test, true);
        if (!ts_node_is_null(message))
            execute_failing(world, frame, message);
        break;
    }
    case HW_N_IF:
        execute_if(world, frame, node);
        break;
    case HW_N_FOR:
    case HW_N_WHILE:
        execute_loop(world, frame, node);
        break;
    case HW_N_TRY:
        execute_try(world, frame, node);
        break;
    case HW_N_WITH:
        execute_with(world, frame, node);
        break;
    case HW_N_MATCH:
        execute_match(world, frame, node);
        break;
    case HW_N_FUNCTION:
        define_function(world, frame, node, (TSNode){0});
        break;
    case HW_N_CLASS:
        define_class(world, frame, node);
        break;
    case HW_N_DECORATED:
        definition = hw_node_field(node, HW_F_DEFINITION);
        if (hw_node_kind(definition) == HW_N_FUNCTION)
            define_function(world, frame, definition, node);
        else if (hw_node_kind(definition) == HW_N_CLASS)
            define_class(world, frame, definition);
        break;
    case HW_N_BLOCK:
        hw_execute(world, frame, node);
        break;
    case HW_N_OTHER: /* an ERROR node: what is inside may still be statements */
        if (ts_node_is_error(node))
            hw_execute(world, frame, node);
        break;
    case HW_N_PASS:
    case HW_N_FUTURE_IMPORT:
    case HW_N_TYPE_ALIAS:
    case HW_N_DELETE:
        break;
    default:
        hw_evaluate(world, frame, node);
        break;
    }
}

static void execute(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode around = world->statement;
    world->statement = hw_node_kind(node) == HW_N_DECORATED ? (TSNode){0} : node;
    execute_statement(world, frame, node);
    world->statement = around;
}

/* Evaluates what stands in the header of a clause: an elif, a case, an except. */
static hw_val evaluate_header(struct hw_world *world, struct hw_frame *frame, TSNode clause, TSNode expression,
                              const char *reader)
{
    TSNode around = world->statement;
    world->statement = clause;
    hw_val value = hw_evaluate(world, frame, expression);
    if (reader)
        hw_truth(world, frame, expression, value, reader);
    world->statement = around;
    return value;
}

void hw_execute(struct hw_world *world, struct hw_frame *frame, TSNode block)
{
    TSNode child;
    if (ts_node_is_null(block) || !hw_enter(world, frame, block))
        return;
    HW_EACH_CHILD (child, block) {
        if (frame->dead)
            break;
        execute(world, frame, child);
    }
    hw_leave(world, frame);
}

static void assign_many(struct hw_world *world, struct hw_frame *frame, TSNode targets, hw_val value)
{
    TSNode target;
    size_t position = 0;
    HW_EACH_CHILD (target, targets) {
        hw_val part = NULL;
        size_t i = 0;
        do { /* a value has one alternative at least */
            hw_val one = hw_value_at(value, i);
            bool known = one->kind == HW_TUPLE && position < one->count;
            part = hw_value_join(world, part, known ? one->items[position] : hw_value_element(world, one));
        } while (++i < hw_value_count(value));
        if (hw_node_kind(target) == HW_N_LIST_SPLAT_PATTERN)
            part = hw_value_list(world, hw_value_element(world, value));
        hw_assign(world, frame, target, part, false);
        position++;
    }
}

void hw_assign(struct hw_world *world, struct hw_frame *frame, TSNode target, hw_val value, bool augmented)
{
    if (ts_node_is_null(target) || !hw_enter(world, frame, target))
        return;
    switch (hw_node_kind(target)) {
    case HW_N_IDENTIFIER:
        hw_name_set(world, frame, hw_node_text(world, frame->module, target), value);
        break;
    case HW_N_ATTRIBUTE: {
        hw_val object = hw_evaluate(world, frame, hw_node_field(target, HW_F_OBJECT));
        const char *name = hw_node_text(world, frame->module, hw_node_field(target, HW_F_ATTRIBUTE));
        hw_rule_retained(world, frame, target, value);
        if (value->kind == HW_HOST_TENSOR) /* read in another function, which may have waited */
            value = hw_value_simple(world, HW_HOST_TENSOR, value->flags & ~(unsigned)HW_PENDING, NULL);
        for (size_t i = 0; i < hw_value_count(object); i++)
            if (hw_value_at(object, i)->kind == HW_INSTANCE)
                hw_attribute_store(world, (struct hw_class *)(uintptr_t)hw_value_at(object, i)->a, name, value);
        break;
    }
    case HW_N_SUBSCRIPT: {
        TSNode container = hw_node_field(target, HW_F_VALUE);
        hw_val object = hw_evaluate(world, frame, container);
        hw_subscript(world, frame, target, object, true, value);
        if (object->kind != HW_DEVICE && object->kind != HW_HOST_TENSOR)
            hw_rule_retained(world, frame, target, value);
        hw_val grown = NULL;
        if (object->kind == HW_DICT) {
            TSNode key = hw_node_field(target, HW_F_SUBSCRIPT);
            grown = hw_value_entered(world, object, hw_evaluate(world, frame, key), value);
        } else if (object->kind == HW_LIST) {
            grown = hw_value_grown(world, object, value);
        }
        enum hw_node kind = hw_node_kind(container);
        if (grown && grown != object && (kind == HW_N_IDENTIFIER || kind == HW_N_ATTRIBUTE) && !augmented)
            hw_assign(world, frame, container, grown, false);
        break;
    }
    case HW_N_PATTERN_LIST:
    case HW_N_TUPLE_PATTERN:
    case HW_N_LIST_PATTERN:
    case HW_N_TUPLE:
    case HW_N_LIST:
    case HW_N_EXPRESSION_LIST:
        assign_many(world, frame, target, value);
        break;
    case HW_N_LIST_SPLAT_PATTERN:
    case HW_N_LIST_SPLAT:
    case HW_N_PARENTHESIZED:
    case HW_N_AS_PATTERN_TARGET:
        hw_assign(world, frame, hw_node_child(target, 0), value, augmented);
        break;
    default:
        break;
    }
    hw_leave(world, frame);
}
