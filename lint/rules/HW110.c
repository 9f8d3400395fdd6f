/* HW110: a loop that asks the device again and again whether it is done. */
#include <string.h>

#include "lint/evaluate.h"

void hw_rule_poll(struct hw_world *world, struct hw_frame *frame, TSNode test)
{
    static const char *const polls[] = {"query", "is_completed", "is_success"};
    while (hw_node_kind(test) == HW_N_NOT || hw_node_kind(test) == HW_N_PARENTHESIZED)
        test = hw_node_child(test, 0);
    if (hw_node_kind(test) != HW_N_CALL)
        return;
    TSNode method = hw_node_field(hw_node_field(test, HW_F_FUNCTION), HW_F_ATTRIBUTE);
    const char *name = ts_node_is_null(method) ? "" : hw_node_text(world, frame->module, method);
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
        if (!strcmp(name, polls[i]))
            hw_report(world, frame->module, 110, HW_SEVERITY_ERROR, method, test,
                      hw_arena_format(world->arena, "`while` polls `%s` until the device is done",
                                      hw_quote(world, frame->module, test)));
}
