/* The rule catalogue, generated from rules.def. */
#include "core/rules.h"

#include <stdlib.h>
#include <string.h>

#define HW_PAGE "https://hookwatch.readthedocs.io/rules/"

#define HW_RULE(number, name, severity, where, summary) {number, "HW" #number, name, HW_SEVERITY_##severity, where, summary},
const struct hw_rule hw_rules[] = {
#include "core/rules.def"
};
#undef HW_RULE

#define HW_RULE(number, name, severity, where, summary) HW_PAGE "HW" #number,
static const char *const pages[] = {
#include "core/rules.def"
};
#undef HW_RULE

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
    return pages[rule - hw_rules];
}
