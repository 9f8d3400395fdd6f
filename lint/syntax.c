/* Node kinds, fields and statement bounds of the Python grammar. */
#include "lint/syntax.h"

#include <string.h>

extern const TSLanguage *tree_sitter_python(void);

static uint8_t kind_of_symbol[1024];
static TSFieldId field_ids[HW_F_COUNT];

__attribute__((constructor)) static void resolve_names(void)
{
    static const char *const nodes[] = {
#define HW_NODE(constant, name) name,
        HW_NODES(HW_NODE)
#undef HW_NODE
    };
    static const char *const fields[] = {
#define HW_FIELD(constant, name) name,
        HW_FIELDS(HW_FIELD)
#undef HW_FIELD
    };
    const TSLanguage *python = tree_sitter_python();
    uint32_t symbols = ts_language_symbol_count(python);
    for (uint32_t symbol = 0; symbol < symbols && symbol < sizeof kind_of_symbol; symbol++) {
        if (ts_language_symbol_type(python, (TSSymbol)symbol) != TSSymbolTypeRegular)
            continue;
        const char *name = ts_language_symbol_name(python, (TSSymbol)symbol);
        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
            if (!strcmp(name, nodes[i]))
                kind_of_symbol[symbol] = (uint8_t)(i + 1);
    }
    for (size_t i = 0; i < HW_F_COUNT; i++)
        field_ids[i] = ts_language_field_id_for_name(python, fields[i], (uint32_t)strlen(fields[i]));
}

enum hw_node hw_node_kind(TSNode node)
{
    if (ts_node_is_null(node))
        return HW_N_OTHER;
    TSSymbol symbol = ts_node_symbol(node);
    return symbol < sizeof kind_of_symbol ? (enum hw_node)kind_of_symbol[symbol] : HW_N_OTHER;
}

TSNode hw_node_field(TSNode node, enum hw_field field)
{
    return ts_node_child_by_field_id(node, field_ids[field]);
}

struct hw_children hw_children_open(TSNode node)
{
    struct hw_children children = {.cursor = ts_tree_cursor_new(node)};
    children.more = ts_tree_cursor_goto_first_child(&children.cursor);
    return children;
}

bool hw_children_next(struct hw_children *children, TSNode *child)
{
    while (children->more) {
        *child = ts_tree_cursor_current_node(&children->cursor);
        children->more = ts_tree_cursor_goto_next_sibling(&children->cursor);
        if (ts_node_is_named(*child) && hw_node_kind(*child) != HW_N_COMMENT)
            return true;
    }
    return false;
}

void hw_children_close(struct hw_children *children)
{
    ts_tree_cursor_delete(&children->cursor);
}

uint32_t hw_node_children(TSNode node)
{
    uint32_t count = 0;
    TSNode child;
    HW_EACH_CHILD (child, node)
        count++;
    return count;
}

TSNode hw_node_child(TSNode node, uint32_t n)
{
    TSNode child;
    HW_EACH_CHILD (child, node)
        if (n-- == 0)
            return child;
    return (TSNode){0};
}

static bool is_compound(enum hw_node kind)
{
    switch (kind) {
    case HW_N_IF:
    case HW_N_ELIF:
    case HW_N_ELSE:
    case HW_N_FOR:
    case HW_N_WHILE:
    case HW_N_TRY:
    case HW_N_EXCEPT:
    case HW_N_EXCEPT_GROUP:
    case HW_N_FINALLY:
    case HW_N_WITH:
    case HW_N_FUNCTION:
    case HW_N_CLASS:
    case HW_N_MATCH:
    case HW_N_CASE:
        return true;
    default:
        return false;
    }
}

static bool is_simple(enum hw_node kind)
{
    return (kind >= HW_N_EXPRESSION_STATEMENT && kind <= HW_N_IMPORT_FROM && kind != HW_N_ASSIGNMENT &&
            kind != HW_N_AUGMENTED_ASSIGNMENT) ||
           kind == HW_N_FUTURE_IMPORT || (kind >= HW_N_ASSERT && kind <= HW_N_TYPE_ALIAS) || kind == HW_N_DECORATOR;
}

/* Rows of a compound statement up to its body's colon. */
static void header_rows(TSNode node, uint32_t *first, uint32_t *last)
{
    *first = ts_node_start_point(node).row + 1;
    *last = *first;
    uint32_t count = ts_node_child_count(node);
    for (uint32_t i = 0; i < count; i++) {
        TSNode child = ts_node_child(node, i);
        enum hw_node kind = hw_node_kind(child);
        if (kind == HW_N_BLOCK)
            break;
        if (kind == HW_N_COMMENT)
            continue;
        *last = ts_node_end_point(child).row + 1;
        if (!strcmp(ts_node_type(child), ":"))
            break;
    }
}

void hw_node_rows(TSNode statement, uint32_t *first, uint32_t *last)
{
    if (is_compound(hw_node_kind(statement))) {
        header_rows(statement, first, last);
        return;
    }
    *first = ts_node_start_point(statement).row + 1;
    *last = ts_node_end_point(statement).row + 1;
}

void hw_node_statement(TSNode node, uint32_t *first, uint32_t *last)
{
    for (TSNode at = node; !ts_node_is_null(at); at = ts_node_parent(at)) {
        enum hw_node kind = hw_node_kind(at);
        if (is_simple(kind) || is_compound(kind)) {
            hw_node_rows(at, first, last);
            return;
        }
    }
    hw_node_rows(node, first, last);
}

bool hw_node_statement_at(TSNode root, uint32_t row, uint32_t *first, uint32_t *last)
{
    bool found = false;
    TSNode at = root;
    for (;;) {
        uint32_t count = ts_node_named_child_count(at);
        TSNode next = {0};
        for (uint32_t i = 0; i < count && !next.id; i++) {
            TSNode child = ts_node_named_child(at, i);
            if (hw_node_kind(child) != HW_N_COMMENT && ts_node_start_point(child).row + 1 <= row &&
                ts_node_end_point(child).row + 1 >= row)
                next = child;
        }
        if (!next.id)
            return found;
        at = next;
        enum hw_node kind = hw_node_kind(at);
        if (is_simple(kind)) {
            *first = ts_node_start_point(at).row + 1;
            *last = ts_node_end_point(at).row + 1;
            return true;
        }
        if (is_compound(kind)) {
            header_rows(at, first, last);
            found = row >= *first && row <= *last;
            if (found)
                return true;
        }
    }
}
