/* HW305: a metric that is declared with one aggregation and recorded with another. HW308: a mean that does not say how ranks
 * weigh. */
#include <string.h>

#include "lint/schema.h"

/* What one of the class's sets says of a key. */
enum listed { LISTED_NO, LISTED_YES, LISTED_UNKNOWN };

static enum listed listed_in(struct hw_world *world, const struct hw_class *cls, const char *set, const char *key)
{
    struct hw_class *owner, *mutable_class = (struct hw_class *)(uintptr_t)cls;
    const char *name = hw_intern(world, set);
    hw_val value = hw_class_find(world, mutable_class, name, &owner, false);
    hw_val own = hw_attribute_of_self(world, mutable_class, name);
    value = own ? hw_value_join(world, value, own) : value;
    if (!value)
        return LISTED_NO;
    enum listed answer = LISTED_NO;
    for (size_t i = 0; i < hw_value_count(value); i++) {
        hw_val one = hw_value_at(value, i);
        if (one->kind != HW_LIST) {
            answer = LISTED_UNKNOWN;
            continue;
        }
        for (size_t j = 0; j < hw_value_count(one->items[0]); j++) {
            const char *text = hw_value_at(one->items[0], j)->text;
            bool known = hw_value_at(one->items[0], j)->kind == HW_HOST && text;
            if (known && hw_schema_may_match(world, text, key))
                return LISTED_YES;
            if (!known && one != world->empty_list)
                answer = LISTED_UNKNOWN;
        }
    }
    return answer;
}

/* Whether the class, as far as it can be seen, sorts keys by aggregation at all. */
static bool has_set(struct hw_world *world, const struct hw_class *cls)
{
    struct hw_class *owner, *mutable_class = (struct hw_class *)(uintptr_t)cls;
    return hw_class_find(world, mutable_class, hw_intern(world, "MAX_AGGREGATED"), &owner, false) ||
           hw_class_find(world, mutable_class, hw_intern(world, "MIN_AGGREGATED"), &owner, false);
}

/* The reduction that makes the value, by the method that ends its expression. */
static enum hw_aggregation made_by(struct hw_world *world, const struct hw_site *site)
{
    TSNode list = hw_node_field(site->call, HW_F_ARGUMENTS), argument, last = {0};
    HW_EACH_CHILD (argument, list)
        last = argument;
    if (hw_node_kind(last) == HW_N_KEYWORD_ARGUMENT)
        last = hw_node_field(last, HW_F_VALUE);
    if (hw_node_kind(last) != HW_N_CALL)
        return HW_BY_CLASS;
    TSNode callee = hw_node_field(last, HW_F_FUNCTION);
    if (hw_node_kind(callee) != HW_N_ATTRIBUTE)
        return HW_BY_CLASS;
    const char *name = hw_node_text(world, site->frame->module, hw_node_field(callee, HW_F_ATTRIBUTE));
    return !strcmp(name, "max") || !strcmp(name, "amax")   ? HW_MAX
           : !strcmp(name, "min") || !strcmp(name, "amin") ? HW_MIN
                                                           : HW_BY_CLASS;
}

static void report(struct hw_world *world, const struct hw_site *site, const char *message)
{
    if (world->hot)
        hw_report(world, site->frame->module, 305, HW_SEVERITY_ERROR, site->token, site->call, message);
    else
        hw_report_file(world, site->frame->module, 305, ts_node_start_byte(site->token), ts_node_end_byte(site->call), message);
}

void hw_rule_aggregation(struct hw_world *world, const struct hw_site *site, const struct hw_class *cls,
                         const struct hw_schema *schema, const char *key, hw_val value)
{
    static const char *const names[] = {"", "mean", "max", "min"};
    enum listed max = listed_in(world, cls, "MAX_AGGREGATED", key), min = listed_in(world, cls, "MIN_AGGREGATED", key);
    enum hw_aggregation by_class = max == LISTED_YES && min != LISTED_YES   ? HW_MAX
                                   : min == LISTED_YES && max != LISTED_YES ? HW_MIN
                                                                            : HW_BY_CLASS;
    const char *shown = hw_schema_readable(world, key);
    if (max == LISTED_YES && min == LISTED_YES && !strchr(key, 1))
        report(world, site, hw_arena_format(world->arena, "\"%s\" is in MAX_AGGREGATED and in MIN_AGGREGATED", shown));
    else if (schema->aggregation != HW_BY_CLASS && by_class != HW_BY_CLASS && schema->aggregation != by_class)
        report(world, site,
               hw_arena_format(world->arena, "\"%s\" is in %s_AGGREGATED and used as a %s here", shown,
                               by_class == HW_MAX ? "MAX" : "MIN", names[schema->aggregation]));
    else if (schema->kind == HW_RECORD_LAYER && value && max == LISTED_NO && min == LISTED_NO && !strchr(key, 1) &&
             has_set(world, cls) && made_by(world, site) != HW_BY_CLASS)
        report(world, site,
               hw_arena_format(world->arena,
                               "a %s is recorded as \"%s\", which no %s_AGGREGATED names: it is declared as a mean",
                               names[made_by(world, site)], shown, made_by(world, site) == HW_MAX ? "MAX" : "MIN"));
    else if (schema->kind == HW_RECORD_LAYER && value && by_class != HW_BY_CLASS && made_by(world, site) != HW_BY_CLASS &&
             made_by(world, site) != by_class && !strchr(key, 1))
        report(world, site,
               hw_arena_format(world->arena, "a %s is recorded as \"%s\", which is in %s_AGGREGATED",
                               names[made_by(world, site)], shown, by_class == HW_MAX ? "MAX" : "MIN"));
}

/* Whether a comment stands on the call's lines or directly above them. */
static bool has_comment(struct hw_text *text, uint32_t first, uint32_t last)
{
    for (uint32_t row = first > 1 ? first - 1 : first; row <= last && row <= text->line_count; row++) {
        uint32_t length;
        const char *line = hw_text_line(text, row - 1, &length);
        const char *mark = memchr(line, '#', length);
        if (mark && (row >= first || strspn(line, " \t") == (size_t)(mark - line)))
            return true;
    }
    return false;
}

void hw_rule_weighting(struct hw_world *world, const struct hw_site *site, const struct hw_args *args)
{
    uint32_t first = ts_node_start_point(site->call).row + 1, last = ts_node_end_point(site->call).row + 1;
    for (size_t i = 0; i < args->count; i++)
        if (args->keywords[i] && (strstr(args->keywords[i], "weight") || strstr(args->keywords[i], "count")))
            return;
    if (!has_comment(site->frame->module->source, first, last))
        hw_report_file(world, site->frame->module, 308, ts_node_start_byte(site->token), ts_node_end_byte(site->call),
                       "a mean is declared, and nothing says how ranks are weighted; a comment that states it is enough");
}
