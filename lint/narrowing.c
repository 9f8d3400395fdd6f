/* What a condition tells about the names in it. */
#include <string.h>

#include "lint/evaluate.h"

enum test { TEST_OTHER, TEST_ARRAY, TEST_TENSOR, TEST_TUPLE, TEST_DICT, TEST_HOST };

/* The class or classes named by the second argument of isinstance. */
static enum test classify(struct hw_world *world, struct hw_frame *frame, TSNode classes)
{
    const char *text = hw_node_text(world, frame->module, classes);
    if (strstr(text, "ndarray") || (strstr(text, "np.") && !strstr(text, ",")))
        return TEST_ARRAY;
    bool tensor = strstr(text, "Tensor") || strstr(text, "Parameter");
    bool tuple = strstr(text, "tuple") || strstr(text, "list") || strstr(text, "Sequence");
    bool dict = strstr(text, "dict") || strstr(text, "Mapping");
    bool host = strstr(text, "int") || strstr(text, "float") || strstr(text, "str") || strstr(text, "bool");
    if (tensor + tuple + dict + host != 1)
        return TEST_OTHER;
    return tensor ? TEST_TENSOR : tuple ? TEST_TUPLE : dict ? TEST_DICT : TEST_HOST;
}

/* The alternatives that are, or are not, of a kind; unknown when none is left. */
static hw_val keep(struct hw_world *world, hw_val value, enum hw_kind kind, enum hw_kind or_kind, bool keeps)
{
    hw_val kept = NULL;
    for (size_t i = 0; i < hw_value_count(value); i++) {
        hw_val one = hw_value_at(value, i);
        if ((one->kind == kind || one->kind == or_kind) == keeps)
            kept = hw_value_join(world, kept, one);
    }
    return kept ? kept : world->unknown;
}

static void narrow_name(struct hw_world *world, struct hw_frame *frame, TSNode name, enum test test, bool holds)
{
    const char *text = hw_node_text(world, frame->module, name);
    hw_val value = hw_name_get(world, frame, text);
    if (!value || test == TEST_OTHER)
        return;
    hw_val device = hw_value_find(value, HW_DEVICE), narrowed = NULL;
    if (test == TEST_ARRAY && holds)
        narrowed = world->host_tensor;
    else if (test == TEST_TENSOR && holds)
        narrowed = device ? hw_value_simple(world, HW_DEVICE, device->flags & ~(unsigned)HW_MAYBE_TUPLE, NULL)
                   : value->kind == HW_UNKNOWN || value->kind == HW_BOUND ? world->device
                                                                          : NULL;
    else if (test == TEST_TENSOR && device)
        narrowed = device->flags & HW_MAYBE_TUPLE ? hw_value_list(world, world->device) : world->unknown;
    else if (test == TEST_TUPLE && holds && device)
        narrowed = hw_value_list(world, hw_value_simple(world, HW_DEVICE, device->flags & (HW_TOKENS | HW_GRAPH), NULL));
    else if (test == TEST_TUPLE && !holds && device)
        narrowed = hw_value_simple(world, HW_DEVICE, device->flags & ~(unsigned)HW_MAYBE_TUPLE, NULL);
    else if (test == TEST_TUPLE)
        narrowed = keep(world, value, HW_LIST, HW_TUPLE, holds);
    else if (test == TEST_DICT)
        narrowed = keep(world, value, HW_DICT, HW_DICT, holds);
    else if (test == TEST_HOST && holds)
        narrowed = world->host;
    if (narrowed)
        hw_env_set(&frame->now, text, narrowed);
}

static void narrow_none(struct hw_world *world, struct hw_frame *frame, TSNode name, bool is_none)
{
    const char *text = hw_node_text(world, frame->module, name);
    hw_val value = hw_name_get(world, frame, text), rest = NULL;
    if (!value)
        return;
    if (is_none) {
        hw_env_set(&frame->now, text, world->none);
        return;
    }
    for (size_t i = 0; i < hw_value_count(value); i++)
        if (hw_value_at(value, i)->kind != HW_NONE)
            rest = hw_value_join(world, rest, hw_value_at(value, i));
    if (rest && rest != value)
        hw_env_set(&frame->now, text, rest);
}

void hw_narrow(struct hw_world *world, struct hw_frame *frame, TSNode test, bool holds)
{
    if (ts_node_is_null(test) || !hw_enter(world, frame, test))
        return;
    switch (hw_node_kind(test)) {
    case HW_N_PARENTHESIZED:
        hw_narrow(world, frame, hw_node_child(test, 0), holds);
        break;
    case HW_N_NOT:
        hw_narrow(world, frame, hw_node_field(test, HW_F_ARGUMENT), !holds);
        break;
    case HW_N_BOOLEAN: {
        TSNode sign = hw_node_field(test, HW_F_OPERATOR);
        bool both = !ts_node_is_null(sign) && !strcmp(ts_node_type(sign), "and");
        if (both == holds) { /* `a and b` holds, or `a or b` does not: both sides speak */
            hw_narrow(world, frame, hw_node_field(test, HW_F_LEFT), holds);
            hw_narrow(world, frame, hw_node_field(test, HW_F_RIGHT), holds);
        }
        break;
    }
    case HW_N_CALL: {
        TSNode arguments = hw_node_field(test, HW_F_ARGUMENTS), name = hw_node_child(arguments, 0);
        if (hw_node_kind(name) != HW_N_IDENTIFIER)
            break;
        const char *callee = hw_node_text(world, frame->module, hw_node_field(test, HW_F_FUNCTION));
        if (!strcmp(callee, "isinstance"))
            narrow_name(world, frame, name, classify(world, frame, hw_node_child(arguments, 1)), holds);
        else if (!strcmp(callee, "torch.is_tensor") || !strcmp(callee, "paddle.is_tensor") || !strcmp(callee, "is_tensor"))
            narrow_name(world, frame, name, TEST_TENSOR, holds);
        break;
    }
    case HW_N_COMPARISON: {
        TSNode left = hw_node_child(test, 0), right = hw_node_child(test, hw_node_children(test) - 1);
        const char *text = hw_node_text(world, frame->module, test);
        if (hw_node_kind(left) != HW_N_IDENTIFIER || hw_node_kind(right) != HW_N_NONE)
            break;
        if (strstr(text, " is not "))
            narrow_none(world, frame, left, !holds);
        else if (strstr(text, " is "))
            narrow_none(world, frame, left, holds);
        break;
    }
    default:
        break;
    }
    hw_leave(world, frame);
}
