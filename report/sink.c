/* The views that lint has too: report rows as findings for the shared sinks. */
#define _GNU_SOURCE
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

static char *describe(const struct hw_report *report, const struct hw_report_row *r)
{
    char *text = NULL;
    int n;
    if (report->steps)
        n = asprintf(&text, "%s: %llu time%s in %llu steps%s%s", r->rule->summary, (unsigned long long)r->count,
                     r->count == 1 ? "" : "s", (unsigned long long)report->steps, r->api[0] ? ", " : "", r->api);
    else
        n = asprintf(&text, "%s: %llu time%s%s%s", r->rule->summary, (unsigned long long)r->count, r->count == 1 ? "" : "s",
                     r->api[0] ? ", " : "", r->api);
    return n < 0 ? NULL : text;
}

int hw_report_sink(const struct hw_report *report, enum hw_format format, FILE *out)
{
    struct hw_sink_options options = {.format = format, .out = out};
    struct hw_sink *sink = hw_sink_open(&options);
    if (!sink)
        return -1;
    for (size_t i = 0; i < report->row_count; i++) {
        const struct hw_report_row *r = &report->rows[i];
        if (!r->rule || r->scope == HW_SCOPE_FRAMEWORK || !r->seen)
            continue;
        char *message = describe(report, r);
        struct hw_step root = {.function = r->hook, .filename = r->hook_filename, .row = r->row};
        struct hw_finding finding = {
            .rule = r->rule,
            .severity = r->severity,
            .message = message ? message : r->rule->summary,
            .filename = r->filename[0]        ? r->filename
                        : r->hook_filename[0] ? r->hook_filename
                                              : "(no Python line)",
            .start = r->start.row ? r->start : (struct hw_position){r->row ? r->row : 1, 0},
            .end = r->end.row ? r->end : (struct hw_position){r->row ? r->row : 1, 0},
            .statement_first = r->row,
            .statement_last = r->row,
            .hook = r->hook,
            .allowed = r->allowed,
            .witness = &root,
            .witness_count = r->hook[0] && r->hook_filename[0] ? 1 : 0,
        };
        hw_sink_finding(sink, &finding);
        free(message);
    }
    return hw_sink_close(sink);
}
