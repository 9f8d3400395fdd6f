/* What a path says about a file: framework, test or documentation, and which project's configuration covers it. */
#ifndef HW_LINT_PROJECT_H
#define HW_LINT_PROJECT_H

#include <stdbool.h>

/* Whether core/roots.def counts the file's hooks as a framework's own. */
bool hw_project_is_framework(const char *path);

/* Whether findings in the file are notes: it lies in a test or documentation folder, or is named like a test, below the
 * nearest hookwatch.toml or pyproject.toml with [tool.hookwatch], else below `argument` (absolute directory or file), and
 * that configuration does not say test-files = "error". */
bool hw_project_is_relaxed(const char *path, const char *argument);

#endif
