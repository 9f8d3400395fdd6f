/* The syntax tree of a Python file. */
#ifndef HW_LINT_SOURCE_H
#define HW_LINT_SOURCE_H

#include <tree_sitter/api.h>

#include "core/text.h"

/* Parses once; returns the root. The tree lives as long as the text. */
TSNode hw_source_parse(struct hw_text *text);

#endif
