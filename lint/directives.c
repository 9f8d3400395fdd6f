/* Parsing allow directives and binding them to statements. */
#define _GNU_SOURCE
#include "lint/directives.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "lint/syntax.h"

static void skip_spaces(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t'))
        ++*p;
}

/* max=64KiB: a number and B, KiB, MiB or GiB. False when malformed. */
static bool parse_max(const char **p, const char *end, uint64_t *bytes)
{
    uint64_t number = 0;
    const char *digits = *p;
    while (*p < end && isdigit((unsigned char)**p) && *p - digits < 12)
        number = number * 10 + (uint64_t)(*(*p)++ - '0');
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}};
    for (size_t i = 0; *p > digits && i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if ((size_t)(end - *p) >= length && !strncmp(*p, units[i].name, length)) {
            *p += length;
            *bytes = number << units[i].shift;
            return *p == end || **p == ' ' || **p == '\t';
        }
    }
    return false;
}

/* Fills `directive` from the text after "hookwatch:". */
static void parse(const char *p, const char *end, struct hw_directive *directive)
{
    skip_spaces(&p, end);
    if (end - p < 5 || strncmp(p, "allow", 5) || (end - p > 5 && p[5] != ' ' && p[5] != '\t')) {
        directive->fault = "is unknown; the only one is `allow`";
        return;
    }
    p += 5;
    skip_spaces(&p, end);
    char code[8];
    size_t length = 0;
    while (p < end && isalnum((unsigned char)*p) && length + 1 < sizeof code)
        code[length++] = *p++;
    code[length] = 0;
    const struct hw_rule *rule = hw_rule_find(code);
    if (!rule || (p < end && *p != ' ' && *p != '\t')) {
        if (rule && *p == ',')
            directive->fault = "names more than one rule; write one directive for each";
        else
            directive->fault = length ? "names no rule; write a whole code such as HW201" : "names no rule";
        return;
    }
    skip_spaces(&p, end);
    if (end - p >= 4 && !strncmp(p, "max=", 4)) {
        p += 4;
        if (rule->number / 100 != 2 || !parse_max(&p, end, &directive->max_bytes)) {
            directive->fault = "max= wants a size such as 64KiB and a collective's code";
            return;
        }
        skip_spaces(&p, end);
    }
    if (end - p < 2 || strncmp(p, "--", 2)) {
        directive->fault = p == end ? "gives no reason after ` -- `" : "wants ` -- reason` after the code";
        return;
    }
    p += 2;
    if (p < end && *p != ' ' && *p != '\t') {
        directive->fault = "wants a space after `--`";
        return;
    }
    skip_spaces(&p, end);
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    if (p == end) {
        directive->fault = "gives no reason after ` -- `";
        return;
    }
    directive->rule = rule;
    directive->reason = hw_alloc((size_t)(end - p) + 1);
    memcpy(directive->reason, p, (size_t)(end - p));
    directive->reason[end - p] = 0;
}

/* Whether a comment speaks to hookwatch; *after is what follows the colon. */
static bool addresses_us(const char *p, const char *end, const char **after)
{
    while (p < end && (*p == '#' || *p == ' ' || *p == '\t'))
        p++;
    if (end - p < 9 || strncasecmp(p, "hookwatch", 9))
        return false;
    p += 9;
    skip_spaces(&p, end);
    if (p < end && *p == ':') {
        *after = p + 1;
        return true;
    }
    if (end - p >= 5 && !strncmp(p, "allow", 5)) { /* the colon is forgotten: malformed, not prose */
        *after = end;
        return true;
    }
    return false;
}

static bool is_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\f'))
        p++;
    return p == end;
}

struct hw_directives *hw_directives_read(struct hw_text *source)
{
    struct hw_directives *directives = hw_alloc(sizeof *directives);
    *directives = (struct hw_directives){0};
    size_t room = 0;
    if (!memmem(source->text, source->size, "hookwatch", 9) && !strcasestr(source->text, "hookwatch"))
        return directives;
    TSTreeCursor cursor = ts_tree_cursor_new(hw_source_parse(source));
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        const char *after;
        if (hw_node_kind(node) == HW_N_COMMENT) {
            uint32_t start = ts_node_start_byte(node), stop = ts_node_end_byte(node);
            const char *end = source->text + stop;
            while (stop > start && (end[-1] == '\r' || end[-1] == '\n'))
                end--, stop--;
            if (addresses_us(source->text + start, end, &after)) {
                if (directives->count == room)
                    directives->items = hw_realloc(directives->items, (room = room * 2 + 4) * sizeof *directives->items);
                struct hw_directive *directive = &directives->items[directives->count++];
                uint32_t row = ts_node_start_point(node).row;
                *directive = (struct hw_directive){.row = row + 1, .start = start, .end = stop};
                directive->alone = is_blank(source->text + source->lines[row], source->text + start);
                if (after == end && end[-1] != ':')
                    directive->fault = "wants a colon: `# hookwatch: allow CODE -- reason`";
                else
                    parse(after, end, directive);
            }
        }
        if (ts_tree_cursor_goto_first_child(&cursor))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)))
            if (!ts_tree_cursor_goto_parent(&cursor))
                break;
    }
    ts_tree_cursor_delete(&cursor);
    return directives;
}

void hw_directives_free(struct hw_directives *directives)
{
    if (!directives)
        return;
    for (size_t i = 0; i < directives->count; i++)
        free(directives->items[i].reason);
    free(directives->items);
    free(directives);
}

static bool alone_at(const struct hw_directives *directives, uint32_t row)
{
    for (size_t i = 0; i < directives->count; i++)
        if (directives->items[i].row == row)
            return directives->items[i].alone;
    return false;
}

struct hw_directive *hw_directives_find(struct hw_directives *directives, const char *code, uint32_t first, uint32_t last)
{
    uint32_t above = first; /* directives may be stacked above a statement, one a line */
    while (above > 1 && alone_at(directives, above - 1))
        above--;
    for (size_t i = 0; i < directives->count; i++) {
        struct hw_directive *directive = &directives->items[i];
        if (directive->rule && directive->row >= above && directive->row <= last && !strcmp(directive->rule->code, code))
            return directive;
    }
    return NULL;
}
