/* Look-ups in the tables of lint/knowledge/. */
#include "lint/knowledge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hw_fact calls[] = {
#define HW_CALL(name, rule, when, unless, result) {name, rule, HW_##when, unless, HW_GIVES_##result},
#include "lint/knowledge/builtins.def"
#include "lint/knowledge/torch.def"
#include "lint/knowledge/distributed.def"
#include "lint/knowledge/paddle.def"
#include "lint/knowledge/libraries.def"
#undef HW_CALL
};

/* Generated, in order of name. */
static const struct hw_fact aten_calls[] = {
#define HW_CALL(name, rule, when, unless, result) {name, rule, HW_##when, unless, HW_GIVES_##result},
#include "lint/knowledge/aten_calls.def"
#undef HW_CALL
};
static const struct hw_fact aten_methods[] = {
#define HW_METHOD(name, rule, when, unless, result) {name, rule, HW_##when, unless, HW_GIVES_##result},
#include "lint/knowledge/aten_methods.def"
#undef HW_METHOD
};

static struct hw_fact methods[] = {
#define HW_METHOD(name, rule, when, unless, result) {name, rule, HW_##when, unless, HW_GIVES_##result},
#include "lint/knowledge/methods.def"
#undef HW_METHOD
};

static struct hw_fact attributes[] = {
#define HW_ATTRIBUTE(name, result) {name, 0, HW_NEVER, NULL, HW_GIVES_##result},
#include "lint/knowledge/attributes.def"
#undef HW_ATTRIBUTE
};

static const struct hw_registration registrations[] = {
#define HW_REGISTRATION(name, position, keyword, parameters, with_kwargs) {name, position, keyword, parameters, with_kwargs},
#include "lint/knowledge/hooks.def"
#undef HW_REGISTRATION
};

static const struct {
    int rule;
    const char *text;
} hints[] = {
#define HW_HINT(rule, text) {rule, text},
#include "lint/knowledge/hints.def"
#undef HW_HINT
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct hw_fact *)left)->name, ((const struct hw_fact *)right)->name);
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

__attribute__((constructor)) static void sort_tables(void)
{
    qsort(calls, COUNT(calls), sizeof *calls, by_name);
    qsort(methods, COUNT(methods), sizeof *methods, by_name);
    qsort(attributes, COUNT(attributes), sizeof *attributes, by_name);
}

static const struct hw_fact *find(const struct hw_fact *table, size_t count, const char *name)
{
    struct hw_fact key = {.name = name};
    return bsearch(&key, table, count, sizeof *table, by_name);
}

const struct hw_fact *hw_knowledge_call(const char *dotted)
{
    const struct hw_fact *fact = find(calls, COUNT(calls), dotted);
    char pattern[256];
    size_t length = strlen(dotted);
    if (!fact)
        fact = find(aten_calls, COUNT(aten_calls), dotted);
    if (fact || length + 4 > sizeof pattern)
        return fact;
    memcpy(pattern, dotted, length + 1);
    const char *ending = ".*"; /* the name's own package; the packages above it cover it only by ".**" */
    for (char *dot; !fact && (dot = strrchr(pattern, '.')); *dot = 0) {
        strcpy(dot, ending);
        fact = find(calls, COUNT(calls), pattern);
        strcpy(dot, ".**");
        fact = fact ? fact : find(calls, COUNT(calls), pattern);
        ending = ".**";
    }
    return fact;
}

const struct hw_fact *hw_knowledge_method(const char *name)
{
    const struct hw_fact *fact = find(methods, COUNT(methods), name);
    return fact ? fact : find(aten_methods, COUNT(aten_methods), name);
}

enum hw_result hw_knowledge_attribute(const char *name)
{
    const struct hw_fact *fact = find(attributes, COUNT(attributes), name);
    return fact ? fact->result : HW_GIVES_UNKNOWN;
}

const char *hw_knowledge_hint(int rule)
{
    for (size_t i = 0; i < COUNT(hints); i++)
        if (hints[i].rule == rule)
            return hints[i].text;
    return NULL;
}

const struct hw_registration *hw_knowledge_registration(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(registrations); i++)
        if (!strcmp(registrations[i].name, name) && n-- == 0)
            return &registrations[i];
    return NULL;
}

bool hw_knowledge_is_builtin(const char *name)
{
    char dotted[64];
    return snprintf(dotted, sizeof dotted, "builtins.%s", name) < (int)sizeof dotted &&
           find(calls, COUNT(calls), dotted) != NULL;
}
