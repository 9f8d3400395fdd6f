/* Which files a list of paths means. */
#ifndef HW_LINT_DISCOVER_H
#define HW_LINT_DISCOVER_H

#include <stddef.h>

struct hw_file {
    char *path;           /* absolute, symbolic links resolved */
    const char *argument; /* the absolute path of the argument that led here */
};

struct hw_files {
    struct hw_file *items;
    size_t count, room;
    char **arguments;
    size_t argument_count;
};

/* Files as named, and below directories each *.py and *.pyi in order of name; hidden, build and environment directories and
 * symbolic links to directories are skipped, as is whatever is no regular file. Sorted, each file once. Returns 0, or -1
 * after one line on stderr. hw_discover_free releases in both cases. */
int hw_discover(const char *const *paths, size_t count, struct hw_files *files);
void hw_discover_free(struct hw_files *files);

#endif
