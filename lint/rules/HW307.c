/* HW307: a hook keeps a tensor together with the autograd graph that made it. */
#include "lint/evaluate.h"

static bool holds_graph(hw_val value)
{
    if (value->kind == HW_DEVICE)
        return value->flags & HW_GRAPH;
    if (value->kind != HW_UNION && value->kind != HW_TUPLE && value->kind != HW_LIST)
        return false;
    for (size_t i = 0; i < value->count; i++)
        if (holds_graph(value->items[i]))
            return true;
    return false;
}

/* Whether the target lives on when the hook has returned: an attribute, or a name of an outer scope. */
static bool outlives(struct hw_world *world, struct hw_frame *frame, TSNode target)
{
    while (hw_node_kind(target) == HW_N_SUBSCRIPT)
        target = hw_node_field(target, HW_F_VALUE);
    if (hw_node_kind(target) == HW_N_ATTRIBUTE) {
        hw_val object = hw_evaluate(world, frame, hw_node_field(target, HW_F_OBJECT));
        return object->kind == HW_INSTANCE || (object->kind == HW_UNKNOWN && object->flags & HW_MODULE_ITSELF);
    }
    return hw_node_kind(target) == HW_N_IDENTIFIER && frame->function &&
           !hw_env_get(&frame->all, hw_node_text(world, frame->module, target)) &&
           hw_name_get(world, frame, hw_node_text(world, frame->module, target));
}

void hw_rule_retained(struct hw_world *world, struct hw_frame *frame, TSNode target, hw_val value)
{
    if (!world->hot || !world->recording || !holds_graph(value) || !outlives(world, frame, target))
        return;
    hw_report(world, frame->module, 307, HW_SEVERITY_NOTE, target, target,
              hw_arena_format(world->arena, "`%s` keeps a tensor with its autograd graph; detach() it",
                              hw_quote(world, frame->module, target)));
}
