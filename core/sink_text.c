/* Text for people: the finding, the line it is on, how the hook gets there, what to do instead; and one line each. */
#include "core/sink.h"

#include <string.h>

enum { EXCERPT_WIDTH = 120 }; /* code points of a long line that are shown around the token */

struct style {
    const char *bold, *red, *yellow, *cyan, *blue, *dim, *reset;
};

static const struct style plain = {"", "", "", "", "", "", ""};
static const struct style coloured = {"\033[1m", "\033[1;31m", "\033[1;33m", "\033[36m", "\033[1;34m", "\033[2m", "\033[0m"};

static const struct style *style_of(const struct hw_sink *sink)
{
    return sink->options.color ? &coloured : &plain;
}

static const char *severity_colour(const struct style *style, const struct hw_finding *finding)
{
    if (finding->allowed || finding->severity == HW_SEVERITY_NOTE)
        return style->cyan;
    return finding->severity == HW_SEVERITY_ERROR ? style->red : style->yellow;
}

/* Bytes of the first `count` code points. */
static uint32_t skip_points(const char *text, uint32_t length, uint32_t count)
{
    uint32_t i = 0;
    while (i < length && count > 0) {
        i++;
        while (i < length && ((unsigned char)text[i] & 0xc0) == 0x80)
            i++;
        count--;
    }
    return i;
}

/* Columns on screen of one code point: none for combining marks, two for East Asian wide ones (the large blocks). */
static unsigned width_of(uint32_t point)
{
    if (point == 0x200d || (point >= 0x300 && point <= 0x36f) || (point >= 0xfe00 && point <= 0xfe0f))
        return 0;
    return (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
                   (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
                   (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
                   (point >= 0x1f300 && point <= 0x1faff) || (point >= 0x20000 && point <= 0x3fffd)
               ? 2
               : 1;
}

static uint32_t decode(const char *text, uint32_t length)
{
    unsigned char c = (unsigned char)text[0];
    uint32_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    uint32_t point = more == 3 ? c & 0x07 : more == 2 ? c & 0x0f : more == 1 ? c & 0x1f : c;
    for (uint32_t i = 1; i <= more && i < length; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3f);
    return point;
}

/* Prints text[0..length) with tabs as four columns and other control characters as '?'; returns the columns it took. */
static unsigned print_line(FILE *out, const char *text, uint32_t length, bool silent)
{
    unsigned columns = 0;
    for (uint32_t i = 0; i < length;) {
        uint32_t next = i + skip_points(text + i, length - i, 1);
        unsigned char c = (unsigned char)text[i];
        if (c == '\t') {
            unsigned fill = 4 - columns % 4;
            if (!silent)
                fprintf(out, "%*s", (int)fill, "");
            columns += fill;
        } else if (c < 0x20 || c == 0x7f) {
            if (!silent)
                fputc(c == '\f' ? ' ' : '?', out);
            columns++;
        } else {
            if (!silent)
                fwrite(text + i, 1, next - i, out);
            columns += width_of(decode(text + i, next - i));
        }
        i = next;
    }
    return columns;
}

static void print_excerpt(struct hw_sink *sink, const struct hw_finding *finding)
{
    const struct style *style = style_of(sink);
    FILE *out = sink->options.out;
    struct hw_text *text = hw_sink_source(sink, finding->filename);
    if (!text || finding->start.row == 0 || finding->start.row > text->line_count)
        return;
    uint32_t first = finding->statement_first, last = finding->statement_last, row = finding->start.row;
    if (first == 0 || first > row || row - first > 3) /* a long statement: only what leads to the token */
        first = row > 2 && finding->statement_first && finding->statement_first < row ? row - 2 : row;
    if (last < row || last > text->line_count || last - row > 1)
        last = row;
    int gutter = snprintf(NULL, 0, "%u", last);
    fprintf(out, "%*s %s|%s\n", gutter, "", style->blue, style->reset);
    for (uint32_t at = first; at <= last; at++) {
        uint32_t length;
        const char *line = hw_text_line(text, at - 1, &length);
        uint32_t from = 0;
        const char *cut = "";
        uint32_t start = at == row && finding->start.column ? skip_points(line, length, finding->start.column - 1) : 0;
        uint32_t end = at != row ? 0
                       : finding->end.row == row && finding->end.column > finding->start.column
                           ? skip_points(line, length, finding->end.column - 1)
                           : length;
        uint32_t points = skip_points(line, length, EXCERPT_WIDTH + 40);
        if (points < length) { /* a very long line: a window around the token */
            uint32_t back =
                finding->start.column > EXCERPT_WIDTH / 2 && at == row ? finding->start.column - EXCERPT_WIDTH / 2 : 0;
            from = skip_points(line, length, back);
            length = from + skip_points(line + from, length - from, EXCERPT_WIDTH);
            cut = " ...";
            end = end > length ? length : end;
        }
        fprintf(out, "%s%*u |%s %s", style->blue, gutter, at, style->reset, from ? "... " : "");
        print_line(out, line + from, length - from, false);
        fprintf(out, "%s\n", cut);
        if (at != row || !finding->start.column)
            continue;
        /* The token is underlined with ^, the rest of the expression with ~. */
        uint32_t token = start;
        while (token < end && (line[token] == '_' || (line[token] >= '0' && line[token] <= '9') ||
                               (line[token] >= 'a' && line[token] <= 'z') || (line[token] >= 'A' && line[token] <= 'Z') ||
                               (unsigned char)line[token] >= 0x80))
            token++;
        if (token == start)
            while (token < end && strchr("<>=!%*&|^", line[token]))
                token++;
        if (token == start)
            token = end;
        unsigned before = print_line(out, line + from, start - from, true);
        unsigned marked = print_line(out, line + from, token - from, true) - before;
        unsigned whole = print_line(out, line + from, end - from, true) - before;
        fprintf(out, "%*s %s|%s %s%*s%s", gutter, "", style->blue, style->reset, from ? "    " : "", (int)before, "",
                severity_colour(style, finding));
        for (unsigned i = 0; i < (marked ? marked : 1); i++)
            fputc('^', out);
        for (unsigned i = marked ? marked : 1; i < whole; i++)
            fputc('~', out);
        fprintf(out, "%s\n", style->reset);
    }
    fprintf(out, "%*s %s|%s\n", gutter, "", style->blue, style->reset);
}

static void print_witness(struct hw_sink *sink, const struct hw_finding *finding)
{
    const struct style *style = style_of(sink);
    FILE *out = sink->options.out;
    if (!finding->witness_count)
        return;
    const struct hw_step *step = finding->witness;
    if (finding->witness_count == 1) {
        fprintf(out, "  %shook%s  %s\n", style->bold, style->reset, step->function);
        return;
    }
    for (size_t i = 0; i < finding->witness_count; i++, step++) {
        fprintf(out, "  %s%s%s  %*s%s%s  %s%s:%u%s\n", style->bold, i ? "    " : "hook", style->reset, (int)(i ? 2 * i - 2 : 0),
                "", i ? "-> " : "", step->function, style->dim, hw_sink_path(sink, step->filename), step->row, style->reset);
    }
}

static void text_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    const struct style *style = style_of(sink);
    FILE *out = sink->options.out;
    fprintf(out, "%s%s:%u:", style->bold, hw_sink_path(sink, finding->filename), finding->start.row);
    if (finding->start.column)
        fprintf(out, "%u:", finding->start.column);
    fprintf(out, "%s %s%s %s%s", style->reset, severity_colour(style, finding), finding->rule->code, finding->rule->name,
            style->reset);
    if (finding->severity != HW_SEVERITY_ERROR && !finding->allowed)
        fprintf(out, " (%s)", hw_severity_name(finding->severity));
    fprintf(out, "%s: %s\n", finding->allowed ? " (allowed)" : "", finding->message);
    print_excerpt(sink, finding);
    print_witness(sink, finding);
    if (finding->allowed)
        fprintf(out, "  %sallowed%s  %s\n", style->bold, style->reset, finding->allowed);
    else if (finding->hint)
        fprintf(out, "  %shelp%s  %s\n", style->bold, style->reset, finding->hint);
    fputc('\n', out);
}

static void text_close(struct hw_sink *sink)
{
    static const enum hw_severity order[] = {HW_SEVERITY_ERROR, HW_SEVERITY_WARNING, HW_SEVERITY_NOTE};
    if (sink->written == 0)
        return;
    const char *before = "";
    for (size_t i = 0; i < 3; i++) {
        size_t count = sink->by_severity[order[i]];
        if (!count)
            continue;
        fprintf(sink->options.out, "%s%zu %s%s", before, count, hw_severity_name(order[i]), count == 1 ? "" : "s");
        before = ", ";
    }
    if (sink->allowed)
        fprintf(sink->options.out, "%s%zu allowed", before, sink->allowed);
    fputc('\n', sink->options.out);
}

static void concise_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    FILE *out = sink->options.out;
    fprintf(out, "%s:%u:", hw_sink_path(sink, finding->filename), finding->start.row);
    if (finding->start.column)
        fprintf(out, "%u:", finding->start.column);
    fprintf(out, " %s %s", finding->rule->code, finding->message);
    if (finding->allowed)
        fprintf(out, " (allowed: %s)", finding->allowed);
    else if (finding->severity != HW_SEVERITY_ERROR)
        fprintf(out, " (%s)", hw_severity_name(finding->severity));
    fputc('\n', out);
}

const struct hw_sink_kind hw_sink_text = {"text", NULL, text_finding, text_close};
const struct hw_sink_kind hw_sink_concise = {"concise", NULL, concise_finding, text_close};
