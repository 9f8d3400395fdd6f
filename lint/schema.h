/* The metric schema: its methods, and the questions its rules ask each other. */
#ifndef HW_LINT_SCHEMA_H
#define HW_LINT_SCHEMA_H

#include "lint/evaluate.h"

enum hw_schema_kind { HW_DECLARE_LAYER, HW_DECLARE_GLOBAL, HW_ALLOCATE, HW_RECORD_LAYER, HW_RECORD_GLOBAL };
enum hw_aggregation { HW_BY_CLASS, HW_MEAN, HW_MAX, HW_MIN }; /* BY_CLASS: as MAX_AGGREGATED and MIN_AGGREGATED say */

struct hw_schema {
    const char *method;
    enum hw_schema_kind kind;
    int key, value; /* positions; -1: none */
    enum hw_aggregation aggregation;
};

/* A key for messages: {} where the f-string has a replacement. */
const char *hw_schema_readable(struct hw_world *world, const char *key);

/* Whether two keys may be the same string. */
bool hw_schema_may_match(struct hw_world *world, const char *left, const char *right);

/* rules/HW305.c: holds one declare or record of a known key against the class's sets and its other declares. `value` is what is
 * recorded, NULL for a declare. */
void hw_rule_aggregation(struct hw_world *world, const struct hw_site *site, const struct hw_class *cls,
                         const struct hw_schema *schema, const char *key, hw_val value);

/* rules/HW305.c: a mean is declared. */
void hw_rule_weighting(struct hw_world *world, const struct hw_site *site, const struct hw_args *args);

#endif
