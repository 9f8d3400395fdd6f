/* HW201: a collective in a hook. A plain comment beside it is no justification, but it is quoted: it may hold the reason that
 * a directive wants. */
#include <string.h>

#include "lint/evaluate.h"

/* The text after '#' in line[0..length) if all before it is blank, else NULL. */
static const char *comment_in(const char *line, uint32_t length, uint32_t *rest)
{
    uint32_t i = 0;
    while (i < length && (line[i] == ' ' || line[i] == '\t'))
        i++;
    if (i == length || line[i] != '#')
        return NULL;
    while (i < length && (line[i] == '#' || line[i] == ' '))
        i++;
    *rest = length - i;
    return i < length ? line + i : NULL;
}

const char *hw_collective_remark(struct hw_world *world, const struct hw_site *site)
{
    enum { LONGEST = 60 };
    struct hw_text *text = site->frame->module->source;
    uint32_t first, last, length, rest = 0;
    hw_node_statement(site->token, &first, &last);
    TSPoint end = ts_node_end_point(site->call);
    const char *line = hw_text_line(text, last - 1, &length);
    uint32_t after = end.row + 1 == last && end.column <= length ? end.column : length;
    const char *comment = comment_in(line + after, length - after, &rest);
    if (!comment && first > 1) {
        line = hw_text_line(text, first - 2, &length);
        comment = comment_in(line, length, &rest);
    }
    if (!comment || (rest >= 9 && !strncmp(comment, "hookwatch", 9)))
        return "";
    uint32_t shown = rest > LONGEST ? LONGEST : rest;
    while (shown < rest && shown && ((unsigned char)comment[shown] & 0xc0) == 0x80)
        shown--; /* no half of a character */
    return hw_arena_format(world->arena, "; the comment \"%.*s%s\" is no directive", (int)shown, comment,
                           shown < rest ? "..." : "");
}
