/* GitHub workflow commands: one annotation a finding. */
#include "core/sink.h"

/* Percent-encodes what would end the command or one of its properties. */
static void escape(FILE *out, const char *text, bool property)
{
    for (; *text; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' || (property && (*text == ':' || *text == ',')))
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
    }
}

static void github_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    static const char *const commands[] = {"notice", "warning", "error"};
    FILE *out = sink->options.out;
    if (finding->allowed)
        return;
    fprintf(out, "::%s title=hookwatch (%s),file=", commands[finding->severity], finding->rule->code);
    escape(out, hw_sink_path(sink, finding->filename), true);
    fprintf(out, ",line=%u", finding->start.row);
    if (finding->start.column) {
        fprintf(out, ",col=%u,endLine=%u", finding->start.column, finding->end.row);
        if (finding->end.row == finding->start.row)
            fprintf(out, ",endColumn=%u", finding->end.column);
    }
    fputs("::", out);
    escape(out, hw_sink_path(sink, finding->filename), false);
    fprintf(out, ":%u:%u: %s ", finding->start.row, finding->start.column, finding->rule->code);
    escape(out, finding->message, false);
    if (finding->hook) {
        fputs(" (hook: ", out);
        escape(out, finding->hook, false);
        fputc(')', out);
    }
    fputc('\n', out);
}

const struct hw_sink_kind hw_sink_github = {"github", NULL, github_finding, NULL};
