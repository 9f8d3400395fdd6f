/* HW103: control flow that needs the truth value of a device tensor. */
#include <string.h>

#include "lint/evaluate.h"

/* What to point at: the operator of a comparison, the method of a call, else the expression. */
static TSNode token_of(TSNode test)
{
    while (hw_node_kind(test) == HW_N_PARENTHESIZED)
        test = hw_node_child(test, 0);
    if (hw_node_kind(test) == HW_N_COMPARISON)
        return hw_node_field(test, HW_F_OPERATORS);
    if (hw_node_kind(test) == HW_N_CALL) {
        TSNode callee = hw_node_field(test, HW_F_FUNCTION);
        return hw_node_kind(callee) == HW_N_ATTRIBUTE ? hw_node_field(callee, HW_F_ATTRIBUTE) : callee;
    }
    return test;
}

void hw_truth(struct hw_world *world, struct hw_frame *frame, TSNode test, hw_val value, const char *reader)
{
    hw_val device = NULL;
    struct hw_site site = {frame, test, test, test};
    hw_host_read(world, &site, value);
    for (size_t i = 0; i < hw_value_count(value); i++)
        if (hw_value_at(value, i)->kind == HW_DEVICE && !(hw_value_at(value, i)->flags & HW_MAYBE_TUPLE))
            device = hw_value_at(value, i);
    if (!device || !world->hot || !world->recording)
        return;
    TSNode inner = test;
    while (hw_node_kind(inner) == HW_N_PARENTHESIZED)
        inner = hw_node_child(inner, 0);
    if (hw_node_kind(inner) == HW_N_BOOLEAN) { /* its operands speak for themselves */
        hw_truth(world, frame, hw_node_field(inner, HW_F_RIGHT), device, reader);
        return;
    }
    TSNode token = token_of(test);
    if (ts_node_is_null(token))
        token = test;
    hw_report(world, frame->module, 103, HW_SEVERITY_ERROR, token, test,
              hw_arena_format(world->arena, "`%s` takes the truth value of `%s`, which is on the device", reader,
                              hw_quote(world, frame->module, test)));
}
