/* HW304: an except clause that goes on with the host where the device path raised. The waits in it are findings of their own;
 * this one says that they come and go with errors nobody sees. */
#include "lint/evaluate.h"

void hw_rule_fallback(struct hw_world *world, struct hw_frame *frame, TSNode clause, size_t first_record)
{
    if (frame->dead) /* raised again, or left the hook */
        return;
    for (size_t i = first_record; i < world->record_count; i++) {
        const struct hw_record *record = &world->records[i];
        bool inside = record->module == frame->module && record->byte >= ts_node_start_byte(clause) &&
                      record->byte < ts_node_end_byte(clause);
        if (inside && (record->finding.rule->number == 101 || record->finding.rule->number == 102)) {
            TSNode keyword = ts_node_child(clause, 0);
            hw_report(world, frame->module, 304, HW_SEVERITY_WARNING, keyword, keyword,
                      "where the device path raises, this goes on with the host and says nothing");
            return;
        }
    }
}
