/* Opening, feeding and closing sinks; paths, quoted sources and fingerprints for all formats. */
#include "core/sink.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct hw_sink_kind *const kinds[] = {
    [HW_FORMAT_TEXT] = &hw_sink_text,     [HW_FORMAT_CONCISE] = &hw_sink_concise,
    [HW_FORMAT_JSON] = &hw_sink_json,     [HW_FORMAT_JSON_LINES] = &hw_sink_json_lines,
    [HW_FORMAT_GITHUB] = &hw_sink_github, [HW_FORMAT_GITLAB] = &hw_sink_gitlab,
    [HW_FORMAT_SARIF] = &hw_sink_sarif,   [HW_FORMAT_JUNIT] = &hw_sink_junit,
};

const char hw_format_names[] = "text, concise, json, json-lines, github, gitlab, sarif, junit";

int hw_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i]->name, name))
            return (int)i;
    return -1;
}

struct hw_sink *hw_sink_open(const struct hw_sink_options *options)
{
    struct hw_sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return NULL;
    sink->options = *options;
    sink->kind = kinds[options->format];
    sink->base = realpath(options->base_dir ? options->base_dir : ".", NULL);
    sink->base_length = sink->base ? strlen(sink->base) : 0;
    if (sink->base_length == 1) /* "/" */
        sink->base_length = 0;
    if (sink->kind->open)
        sink->kind->open(sink);
    return sink;
}

void hw_sink_finding(struct hw_sink *sink, const struct hw_finding *finding)
{
    /* A file's name may be no UTF-8; what is printed must be. */
    struct hw_finding valid = *finding;
    char *filename = hw_text_valid_utf8(finding->filename), *message = hw_text_valid_utf8(finding->message),
         *hook = finding->hook ? hw_text_valid_utf8(finding->hook) : NULL;
    if (strcmp(filename, finding->filename) != 0 || strcmp(message, finding->message) != 0 ||
        (hook && strcmp(hook, finding->hook) != 0)) {
        valid.filename = filename;
        valid.message = message;
        valid.hook = hook;
        valid.witness_count = 0; /* its steps carry the same names */
    }
    sink->kind->finding(sink, &valid);
    free(filename);
    free(message);
    free(hook);
    sink->written++;
    if (finding->allowed)
        sink->allowed++;
    else
        sink->by_severity[finding->severity]++;
}

int hw_sink_close(struct hw_sink *sink)
{
    if (sink->kind->close)
        sink->kind->close(sink);
    errno = 0;
    bool failed = fflush(sink->options.out) != 0 || ferror(sink->options.out);
    int error = errno ? errno : EIO;
    hw_text_free(sink->text);
    free(sink->text_path);
    free(sink->base);
    free(sink->state);
    free(sink);
    errno = failed ? error : 0;
    return failed ? -1 : 0;
}

const char *hw_sink_path(const struct hw_sink *sink, const char *filename)
{
    if (sink->base && !strncmp(filename, sink->base, sink->base_length) && filename[sink->base_length] == '/')
        return filename + sink->base_length + 1;
    return filename;
}

struct hw_text *hw_sink_source(struct hw_sink *sink, const char *filename)
{
    const struct hw_sink_options *options = &sink->options;
    if (!sink->text_path || strcmp(sink->text_path, filename)) {
        hw_text_free(sink->text);
        free(sink->text_path);
        sink->text_path = strdup(filename);
        sink->text = options->overlay_filename && !strcmp(options->overlay_filename, filename)
                         ? hw_text_from_bytes(filename, options->overlay_text, options->overlay_size)
                         : hw_text_read(filename);
    }
    return sink->text;
}

/* FNV-1a: short, and the same everywhere. */
static uint64_t hash(uint64_t state, const char *text, size_t length, bool skip_spaces)
{
    for (size_t i = 0; i < length; i++) {
        if (skip_spaces && (text[i] == ' ' || text[i] == '\t'))
            continue;
        state = (state ^ (unsigned char)text[i]) * 0x100000001b3u;
    }
    return (state ^ 0xff) * 0x100000001b3u;
}

uint64_t hw_sink_fingerprint(struct hw_sink *sink, const struct hw_finding *finding)
{
    uint64_t state = 0xcbf29ce484222325u;
    const char *path = hw_sink_path(sink, finding->filename);
    state = hash(state, finding->rule->code, strlen(finding->rule->code), false);
    state = hash(state, path, strlen(path), false);
    if (finding->witness_count) {
        const char *function = finding->witness[finding->witness_count - 1].function;
        state = hash(state, function, strlen(function), false);
    }
    struct hw_text *text = hw_sink_source(sink, finding->filename);
    if (text) {
        uint32_t length;
        const char *line = hw_text_line(text, finding->start.row - 1, &length);
        state = hash(state, line, length, true);
    }
    return state;
}

struct seen {
    size_t count, room;
    struct {
        uint64_t fingerprint;
        unsigned times;
    } items[];
};

unsigned hw_sink_occurrence(struct hw_sink *sink, uint64_t fingerprint)
{
    struct seen *seen = sink->state;
    for (size_t i = 0; seen && i < seen->count; i++)
        if (seen->items[i].fingerprint == fingerprint)
            return seen->items[i].times++;
    size_t count = seen ? seen->count : 0;
    if (!seen || count == seen->room) {
        size_t room = count * 2 + 64;
        struct seen *grown = realloc(seen, sizeof *seen + room * sizeof *seen->items);
        if (!grown)
            return 0;
        grown->room = room;
        grown->count = count;
        sink->state = seen = grown;
    }
    seen->items[count].fingerprint = fingerprint;
    seen->items[count].times = 1;
    seen->count++;
    return 0;
}

void hw_sink_write_json(struct hw_sink *sink, yyjson_mut_doc *doc, yyjson_mut_val *value, bool pretty, unsigned indent)
{
    size_t length = 0;
    yyjson_write_flag flags = (pretty ? YYJSON_WRITE_PRETTY_TWO_SPACES : 0) | YYJSON_WRITE_ALLOW_INVALID_UNICODE;
    char *text = yyjson_mut_val_write(value, flags, &length);
    for (size_t i = 0; text && i < length;) { /* indent each line as part of a larger document */
        size_t end = i;
        while (end < length && text[end] != '\n')
            end++;
        fprintf(sink->options.out, "%*s%.*s", (int)indent, "", (int)(end - i), text + i);
        if (end < length)
            fputc('\n', sink->options.out);
        i = end + 1;
    }
    free(text);
    yyjson_mut_doc_free(doc);
}
