/* Parsing a Python file with tree-sitter, and what this version of the grammar cannot read. */
#include "lint/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

extern const TSLanguage *tree_sitter_python(void);

static void release(void *tree)
{
    ts_tree_delete(tree);
}

/* ERROR and missing nodes; those that lie below an ERROR are not counted. Calls `visit` for each. */
static size_t errors(TSTree *tree, void (*visit)(TSNode node, void *user), void *user)
{
    size_t count = 0;
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_error(node) || ts_node_is_missing(node)) {
            count++;
            if (visit)
                visit(node, user);
        } else if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor)) {
            continue;
        }
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
    return count;
}

struct patch {
    const struct hw_text *text;
    char *copy;
    bool changed;
};

/* Two constructs that Python reads and this grammar does not, each rewritten to one of the same length that it does: a star
 * before a bracket in a bare tuple (`return a, *(None,) * n`: the star becomes a blank, so a tuple stands for its items), and
 * the prefix of a t-string (an f-string's holds the same expressions). */
static void patch(TSNode error, void *user)
{
    struct patch *patch = user;
    const struct hw_text *text = patch->text;
    uint32_t first = ts_node_start_point(error).row, last = ts_node_end_point(error).row;
    uint32_t end = last + 1 < text->line_count ? text->lines[last + 1] : text->size;
    for (uint32_t at = text->lines[first]; at + 1 < end; at++) {
        const char *here = text->text + at;
        uint32_t before = at;
        while (before > 0 && (here[(int64_t)before - at - 1] == ' ' || here[(int64_t)before - at - 1] == '\t'))
            before--;
        char previous = before ? text->text[before - 1] : '\n', next = here[1];
        bool in_tuple = previous == ',' || previous == '=' || (before < at && (isalpha((unsigned char)previous)));
        bool prefix = (*here == 't' || *here == 'T') && (next == '"' || next == '\'') && before == at
                          ? !isalnum((unsigned char)previous) && previous != '_'
                          : (*here == 't' || *here == 'T') && (next == '"' || next == '\'');
        if (*here == '*' && (next == '(' || next == '[') && in_tuple)
            patch->copy[at] = ' ';
        else if (prefix)
            patch->copy[at] = 'f';
        patch->changed |= patch->copy[at] != *here;
    }
}

static TSTree *parse(const char *text, uint32_t size)
{
    TSParser *parser = ts_parser_new();
    ts_parser_set_language(parser, tree_sitter_python());
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, size);
    ts_parser_delete(parser);
    return tree;
}

TSNode hw_source_parse(struct hw_text *text)
{
    if (text->attachment)
        return ts_tree_root_node(text->attachment);
    TSTree *tree = parse(text->text, text->size);
    if (ts_node_has_error(ts_tree_root_node(tree))) {
        struct patch user = {.text = text, .copy = hw_alloc(text->size + 1)};
        memcpy(user.copy, text->text, text->size);
        size_t before = errors(tree, patch, &user);
        TSTree *again = user.changed ? parse(user.copy, text->size) : NULL;
        if (again && errors(again, NULL, NULL) < before) {
            ts_tree_delete(tree);
            tree = again;
        } else if (again) {
            ts_tree_delete(again);
        }
        free(user.copy);
    }
    text->attachment = tree;
    text->release = release;
    return ts_tree_root_node(tree);
}
