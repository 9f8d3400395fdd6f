/* HW105 in f-strings: a replacement field that formats a device tensor. */
#include "lint/evaluate.h"

void hw_format_string(struct hw_world *world, struct hw_frame *frame, TSNode interpolation, hw_val value)
{
    TSNode expression = hw_node_field(interpolation, HW_F_EXPRESSION);
    struct hw_site site = {frame, expression, expression, expression};
    hw_host_read(world, &site, value);
    if (!hw_value_holds_device(value))
        return;
    hw_report(world, frame->module, 105, HW_SEVERITY_ERROR, expression, expression,
              hw_arena_format(world->arena, "the f-string formats the device tensor `%s` as text",
                              hw_quote(world, frame->module, expression)));
}
