/* HW901 outside functions: text that the parser gave up on and that speaks of hooks. What is inside a hook is reported where
 * the hook is analysed. */
#define _GNU_SOURCE
#include <string.h>

#include "lint/evaluate.h"

void hw_rule_unread(struct hw_world *world, struct hw_module *module)
{
    TSNode root = hw_source_parse(module->source);
    if (!ts_node_has_error(root))
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_error(node)) {
            uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
            if (memmem(module->source->text + start, end - start, "hook", 4)) {
                uint32_t stop = start;
                while (stop < end && module->source->text[stop] != '\n')
                    stop++;
                hw_report_file(world, module, 901, start, stop, "the parser gave up on this text, which speaks of hooks");
            }
        } else if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor)) {
            continue;
        }
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
}
