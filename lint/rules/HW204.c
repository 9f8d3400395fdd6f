/* HW204 and HW502: a collective that a rank may skip, or enter more often than others, by what only it knows. HW205 and HW207:
 * small collectives in a row, and large ones. */
#include <string.h>

#include "lint/evaluate.h"

static const char *source_of(const struct hw_frame *frame)
{
    return frame->module->source->text;
}

static bool names_a_rank(const char *text, size_t length)
{
    static const char *const names[] = {"rank",           "global_rank",     "local_rank",     "get_rank",
                                        "get_local_rank", "is_main_process", "is_rank_zero",   "is_local_main_process",
                                        "is_rank_0",      "is_master",       "is_global_zero", "get_global_rank"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], text, length))
            return true;
    return false;
}

/* Names that hold what a rank has gathered, where nothing else is known of them. */
static bool names_data(const char *text, size_t length)
{
    static const char *const names[] = {"metrics", "records", "buffers", "values", "stats",   "tensors",
                                        "payload", "entries", "keys",    "layers", "targets", "data"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (n <= length && !strncmp(names[i], text + length - n, n) && (n == length || text[length - n - 1] == '_'))
            return true;
    }
    return false;
}

/* Whether the test asks for the global rank: get_rank() of a group is the same question to all of that group's ranks. */
static bool asks_rank(const struct hw_frame *frame, TSNode test)
{
    bool found = false;
    TSTreeCursor cursor = ts_tree_cursor_new(test);
    for (bool more = true; more && !found;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        bool of_group = hw_node_kind(node) == HW_N_CALL && hw_node_children(hw_node_field(node, HW_F_ARGUMENTS)) > 0;
        uint32_t start = ts_node_start_byte(node);
        if (hw_node_kind(node) == HW_N_IDENTIFIER)
            found = names_a_rank(source_of(frame) + start, ts_node_end_byte(node) - start);
        if (!of_group && ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* The container whose emptiness a test asks for: `x`, `not x`, `len(x)`, `len(x) == 0`; null if it asks for something else. */
static TSNode emptiness_of(const struct hw_frame *frame, TSNode test)
{
    for (int depth = 0; depth < 8; depth++) {
        TSNode callee;
        switch (hw_node_kind(test)) {
        case HW_N_IDENTIFIER:
        case HW_N_ATTRIBUTE:
            return test;
        case HW_N_NOT:
            test = hw_node_field(test, HW_F_ARGUMENT);
            break;
        case HW_N_PARENTHESIZED:
        case HW_N_COMPARISON:
            if (hw_node_kind(test) == HW_N_COMPARISON && hw_node_kind(hw_node_child(test, 0)) != HW_N_CALL)
                return (TSNode){0};
            test = hw_node_child(test, 0);
            break;
        case HW_N_CALL:
            callee = hw_node_field(test, HW_F_FUNCTION);
            if (ts_node_end_byte(callee) - ts_node_start_byte(callee) != 3 ||
                strncmp(source_of(frame) + ts_node_start_byte(callee), "len", 3) != 0)
                return (TSNode){0};
            return hw_node_child(hw_node_field(test, HW_F_ARGUMENTS), 0);
        default:
            return (TSNode){0};
        }
    }
    return (TSNode){0};
}

const char *hw_rank_local(struct hw_world *world, struct hw_frame *frame, TSNode test, hw_val value)
{
    hw_val device = hw_value_find(value, HW_DEVICE);
    if ((!world->hot || !world->recording) && !world->flush)
        return NULL;
    if (world->hot && device && !(device->flags & HW_MAYBE_TUPLE))
        return "a value on the device, which other ranks may not have";
    if (asks_rank(frame, test))
        return "the rank";
    TSNode asked = emptiness_of(frame, test);
    enum hw_node kind = hw_node_kind(asked);
    if (kind != HW_N_IDENTIFIER && kind != HW_N_ATTRIBUTE)
        return NULL;
    TSNode name = kind == HW_N_ATTRIBUTE ? hw_node_field(asked, HW_F_ATTRIBUTE) : asked;
    uint32_t start = ts_node_start_byte(name);
    hw_val held = hw_evaluate(world, frame, asked);
    bool container = held->kind == HW_DICT || (held->kind == HW_LIST && kind == HW_N_ATTRIBUTE);
    bool of_functions = container && held->count && hw_value_find(held->items[0], HW_FUNCTION);
    if ((container && !of_functions && (world->flush || hw_value_holds_device(held))) ||
        (world->flush && held->kind == HW_UNKNOWN && names_data(source_of(frame) + start, ts_node_end_byte(name) - start)))
        return "whether this rank's container is empty";
    return NULL;
}

const char *hw_rank_local_loop(const struct hw_world *world, const struct hw_frame *frame, TSNode iterable, hw_val value)
{
    if (!world->hot || !world->recording || value->kind != HW_LIST)
        return NULL;
    const char *text = source_of(frame) + ts_node_start_byte(iterable);
    return !strncmp(text, "self.", 5) && hw_value_holds_device(value) ? "how many elements this rank's container has" : NULL;
}

static const char *text_of(struct hw_world *world, const struct hw_site *site, const struct hw_args *args, const char *keyword)
{
    for (size_t i = 0; i < args->count; i++)
        if (args->keywords[i] && !strcmp(args->keywords[i], keyword))
            return hw_node_text(world, site->frame->module, hw_node_field(args->nodes[i], HW_F_VALUE));
    return "";
}

/* Flags of the tensors that a collective is given. */
static unsigned payload_of(const struct hw_args *args)
{
    unsigned flags = 0;
    for (size_t i = 0; i < args->count; i++)
        for (size_t j = 0; j < hw_value_count(args->values[i]); j++) {
            hw_val one = hw_value_at(args->values[i], j);
            if (one->kind == HW_LIST && one->items[0]->kind == HW_DEVICE)
                one = one->items[0];
            if (one->kind == HW_DEVICE)
                flags |= one->flags;
        }
    return flags;
}

static void check_batch(struct hw_world *world, const struct hw_site *site, const struct hw_args *args, unsigned payload)
{
    struct hw_frame *frame = site->frame;
    struct hw_batch *last = &frame->batch;
    struct hw_batch here = {.call = site->call.id,
                            .callee = hw_node_text(world, frame->module, site->callee),
                            .op = text_of(world, site, args, "op"),
                            .group = text_of(world, site, args, "group"),
                            .scalar = (payload & HW_SCALAR) != 0};
    hw_node_statement(site->token, &here.first, &here.last);
    bool like = last->scalar && here.scalar && last->callee == here.callee && last->op == here.op && last->group == here.group;
    bool again = like && last->call == here.call && frame->loops > 0;
    bool follows = like && last->call != here.call && here.first > last->last && here.first - last->last <= 1;
    here.reported = (again || follows) && last->reported;
    if ((again || follows) && !here.reported) {
        here.reported = true;
        hw_report(world, frame->module, 205, HW_SEVERITY_ERROR, site->token, site->call,
                  again ? "a collective on a 0-dim tensor in a loop; stack the tensors and enter one"
                        : "this collective follows one like it, on a 0-dim tensor too; stack both and enter one");
    }
    *last = here;
}

void hw_collective(struct hw_world *world, const struct hw_site *site, const struct hw_args *args)
{
    const struct hw_guard *guard = &world->guard;
    if (!world->hot) {
        if (!world->flush || !guard->module)
            return;
        TSNode at = ts_node_is_null(guard->leaves) ? guard->node : guard->leaves;
        hw_report_file(world, (struct hw_module *)(uintptr_t)guard->module, 502, ts_node_start_byte(at),
                       ts_node_end_byte(guard->node),
                       hw_arena_format(world->arena, "this decides by %s whether the rank joins `%s`; the others wait for it",
                                       guard->why, hw_quote(world, site->frame->module, site->callee)));
        return;
    }
    if (guard->module)
        hw_report(world, site->frame->module, 204, HW_SEVERITY_ERROR, site->token, site->call,
                  hw_arena_format(world->arena, "whether this collective is entered depends on %s (line %u)", guard->why,
                                  ts_node_start_point(guard->node).row + 1));
    unsigned payload = payload_of(args);
    if (payload & HW_TOKENS && !(payload & HW_SCALAR))
        hw_report(world, site->frame->module, 207, HW_SEVERITY_ERROR, site->token, site->call,
                  "the payload of this collective keeps a token dimension, so it grows with the batch");
    if (!guard->module)
        check_batch(world, site, args, payload);
}
