/* JSON in ruff's shape, as one array or one object a line; GitLab's code quality report. */
#include "core/sink.h"

#include <inttypes.h>
#include <stdlib.h>

static yyjson_mut_val *position(yyjson_mut_doc *doc, struct hw_position position)
{
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, value, "row", position.row);
    yyjson_mut_obj_add_uint(doc, value, "column", position.column);
    return value;
}

/* In ruff's shape: what it does, and its one edit. */
static void add_fix(yyjson_mut_doc *doc, yyjson_mut_val *value, const struct hw_finding *finding)
{
    const struct hw_fix *fix = finding->fix;
    if (!fix) {
        yyjson_mut_obj_add_null(doc, value, "fix");
        return;
    }
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, value, "fix");
    yyjson_mut_obj_add_str(doc, object, "applicability", "safe");
    yyjson_mut_obj_add_str(doc, object, "message", fix->message);
    yyjson_mut_val *edit = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, object, "edits"));
    yyjson_mut_obj_add_str(doc, edit, "content", fix->content);
    yyjson_mut_obj_add_val(doc, edit, "location", position(doc, fix->start));
    yyjson_mut_obj_add_val(doc, edit, "end_location", position(doc, fix->end));
}

static yyjson_mut_val *finding_value(yyjson_mut_doc *doc, const struct hw_finding *finding)
{
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, value, "code", finding->rule->code);
    yyjson_mut_obj_add_str(doc, value, "name", finding->rule->name);
    yyjson_mut_obj_add_str(doc, value, "message", finding->message);
    yyjson_mut_obj_add_str(doc, value, "filename", finding->filename);
    yyjson_mut_obj_add_val(doc, value, "location", position(doc, finding->start));
    yyjson_mut_obj_add_val(doc, value, "end_location", position(doc, finding->end));
    yyjson_mut_obj_add_str(doc, value, "severity", hw_severity_name(finding->severity));
    if (hw_rule_url(finding->rule))
        yyjson_mut_obj_add_str(doc, value, "url", hw_rule_url(finding->rule));
    else
        yyjson_mut_obj_add_null(doc, value, "url");
    add_fix(doc, value, finding);
    if (finding->allowed)
        yyjson_mut_obj_add_str(doc, value, "allowed", finding->allowed);
    else
        yyjson_mut_obj_add_null(doc, value, "allowed");
    yyjson_mut_val *witness = yyjson_mut_obj_add_arr(doc, value, "witness");
    for (size_t i = 0; i < finding->witness_count; i++) {
        yyjson_mut_val *step = yyjson_mut_arr_add_obj(doc, witness);
        yyjson_mut_obj_add_str(doc, step, "function", finding->witness[i].function);
        yyjson_mut_obj_add_str(doc, step, "filename", finding->witness[i].filename);
        yyjson_mut_obj_add_uint(doc, step, "row", finding->witness[i].row);
    }
    return value;
}

static void array_open(struct hw_sink *sink)
{
    fputc('[', sink->options.out);
}

static void array_separator(struct hw_sink *sink)
{
    fputs(sink->written ? ",\n" : "\n", sink->options.out);
}

static void array_close(struct hw_sink *sink)
{
    fputs(sink->written ? "\n]\n" : "]\n", sink->options.out);
}

static void json_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    array_separator(sink);
    hw_sink_write_json(sink, doc, finding_value(doc, finding), true, 2);
}

static void line_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    hw_sink_write_json(sink, doc, finding_value(doc, finding), false, 0);
    fputc('\n', sink->options.out);
}

/* https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format */
static void gitlab_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    static const char *const severities[] = {"info", "minor", "major"};
    if (finding->allowed)
        return;
    char fingerprint[48];
    uint64_t hash = hw_sink_fingerprint(sink, finding);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64 ":%u", hash, hw_sink_occurrence(sink, hash));
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, value, "check_name", finding->rule->code);
    yyjson_mut_obj_add_str(doc, value, "description", finding->message);
    yyjson_mut_obj_add_str(doc, value, "severity", severities[finding->severity]);
    yyjson_mut_obj_add_str(doc, value, "fingerprint", fingerprint);
    yyjson_mut_val *location = yyjson_mut_obj_add_obj(doc, value, "location");
    yyjson_mut_obj_add_str(doc, location, "path", hw_sink_path(sink, finding->filename));
    yyjson_mut_val *lines = yyjson_mut_obj_add_obj(doc, location, "lines");
    yyjson_mut_obj_add_uint(doc, lines, "begin", finding->start.row);
    yyjson_mut_obj_add_uint(doc, lines, "end", finding->end.row);
    array_separator(sink);
    hw_sink_write_json(sink, doc, value, true, 2);
}

const struct hw_sink_kind hw_sink_json = {"json", array_open, json_finding, array_close};
const struct hw_sink_kind hw_sink_json_lines = {"json-lines", NULL, line_finding, NULL};
const struct hw_sink_kind hw_sink_gitlab = {"gitlab", array_open, gitlab_finding, array_close};
