/* The shim's side of the trace file: open, allocate records, intern strings. No malloc; locks nothing. */
#ifndef HW_TRACE_WRITER_H
#define HW_TRACE_WRITER_H

#include "interpose/trace/layout.h"

#include <stdbool.h>
#include <stddef.h>

/* The mapped file of this process, NULL until hw_trace_open. */
extern struct hw_trace_header *hw_trace;

/* Creates and maps the file in `dir`. False, with nothing left behind, when the disk or the file system refuses. */
bool hw_trace_open(const char *dir);

/* Marks the end and brings a node-local trace over to its directory. */
void hw_trace_finish(void);

/* Forgets the parent's file in a forked child. */
void hw_trace_after_fork(void);

/* `bytes` of zeroed record space (rounded up to eight), or 0 when the file is full. The kind is set last, by the caller,
 * with hw_trace_publish. */
uint32_t hw_trace_allocate(size_t bytes);
void hw_trace_publish(uint32_t offset, enum hw_record_kind kind);
static inline void *hw_trace_at(uint32_t offset)
{
    return (char *)hw_trace + offset;
}

/* Offset of a string record with these bytes, made on first use; 0 when the file is full or `text` is NULL. */
uint32_t hw_trace_string(const char *text, size_t length);

#endif
