/* HW101 and HW104 in subscripts: an index, slice bound or mask that lives on the device is read by the host. */
#include <stdlib.h>
#include <string.h>

#include "lint/evaluate.h"

/* `int(x.max()) + 1`: a count that somebody else knows is asked of the device. */
const char *hw_scalar_remark(const struct hw_site *site)
{
    TSNode argument = hw_node_child(hw_node_field(site->call, HW_F_ARGUMENTS), 0);
    const char *source = site->frame->module->source->text;
    if (hw_node_kind(site->callee) == HW_N_ATTRIBUTE) /* x.max().item() + 1 */
        argument = hw_node_field(site->callee, HW_F_OBJECT);
    if (hw_node_kind(argument) != HW_N_CALL)
        return "";
    TSNode method = hw_node_field(hw_node_field(argument, HW_F_FUNCTION), HW_F_ATTRIBUTE);
    uint32_t start = ts_node_is_null(method) ? 0 : ts_node_start_byte(method);
    bool is_max = start && (!strncmp(source + start, "max(", 4) || !strncmp(source + start, "amax(", 5));
    TSNode sum = is_max ? ts_node_parent(site->call) : (TSNode){0}; /* linear in the siblings: asked last */
    if (hw_node_kind(sum) != HW_N_BINARY)
        return "";
    TSNode one = hw_node_field(sum, HW_F_RIGHT);
    bool plus_one = hw_node_kind(one) == HW_N_INTEGER && ts_node_end_byte(one) - ts_node_start_byte(one) == 1 &&
                    source[ts_node_start_byte(one)] == '1';
    return plus_one ? "; it re-discovers a count that the module knows: pass it in" : "";
}

static bool is_scalar(hw_val value)
{
    hw_val device = hw_value_find(value, HW_DEVICE);
    return device && device->flags & HW_SCALAR;
}

/* One index of x[...]; `container` is what is indexed. */
static void check_index(struct hw_world *world, struct hw_frame *frame, TSNode node, TSNode index, hw_val container,
                        hw_val value, bool store, hw_val stored)
{
    hw_val device = hw_value_find(value, HW_DEVICE);
    if (!device || container->kind == HW_DICT)
        return;
    bool tensor = hw_value_find(container, HW_DEVICE) != NULL;
    if (device->flags & HW_MASK && !is_scalar(value) && tensor) {
        if (store && (!stored || !hw_value_find(stored, HW_DEVICE)))
            return; /* a Python number is written under the mask by a kernel */
        hw_report(world, frame->module, 104, HW_SEVERITY_ERROR, index, node,
                  "indexing with a boolean mask needs the number of its set elements on the host");
    } else if (!tensor &&
               (container->kind == HW_LIST || container->kind == HW_TUPLE || (container->kind == HW_HOST && !store))) {
        hw_report(world, frame->module, 101, HW_SEVERITY_ERROR, index, node,
                  "indexing a Python sequence with a device scalar reads it back to the host");
    } else if (tensor && is_scalar(value) && !store) {
        hw_report(world, frame->module, 101, HW_SEVERITY_ERROR, index, node,
                  "indexing with a 0-dim device tensor reads it back to the host");
    }
}

static void check_slice(struct hw_world *world, struct hw_frame *frame, TSNode node, TSNode slice)
{
    TSNode bound;
    HW_EACH_CHILD (bound, slice)
        if (hw_value_find(hw_evaluate(world, frame, bound), HW_DEVICE))
            hw_report(world, frame->module, 101, HW_SEVERITY_ERROR, bound, node,
                      "a slice bound that lives on the device is read back to the host");
}

static hw_val element_at(struct hw_world *world, hw_val object, TSNode index_node, hw_val index, const char *text)
{
    switch (object->kind) {
    case HW_TUPLE: {
        char *end;
        long at = strtol(text, &end, 10);
        if ((hw_node_kind(index_node) == HW_N_INTEGER || hw_node_kind(index_node) == HW_N_UNARY) && *end == 0) {
            at = at < 0 ? at + (long)object->count : at;
            if (at >= 0 && (size_t)at < object->count)
                return object->items[at];
        }
        return hw_value_element(world, object);
    }
    case HW_DICT:
        for (size_t i = 1; hw_value_string(index) && i + 1 < object->count; i += 2)
            if (object->items[i]->text == index->text)
                return object->items[i + 1];
        return hw_value_string(index) ? object->items[0] : hw_value_any_entry(world, object);
    case HW_HOST:
        return world->host;
    default:
        return hw_value_element(world, object);
    }
}

hw_val hw_subscript(struct hw_world *world, struct hw_frame *frame, TSNode node, hw_val object, bool store, hw_val stored)
{
    TSNode child, container = hw_node_field(node, HW_F_VALUE);
    hw_val result = NULL;
    size_t indices = 0;
    bool sliced = false;
    HW_EACH_CHILD (child, node) {
        if (ts_node_eq(child, container))
            continue;
        indices++;
        if (hw_node_kind(child) == HW_N_SLICE) {
            check_slice(world, frame, node, child);
            sliced = true;
            continue;
        }
        hw_val index = hw_evaluate(world, frame, child);
        for (size_t i = 0; i < hw_value_count(object); i++) {
            hw_val one = hw_value_at(object, i);
            check_index(world, frame, node, child, one, index, store, stored);
            result =
                hw_value_join(world, result, element_at(world, one, child, index, hw_node_text(world, frame->module, child)));
        }
    }
    if (sliced && object->kind != HW_DEVICE && (object->kind == HW_TUPLE || object->kind == HW_LIST))
        return hw_value_list(world, hw_value_element(world, object));
    if (sliced && !result)
        return hw_value_find(object, HW_DEVICE) ? world->device
               : object->kind == HW_HOST        ? world->host
                                                : hw_value_element(world, object);
    return result && indices == 1 ? result : result ? hw_value_element(world, object) : world->unknown;
}
