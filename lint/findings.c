/* Collecting findings with their witnesses, binding directives to them, and handing them on in order. */
#include <stdlib.h>
#include <string.h>

#include "lint/directives.h"
#include "lint/evaluate.h"

#include "uthash.h"

const char *hw_quote(struct hw_world *world, struct hw_module *module, TSNode node)
{
    enum { LONGEST = 48 };
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    char text[LONGEST + 8];
    size_t n = 0;
    bool cut = false, space = false;
    for (uint32_t i = start; i < end && !cut; i++) {
        char c = module->source->text[i];
        if (c == '\n' || c == '\r' || c == '\t' || c == ' ') {
            space = n > 0;
            continue;
        }
        if (n + 2 >= LONGEST) {
            cut = true;
            break;
        }
        if (space)
            text[n++] = ' ';
        space = false;
        text[n++] = c;
    }
    while (cut && n && ((unsigned char)text[n - 1] & 0xc0) == 0x80) /* no half of a character */
        n--;
    if (cut && n && (unsigned char)text[n - 1] >= 0xc0)
        n--;
    memcpy(text + n, cut ? "..." : "", cut ? 4 : 1);
    return hw_arena_copy(world->arena, text, strlen(text));
}

/* What a finding is about: each is recorded once. */
struct hw_record_key {
    UT_hash_handle hh;
    const void *module;
    uint32_t byte;
    int rule;
};
#define HW_KEY_SIZE (sizeof(struct hw_record_key) - offsetof(struct hw_record_key, module))

void hw_findings_forget(struct hw_world *world)
{
    HASH_CLEAR(hh, world->record_keys);
}

static struct hw_record *add_record(struct hw_world *world, struct hw_module *module, int rule, uint32_t byte)
{
    struct hw_record_key key, *known;
    memset(&key, 0, sizeof key);
    key.module = module;
    key.byte = byte;
    key.rule = rule;
    HASH_FIND(hh, world->record_keys, &key.module, HW_KEY_SIZE, known);
    if (known)
        return NULL;
    known = hw_arena_alloc(world->arena, sizeof *known);
    *known = key;
    HASH_ADD_KEYPTR(hh, world->record_keys, &known->module, HW_KEY_SIZE, known);
    if (world->record_count == world->record_room)
        world->records =
            hw_realloc(world->records, (world->record_room = world->record_room * 2 + 64) * sizeof *world->records);
    struct hw_record *record = &world->records[world->record_count++];
    *record = (struct hw_record){.module = module, .byte = byte};
    record->finding.rule = hw_rule_by_number(rule);
    record->finding.severity = record->finding.rule->severity;
    record->finding.filename = module->path;
    record->finding.hint = hw_knowledge_hint(rule);
    return record;
}

/* The calls from the hook down to the row, as core/finding.h wants them. */
static void add_witness(struct hw_world *world, struct hw_finding *finding, uint32_t row)
{
    size_t count = world->hop_count;
    struct hw_step *steps = hw_arena_alloc(world->arena, (count ? count : 1) * sizeof *steps);
    for (size_t i = 0; i < count; i++) {
        const struct hw_hop *next = i + 1 < count ? &world->hops[i + 1] : NULL;
        const struct hw_module *file = next && next->caller ? next->caller : world->hops[i].function->module;
        steps[i] = (struct hw_step){world->hops[i].function->qualname, file->path, next ? next->row : row};
    }
    finding->witness = steps;
    finding->witness_count = count;
    finding->hook = count ? world->hops[0].function->qualname : NULL;
}

static struct hw_position position(struct hw_module *module, TSPoint point, uint32_t byte)
{
    return (struct hw_position){point.row + 1, hw_text_column(module->source, point.row, byte)};
}

void hw_report(struct hw_world *world, struct hw_module *module, int rule, enum hw_severity severity, TSNode token,
               TSNode whole, const char *message)
{
    if (!world->hot || !world->recording || ts_node_is_null(token))
        return;
    struct hw_record *record = add_record(world, module, rule, ts_node_start_byte(token));
    if (!record)
        return;
    struct hw_finding *finding = &record->finding;
    finding->severity = severity < finding->severity ? severity : finding->severity;
    finding->message = message ? hw_arena_copy(world->arena, message, strlen(message)) : finding->rule->summary;
    finding->start = position(module, ts_node_start_point(token), ts_node_start_byte(token));
    TSNode last = ts_node_end_byte(whole) >= ts_node_end_byte(token) ? whole : token;
    finding->end = position(module, ts_node_end_point(last), ts_node_end_byte(last));
    TSNode statement = world->statement;
    bool within = !ts_node_is_null(statement) && statement.tree == token.tree &&
                  ts_node_start_byte(statement) <= ts_node_start_byte(token) &&
                  ts_node_end_byte(token) <= ts_node_end_byte(statement);
    if (within)
        hw_node_rows(statement, &finding->statement_first, &finding->statement_last);
    else
        hw_node_statement(token, &finding->statement_first, &finding->statement_last);
    add_witness(world, finding, finding->start.row);
    record->hook_module = world->hop_count                 ? world->hops[0].function->module
                          : world->root && world->root->at ? world->root->at->frame->module
                                                           : NULL;
}

void hw_report_call(struct hw_world *world, const struct hw_site *site, int rule)
{
    size_t before = world->record_count;
    if (!world->hot || !world->recording)
        return;
    const struct hw_rule *row = hw_rule_by_number(rule);
    bool method = !ts_node_eq(site->token, site->callee);
    const char *name = hw_quote(world, site->frame->module, site->token);
    if (method) {
        TSNode object = hw_node_field(site->callee, HW_F_OBJECT);
        enum hw_node kind = hw_node_kind(object);
        if (kind == HW_N_IDENTIFIER || kind == HW_N_ATTRIBUTE) /* dist.all_reduce(), x.item() */
            name = hw_quote(world, site->frame->module, site->callee);
        else
            name = hw_arena_format(world->arena, ".%s", name);
    }
    hw_report(world, site->frame->module, rule, row->severity, site->token, site->call,
              hw_arena_format(world->arena, "`%s%s` %s%s", name, hw_node_kind(site->token) == HW_N_CALL ? "" : "()",
                              row->summary,
                              rule == 201   ? hw_collective_remark(world, site)
                              : rule == 101 ? hw_scalar_remark(site)
                                            : ""));
    if (rule == 201 && world->record_count > before)
        hw_collective_justify(world, site, &world->records[world->record_count - 1]);
}

/* Row and column of a byte of the file. */
static struct hw_position place_of(struct hw_text *source, uint32_t byte)
{
    uint32_t row = 0;
    for (uint32_t low = 0, high = source->line_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= byte) {
            row = middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (struct hw_position){row + 1, hw_text_column(source, row, byte)};
}

void hw_fix_record(struct hw_world *world, struct hw_record *record, uint32_t first, uint32_t last, const char *content,
                   const char *message)
{
    struct hw_fix *fix = hw_arena_alloc(world->arena, sizeof *fix);
    *fix = (struct hw_fix){
        message, content, first, last, place_of(record->module->source, first), place_of(record->module->source, last)};
    record->finding.fix = fix;
}

struct hw_record *hw_record_at(struct hw_world *world, const struct hw_module *module, int rule, uint32_t byte)
{
    for (size_t i = world->record_count; i-- > 0;)
        if (world->records[i].module == module && world->records[i].byte == byte &&
            world->records[i].finding.rule->number == rule)
            return &world->records[i];
    return NULL;
}

void hw_report_file(struct hw_world *world, struct hw_module *module, int rule, uint32_t start, uint32_t end,
                    const char *message)
{
    struct hw_record *record = add_record(world, module, rule, start);
    if (!record)
        return;
    struct hw_text *source = module->source;
    uint32_t row = 0, end_row;
    for (uint32_t low = 0, high = source->line_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= start) {
            row = middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (end_row = row; end_row + 1 < source->line_count && source->lines[end_row + 1] < end; end_row++)
        ;
    record->finding.message = hw_arena_copy(world->arena, message, strlen(message));
    record->finding.start = (struct hw_position){row + 1, hw_text_column(source, row, start)};
    record->finding.end = (struct hw_position){end_row + 1, hw_text_column(source, end_row, end)};
    record->finding.statement_first = row + 1;
    record->finding.statement_last = end_row + 1;
}

static int by_place(const void *left, const void *right)
{
    const struct hw_record *a = left, *b = right;
    int order = strcmp(a->module->path, b->module->path);
    if (order)
        return order;
    if (a->byte != b->byte)
        return a->byte < b->byte ? -1 : 1;
    return a->finding.rule->number - b->finding.rule->number;
}

static void bind_directives(struct hw_world *world)
{
    for (size_t i = 0; i < world->record_count; i++) {
        struct hw_record *record = &world->records[i];
        if (!record->module->directives) {
            hw_source_parse(record->module->source);
            record->module->directives = hw_directives_read(record->module->source);
        }
        struct hw_directive *directive =
            record->finding.rule->number >= 902
                ? NULL
                : hw_directives_find(record->module->directives, record->finding.rule->code, record->finding.statement_first,
                                     record->finding.statement_last);
        if (directive) {
            directive->used = true;
            record->finding.fix = NULL;
            record->finding.allowed = hw_arena_copy(world->arena, directive->reason, strlen(directive->reason));
        }
    }
}

static bool matches(const char *const *prefixes, size_t count, const char *code)
{
    for (size_t i = 0; i < count; i++)
        if (!strncmp(code, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static bool lists(const struct hw_strings *list, const char *code)
{
    return matches(list->items, list->count, code);
}

/* The command line's choice of codes stands in for the configuration's. */
static bool is_selected(const struct hw_lint_options *options, const struct hw_module *module, const char *code)
{
    const struct hw_settings *settings = module->settings;
    if (options->select_count ? !matches(options->select, options->select_count, code)
                              : settings->select.count && !lists(&settings->select, code))
        return false;
    if (options->ignore_count ? matches(options->ignore, options->ignore_count, code) : lists(&settings->ignore, code))
        return false;
    for (size_t i = 0; i < settings->per_file_ignores.count; i++)
        if (lists(&settings->per_file_ignores.items[i].codes, code) &&
            hw_settings_cover(settings, settings->per_file_ignores.items[i].glob, module->path))
            return false;
    return true;
}

/* In a file that was named, or reached by a hook in one. */
static bool is_asked_for(const struct hw_record *record)
{
    return record->module->named || (record->hook_module && record->hook_module->named);
}

void hw_findings_emit(struct hw_world *world, void (*emit)(const struct hw_finding *, void *), void *user,
                      struct hw_lint_stats *stats)
{
    bind_directives(world);
    for (struct hw_module *module = world->modules; module; module = module->next)
        if (module->named)
            hw_rule_directives(world, module);
    if (world->record_count)
        qsort(world->records, world->record_count, sizeof *world->records, by_place);
    for (size_t i = 0; i < world->record_count; i++) {
        struct hw_finding *finding = &world->records[i].finding;
        if (!is_asked_for(&world->records[i]) || !is_selected(world->options, world->records[i].module, finding->rule->code))
            continue;
        if (world->records[i].module->relaxed)
            finding->severity = HW_SEVERITY_NOTE;
        if (finding->allowed)
            stats->allowed++;
        else if (finding->severity == HW_SEVERITY_NOTE)
            stats->notes++;
        else
            stats->findings++;
        if (!finding->allowed || world->options->show_allowed)
            emit(finding, user);
    }
}
