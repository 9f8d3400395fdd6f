/* Calls that lead out of the sources: the rows of lint/knowledge/ at work. */
#include <string.h>
#include <stdlib.h>

#include "lint/evaluate.h"
#include "lint/shapes.h"

/* Whether `unless` ("name:position" given, "name:position=host" given as host data, "name=absent"; '|' between) holds. */
static bool excused(const char *unless, const struct hw_args *args)
{
    while (unless && *unless) {
        char name[64];
        size_t length = strcspn(unless, ":=|");
        if (length >= sizeof name)
            return false;
        memcpy(name, unless, length);
        name[length] = 0;
        unless += length;
        int position = -1;
        if (*unless == ':')
            position = (int)strtol(unless + 1, (char **)&unless, 10);
        char wanted[32] = "";
        if (*unless == '=') {
            size_t n = strcspn(++unless, "|");
            if (n < sizeof wanted) {
                memcpy(wanted, unless, n);
                wanted[n] = 0;
            }
            unless += n;
        }
        hw_val value = hw_argument(args, name, position);
        if (!strcmp(wanted, "absent")       ? !value
            : !strcmp(wanted, "host")       ? value && hw_value_is_host(value)
            : !strcmp(wanted, "host_place") ? value && hw_value_place(value) == HW_ON_HOST
                                            : value != NULL)
            return true;
        if (*unless == '|')
            unless++;
    }
    return false;
}

/* A device tensor among the arguments, or inside them. */
static bool given_device(const struct hw_args *args, bool inside)
{
    for (size_t i = 0; i < args->count; i++) {
        hw_val value = args->values[i];
        if (hw_value_find(value, HW_DEVICE) || (inside && hw_value_holds_device(value)))
            return true;
        if (value->kind == HW_TUPLE && !inside) /* torch.cat((a, b)), torch.zeros((n, t)) */
            for (size_t j = 0; j < value->count; j++)
                if (value->items[j]->kind == HW_DEVICE)
                    return true;
    }
    return args->rest && hw_value_holds_device(args->rest);
}

static bool given_host_tensor(const struct hw_args *args)
{
    for (size_t i = 0; i < args->count; i++)
        if (hw_value_find(args->values[i], HW_HOST_TENSOR))
            return true;
    return false;
}

/* Where a value "like the tensors it was given" lives. */
static hw_val same(struct hw_world *world, hw_val receiver, const struct hw_args *args, unsigned flags)
{
    if ((receiver && hw_value_find(receiver, HW_DEVICE)) || given_device(args, true))
        return hw_value_simple(world, HW_DEVICE, flags, NULL);
    if ((receiver && hw_value_find(receiver, HW_HOST_TENSOR)) || given_host_tensor(args))
        return world->host_tensor;
    if (receiver && receiver->kind == HW_HOST)
        return world->host;
    return world->unknown;
}

static bool has_dimension(const struct hw_args *args, int position)
{
    return hw_argument(args, "dim", position) || hw_argument(args, "axis", -1);
}

static hw_val placed(struct hw_world *world, const struct hw_args *args)
{
    hw_val device = hw_argument(args, "device", -1);
    if (!device || device->kind == HW_NONE)
        return world->host_tensor;
    unsigned place = hw_value_place(device);
    if (place == HW_ON_HOST) {
        hw_val pinned = hw_argument(args, "pin_memory", -1);
        return hw_value_simple(world, HW_HOST_TENSOR, pinned ? HW_PINNED : 0, NULL);
    }
    return place == HW_ON_DEVICE ? world->device : hw_value_simple(world, HW_DEVICE, 0, NULL);
}

/* Calls each function among the arguments with elements of the others. */
static hw_val apply(struct hw_world *world, const struct hw_site *site, const struct hw_args *args)
{
    hw_val function = args->count ? args->values[0] : NULL;
    if (!function)
        return world->unknown;
    struct hw_args inner = {0};
    for (size_t i = 1; i < args->count; i++)
        if (!args->keywords[i]) {
            hw_val value = args->values[i], element = hw_value_element(world, value);
            inner.values[inner.count++] = value->kind == HW_DICT ? hw_value_any_entry(world, value) : element;
        }
    return hw_value_list(world, hw_call(world, site, function, &inner));
}

/* key=, default= and the like: functions that a builtin calls on the elements it is given. */
static void call_keys(struct hw_world *world, const struct hw_site *site, const struct hw_args *args)
{
    for (size_t i = 0; i < args->count; i++) {
        if (args->values[i]->kind != HW_FUNCTION)
            continue;
        struct hw_args inner = {.count = 1};
        inner.values[0] = hw_value_element(world, args->values[i == 0 && args->count > 1 ? 1 : 0]);
        hw_call(world, site, args->values[i], &inner);
    }
}

static hw_val result_of(struct hw_world *world, const struct hw_site *site, const struct hw_fact *fact, const char *dotted,
                        hw_val receiver, struct hw_args *args)
{
    hw_val first = args->count ? args->values[0] : world->unknown, items[HW_ARGUMENTS];
    switch (fact->result) {
    case HW_GIVES_UNKNOWN:
        return world->unknown;
    case HW_GIVES_SAME:
        return same(world, receiver, args, 0);
    case HW_GIVES_SCALAR:
        if (has_dimension(args, receiver ? 0 : 1))
            return same(world, receiver, args, 0);
        return same(world, receiver, args, HW_SCALAR);
    case HW_GIVES_MASK:
        return same(world, receiver, args, HW_MASK);
    case HW_GIVES_PARTS:
        return hw_value_list(world, same(world, receiver, args, 0));
    case HW_GIVES_EITHER:
        return same(world, receiver, args, args->count > (receiver ? 0 : 1) ? HW_MAYBE_TUPLE : 0);
    case HW_GIVES_SELF:
        return receiver ? receiver : world->unknown;
    case HW_GIVES_DEVICE:
        return world->device;
    case HW_GIVES_HOST:
        return world->host;
    case HW_GIVES_HOST_LIST:
        return hw_value_list(world, world->host);
    case HW_GIVES_HOST_TENSOR:
        return world->host_tensor;
    case HW_GIVES_NONE:
        return world->none;
    case HW_GIVES_PLACE_HERE:
        return hw_value_simple(world, HW_PLACE, HW_ON_DEVICE, NULL);
    case HW_GIVES_PLACE:
        return hw_value_simple(world, HW_PLACE, hw_value_place(first), NULL);
    case HW_GIVES_FILLED:
        return placed(world, args);
    case HW_GIVES_UPLOAD:
        return hw_upload(world, site, args);
    case HW_GIVES_UPLOAD_LIKE:
        return receiver && hw_value_find(receiver, HW_DEVICE) ? world->device : world->unknown;
    case HW_GIVES_MOVED:
        return hw_move(world, site, receiver, args);
    case HW_GIVES_MOVED_HERE:
        return hw_move_here(world, site, receiver, args);
    case HW_GIVES_CAST:
        return hw_cast(world, site, receiver, args);
    case HW_GIVES_COPIED:
        return hw_copy_into(world, site, receiver, args);
    case HW_GIVES_PINNED:
        return hw_value_simple(world, HW_HOST_TENSOR, HW_PINNED, NULL);
    case HW_GIVES_TENSORS:
        return hw_value_list(world, world->device);
    case HW_GIVES_NAMED_TENSORS:
        items[0] = world->host;
        items[1] = world->device;
        return hw_value_list(world, hw_value_tuple(world, items, 2));
    case HW_GIVES_ELEMENT:
        call_keys(world, site, args);
        if (args->count > 1 && !args->keywords[1]) {
            for (size_t i = 1; i < args->count; i++)
                if (!args->keywords[i])
                    first = hw_value_join(world, first, args->values[i]);
            return first;
        }
        return hw_value_element(world, first);
    case HW_GIVES_SET:
        return hw_value_set(world, hw_value_element(world, first));
    case HW_GIVES_LIST:
        call_keys(world, site, args);
        if (args->count > 1 && first->kind == HW_FUNCTION)
            first = args->values[1];
        return hw_value_list(world, hw_value_element(world, first));
    case HW_GIVES_PAIRS:
        items[0] = world->host;
        items[1] = hw_value_element(world, first);
        return hw_value_list(world, hw_value_tuple(world, items, 2));
    case HW_GIVES_ZIP:
        for (size_t i = 0; i < args->count; i++)
            items[i] = hw_value_element(world, args->values[i]);
        return hw_value_list(world, hw_value_tuple(world, items, args->count));
    case HW_GIVES_APPLIED:
        return apply(world, site, args);
    case HW_GIVES_ARGUMENT:
        return first;
    case HW_GIVES_OBJECT:
        return hw_value_simple(world, HW_OBJECT, 0, hw_intern(world, dotted));
    }
    return world->unknown;
}

/* Whether the file imports paddle, whose tensors have a method that torch's cannot have on the device. */
static bool uses_paddle(struct hw_world *world, struct hw_frame *frame)
{
    hw_val paddle = hw_env_get(&frame->module->frame->all, hw_intern(world, "paddle"));
    return paddle && paddle->kind == HW_EXTERN;
}

static bool breaks(struct hw_world *world, const struct hw_site *site, const struct hw_fact *fact, hw_val receiver,
                   const struct hw_args *args)
{
    if (fact->rule == 0 || excused(fact->unless, args))
        return false;
    bool on_device = receiver && receiver->kind == HW_DEVICE;
    switch (fact->when) {
    case HW_ALWAYS:
        return true;
    case HW_IF_DEVICE:
        return on_device || given_device(args, false);
    case HW_IF_HOLDS:
    case HW_IF_SHOWN:
        return on_device || given_device(args, true);
    case HW_IF_TENSOR:
        return on_device || (receiver && (receiver->kind == HW_UNKNOWN || receiver->kind == HW_BOUND));
    case HW_IF_PADDLE:
        return on_device || (receiver && receiver->kind == HW_UNKNOWN && uses_paddle(world, site->frame));
    case HW_IF_NOT_HOST:
        return receiver && !hw_value_is_host(receiver) && receiver->kind != HW_HOST_TENSOR;
    default:
        return false;
    }
}

static void report_fact(struct hw_world *world, const struct hw_site *site, const struct hw_fact *fact)
{
    if (fact->when == HW_IF_SHOWN)
        hw_report(world, site->frame->module, fact->rule, HW_SEVERITY_WARNING, site->token, site->call,
                  "a device tensor is formatted as text wherever this log level is on");
    else
        hw_report_call(world, site, fact->rule);
}

static bool reads_host(const struct hw_fact *fact)
{
    return fact->rule == 101 || fact->rule == 102 || fact->rule == 103 || fact->rule == 105;
}

/* The result with what it keeps of the tensor it was computed from. */
static hw_val shaped(struct hw_world *world, const struct hw_site *site, const char *name, hw_val from, hw_val result,
                     const struct hw_args *args, bool function)
{
    enum { KEPT = HW_TOKENS | HW_GRAPH };
    if (result->kind != HW_DEVICE || !((from->flags | result->flags) & KEPT))
        return result;
    unsigned flags = result->flags & ~(unsigned)KEPT;
    return hw_value_simple(world, HW_DEVICE, flags | hw_shape_kept(world, site, name, from->flags, args, function), NULL);
}

hw_val hw_call_library(struct hw_world *world, const struct hw_site *site, const char *dotted, struct hw_args *args)
{
    const char *last = strrchr(dotted, '.');
    if (last && hw_register(world, site, last + 1, args))
        return world->unknown;
    const struct hw_fact *fact = hw_knowledge_call(dotted);
    if (!fact)
        return world->unknown;
    if (breaks(world, site, fact, NULL, args))
        report_fact(world, site, fact);
    if (fact->rule == 201 || fact->rule == 202 || (fact->rule == 203 && last && strstr(last, "barrier")))
        hw_collective(world, site, args);
    if (fact->rule == 106 && hw_argument(args, "device", 0) == NULL)
        hw_copies_waited(world, site->frame);
    hw_val from = args->count ? hw_value_find(args->values[0], HW_DEVICE) : NULL;
    if (reads_host(fact))
        for (size_t i = 0; i < args->count; i++)
            hw_host_read(world, site, args->values[i]);
    hw_val result = result_of(world, site, fact, dotted, NULL, args);
    return from && last ? shaped(world, site, last + 1, from, result, args, true) : result;
}

/* Methods of lists and dicts that hand out what they hold. */
static hw_val call_container(struct hw_world *world, hw_val receiver, const char *name, const struct hw_args *args)
{
    hw_val items[2] = {world->host, NULL};
    if (receiver->kind == HW_DICT) {
        if (!strcmp(name, "items")) {
            items[1] = hw_value_any_entry(world, receiver);
            return hw_value_list(world, hw_value_tuple(world, items, 2));
        }
        if (!strcmp(name, "values"))
            return hw_value_list(world, hw_value_any_entry(world, receiver));
        if (!strcmp(name, "keys"))
            return hw_value_list(world, world->host);
        if (!strcmp(name, "get") || !strcmp(name, "pop") || !strcmp(name, "setdefault")) {
            const char *key = args->count ? hw_value_string(args->values[0]) : NULL;
            for (size_t i = 1; key && i + 1 < receiver->count; i += 2)
                if (receiver->items[i]->text == key)
                    return receiver->items[i + 1];
            hw_val other = key ? receiver->items[0] : hw_value_any_entry(world, receiver);
            return args->count > 1 ? hw_value_join(world, other, args->values[1]) : other;
        }
    }
    if (!strcmp(name, "pop") || !strcmp(name, "popleft"))
        return hw_value_element(world, receiver);
    if (!strcmp(name, "copy"))
        return receiver;
    return world->unknown;
}

hw_val hw_call_method(struct hw_world *world, const struct hw_site *site, hw_val receiver, const char *name,
                      struct hw_args *args)
{
    if (hw_register(world, site, name, args))
        return world->unknown;
    if (receiver->kind == HW_LIST || receiver->kind == HW_DICT || receiver->kind == HW_TUPLE)
        return call_container(world, receiver, name, args);
    if (receiver->kind == HW_HOST) { /* a string, number, shape: only formatting can reach the device */
        if (!strcmp(name, "format") && given_device(args, true))
            hw_report_call(world, site, 105);
        return world->host;
    }
    if (receiver->kind == HW_NONE || receiver->kind == HW_PLACE)
        return world->host;
    const struct hw_fact *fact = hw_knowledge_method(name);
    bool gathers = strstr(name, "gather") || strstr(name, "all_reduce");
    if (world->flush && gathers && (receiver->kind == HW_UNKNOWN || receiver->kind == HW_OBJECT))
        hw_collective(world, site, args);
    if (!fact && receiver->kind == HW_DEVICE)
        return shaped(world, site, name, receiver,
                      hw_value_simple(world, HW_DEVICE, receiver->flags & HW_MAYBE_TUPLE ? 0 : receiver->flags, NULL), args,
                      false);
    if (!fact)
        return receiver->kind == HW_HOST_TENSOR ? receiver : world->unknown;
    if (receiver->kind != HW_HOST_TENSOR && breaks(world, site, fact, receiver, args))
        report_fact(world, site, fact);
    if (receiver->kind == HW_HOST_TENSOR && reads_host(fact) && strcmp(name, "cpu") != 0)
        hw_host_read(world, site, receiver);
    if (fact->rule == 106)
        hw_copies_waited(world, site->frame);
    if (receiver->kind == HW_DEVICE && !strcmp(name, "numel") && uses_paddle(world, site->frame))
        return world->scalar; /* paddle's is a tensor; torch's a number */
    hw_val result = result_of(world, site, fact, name, receiver, args);
    return receiver->kind == HW_DEVICE ? shaped(world, site, name, receiver, result, args, false) : result;
}
