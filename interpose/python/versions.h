/* The CPython versions whose frames can be read: one row each in frames.c, one table of instructions each. */
#ifndef HW_PYTHON_VERSIONS_H
#define HW_PYTHON_VERSIONS_H

#include <stdbool.h>
#include <string.h>

#define HW_PY_VERSIONS "3.11, 3.12 and 3.13"

/* Whether a version such as "3.12.4" is one of them. */
static inline bool hw_py_version_known(const char *version)
{
    return strncmp(version, "3.11.", 5) == 0 || strncmp(version, "3.12.", 5) == 0 || strncmp(version, "3.13.", 5) == 0;
}

#endif
