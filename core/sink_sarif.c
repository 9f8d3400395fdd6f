/* SARIF 2.1.0: results streamed; the rules, which only the end knows to be used, follow them (members have no order). */
#include "core/sink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Column of a position in UTF-16 code units, which is what viewers count. */
static uint32_t utf16_column(struct hw_sink *sink, const char *filename, struct hw_position position)
{
    struct hw_text *text = hw_sink_source(sink, filename);
    if (!text || position.row == 0 || position.row > text->line_count)
        return position.column;
    uint32_t length, units = 0, points = 0;
    const char *line = hw_text_line(text, position.row - 1, &length);
    for (uint32_t i = 0; i < length && points + 1 < position.column; i++) {
        unsigned char c = (unsigned char)line[i];
        if ((c & 0xc0) == 0x80)
            continue;
        points++;
        units += c >= 0xf0 ? 2 : 1;
    }
    return position.column - points + units;
}

/* A relative path as a URI reference: everything but unreserved characters and '/' percent-encoded (RFC 3986). */
static char *uri_of(const char *path)
{
    static const char hex[] = "0123456789ABCDEF";
    bool absolute = path[0] == '/';
    char *uri = malloc(3 * strlen(path) + 8), *to = uri;
    if (!uri)
        return NULL;
    if (absolute)
        to += sprintf(to, "file://");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("/-._~", c);
        if (plain) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = hex[c >> 4];
            *to++ = hex[c & 15];
        }
    }
    *to = 0;
    return uri;
}

static yyjson_mut_val *artifact(yyjson_mut_doc *doc, const struct hw_sink *sink, const char *filename)
{
    const char *path = hw_sink_path(sink, filename);
    char *uri = uri_of(path);
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strcpy(doc, value, "uri", uri ? uri : "");
    if (path != filename)
        yyjson_mut_obj_add_str(doc, value, "uriBaseId", "SRCROOT");
    free(uri);
    return value;
}

static yyjson_mut_val *message(yyjson_mut_doc *doc, const char *text)
{
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strcpy(doc, value, "text", text);
    return value;
}

static yyjson_mut_val *location(yyjson_mut_doc *doc, struct hw_sink *sink, const struct hw_finding *finding)
{
    yyjson_mut_val *value = yyjson_mut_obj(doc), *physical = yyjson_mut_obj_add_obj(doc, value, "physicalLocation");
    yyjson_mut_obj_add_val(doc, physical, "artifactLocation", artifact(doc, sink, finding->filename));
    yyjson_mut_val *region = yyjson_mut_obj_add_obj(doc, physical, "region");
    yyjson_mut_obj_add_uint(doc, region, "startLine", finding->start.row);
    if (finding->start.column) {
        yyjson_mut_obj_add_uint(doc, region, "startColumn", utf16_column(sink, finding->filename, finding->start));
        yyjson_mut_obj_add_uint(doc, region, "endLine", finding->end.row);
        yyjson_mut_obj_add_uint(doc, region, "endColumn", utf16_column(sink, finding->filename, finding->end));
    }
    return value;
}

static void add_code_flow(yyjson_mut_doc *doc, struct hw_sink *sink, yyjson_mut_val *result, const struct hw_finding *finding)
{
    if (!finding->witness_count)
        return;
    yyjson_mut_val *flows = yyjson_mut_obj_add_arr(doc, result, "codeFlows");
    yyjson_mut_val *flow = yyjson_mut_arr_add_obj(doc, flows);
    yyjson_mut_val *thread = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, flow, "threadFlows"));
    yyjson_mut_val *steps = yyjson_mut_obj_add_arr(doc, thread, "locations");
    for (size_t i = 0; i < finding->witness_count; i++) {
        const struct hw_step *step = &finding->witness[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, steps), *place = yyjson_mut_obj_add_obj(doc, item, "location");
        yyjson_mut_val *physical = yyjson_mut_obj_add_obj(doc, place, "physicalLocation");
        yyjson_mut_obj_add_val(doc, physical, "artifactLocation", artifact(doc, sink, step->filename));
        yyjson_mut_obj_add_uint(doc, yyjson_mut_obj_add_obj(doc, physical, "region"), "startLine", step->row);
        yyjson_mut_val *logical = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, place, "logicalLocations"));
        yyjson_mut_obj_add_str(doc, logical, "fullyQualifiedName", step->function);
        yyjson_mut_obj_add_str(doc, logical, "kind", "function");
        bool last = i + 1 == finding->witness_count;
        yyjson_mut_obj_add_val(doc, place, "message", message(doc, last ? finding->message : i ? "calls on" : "the hook"));
        yyjson_mut_obj_add_uint(doc, item, "nestingLevel", i);
    }
}

static void sarif_open(struct hw_sink *sink)
{
    fputs("{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    "
          "{\n"
          "      \"columnKind\": \"utf16CodeUnits\",\n      \"results\": [",
          sink->options.out);
}

static void sarif_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    char fingerprint[48];
    uint64_t hash = hw_sink_fingerprint(sink, finding);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64 ":%u", hash, hw_sink_occurrence(sink, hash));
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, result, "ruleId", finding->rule->code);
    yyjson_mut_obj_add_uint(doc, result, "ruleIndex", (uint64_t)(finding->rule - hw_rules));
    yyjson_mut_obj_add_str(doc, result, "level", hw_severity_name(finding->severity));
    yyjson_mut_obj_add_val(doc, result, "message", message(doc, finding->message));
    yyjson_mut_arr_append(yyjson_mut_obj_add_arr(doc, result, "locations"), location(doc, sink, finding));
    add_code_flow(doc, sink, result, finding);
    yyjson_mut_val *prints = yyjson_mut_obj_add_obj(doc, result, "partialFingerprints");
    yyjson_mut_obj_add_str(doc, prints, "hookwatch/v1", fingerprint);
    if (finding->allowed) {
        yyjson_mut_val *suppression = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, result, "suppressions"));
        yyjson_mut_obj_add_str(doc, suppression, "kind", "inSource");
        yyjson_mut_obj_add_str(doc, suppression, "justification", finding->allowed);
    }
    fputs(sink->written ? ",\n" : "\n", sink->options.out);
    hw_sink_write_json(sink, doc, result, true, 8);
}

static yyjson_mut_val *rule_value(yyjson_mut_doc *doc, const struct hw_rule *rule)
{
    char full[256];
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, value, "id", rule->code);
    yyjson_mut_obj_add_str(doc, value, "name", rule->name);
    yyjson_mut_obj_add_val(doc, value, "shortDescription", message(doc, rule->name));
    snprintf(full, sizeof full, "This line %s.", rule->summary);
    yyjson_mut_obj_add_val(doc, value, "fullDescription", message(doc, full));
    if (hw_rule_url(rule))
        yyjson_mut_obj_add_str(doc, value, "helpUri", hw_rule_url(rule));
    yyjson_mut_val *help = yyjson_mut_obj_add_obj(doc, value, "help");
    yyjson_mut_obj_add_str(doc, help, "text", hw_rule_page(rule));
    yyjson_mut_obj_add_str(doc, help, "markdown", hw_rule_page(rule));
    yyjson_mut_val *configuration = yyjson_mut_obj_add_obj(doc, value, "defaultConfiguration");
    yyjson_mut_obj_add_str(doc, configuration, "level", hw_severity_name(rule->severity));
    return value;
}

static void sarif_close(struct hw_sink *sink)
{
    FILE *out = sink->options.out;
    fputs(sink->written ? "\n      ],\n      \"tool\": " : "],\n      \"tool\": ", out);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *tool = yyjson_mut_obj(doc), *driver = yyjson_mut_obj_add_obj(doc, tool, "driver");
    yyjson_mut_obj_add_str(doc, driver, "name", "hookwatch");
    yyjson_mut_obj_add_str(doc, driver, "version", HW_VERSION);
    yyjson_mut_obj_add_str(doc, driver, "semanticVersion", HW_VERSION);
    yyjson_mut_val *rules = yyjson_mut_obj_add_arr(doc, driver, "rules");
    for (size_t i = 0; i < hw_rules_count; i++)
        yyjson_mut_arr_append(rules, rule_value(doc, &hw_rules[i]));
    hw_sink_write_json(sink, doc, tool, false, 0);
    fputs(",\n      \"originalUriBaseIds\": {\"SRCROOT\": {\"uri\": ", out);
    doc = yyjson_mut_doc_new(NULL);
    char base[4200];
    char *uri = uri_of(sink->base ? sink->base : "/");
    snprintf(base, sizeof base, "%s%s", uri ? uri : "file:///", uri && uri[strlen(uri) - 1] == '/' ? "" : "/");
    free(uri);
    hw_sink_write_json(sink, doc, yyjson_mut_strcpy(doc, base), false, 0);
    fputs("}}\n    }\n  ]\n}\n", out);
}

const struct hw_sink_kind hw_sink_sarif = {"sarif", sarif_open, sarif_finding, sarif_close};
