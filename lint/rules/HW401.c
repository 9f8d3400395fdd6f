/* HW402: a set-up function that takes the first of a list of chunks. HW401: a set-up function that registers hooks once per model chunk. Every chunk must declare before anything is allocated,
 * so registration has three phases over all chunks: prepare, allocate, attach. */
#define _GNU_SOURCE
#include <string.h>

#include "lint/evaluate.h"

static const char *text_of(struct hw_world *world, struct hw_module *module, TSNode node)
{
    return ts_node_is_null(node) ? "" : hw_node_text(world, module, node);
}

/* Whether the call is X.register_hooks(VARIABLE). */
static bool registers(struct hw_world *world, struct hw_module *module, TSNode call, const char *variable)
{
    TSNode callee = hw_node_field(call, HW_F_FUNCTION);
    return hw_node_kind(callee) == HW_N_ATTRIBUTE &&
           !strcmp(text_of(world, module, hw_node_field(callee, HW_F_ATTRIBUTE)), "register_hooks") &&
           !strcmp(text_of(world, module, hw_node_child(hw_node_field(call, HW_F_ARGUMENTS), 0)), variable);
}

/* The loop over a parameter of the function around it, whose variable is `variable`. */
static bool loops_over_parameter(struct hw_world *world, struct hw_module *module, TSNode loop)
{
    const char *iterable = text_of(world, module, hw_node_field(loop, HW_F_RIGHT));
    TSNode function = ts_node_parent(loop), parameter;
    while (!ts_node_is_null(function) && hw_node_kind(function) != HW_N_FUNCTION)
        function = ts_node_parent(function);
    if (ts_node_is_null(function))
        return false;
    TSNode parameters = hw_node_field(function, HW_F_PARAMETERS);
    HW_EACH_CHILD (parameter, parameters) {
        TSNode name = hw_node_field(parameter, HW_F_NAME);
        if (ts_node_is_null(name))
            name = hw_node_kind(parameter) == HW_N_TYPED_PARAMETER ? hw_node_child(parameter, 0) : parameter;
        if (!strcmp(text_of(world, module, name), iterable))
            return true;
    }
    return false;
}

/* Whether the name is used in the function otherwise than as NAME[0]. */
static bool used_whole(struct hw_world *world, struct hw_module *module, TSNode body, const char *name)
{
    bool whole = false;
    TSTreeCursor cursor = ts_tree_cursor_new(body);
    for (bool more = true; more && !whole;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (hw_node_kind(node) == HW_N_IDENTIFIER && !strcmp(text_of(world, module, node), name)) {
            TSNode parent = ts_node_parent(node);
            TSNode callee =
                hw_node_kind(parent) == HW_N_ARGUMENTS ? hw_node_field(ts_node_parent(parent), HW_F_FUNCTION) : parent;
            bool asked =
                !strcmp(text_of(world, module, callee), "isinstance") || !strcmp(text_of(world, module, callee), "len");
            whole = !asked &&
                    !(hw_node_kind(parent) == HW_N_SUBSCRIPT && ts_node_eq(hw_node_field(parent, HW_F_VALUE), node)) &&
                    hw_node_kind(parent) != HW_N_NOT && hw_node_kind(parent) != HW_N_IF;
        }
        if (!whole && ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
    return whole;
}

/* HW402: NAME[0] where NAME is a parameter of a setup_* function that does nothing else with it. */
static void check_first_only(struct hw_world *world, struct hw_module *module, TSNode subscript)
{
    TSNode container = hw_node_field(subscript, HW_F_VALUE), function = ts_node_parent(subscript), parameter;
    if (hw_node_kind(container) != HW_N_IDENTIFIER ||
        strcmp(text_of(world, module, hw_node_field(subscript, HW_F_SUBSCRIPT)), "0"))
        return;
    while (!ts_node_is_null(function) && hw_node_kind(function) != HW_N_FUNCTION)
        function = ts_node_parent(function);
    const char *name = text_of(world, module, container);
    if (ts_node_is_null(function) || strncmp(text_of(world, module, hw_node_field(function, HW_F_NAME)), "setup_", 6) != 0)
        return;
    TSNode parameters = hw_node_field(function, HW_F_PARAMETERS), body = hw_node_field(function, HW_F_BODY);
    HW_EACH_CHILD (parameter, parameters) {
        TSNode id = hw_node_kind(parameter) == HW_N_TYPED_PARAMETER ? hw_node_child(parameter, 0)
                    : hw_node_kind(parameter) == HW_N_IDENTIFIER    ? parameter
                                                                    : hw_node_field(parameter, HW_F_NAME);
        if (!strcmp(text_of(world, module, id), name) && !used_whole(world, module, body, name))
            hw_report_file(
                world, module, 402, ts_node_start_byte(container), ts_node_end_byte(subscript),
                hw_arena_format(world->arena, "only the first chunk of `%s` is set up; every chunk must declare", name));
    }
}

void hw_rule_chunks(struct hw_world *world, struct hw_module *module)
{
    struct hw_text *source = module->source;
    bool registers_hooks = memmem(source->text, source->size, "register_hooks", 14) != NULL;
    if (module->framework || (!registers_hooks && !memmem(source->text, source->size, "_attach_hooks", 13)))
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(hw_source_parse(source));
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (hw_node_kind(node) == HW_N_SUBSCRIPT)
            check_first_only(world, module, node);
        if (hw_node_kind(node) == HW_N_CALL) {
            TSNode loop = ts_node_parent(node);
            while (!ts_node_is_null(loop) && hw_node_kind(loop) != HW_N_FOR && hw_node_kind(loop) != HW_N_FUNCTION)
                loop = ts_node_parent(loop);
            if (hw_node_kind(loop) == HW_N_FOR &&
                registers(world, module, node, text_of(world, module, hw_node_field(loop, HW_F_LEFT))) &&
                loops_over_parameter(world, module, loop)) {
                TSNode token = hw_node_field(hw_node_field(node, HW_F_FUNCTION), HW_F_ATTRIBUTE);
                hw_report_file(world, module, 401, ts_node_start_byte(token), ts_node_end_byte(node),
                               "hooks are registered chunk by chunk; prepare every chunk, allocate once, then attach");
            }
        }
        if (ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
}
