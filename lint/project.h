/* What a path says about a file: framework, test or documentation, and which project's configuration covers it. */
#ifndef HW_LINT_PROJECT_H
#define HW_LINT_PROJECT_H

#include <stdbool.h>

#include "lint/settings.h"

/* Whether core/roots.def or the project's `frameworks` counts the file's hooks as a framework's own. */
bool hw_project_is_framework(const char *path, const struct hw_settings *settings);

/* Whether findings in the file are notes: it lies in a test or documentation folder, or is named like a test, below the
 * settings' root, else below `argument` (absolute directory or file), and the settings do not say test-files = "error". */
bool hw_project_is_relaxed(const char *path, const char *argument, const struct hw_settings *settings);

/* Whether the text may hold what the settings make hot: a file that does not even name it need not be parsed. */
bool hw_project_may_be_hot(const char *text, size_t size, const struct hw_settings *settings);

#endif
