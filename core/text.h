/* One Python file in memory: its text as UTF-8 and its lines. */
#ifndef HW_CORE_TEXT_H
#define HW_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hw_text {
    char *path; /* absolute */
    char *text; /* valid UTF-8, no BOM, no NUL byte before text[size] */
    uint32_t size;
    uint32_t *lines; /* byte offset of each line; lines[line_count] == size */
    uint32_t line_count;
    void *attachment; /* what the owner hangs on it, released with it */
    void (*release)(void *attachment);
    uint32_t seen_row, seen_byte, seen_column; /* the last column asked for, so that long lines are counted once */
};

/* Reads `path`. A coding cookie is honoured; bytes that do not decode become U+FFFD. NULL with errno set when the file
 * cannot be read (EFBIG over 1 GiB). The caller frees the result. */
struct hw_text *hw_text_read(const char *path);

/* The same from memory; `path` is used as the name. */
struct hw_text *hw_text_from_bytes(const char *path, const char *bytes, size_t size);

/* A malloc'd copy in which bytes that are no UTF-8 are U+FFFD: file names may hold any. */
char *hw_text_valid_utf8(const char *bytes);

void hw_text_free(struct hw_text *source);

/* 1-based column, in code points, of a byte offset inside 0-based row `row`. */
uint32_t hw_text_column(struct hw_text *source, uint32_t row, uint32_t byte);

/* Text of a 0-based row without its line ending. */
const char *hw_text_line(const struct hw_text *source, uint32_t row, uint32_t *length);

#endif
