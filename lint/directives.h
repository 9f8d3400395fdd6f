/* Allow directives: "# hookwatch: allow HW201 -- reason", for collectives also "allow HW201 max=64KiB -- reason". */
#ifndef HW_LINT_DIRECTIVES_H
#define HW_LINT_DIRECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rules.h"
#include "lint/source.h"

struct hw_directive {
    uint32_t row;        /* 1-based */
    uint32_t start, end; /* bytes of the comment */
    bool alone;          /* the comment is all there is on its line */
    bool used;
    const struct hw_rule *rule; /* NULL: malformed */
    const char *fault;          /* what is wrong with a malformed one */
    uint64_t max_bytes;         /* of max=, else 0 */
    char *reason;
};

struct hw_directives {
    struct hw_directive *items;
    size_t count;
};

/* Every comment of the parsed source that addresses hookwatch. The caller frees. */
struct hw_directives *hw_directives_read(struct hw_text *source);
void hw_directives_free(struct hw_directives *directives);

/* The directive for `code` that binds to the statement on rows first..last (on any of its lines, or alone above it); NULL
 * if there is none. */
struct hw_directive *hw_directives_find(struct hw_directives *directives, const char *code, uint32_t first, uint32_t last);

#endif
