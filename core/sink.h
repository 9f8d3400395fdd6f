/* What the sinks share: one table of formats, each with three functions. */
#ifndef HW_CORE_SINK_H
#define HW_CORE_SINK_H

#include "core/finding.h"
#include "core/text.h"

#include <yyjson.h>

struct hw_sink {
    struct hw_sink_options options;
    const struct hw_sink_kind *kind;
    char *base; /* directory that shown paths are relative to, without a final slash */
    size_t base_length;
    size_t written; /* findings so far */
    size_t by_severity[3], allowed;
    struct hw_text *text; /* the source file quoted last; NULL when it cannot be read */
    char *text_path;
    void *state; /* the format's own, freed by free() */
};

struct hw_sink_kind {
    const char *name;
    void (*open)(struct hw_sink *sink);
    void (*finding)(struct hw_sink *sink, const struct hw_finding *finding);
    void (*close)(struct hw_sink *sink);
};

extern const struct hw_sink_kind hw_sink_text, hw_sink_concise, hw_sink_json, hw_sink_json_lines, hw_sink_github,
    hw_sink_gitlab, hw_sink_sarif, hw_sink_junit;

/* The path as shown: relative to the base directory when it lies below it. */
const char *hw_sink_path(const struct hw_sink *sink, const char *filename);

/* The file's text, or NULL. Valid until the next call. */
struct hw_text *hw_sink_source(struct hw_sink *sink, const char *filename);

/* A 64-bit hash of what a finding is, not of where it stands: rule, path, hook, function and the line's text without spaces. */
uint64_t hw_sink_fingerprint(struct hw_sink *sink, const struct hw_finding *finding);

/* How often this fingerprint was asked for before: tells equal lines apart. */
unsigned hw_sink_occurrence(struct hw_sink *sink, uint64_t fingerprint);

/* Writes one JSON value and frees the document. */
void hw_sink_write_json(struct hw_sink *sink, yyjson_mut_doc *doc, yyjson_mut_val *value, bool pretty, unsigned indent);

#endif
