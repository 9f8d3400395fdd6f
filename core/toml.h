/* TOML 1.0 documents: syntax by tree-sitter-toml, keys, escapes, numbers and duplicates by the rules of the language. */
#ifndef HW_CORE_TOML_H
#define HW_CORE_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"

enum hw_toml_kind { HW_TOML_STRING, HW_TOML_NUMBER, HW_TOML_BOOLEAN, HW_TOML_DATE, HW_TOML_ARRAY, HW_TOML_TABLE };

/* One value. Everything it points to lies in the arena it was parsed into. */
struct hw_toml {
    enum hw_toml_kind kind;
    const char *key;  /* in its table; "" in an array and at the top */
    uint32_t row;     /* 1-based: of its key, or of the value itself in an array */
    const char *text; /* STRING: its value; NUMBER, BOOLEAN, DATE: as written */
    size_t length;    /* of text: a string may hold NUL */
    struct hw_toml **items;
    size_t count, room;
    bool frozen, defined; /* closed to later additions; defined by a header or by dotted keys of an earlier section */
};

/* Parses bytes[0..size). NULL when they are no TOML: *row and *error (in the arena) then say where and what. */
struct hw_toml *hw_toml_parse(struct hw_arena *arena, const char *bytes, size_t size, uint32_t *row, const char **error);

/* The value of a key in a table; NULL if there is none, or `table` is NULL or no table. */
struct hw_toml *hw_toml_get(const struct hw_toml *table, const char *key);

#endif
