/* HW109: a host tensor is read while a non_blocking copy may still be filling it. */
#include "lint/evaluate.h"

void hw_host_read(struct hw_world *world, const struct hw_site *site, hw_val value)
{
    for (size_t i = 0; i < hw_value_count(value); i++)
        if (hw_value_at(value, i)->kind == HW_HOST_TENSOR && hw_value_at(value, i)->flags & HW_PENDING) {
            hw_report(world, site->frame->module, 109, HW_SEVERITY_WARNING, site->token, site->call,
                      "reads the host copy before anything waited for the non_blocking copy into it");
            return;
        }
}

static hw_val arrived(struct hw_world *world, hw_val value)
{
    hw_val all = NULL;
    for (size_t i = 0; i < hw_value_count(value); i++) {
        hw_val one = hw_value_at(value, i);
        if (one->kind == HW_HOST_TENSOR && one->flags & HW_PENDING)
            one = hw_value_simple(world, HW_HOST_TENSOR, one->flags & ~(unsigned)HW_PENDING, NULL);
        all = hw_value_join(world, all, one);
    }
    return all;
}

void hw_copies_waited(struct hw_world *world, struct hw_frame *frame)
{
    for (; frame; frame = frame->parent)
        for (size_t i = 0; i < frame->now.count; i++)
            frame->now.items[i].value = arrived(world, frame->now.items[i].value);
}
