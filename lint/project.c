/* Framework, test and documentation files by their paths. */
#include "lint/project.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/glob.h"

bool hw_project_is_framework(const char *path)
{
    static const char *const packages[] = {
#define HW_FRAMEWORK_PACKAGE(name) "*/site-packages/" name "/*", "*/dist-packages/" name "/*",
#define HW_FRAMEWORK_PATH(glob)    glob,
#include "core/roots.def"
    };
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (hw_glob_match(packages[i], path))
            return true;
    return false;
}

/* Reads the two facts that matter here: does the file configure hookwatch, and how does it want test files. */
static bool read_configuration(const char *path, bool needs_section, bool *strict)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char line[512], value[32];
    bool ours = !needs_section, configures = ours;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '[' && needs_section) {
            ours = !strncmp(line, "[tool.hookwatch]", 16);
            configures |= ours;
        }
        if (ours && sscanf(line, " test-files = \"%31[a-z]\"", value) == 1)
            *strict = !strcmp(value, "error");
    }
    fclose(file);
    return configures;
}

bool hw_project_is_relaxed(const char *path, const char *argument)
{
    static const char *const folders[] = {"tests", "test", "testing", "docs", "doc"};
    char directory[PATH_MAX], probe[PATH_MAX + 32];
    snprintf(directory, sizeof directory, "%s", path);
    size_t base = 0;
    bool strict = false, configured = false;
    for (char *slash; !configured && (slash = strrchr(directory, '/'));) {
        *slash = 0;
        snprintf(probe, sizeof probe, "%s/hookwatch.toml", directory);
        configured = read_configuration(probe, false, &strict);
        if (!configured) {
            snprintf(probe, sizeof probe, "%s/pyproject.toml", directory);
            configured = read_configuration(probe, true, &strict);
        }
        base = strlen(directory);
    }
    if (strict)
        return false;
    if (!configured)
        base = strlen(argument);
    if (base > strlen(path) || strncmp(path, argument, configured ? 0 : base) != 0)
        base = (size_t)(strrchr(path, '/') - path);
    const char *name = strrchr(path, '/') + 1;
    if (path[base] == 0) /* the argument is the file itself: only its name speaks */
        base = (size_t)(name - path) - 1;
    if (!strncmp(name, "test_", 5) || hw_glob_match("*_test.py", name) || !strcmp(name, "conftest.py"))
        return true;
    for (const char *part = path + base; part < name; part++) {
        if (*part != '/')
            continue;
        size_t length = strcspn(part + 1, "/");
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
            if (part + 1 + length < name && strlen(folders[i]) == length && !strncmp(part + 1, folders[i], length))
                return true;
    }
    return false;
}
