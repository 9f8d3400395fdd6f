/* The linter's door: what cli and report call. */
#ifndef HW_LINT_H
#define HW_LINT_H

#include "core/finding.h"

struct hw_lint_options {
    const char *const *paths; /* files and directories, as given on the command line */
    size_t path_count;
    bool show_allowed;         /* also report findings that a directive allows (finding.allowed is set) */
    const char *const *select; /* codes or their prefixes (HW1, HW201) to report; none: those of the configuration, else all */
    size_t select_count;
    const char *const *ignore; /* the same, left out; none: those of the configuration */
    size_t ignore_count;
    const char *config;         /* a file that settles everything; NULL: the nearest configuration above each file */
    bool force_exclude;         /* leave out what the configuration excludes even if it is named */
    const char *stdin_filename; /* absolute; not NULL: lint stdin_text under this name too */
    const char *stdin_text;
    size_t stdin_size;
};

struct hw_lint_stats {
    size_t files, hooks, findings, allowed, notes;
};

/* Calls `emit` for each finding, ordered by file, row, column. Returns 0, or -1 after one line on stderr that names the file
 * and what to do (no such path, unreadable). `stats` may be NULL. */
int hw_lint_run(const struct hw_lint_options *options, void (*emit)(const struct hw_finding *finding, void *user), void *user,
                struct hw_lint_stats *stats);

/* Looks for an allow directive that binds to `code` at `row` of `filename`. 1: allowed, *reason is malloc'd and the caller's;
 * 0: not allowed; -1: the source cannot be read. */
int hw_lint_allowed(const char *filename, uint32_t row, const char *code, char **reason);

/* The absolute path a name means, whether or not there is such a file. malloc'd. */
char *hw_lint_absolute(const char *filename);

#endif
