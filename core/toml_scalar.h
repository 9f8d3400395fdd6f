/* TOML's strings, numbers and dates, one token at a time. */
#ifndef HW_CORE_TOML_SCALAR_H
#define HW_CORE_TOML_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/memory.h"

/* The value of a string token, quotes included: basic, literal, or either in its multi-line form. NULL with *error set. */
const char *hw_toml_string(struct hw_arena *arena, const char *token, size_t size, size_t *length, const char **error);

/* Whether a token that looks like a number is one: underscores between digits, no leading zero. */
bool hw_toml_number_valid(const char *token);

/* Whether a token that looks like a date, a time or both names one that exists. */
bool hw_toml_date_valid(const char *token);

#endif
