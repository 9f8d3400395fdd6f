/* HW102 and HW107 where a call moves data between host and device memory: .to(), .cuda(), .copy_(), torch.tensor(). */
#include <string.h>

#include "lint/evaluate.h"

/* Whether non_blocking=True (or anything but False) is given. */
static bool non_blocking(const struct hw_args *args)
{
    for (size_t i = 0; i < args->count; i++)
        if (args->keywords[i] && !strcmp(args->keywords[i], "non_blocking"))
            return hw_node_kind(hw_node_field(args->nodes[i], HW_F_VALUE)) != HW_N_FALSE;
    return false;
}

/* A blocking copy to the host waits; a non_blocking one is still one more copy per step: a warning. */
static void report_to_host(struct hw_world *world, const struct hw_site *site, const struct hw_args *args)
{
    if (!non_blocking(args)) {
        hw_report_call(world, site, 102);
        return;
    }
    hw_report(world, site->frame->module, 102, HW_SEVERITY_WARNING, site->token, site->call,
              "this copy to the host does not wait, yet it is one more copy per hook call");
}

/* The argument that says where to: device=, or the one positional argument that names a place. */
static unsigned destination(const struct hw_args *args)
{
    hw_val device = hw_argument(args, "device", -1);
    if (device)
        return hw_value_place(device);
    unsigned place = 0;
    for (size_t i = 0; i < args->count && !place; i++)
        if (!args->keywords[i])
            place = hw_value_place(args->values[i]);
    return place;
}

hw_val hw_move(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args)
{
    unsigned place = destination(args);
    bool host_data = receiver->kind == HW_HOST_TENSOR;
    if (place == HW_ON_HOST) {
        if (!host_data)
            report_to_host(world, site, args);
        return receiver->kind == HW_DEVICE && non_blocking(args) ? hw_value_simple(world, HW_HOST_TENSOR, HW_PENDING, NULL)
                                                                 : world->host_tensor;
    }
    if (place == HW_ON_DEVICE) {
        if (host_data && !(receiver->flags & HW_PINNED && non_blocking(args)))
            hw_report_call(world, site, 107);
        return world->device;
    }
    return receiver->kind == HW_DEVICE || host_data ? receiver : world->unknown;
}

hw_val hw_move_here(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args)
{
    if (receiver->kind == HW_HOST_TENSOR && !(receiver->flags & HW_PINNED && non_blocking(args)))
        hw_report_call(world, site, 107);
    return world->device;
}

hw_val hw_cast(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args)
{
    hw_val type = hw_argument(args, "dtype", 0);
    const char *name = type ? type->text : NULL;
    size_t length = name ? strlen(name) : 0;
    bool legacy = length > 6 && !strcmp(name + length - 6, "Tensor");
    if (!type)
        return world->host;
    if (receiver->kind == HW_DEVICE && legacy && !strstr(name, "cuda")) {
        hw_report_call(world, site, 102);
        return world->host_tensor;
    }
    return receiver;
}

hw_val hw_copy_into(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args)
{
    hw_val from = hw_argument(args, "src", 0);
    if (from && receiver->kind == HW_HOST_TENSOR && hw_value_find(from, HW_DEVICE))
        report_to_host(world, site, args);
    else if (from && receiver->kind == HW_DEVICE && from->kind == HW_HOST_TENSOR)
        hw_report_call(world, site, 107);
    return receiver;
}

hw_val hw_upload(struct hw_world *world, const struct hw_site *site, struct hw_args *args)
{
    hw_val data = hw_argument(args, "data", 0), device = hw_argument(args, "device", -1);
    if (data && data->kind == HW_DEVICE)
        return data;
    if (data && hw_value_holds_device(data)) {
        hw_report(world, site->frame->module, 101, HW_SEVERITY_ERROR, site->token, site->call,
                  hw_arena_format(world->arena, "`%s()` reads each device scalar in its list back to the host",
                                  hw_quote(world, site->frame->module, site->callee)));
        return world->host_tensor;
    }
    if (!device || device->kind == HW_NONE || hw_value_place(device) == HW_ON_HOST)
        return world->host_tensor;
    hw_report_call(world, site, 107);
    return world->device;
}
