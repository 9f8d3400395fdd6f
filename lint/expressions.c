/* Expressions: what each gives, and which of them read the device. */
#include <stdlib.h>
#include <string.h>

#include "lint/evaluate.h"

bool hw_enter(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    if (frame->nesting >= HW_NESTING || world->nesting >= HW_NESTING_TOTAL) {
        hw_report(world, frame->module, 901, HW_SEVERITY_ERROR, node, node, "is nested too deeply to be followed");
        return false;
    }
    frame->nesting++;
    world->nesting++;
    return true;
}

void hw_leave(struct hw_world *world, struct hw_frame *frame)
{
    frame->nesting--;
    world->nesting--;
}

/* The constant a string literal without interpolations gives. */
static hw_val string_constant(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode child, content = {0};
    size_t parts = 0;
    HW_EACH_CHILD (child, node)
        if (hw_node_kind(child) == HW_N_STRING_CONTENT) {
            content = child;
            parts++;
        }
    if (parts > 1 || (parts == 1 && ts_node_end_byte(content) - ts_node_start_byte(content) > 200))
        return world->host;
    return hw_value_simple(world, HW_HOST, 0, parts ? hw_node_text(world, frame->module, content) : hw_intern(world, ""));
}

/* An f-string as a pattern: its literal parts, and \x01 for each replacement. */
static hw_val string_pattern(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    enum { LONGEST = 200 };
    char text[LONGEST];
    size_t length = 0;
    TSNode child;
    HW_EACH_CHILD (child, node) {
        enum hw_node kind = hw_node_kind(child);
        uint32_t start = ts_node_start_byte(child), size = ts_node_end_byte(child) - start;
        if (kind == HW_N_INTERPOLATION) {
            if (length == LONGEST)
                return world->host;
            text[length++] = 1;
        } else if (kind == HW_N_STRING_CONTENT) {
            if (length + size > LONGEST)
                return world->host;
            memcpy(text + length, frame->module->source->text + start, size);
            length += size;
        }
    }
    return hw_value_simple(world, HW_HOST, HW_PATTERN, hw_arena_intern(world->arena, text, length));
}

static hw_val evaluate_string(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode child;
    bool interpolated = false;
    HW_EACH_CHILD (child, node)
        if (hw_node_kind(child) == HW_N_INTERPOLATION) {
            TSNode expression = hw_node_field(child, HW_F_EXPRESSION);
            if (!ts_node_is_null(expression))
                hw_format_string(world, frame, child, hw_evaluate(world, frame, expression));
            interpolated = true;
            TSNode part, inner;
            HW_EACH_CHILD (part, child)
                if (hw_node_kind(part) == HW_N_FORMAT_SPECIFIER)
                    HW_EACH_CHILD (inner, part)
                        if (hw_node_kind(inner) == HW_N_INTERPOLATION)
                            hw_evaluate(world, frame, hw_node_field(inner, HW_F_EXPRESSION));
        }
    return interpolated ? string_pattern(world, frame, node) : string_constant(world, frame, node);
}

static hw_val evaluate_name(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    const char *name = hw_node_text(world, frame->module, node);
    hw_val value = hw_name_get(world, frame, name);
    if (value)
        return value;
    if (hw_knowledge_is_builtin(name))
        return hw_value_simple(world, HW_EXTERN, 0, hw_intern(world, hw_arena_format(world->arena, "builtins.%s", name)));
    return world->unknown;
}

static hw_val bind_method(struct hw_world *world, const struct hw_site *site, hw_val member, hw_val self, hw_val cls)
{
    if (member->kind != HW_FUNCTION || member->count)
        return member;
    const struct hw_function *function = member->a;
    if (function->is_property && self) {
        struct hw_args none = {0};
        hw_val bound =
            hw_value_make(world, &(struct hw_value){.kind = HW_FUNCTION, .a = member->a, .b = member->b, .count = 1}, &self);
        return hw_invoke(world, site, bound, &none);
    }
    hw_val receiver = function->is_static ? NULL : function->is_classmethod ? cls : self;
    if (!receiver || !function->owner)
        return member;
    return hw_value_make(world, &(struct hw_value){.kind = HW_FUNCTION, .a = member->a, .b = member->b, .count = 1}, &receiver);
}

static hw_val attribute_of(struct hw_world *world, const struct hw_site *site, hw_val object, const char *name)
{
    struct hw_class *owner = NULL;
    hw_val found = NULL, part;
    switch (object->kind) {
    case HW_INSTANCE:
    case HW_SUPER: {
        struct hw_class *cls = (struct hw_class *)(uintptr_t)object->a;
        hw_val self = object->kind == HW_SUPER ? object->items[0] : object;
        hw_val type = hw_value_make(world, &(struct hw_value){.kind = HW_CLASS, .a = cls}, NULL);
        hw_val member = hw_class_find(world, cls, name, &owner, object->kind == HW_SUPER);
        if (object->kind == HW_INSTANCE)
            found = hw_attribute_of_self(world, cls, name);
        for (size_t i = 0; member && i < hw_value_count(member); i++) {
            part = bind_method(world, site, hw_value_at(member, i), self, type);
            found = hw_value_join(world, found, part);
        }
        return found;
    }
    case HW_CLASS:
        found = hw_class_find(world, (struct hw_class *)(uintptr_t)object->a, name, &owner, false);
        return found ? bind_method(world, site, found, NULL, object) : NULL;
    case HW_PROJECT:
        found = hw_module_attribute(world, (struct hw_module *)(uintptr_t)object->a, name);
        return found ? hw_resolve(world, found) : NULL;
    case HW_EXTERN: {
        const char *dotted = hw_intern(world, hw_arena_format(world->arena, "%s.%s", object->text, name));
        struct hw_module *module =
            object->flags & HW_NAMESPACE ? hw_module_import(world, site->frame->module, 0, dotted) : NULL;
        if (module)
            return hw_value_make(world, &(struct hw_value){.kind = HW_PROJECT, .a = module}, NULL);
        return hw_value_simple(world, HW_EXTERN, object->flags, dotted);
    }
    case HW_DEVICE:
    case HW_HOST_TENSOR:
        switch (hw_knowledge_attribute(name)) {
        case HW_GIVES_HOST:
            return world->host;
        case HW_GIVES_PLACE_HERE:
            return hw_value_simple(world, HW_PLACE, object->kind == HW_DEVICE ? HW_ON_DEVICE : HW_ON_HOST, NULL);
        case HW_GIVES_SAME:
            return object->kind == HW_DEVICE ? hw_value_simple(world, HW_DEVICE, object->flags & HW_MASK, NULL) : object;
        default:
            return hw_value_make(world, &(struct hw_value){.kind = HW_BOUND, .text = name, .count = 1}, &object);
        }
    case HW_HOST:
    case HW_PLACE:
        return world->host;
    case HW_UNKNOWN:
        if (object->flags & HW_MODULE_ITSELF && (!strcmp(name, "weight") || !strcmp(name, "bias")))
            return hw_value_simple(world, HW_DEVICE, HW_MAYBE_TUPLE, NULL); /* some modules have a flag of that name */
        /* fall through */
    case HW_OBJECT:
    case HW_LIST:
    case HW_DICT:
        if (hw_knowledge_method(name) || hw_knowledge_registration(name, 0))
            return hw_value_make(world, &(struct hw_value){.kind = HW_BOUND, .text = name, .count = 1}, &object);
        return NULL;
    default:
        return NULL;
    }
}

hw_val hw_read_attribute(struct hw_world *world, struct hw_frame *frame, TSNode node, hw_val object, const char *name)
{
    struct hw_site site = {frame, node, node, node};
    hw_val value = NULL;
    for (size_t i = 0; i < hw_value_count(object); i++) {
        hw_val part = attribute_of(world, &site, hw_value_at(object, i), name);
        value = hw_value_join(world, value, part ? part : world->unknown);
    }
    return value;
}

static bool is_device(hw_val value)
{
    return hw_value_find(value, HW_DEVICE) != NULL;
}

/* What an element-wise operation on these operands gives. */
static hw_val combine(struct hw_world *world, hw_val left, hw_val right, unsigned extra)
{
    hw_val l = hw_value_find(left, HW_DEVICE), r = hw_value_find(right, HW_DEVICE);
    if (l || r) {
        unsigned scalar = (l ? l->flags : HW_SCALAR) & (r ? r->flags : HW_SCALAR) & HW_SCALAR;
        if ((!l && !hw_value_is_host(left)) || (!r && !hw_value_is_host(right)))
            scalar = 0; /* an unknown operand may broadcast */
        unsigned kept = ((l ? l->flags : 0) | (r ? r->flags : 0)) & (HW_TOKENS | HW_GRAPH);
        if (extra & HW_MASK || world->no_grad)
            kept &= ~(unsigned)HW_GRAPH;
        return hw_value_simple(world, HW_DEVICE, scalar | extra | kept, NULL);
    }
    if (hw_value_find(left, HW_HOST_TENSOR) || hw_value_find(right, HW_HOST_TENSOR))
        return world->host_tensor;
    if (hw_value_is_host(left) && hw_value_is_host(right))
        return world->host;
    return world->unknown;
}

static hw_val evaluate_binary(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    /* Long sums lean to the left: walk down without recursion, then come back up. */
    enum { CHAIN = 256 };
    TSNode chain[CHAIN], at = node;
    size_t depth = 0;
    while (hw_node_kind(at) == HW_N_BINARY && depth < CHAIN) {
        chain[depth++] = at;
        at = hw_node_field(at, HW_F_LEFT);
    }
    hw_val left = hw_evaluate(world, frame, at);
    while (depth-- > 0) {
        TSNode here = chain[depth], sign = hw_node_field(here, HW_F_OPERATOR);
        hw_val right = hw_evaluate(world, frame, hw_node_field(here, HW_F_RIGHT));
        const char *op = ts_node_is_null(sign) ? "" : ts_node_type(sign);
        if (!strcmp(op, "%") && hw_value_is_host(left) && hw_value_holds_device(right)) {
            hw_report(world, frame->module, 105, HW_SEVERITY_ERROR, sign, here, "`%` formats a device tensor as text");
            left = world->host;
        } else if (!strcmp(op, "*") && hw_value_string(left) && is_device(right)) {
            hw_report(world, frame->module, 101, HW_SEVERITY_ERROR, sign, here,
                      "`*` repeats a string by a number that is on the device");
            left = world->host;
        } else if (!strcmp(op, "+") && left->kind == right->kind && left->kind == HW_LIST) {
            left = hw_value_join(world, left, right);
        } else if (!strcmp(op, "%") && hw_value_is_host(left)) {
            left = world->host;
        } else {
            hw_val l = hw_value_find(left, HW_DEVICE), r = hw_value_find(right, HW_DEVICE);
            bool logical = strchr("&|^", *op) && *op && ((l && l->flags & HW_MASK) || (r && r->flags & HW_MASK));
            left = combine(world, left, right, logical ? HW_MASK : 0);
        }
    }
    return left;
}

static hw_val evaluate_comparison(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    hw_val left = NULL, result = NULL;
    const char *op = "";
    TSNode sign = {0}, child;
    uint32_t links = 0;
    struct hw_children walk = {.cursor = ts_tree_cursor_new(node)};
    char name[16] = "";
    walk.more = ts_tree_cursor_goto_first_child(&walk.cursor);
    for (; walk.more; walk.more = ts_tree_cursor_goto_next_sibling(&walk.cursor)) {
        child = ts_tree_cursor_current_node(&walk.cursor);
        if (!ts_node_is_named(child) || !strcmp(ts_node_type(child), "is not") || !strcmp(ts_node_type(child), "not in")) {
            sign = child;
            op = ts_node_type(child);
            size_t used = strlen(name);
            if (used + strlen(op) + 2 < sizeof name) { /* "not" and "in" may come as two tokens */
                if (used)
                    name[used++] = ' ';
                strcpy(name + used, op);
            }
            continue;
        }
        if (hw_node_kind(child) == HW_N_COMMENT)
            continue;
        hw_val right = hw_evaluate(world, frame, child);
        if (left) {
            links++;
            if (links > 1 && result && is_device(result))
                hw_truth(world, frame, sign, result, "chained comparison");
            bool member = strstr(name, "in") != NULL, identity = !strncmp(name, "is", 2);
            bool equality = !strcmp(name, "==") || !strcmp(name, "!=");
            if (identity) {
                result = world->host;
            } else if (member) {
                hw_val container = hw_value_find(right, HW_DEVICE);
                bool sequence = right->kind == HW_TUPLE || (right->kind == HW_LIST && !(right->flags & HW_HASHED));
                if (container && !(container->flags & HW_MAYBE_TUPLE))
                    hw_truth(world, frame, sign, container, "in");
                else if (sequence && is_device(left))
                    hw_truth(world, frame, sign, hw_value_find(left, HW_DEVICE), "in");
                result = world->host;
            } else if (equality &&
                       (left->kind == HW_NONE || right->kind == HW_NONE || hw_value_string(left) || hw_value_string(right))) {
                result = world->host;
            } else {
                result = combine(world, left, right, HW_MASK);
            }
        }
        left = right;
        name[0] = 0;
    }
    hw_children_close(&walk);
    return result ? result : world->unknown;
}

static hw_val evaluate_boolean(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode left_node = hw_node_field(node, HW_F_LEFT), sign = hw_node_field(node, HW_F_OPERATOR);
    const char *op = ts_node_is_null(sign) ? "and" : ts_node_type(sign);
    hw_val left = hw_evaluate(world, frame, left_node);
    hw_truth(world, frame, left_node, left, op);
    struct hw_env before = {0};
    hw_env_copy(&before, &frame->now);
    hw_narrow(world, frame, left_node, !strcmp(op, "and"));
    hw_val right = hw_evaluate(world, frame, hw_node_field(node, HW_F_RIGHT));
    hw_env_copy(&frame->now, &before);
    hw_env_free(&before);
    /* The left operand's own truth value is settled by now: only its host part goes on. */
    hw_val passed = is_device(left) && !strcmp(op, "and") ? NULL : left;
    return hw_value_join(world, passed, right);
}

static hw_val evaluate_conditional(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode then = hw_node_child(node, 0), test = hw_node_child(node, 1), otherwise = hw_node_child(node, 2);
    if (ts_node_is_null(otherwise))
        return world->unknown;
    hw_truth(world, frame, test, hw_evaluate(world, frame, test), "conditional expression");
    struct hw_env before = {0};
    hw_env_copy(&before, &frame->now);
    hw_narrow(world, frame, test, true);
    hw_val value = hw_evaluate(world, frame, then);
    hw_env_copy(&frame->now, &before);
    hw_narrow(world, frame, test, false);
    value = hw_value_join(world, value, hw_evaluate(world, frame, otherwise));
    hw_env_copy(&frame->now, &before);
    hw_env_free(&before);
    return value;
}

static hw_val evaluate_comprehension(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    struct hw_env before = {0};
    hw_env_copy(&before, &frame->now);
    TSNode child, body = hw_node_field(node, HW_F_BODY);
    HW_EACH_CHILD (child, node) {
        if (hw_node_kind(child) == HW_N_FOR_IN_CLAUSE) {
            hw_val iterable = hw_evaluate(world, frame, hw_node_field(child, HW_F_RIGHT));
            hw_assign(world, frame, hw_node_field(child, HW_F_LEFT), hw_value_element(world, iterable), false);
        } else if (hw_node_kind(child) == HW_N_IF_CLAUSE) {
            TSNode test = hw_node_child(child, 0);
            hw_truth(world, frame, test, hw_evaluate(world, frame, test), "comprehension `if`");
            hw_narrow(world, frame, test, true);
        }
    }
    hw_val result;
    if (hw_node_kind(body) == HW_N_PAIR) {
        hw_val key = hw_evaluate(world, frame, hw_node_field(body, HW_F_KEY));
        hw_val value = hw_evaluate(world, frame, hw_node_field(body, HW_F_VALUE));
        result = hw_value_entered(world, hw_value_empty_dict(world), key, value);
    } else {
        hw_val element = hw_evaluate(world, frame, body);
        result = hw_node_kind(node) == HW_N_SET_COMPREHENSION ? hw_value_set(world, element) : hw_value_list(world, element);
    }
    hw_env_copy(&frame->now, &before);
    hw_env_free(&before);
    return result;
}

static hw_val evaluate_sequence(struct hw_world *world, struct hw_frame *frame, TSNode node, bool tuple)
{
    enum { WIDE = 16 };
    hw_val items[WIDE], all = NULL;
    size_t count = 0;
    bool exact = tuple;
    TSNode child;
    HW_EACH_CHILD (child, node) {
        bool splat = hw_node_kind(child) == HW_N_LIST_SPLAT;
        hw_val value = splat ? hw_value_element(world, hw_evaluate(world, frame, hw_node_child(child, 0)))
                             : hw_evaluate(world, frame, child);
        exact &= !splat;
        if (count < WIDE)
            items[count] = value;
        count++;
        all = hw_value_join(world, all, value);
    }
    if (exact && count <= WIDE)
        return hw_value_tuple(world, items, count);
    return hw_value_list(world, all ? all : world->unknown);
}

static hw_val evaluate_dictionary(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    hw_val dict = hw_value_empty_dict(world);
    TSNode child;
    HW_EACH_CHILD (child, node) {
        if (hw_node_kind(child) == HW_N_PAIR) {
            hw_val key = hw_evaluate(world, frame, hw_node_field(child, HW_F_KEY));
            hw_val value = hw_evaluate(world, frame, hw_node_field(child, HW_F_VALUE));
            dict = hw_value_entered(world, dict, key, value);
        } else if (hw_node_kind(child) == HW_N_DICTIONARY_SPLAT) {
            hw_val other = hw_evaluate(world, frame, hw_node_child(child, 0));
            if (other->kind == HW_DICT)
                dict = hw_value_join(world, dict, other);
        }
    }
    return dict;
}

static hw_val evaluate_all(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode child;
    HW_EACH_CHILD (child, node)
        hw_evaluate(world, frame, child);
    return world->unknown;
}

static hw_val evaluate_assignment(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode right = hw_node_field(node, HW_F_RIGHT), type = hw_node_field(node, HW_F_TYPE);
    TSNode target = hw_node_field(node, HW_F_LEFT);
    hw_val value = world->unknown;
    if (!ts_node_is_null(right))
        value = hw_evaluate(world, frame, right);
    else if (hw_node_kind(target) == HW_N_IDENTIFIER && !frame->class_body)
        return world->unknown; /* a bare annotation */
    if (value == world->unknown && !ts_node_is_null(type))
        value = hw_annotation(world, frame, type);
    hw_assign(world, frame, target, value, false);
    return value;
}

static hw_val evaluate_augmented(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    TSNode target = hw_node_field(node, HW_F_LEFT);
    hw_val left = hw_evaluate(world, frame, target), right = hw_evaluate(world, frame, hw_node_field(node, HW_F_RIGHT));
    hw_val value =
        left->kind == HW_LIST && right->kind == HW_LIST ? hw_value_join(world, left, right) : combine(world, left, right, 0);
    hw_assign(world, frame, target, value, true);
    return value;
}

hw_val hw_annotation(struct hw_world *world, struct hw_frame *frame, TSNode type)
{
    TSNode expression = hw_node_kind(type) == HW_N_TYPE ? hw_node_child(type, 0) : type;
    hw_val named = world->unknown;
    if (ts_node_is_null(expression) || !hw_enter(world, frame, expression))
        return named;
    enum hw_node kind = hw_node_kind(expression);
    if (kind == HW_N_IDENTIFIER || kind == HW_N_ATTRIBUTE) {
        named = hw_evaluate(world, frame, expression);
    } else if (kind == HW_N_STRING) {
        const char *text = hw_value_string(string_constant(world, frame, expression));
        hw_val known = text ? hw_name_get(world, frame, hw_intern(world, text)) : NULL;
        if (known)
            named = known;
        else if (text && (!strcmp(text, "torch.Tensor") || !strcmp(text, "Tensor")))
            named = hw_value_simple(world, HW_EXTERN, 0, hw_intern(world, "torch.Tensor"));
    } else if (kind == HW_N_BINARY) { /* X | None */
        hw_val left = hw_annotation(world, frame, hw_node_field(expression, HW_F_LEFT));
        hw_leave(world, frame);
        return left;
    } else if (!strcmp(ts_node_type(expression), "generic_type")) { /* Optional[X] */
        TSNode parameter = hw_node_child(hw_node_child(expression, 1), 0);
        const char *text = hw_node_text(world, frame->module, hw_node_child(expression, 0));
        hw_val inner = !strcmp(text, "Optional") ? hw_annotation(world, frame, parameter) : world->unknown;
        hw_leave(world, frame);
        return inner;
    }
    hw_leave(world, frame);
    if (named->kind == HW_CLASS)
        return hw_value_make(world, &(struct hw_value){.kind = HW_INSTANCE, .a = named->a}, NULL);
    if (named->kind != HW_EXTERN)
        return world->unknown;
    static const char *const tensors[] = {"torch.Tensor", "torch.FloatTensor", "torch.nn.Parameter", "paddle.Tensor"};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        if (!strcmp(named->text, tensors[i]))
            return world->device;
    static const char *const hosts[] = {"builtins.int", "builtins.float", "builtins.str", "builtins.bool", "builtins.bytes"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!strcmp(named->text, hosts[i]))
            return world->host;
    return world->unknown;
}

static hw_val evaluate(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    hw_val value;
    switch (hw_node_kind(node)) {
    case HW_N_IDENTIFIER:
        return evaluate_name(world, frame, node);
    case HW_N_ATTRIBUTE:
        value = hw_evaluate(world, frame, hw_node_field(node, HW_F_OBJECT));
        return hw_read_attribute(world, frame, node, value,
                                 hw_node_text(world, frame->module, hw_node_field(node, HW_F_ATTRIBUTE)));
    case HW_N_CALL:
        return hw_call_node(world, frame, node);
    case HW_N_SUBSCRIPT:
        value = hw_evaluate(world, frame, hw_node_field(node, HW_F_VALUE));
        return hw_subscript(world, frame, node, value, false, NULL);
    case HW_N_ASSIGNMENT:
        return evaluate_assignment(world, frame, node);
    case HW_N_AUGMENTED_ASSIGNMENT:
        return evaluate_augmented(world, frame, node);
    case HW_N_BINARY:
        return evaluate_binary(world, frame, node);
    case HW_N_UNARY:
        value = hw_evaluate(world, frame, hw_node_field(node, HW_F_ARGUMENT));
        return value->kind == HW_UNKNOWN || value->kind == HW_BOUND ? world->unknown : value;
    case HW_N_COMPARISON:
        return evaluate_comparison(world, frame, node);
    case HW_N_BOOLEAN:
        return evaluate_boolean(world, frame, node);
    case HW_N_NOT: {
        TSNode argument = hw_node_field(node, HW_F_ARGUMENT);
        hw_truth(world, frame, argument, hw_evaluate(world, frame, argument), "not");
        return world->host;
    }
    case HW_N_CONDITIONAL:
        return evaluate_conditional(world, frame, node);
    case HW_N_LAMBDA:
        return hw_value_make(
            world, &(struct hw_value){.kind = HW_FUNCTION, .a = hw_function_of(world, frame, node), .b = frame}, NULL);
    case HW_N_NAMED:
        value = hw_evaluate(world, frame, hw_node_field(node, HW_F_VALUE));
        hw_assign(world, frame, hw_node_field(node, HW_F_NAME), value, false);
        return value;
    case HW_N_PARENTHESIZED:
    case HW_N_AWAIT:
    case HW_N_LIST_SPLAT:
    case HW_N_AS_PATTERN:
    case HW_N_EXPRESSION_STATEMENT:
        value = NULL;
        TSNode inner;
        HW_EACH_CHILD (inner, node)
            if (!value && hw_node_kind(inner) != HW_N_AS_PATTERN_TARGET)
                value = hw_evaluate(world, frame, inner);
        return value ? value : world->unknown;
    case HW_N_YIELD: {
        hw_val yielded = world->none;
        TSNode child;
        HW_EACH_CHILD (child, node)
            yielded = hw_evaluate(world, frame, child);
        frame->result = hw_value_join(world, frame->result, hw_value_list(world, yielded));
        return world->unknown;
    }
    case HW_N_LIST:
        return evaluate_sequence(world, frame, node, false);
    case HW_N_SET:
        return hw_value_set(world, hw_value_element(world, evaluate_sequence(world, frame, node, false)));
    case HW_N_TUPLE:
    case HW_N_EXPRESSION_LIST:
        return evaluate_sequence(world, frame, node, true);
    case HW_N_DICTIONARY:
        return evaluate_dictionary(world, frame, node);
    case HW_N_LIST_COMPREHENSION:
    case HW_N_SET_COMPREHENSION:
    case HW_N_DICTIONARY_COMPREHENSION:
    case HW_N_GENERATOR:
        return evaluate_comprehension(world, frame, node);
    case HW_N_STRING:
        return evaluate_string(world, frame, node);
    case HW_N_CONCATENATED: {
        TSNode child;
        HW_EACH_CHILD (child, node)
            hw_evaluate(world, frame, child);
        return world->host;
    }
    case HW_N_INTEGER:
    case HW_N_FLOAT:
    case HW_N_TRUE:
    case HW_N_FALSE:
        return world->host;
    case HW_N_NONE:
        return world->none;
    case HW_N_SLICE:
        return evaluate_all(world, frame, node);
    case HW_N_TYPE:
        return world->unknown;
    default:
        return evaluate_all(world, frame, node);
    }
}

hw_val hw_evaluate(struct hw_world *world, struct hw_frame *frame, TSNode node)
{
    if (ts_node_is_null(node) || !hw_enter(world, frame, node))
        return world->unknown;
    hw_val value = evaluate(world, frame, node);
    hw_leave(world, frame);
    return value;
}
