/* The word somebody meant: for messages about unknown commands, keys and codes. */
#include "core/nearest.h"

#include <string.h>

/* Edits (insert, delete, replace, swap of neighbours) between two short words. */
static size_t distance(const char *left, const char *right)
{
    enum { LONGEST = 40 };
    size_t rows[LONGEST + 1][LONGEST + 1], n = strlen(left), m = strlen(right);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            size_t best = rows[i - 1][j - 1] + (left[i - 1] != right[j - 1]);
            if (rows[i - 1][j] + 1 < best)
                best = rows[i - 1][j] + 1;
            if (rows[i][j - 1] + 1 < best)
                best = rows[i][j - 1] + 1;
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] && rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    return rows[n][m];
}

const char *hw_nearest(const char *word, const char *const *candidates, size_t count, size_t limit)
{
    const char *nearest = NULL;
    size_t best = limit + 1;
    for (size_t i = 0; i < count; i++) {
        size_t edits = distance(word, candidates[i]);
        if (edits < best) {
            best = edits;
            nearest = candidates[i];
        }
    }
    return nearest;
}
