/* Reading trace files. Nothing in them is trusted: every offset and length is checked before use. */
#ifndef HW_TRACE_READER_H
#define HW_TRACE_READER_H

#include "interpose/trace/layout.h"

#include <stdbool.h>
#include <stddef.h>

struct hw_trace_view {
    char *path;
    struct hw_trace_header header; /* a copy, texts terminated */
    char *data;                    /* a copy of the file */
    size_t size;                   /* of the copy */
    size_t used;                   /* bytes that hold the header and records */
    bool cut;                      /* the writer used more: the file is damaged or was cut */
};

/* Opens a trace. Returns 0; or -1 with a line in `error` that names the file and what is wrong with it. */
int hw_trace_view_open(const char *path, struct hw_trace_view *view, char *error, size_t error_size);
void hw_trace_view_close(struct hw_trace_view *view);

/* Walks the finished records. *cursor starts at 0; NULL at the end. */
const struct hw_record *hw_trace_view_next(const struct hw_trace_view *view, size_t *cursor);

/* The text of a string record, "" for 0 and for anything that is none. Lives as long as the view. */
const char *hw_trace_view_text(const struct hw_trace_view *view, uint32_t offset);

/* The site record at an offset, NULL if there is none. */
const struct hw_record_site *hw_trace_view_site(const struct hw_trace_view *view, uint32_t offset);

/* The paths of the traces in `dir`, those on node-local disks of this host included (they are found through their pointer
 * files). Returns the count and a malloc'd array of malloc'd paths, or -1 with errno when `dir` cannot be read; *elsewhere
 * counts pointers to traces that are not on this host. */
long hw_trace_list(const char *dir, char ***paths, size_t *elsewhere);

#endif
