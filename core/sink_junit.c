/* JUnit XML: one test case a finding, failed unless it is allowed or a note. */
#include "core/sink.h"

#include <string.h>

static void escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char *entity = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
        if (entity)
            fputs(entity, out);
        else if (c >= 0x20 || c == '\t')
            fputc(c, out);
        else
            fputc('?', out); /* XML 1.0 has no other control characters */
    }
}

static void junit_open(struct hw_sink *sink)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hookwatch\">\n  <testsuite name=\"hookwatch\">\n",
          sink->options.out);
}

static void junit_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    FILE *out = sink->options.out;
    const char *path = hw_sink_path(sink, finding->filename);
    fputs("    <testcase classname=\"", out);
    escape(out, path);
    fprintf(out, "\" name=\"%s\" file=\"", finding->rule->code);
    escape(out, path);
    fprintf(out, "\" line=\"%u\">\n", finding->start.row);
    bool failure = !finding->allowed && finding->severity != HW_SEVERITY_NOTE;
    if (failure) {
        fputs("      <failure message=\"", out);
        escape(out, finding->message);
        fprintf(out, "\" type=\"%s\">", hw_severity_name(finding->severity));
        escape(out, path);
        fprintf(out, ":%u:%u: %s ", finding->start.row, finding->start.column, finding->rule->code);
        escape(out, finding->message);
        fputs("</failure>\n", out);
    } else {
        fputs("      <system-out>", out);
        escape(out, finding->message);
        if (finding->allowed) {
            fputs(" (allowed: ", out);
            escape(out, finding->allowed);
            fputc(')', out);
        }
        fputs("</system-out>\n", out);
    }
    fputs("    </testcase>\n", out);
}

static void junit_close(struct hw_sink *sink)
{
    if (sink->written == 0)
        fputs("    <testcase classname=\"hookwatch\" name=\"no findings\"/>\n", sink->options.out);
    fputs("  </testsuite>\n</testsuites>\n", sink->options.out);
}

const struct hw_sink_kind hw_sink_junit = {"junit", junit_open, junit_finding, junit_close};
