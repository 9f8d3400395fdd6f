/* HW201: a collective in a hook. A plain comment beside it is no justification unless the project says so, but it is quoted, and
 * a fix makes a directive of it. */
#include <string.h>
#include <strings.h>

#include "lint/evaluate.h"

/* A comment, or a block of them, one a line. */
struct comment {
    uint32_t first, last; /* bytes, from the first '#' to the end of the last line */
    const char *text;     /* all lines in one, without '#' */
    bool alone;
};

/* What tools read, and notes to oneself, justify nothing. */
static bool is_reason(const char *text)
{
    static const char *const others[] = {"noqa",  "type:", "fmt:",      "pylint:",  "pragma:", "isort:",  "ruff:", "todo",
                                         "fixme", "xxx",   "hookwatch", "pyright:", "mypy:",   "flake8:", "yapf:", "nosec"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncasecmp(text, others[i], strlen(others[i])))
            return false;
    return strpbrk(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL || (*text & 0x80);
}

/* Offset of the '#' in line[0..length) if all before it is blank, else -1. */
static int64_t mark_in(const char *line, uint32_t length)
{
    uint32_t i = 0;
    while (i < length && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return i < length && line[i] == '#' ? (int64_t)i : -1;
}

static const char *text_after(struct hw_world *world, const char *mark, const char *end)
{
    while (mark < end && (*mark == '#' || *mark == ' ' || *mark == ':'))
        mark++;
    while (end > mark && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return hw_arena_copy(world->arena, mark, (size_t)(end - mark));
}

static bool comment_of(struct hw_world *world, const struct hw_site *site, struct comment *out)
{
    enum { LINES = 3 };
    struct hw_text *text = site->frame->module->source;
    uint32_t first, last, length;
    hw_node_statement(site->token, &first, &last);
    TSPoint end = ts_node_end_point(site->call);
    const char *line = hw_text_line(text, last - 1, &length);
    uint32_t after = end.row + 1 == last && end.column <= length ? end.column : length;
    int64_t mark = mark_in(line + after, length - after);
    if (mark >= 0) {
        uint32_t start = text->lines[last - 1] + after + (uint32_t)mark;
        *out = (struct comment){start, text->lines[last - 1] + length, text_after(world, text->text + start, line + length),
                                false};
        return is_reason(out->text);
    }
    uint32_t rows = 0;
    *out = (struct comment){.alone = true, .text = ""};
    for (uint32_t row = first - 1; row > 0 && rows < LINES + 1; row--, rows++) {
        line = hw_text_line(text, row - 1, &length);
        mark = mark_in(line, length);
        if (mark < 0)
            break;
        const char *part = text_after(world, line + mark, line + length);
        out->first = text->lines[row - 1] + (uint32_t)mark;
        out->last = rows ? out->last : text->lines[row - 1] + length;
        out->text = rows ? hw_arena_format(world->arena, "%s %s", part, out->text) : part;
    }
    return rows > 0 && is_reason(out->text);
}

/* The first paragraph's first line of the docstring of the function around the site; NULL if it has none. */
static const char *docstring_of(struct hw_world *world, const struct hw_site *site)
{
    const struct hw_function *function = site->frame->function;
    if (!function || hw_node_kind(function->node) != HW_N_FUNCTION)
        return NULL;
    TSNode statement = hw_node_child(hw_node_field(function->node, HW_F_BODY), 0);
    TSNode string = hw_node_kind(statement) == HW_N_EXPRESSION_STATEMENT ? hw_node_child(statement, 0) : (TSNode){0};
    TSNode content = hw_node_kind(string) == HW_N_STRING ? hw_node_child(string, 1) : (TSNode){0};
    if (hw_node_kind(string) != HW_N_STRING)
        return NULL;
    TSNode child;
    HW_EACH_CHILD (child, string)
        if (hw_node_kind(child) == HW_N_STRING_CONTENT)
            content = child;
    return ts_node_is_null(content) ? NULL : hw_quote(world, site->frame->module, content);
}

const char *hw_collective_remark(struct hw_world *world, const struct hw_site *site)
{
    enum { LONGEST = 60 };
    struct comment comment;
    if (!comment_of(world, site, &comment))
        return "";
    size_t length = strlen(comment.text), shown = length > LONGEST ? LONGEST : length;
    while (shown < length && shown && ((unsigned char)comment.text[shown] & 0xc0) == 0x80)
        shown--; /* no half of a character */
    return hw_arena_format(world->arena, "; the comment \"%.*s%s\" is no directive", (int)shown, comment.text,
                           shown < length ? "..." : "");
}

void hw_collective_justify(struct hw_world *world, const struct hw_site *site, struct hw_record *record)
{
    enum { LONGEST = 160 };
    struct comment comment;
    bool any = comment_of(world, site, &comment);
    if (site->frame->module->settings->comment_justifies)
        record->finding.allowed = any ? comment.text : docstring_of(world, site);
    else if (any && strlen(comment.text) <= LONGEST)
        hw_fix_record(world, record, comment.first, comment.last,
                      hw_arena_format(world->arena, "# hookwatch: allow HW201 -- %s", comment.text),
                      "Make a directive of the comment");
}
