/* One finding, whoever made it, and the sinks that print findings. */
#ifndef HW_CORE_FINDING_H
#define HW_CORE_FINDING_H

#include "core/rules.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Row and column are 1-based; a column counts code points of the UTF-8 line (a tab is one). column 0: unknown. */
struct hw_position {
    uint32_t row;
    uint32_t column;
};

/* One step of a witness: `function` (qualified name) calls the next step at filename:row. */
struct hw_step {
    const char *function;
    const char *filename; /* absolute */
    uint32_t row;
};

/* One replacement of text that keeps what the program computes. */
struct hw_fix {
    const char *message;           /* what it does, an imperative phrase */
    const char *content;           /* what stands there afterwards */
    uint32_t first, last;          /* bytes [first, last) of the file's text as UTF-8 without BOM */
    struct hw_position start, end; /* the same as rows and columns */
};

/* All strings are borrowed for the duration of the call that receives the finding. */
struct hw_finding {
    const struct hw_rule *rule;
    enum hw_severity severity; /* rule->severity, or lower */
    const char *message;       /* one sentence, no code, no full stop */
    const char *filename;      /* absolute path */
    struct hw_position start;  /* the token that waits: method name, operator, callee */
    struct hw_position end;    /* just after the expression */
    uint32_t statement_first;  /* rows of the whole statement: report joins run-time lines with them */
    uint32_t statement_last;
    const char *hook;              /* qualified name of the hook root that reaches the line */
    const char *allowed;           /* reason of the directive that allows it, else NULL */
    const struct hw_fix *fix;      /* NULL: there is no safe one */
    const char *hint;              /* what to do instead, else NULL */
    const struct hw_step *witness; /* the root first, then each call down to the line */
    size_t witness_count;
};

enum hw_format {
    HW_FORMAT_TEXT,
    HW_FORMAT_CONCISE,
    HW_FORMAT_JSON,
    HW_FORMAT_JSON_LINES,
    HW_FORMAT_GITHUB,
    HW_FORMAT_GITLAB,
    HW_FORMAT_SARIF,
    HW_FORMAT_JUNIT
};

/* The format of a name such as "sarif"; -1 if unknown. hw_format_names lists them for messages. */
int hw_format_find(const char *name);
extern const char hw_format_names[];

/* A sink prints findings as they come; nothing is held back but what a format's grammar demands. */
struct hw_sink;

struct hw_sink_options {
    enum hw_format format;
    FILE *out;
    bool color;                   /* ANSI colours in text */
    const char *base_dir;         /* text and SARIF show paths relative to it; NULL: the current directory */
    const char *overlay_filename; /* not NULL: the text of this file is overlay_text, not what is on the disk */
    const char *overlay_text;
    size_t overlay_size;
};

/* NULL when out of memory. The caller owns the sink and ends it with hw_sink_close, which prints the closing part
 * and returns 0, or -1 with errno when writing failed. */
struct hw_sink *hw_sink_open(const struct hw_sink_options *options);
void hw_sink_finding(struct hw_sink *sink, const struct hw_finding *finding);
int hw_sink_close(struct hw_sink *sink);

#endif
