/* The word somebody meant: for messages about unknown commands, keys and codes. */
#ifndef HW_CORE_NEAREST_H
#define HW_CORE_NEAREST_H

#include <stddef.h>

/* The candidate with the fewest edits (insert, delete, replace, swap of neighbours) from `word`, the first of equals; NULL
 * where all are further than `limit`. */
const char *hw_nearest(const char *word, const char *const *candidates, size_t count, size_t limit);

#endif
