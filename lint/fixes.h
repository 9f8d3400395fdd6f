/* Safe fixes: collected while findings are emitted, then applied file by file. */
#ifndef HW_LINT_FIXES_H
#define HW_LINT_FIXES_H

#include "core/finding.h"

struct hw_fixes;

struct hw_fixes *hw_fixes_new(void);
void hw_fixes_free(struct hw_fixes *fixes); /* NULL is fine */

/* Takes the finding's fix; false if it overlaps one taken before. */
bool hw_fixes_add(struct hw_fixes *fixes, const struct hw_finding *finding);

/* Writes the changed files and says how many fixes were made on stderr. 0, or -1 after one line on stderr. */
int hw_fixes_apply(struct hw_fixes *fixes);

/* Prints each change as the lines before and after. */
void hw_fixes_show(struct hw_fixes *fixes, FILE *out);

#endif
