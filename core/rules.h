/* The rule catalogue: codes, names, severities. Generated from rules.def. */
#ifndef HW_CORE_RULES_H
#define HW_CORE_RULES_H

#include <stddef.h>

enum hw_severity { HW_SEVERITY_NOTE, HW_SEVERITY_WARNING, HW_SEVERITY_ERROR };

struct hw_rule {
    int number;       /* 101 */
    const char *code; /* "HW101" */
    const char *name; /* "host-scalar-read" */
    enum hw_severity severity;
    const char *where;   /* letters of L (lint), R (run time), M (monitor runtime) */
    const char *summary; /* a verb phrase that completes "this line ..." */
};

extern const struct hw_rule hw_rules[];
extern const size_t hw_rules_count;

/* The rule of a code such as "HW101", or of its number; NULL if there is none. */
const struct hw_rule *hw_rule_find(const char *code);
const struct hw_rule *hw_rule_by_number(int number);

/* "note", "warning" or "error". */
const char *hw_severity_name(enum hw_severity severity);

/* Address of the rule's page where this build's pages are published; NULL if they are not. Static storage. */
const char *hw_rule_url(const struct hw_rule *rule);

/* The rule's page, docs/rules/HWnnn.md, as Markdown. Every rule has one. */
const char *hw_rule_page(const struct hw_rule *rule);

#endif
