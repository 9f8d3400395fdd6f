/* The one glob matcher: '*' matches any run of bytes, '/' included, '?' one byte. No allocation, no locale, no recursion,
 * so that the injected shim and lint agree on every name. */
#ifndef HW_CORE_GLOB_H
#define HW_CORE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

static inline bool hw_glob_match(const char *glob, const char *text)
{
    const char *star = NULL, *mark = NULL;
    while (*text) {
        if (*glob == '*') {
            star = glob++;
            mark = text;
        } else if (*glob == '?' || *glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++mark;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

#endif
