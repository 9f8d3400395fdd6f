/* Which files a list of paths means. */
#ifndef HW_LINT_DISCOVER_H
#define HW_LINT_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "lint/settings.h"

struct hw_file {
    char *path;           /* absolute, symbolic links resolved */
    const char *argument; /* the absolute path of the argument, or of the project, that led here */
    bool named;           /* by an argument; the others are the world around those */
};

struct hw_files {
    struct hw_file *items;
    size_t count, room;
    char **arguments;
    size_t argument_count;
};

/* Files as named, and below directories each *.py and *.pyi: what `git ls-files` knows or does not ignore where the directory
 * is in a repository, else all that lies there; hidden, build and environment directories, symbolic links to directories,
 * what the settings exclude and whatever is no regular file are skipped. A file that is named is taken though excluded,
 * unless force_exclude. Then the files of the projects that the arguments and `beside` (may be NULL) belong to, not named:
 * the nearest directory with a configuration, else the repository. Sorted, each file once. Returns 0, or -1 after one line on
 * stderr. hw_discover_free releases in both cases. */
int hw_discover(const char *const *paths, size_t count, const char *beside, struct hw_projects *projects, bool force_exclude,
                struct hw_files *files);
void hw_discover_free(struct hw_files *files);

#endif
