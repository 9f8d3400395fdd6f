/* The rule catalogue, generated from rules.def. */
#include "core/rules.h"

#include <stdlib.h>
#include <string.h>

/* The build says where the pages are published (DOCS_URL); by default nowhere. */
#ifndef HW_DOCS_URL
#define HW_DOCS_URL ""
#endif

#define HW_RULE(number, name, severity, where, summary) {number, "HW" #number, name, HW_SEVERITY_##severity, where, summary},
const struct hw_rule hw_rules[] = {
#include "core/rules.def"
};
#undef HW_RULE

#define HW_RULE(number, name, severity, where, summary) HW_DOCS_URL "HW" #number,
static const char *const urls[] = {
#include "core/rules.def"
};
#undef HW_RULE

static const struct {
    int number;
    const char *text;
} pages[] = {
#define HW_PAGE(number, text) {number, text},
#include "rule_pages.inc"
#undef HW_PAGE
};

const size_t hw_rules_count = sizeof hw_rules / sizeof *hw_rules;

const struct hw_rule *hw_rule_by_number(int number)
{
    for (size_t i = 0; i < hw_rules_count; i++)
        if (hw_rules[i].number == number)
            return &hw_rules[i];
    return NULL;
}

const struct hw_rule *hw_rule_find(const char *code)
{
    for (size_t i = 0; code && i < hw_rules_count; i++)
        if (!strcmp(hw_rules[i].code, code))
            return &hw_rules[i];
    return NULL;
}

const char *hw_severity_name(enum hw_severity severity)
{
    return severity == HW_SEVERITY_ERROR ? "error" : severity == HW_SEVERITY_WARNING ? "warning" : "note";
}

const char *hw_rule_url(const struct hw_rule *rule)
{
    return *HW_DOCS_URL ? urls[rule - hw_rules] : NULL;
}

const char *hw_rule_page(const struct hw_rule *rule)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (pages[i].number == rule->number)
            return pages[i].text;
    return NULL;
}
