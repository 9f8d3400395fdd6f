/* From a TOML syntax tree to values: tables, arrays, and what the grammar leaves open (duplicates, ranges). */
#include "core/toml.h"

#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "core/text.h"
#include "core/toml_scalar.h"

extern const TSLanguage *tree_sitter_toml(void);

enum { DEPTH = 100 };

struct parse {
    struct hw_arena *arena;
    char *text;
    const char *error;
    uint32_t row;
    struct hw_toml **pending; /* tables opened by dotted keys of this section; closed by the next header */
    size_t pending_count, pending_room;
};

static bool fail(struct parse *parse, uint32_t row, const char *error)
{
    if (!parse->error) {
        parse->error = error;
        parse->row = row;
    }
    return false;
}

static uint32_t row_of(TSNode node)
{
    return ts_node_start_point(node).row + 1;
}

static bool is(TSNode node, const char *type)
{
    return !strcmp(ts_node_type(node), type);
}

static struct hw_toml *make(struct parse *parse, enum hw_toml_kind kind, const char *key, uint32_t row)
{
    struct hw_toml *value = hw_arena_alloc(parse->arena, sizeof *value);
    value->kind = kind;
    value->key = key;
    value->row = row;
    return value;
}

static void append(struct parse *parse, struct hw_toml *to, struct hw_toml *value)
{
    if (to->count == to->room) {
        size_t room = to->room * 2 + 4;
        struct hw_toml **items = hw_arena_alloc(parse->arena, room * sizeof(struct hw_toml *));
        if (to->count)
            memcpy(items, to->items, to->count * sizeof *items);
        to->items = items;
        to->room = room;
    }
    to->items[to->count++] = value;
}

struct hw_toml *hw_toml_get(const struct hw_toml *table, const char *key)
{
    for (size_t i = 0; table && table->kind == HW_TOML_TABLE && i < table->count; i++)
        if (!strcmp(table->items[i]->key, key))
            return table->items[i];
    return NULL;
}

/* A key with a NUL in it cannot be kept as a C string: no key of ours has one. */
static const char *key_part(struct parse *parse, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    if (is(node, "bare_key"))
        return hw_arena_copy(parse->arena, parse->text + start, end - start);
    const char *error = NULL;
    size_t length = 0;
    const char *text =
        end - start >= 3 && (!strncmp(parse->text + start, "\"\"\"", 3) || !strncmp(parse->text + start, "'''", 3))
            ? NULL
            : hw_toml_string(parse->arena, parse->text + start, end - start, &length, &error);
    if (!text || strlen(text) != length) {
        fail(parse, row_of(node), error ? error : "this string cannot be a key");
        return NULL;
    }
    return text;
}

/* The parts of a key, left to right; false after fail(). */
static bool key_parts(struct parse *parse, TSNode node, const char **parts, size_t *count)
{
    /* dotted keys lean to the left: walk down, then turn the parts round */
    size_t n = 0;
    while (is(node, "dotted_key")) {
        uint32_t children = ts_node_named_child_count(node);
        if (n + 1 >= DEPTH || children < 2)
            return fail(parse, row_of(node), "this key has too many parts");
        if (!(parts[n++] = key_part(parse, ts_node_named_child(node, children - 1))))
            return false;
        node = ts_node_named_child(node, 0);
    }
    if (!(parts[n++] = key_part(parse, node)))
        return false;
    for (size_t i = 0; i < n / 2; i++) {
        const char *swap = parts[i];
        parts[i] = parts[n - 1 - i];
        parts[n - 1 - i] = swap;
    }
    *count = n;
    return true;
}

static struct hw_toml *value_of(struct parse *parse, TSNode node, const char *key, uint32_t row, unsigned depth);

static const char *redefined(struct parse *parse, const char *key)
{
    return hw_arena_format(parse->arena, "`%s` is defined twice", key);
}

/* key = value in `table`. `inlined`: within { }, where later sections cannot come. */
static bool add_pair(struct parse *parse, struct hw_toml *table, TSNode pair, bool inlined, unsigned depth)
{
    const char *parts[DEPTH];
    size_t count;
    if (ts_node_named_child_count(pair) < 2)
        return fail(parse, row_of(pair), "a key wants `= value`");
    TSNode key_node = ts_node_named_child(pair, 0), value_node = ts_node_named_child(pair, 1);
    if (!key_parts(parse, key_node, parts, &count))
        return false;
    uint32_t row = row_of(key_node);
    for (size_t i = 0; i + 1 < count; i++) {
        struct hw_toml *below = hw_toml_get(table, parts[i]);
        if (!below) {
            below = make(parse, HW_TOML_TABLE, parts[i], row);
            append(parse, table, below);
        } else if (below->kind != HW_TOML_TABLE || below->frozen || below->defined) {
            return fail(parse, row, redefined(parse, parts[i]));
        }
        if (!inlined) {
            if (parse->pending_count == parse->pending_room)
                parse->pending =
                    hw_realloc(parse->pending, (parse->pending_room = parse->pending_room * 2 + 16) * sizeof(void *));
            parse->pending[parse->pending_count++] = below;
        }
        table = below;
    }
    if (hw_toml_get(table, parts[count - 1]))
        return fail(parse, row, redefined(parse, parts[count - 1]));
    struct hw_toml *value = value_of(parse, value_node, parts[count - 1], row, depth);
    if (value)
        append(parse, table, value);
    return value != NULL;
}

static struct hw_toml *value_of(struct parse *parse, TSNode node, const char *key, uint32_t row, unsigned depth)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    struct hw_toml *value = make(parse, HW_TOML_DATE, key, row);
    if (depth > DEPTH) {
        fail(parse, row, "values are nested too deeply");
        return NULL;
    }
    if (is(node, "array") || is(node, "inline_table")) {
        value->kind = is(node, "array") ? HW_TOML_ARRAY : HW_TOML_TABLE;
        TSTreeCursor cursor = ts_tree_cursor_new(node);
        for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && !parse->error;
             more = ts_tree_cursor_goto_next_sibling(&cursor)) {
            TSNode child = ts_tree_cursor_current_node(&cursor);
            if (!ts_node_is_named(child) || is(child, "comment"))
                continue;
            if (value->kind == HW_TOML_TABLE) {
                add_pair(parse, value, child, true, depth + 1);
            } else {
                struct hw_toml *item = value_of(parse, child, "", row_of(child), depth + 1);
                if (item)
                    append(parse, value, item);
            }
        }
        ts_tree_cursor_delete(&cursor);
        value->frozen = true;
        return parse->error ? NULL : value;
    }
    const char *error = NULL;
    if (is(node, "string")) {
        value->kind = HW_TOML_STRING;
        value->text = hw_toml_string(parse->arena, parse->text + start, end - start, &value->length, &error);
    } else {
        value->kind = is(node, "boolean")                        ? HW_TOML_BOOLEAN
                      : is(node, "integer") || is(node, "float") ? HW_TOML_NUMBER
                                                                 : HW_TOML_DATE;
        value->text = hw_arena_copy(parse->arena, parse->text + start, end - start);
        value->length = end - start;
        if (value->kind == HW_TOML_NUMBER && !hw_toml_number_valid(value->text))
            error = hw_arena_format(parse->arena, "`%.40s` is no number", value->text);
        else if (value->kind == HW_TOML_DATE && !hw_toml_date_valid(value->text))
            error = hw_arena_format(parse->arena, "`%.40s` is no date or time", value->text);
    }
    if (error)
        fail(parse, row, error);
    return error ? NULL : value;
}

/* The table that [header] or [[header]] opens; NULL after fail(). */
static struct hw_toml *open_section(struct parse *parse, struct hw_toml *root, TSNode header, bool array)
{
    const char *parts[DEPTH];
    size_t count;
    uint32_t row = row_of(header);
    if (!key_parts(parse, header, parts, &count))
        return NULL;
    for (size_t i = 0; i < parse->pending_count; i++)
        parse->pending[i]->defined = true;
    parse->pending_count = 0;
    struct hw_toml *table = root;
    for (size_t i = 0; i < count; i++) {
        struct hw_toml *below = hw_toml_get(table, parts[i]);
        bool last = i + 1 == count;
        if (!below) {
            below = make(parse, last && array ? HW_TOML_ARRAY : HW_TOML_TABLE, parts[i], row);
            append(parse, table, below);
        } else if (below->frozen || (last && (array ? below->kind != HW_TOML_ARRAY : below->defined))) {
            fail(parse, row, redefined(parse, parts[i]));
            return NULL;
        }
        if (last && array) {
            append(parse, below, make(parse, HW_TOML_TABLE, "", row));
            below->defined = true;
        }
        if (below->kind == HW_TOML_ARRAY && !(last && !array))
            below = below->items[below->count - 1];
        if (below->kind != HW_TOML_TABLE) {
            fail(parse, row, redefined(parse, parts[i]));
            return NULL;
        }
        table = below;
    }
    table->defined = true;
    return table;
}

static void find_error(struct parse *parse, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = true; more && !parse->error;) {
        TSNode at = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_error(at) || ts_node_is_missing(at))
            fail(parse, row_of(at), "this is no TOML");
        else if (ts_node_has_error(at) && ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
    fail(parse, 1, "this is no TOML");
}

static void read_document(struct parse *parse, struct hw_toml *root, TSNode document)
{
    TSTreeCursor cursor = ts_tree_cursor_new(document);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && !parse->error;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (is(child, "pair")) {
            add_pair(parse, root, child, false, 0);
        } else if (is(child, "table") || is(child, "table_array_element")) {
            struct hw_toml *table = NULL;
            TSTreeCursor inner = ts_tree_cursor_new(child);
            for (bool go = ts_tree_cursor_goto_first_child(&inner); go && !parse->error;
                 go = ts_tree_cursor_goto_next_sibling(&inner)) {
                TSNode part = ts_tree_cursor_current_node(&inner);
                if (!ts_node_is_named(part) || is(part, "comment"))
                    continue;
                if (!table)
                    table = open_section(parse, root, part, is(child, "table_array_element"));
                else
                    add_pair(parse, table, part, false, 0);
            }
            ts_tree_cursor_delete(&inner);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* A copy without BOM and with plain line ends; NULL after fail() for bytes that no TOML may hold. */
static char *clean(struct parse *parse, const char *bytes, size_t size, uint32_t *length)
{
    size_t from = size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0, to = 0;
    uint32_t row = 1;
    char *text = hw_arena_alloc(parse->arena, size + 2);
    if (size > UINT32_MAX / 4) {
        fail(parse, 1, "is too large");
        return NULL;
    }
    for (size_t i = from; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\r' && i + 1 < size && bytes[i + 1] == '\n')
            continue;
        if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) {
            fail(parse, row, "holds a control character");
            return NULL;
        }
        text[to++] = bytes[i];
        row += c == '\n';
    }
    char *valid = hw_text_valid_utf8(text);
    bool same = !strcmp(valid, text);
    free(valid);
    if (!same) {
        fail(parse, 1, "is not UTF-8");
        return NULL;
    }
    *length = (uint32_t)to;
    return text;
}

/* Blanks between a backslash and the end of its line mean nothing in a string; this grammar does not read them. */
static uint32_t squeeze(char *text, uint32_t length)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < length; i++) {
        bool backslash = text[i] == '\\';
        uint32_t end = i + 1 + (uint32_t)strspn(text + i + 1, " \t");
        text[to++] = text[i];
        if (backslash && text[end] == '\n')
            i = end - 1;
    }
    text[to] = 0;
    return to;
}

struct hw_toml *hw_toml_parse(struct hw_arena *arena, const char *bytes, size_t size, uint32_t *row, const char **error)
{
    struct parse parse = {.arena = arena};
    struct hw_toml *root = make(&parse, HW_TOML_TABLE, "", 1);
    uint32_t length = 0;
    parse.text = clean(&parse, bytes, size, &length);
    if (parse.text) {
        TSParser *parser = ts_parser_new();
        ts_parser_set_language(parser, tree_sitter_toml());
        TSTree *tree = ts_parser_parse_string(parser, NULL, parse.text, length);
        if (ts_node_has_error(ts_tree_root_node(tree))) {
            ts_tree_delete(tree);
            length = squeeze(parse.text, length);
            tree = ts_parser_parse_string(parser, NULL, parse.text, length);
        }
        TSNode document = ts_tree_root_node(tree);
        if (ts_node_has_error(document))
            find_error(&parse, document);
        else
            read_document(&parse, root, document);
        ts_tree_delete(tree);
        ts_parser_delete(parser);
    }
    free(parse.pending);
    *row = parse.row;
    *error = parse.error;
    return parse.error ? NULL : root;
}
