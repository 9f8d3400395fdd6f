/* HW902 and HW903: directives that are malformed, and directives that allow what does not happen. */
#define _GNU_SOURCE
#include <string.h>

#include "lint/directives.h"
#include "lint/evaluate.h"

void hw_rule_directives(struct hw_world *world, struct hw_module *module)
{
    if (!module->directives) {
        if (!memmem(module->source->text, module->source->size, "ookwatch", 8))
            return;
        hw_source_parse(module->source);
        module->directives = hw_directives_read(module->source);
    }
    for (size_t i = 0; i < module->directives->count; i++) {
        const struct hw_directive *directive = &module->directives->items[i];
        if (!directive->rule)
            hw_report_file(world, module, 902, directive->start, directive->end,
                           hw_arena_format(world->arena, "the directive %s", directive->fault));
        else if (!directive->used && strchr(directive->rule->where, 'L') && directive->rule->number != 903)
            hw_report_file(
                world, module, 903, directive->start, directive->end,
                hw_arena_format(world->arena, "nothing here breaks %s (%s)", directive->rule->code, directive->rule->name));
    }
}
