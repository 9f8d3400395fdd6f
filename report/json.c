/* The JSON view: the format other programs script against. */
#define _GNU_SOURCE
#include "report/report.h"

#include "core/text.h"

#include <errno.h>
#include <stdlib.h>
#include <yyjson.h>

typedef yyjson_mut_doc doc_t;
typedef yyjson_mut_val val_t;

static const char *const ended_names[] = {[HW_ENDED_UNKNOWN] = "unknown", [HW_ENDED_EXIT] = "exit"};
static const char *const status_names[] = {"full", "partial", "unknown"};
static const char *const scope_names[] = {
    [HW_SCOPE_OUTSIDE] = "outside", [HW_SCOPE_HOOK] = "hook", [HW_SCOPE_FLUSH] = "flush", [HW_SCOPE_FRAMEWORK] = "framework"};

static void add_note(doc_t *doc, val_t *list, const char *note)
{
    char *valid = hw_text_valid_utf8(note);
    if (valid)
        yyjson_mut_arr_add_strcpy(doc, list, valid);
    free(valid);
}

static void add_null_if(doc_t *doc, val_t *object, const char *key, bool null, uint64_t value)
{
    if (null)
        yyjson_mut_obj_add_null(doc, object, key);
    else
        yyjson_mut_obj_add_uint(doc, object, key, value);
}

/* A file name may hold any bytes; JSON may not: what is no UTF-8 becomes U+FFFD. */
static void add_text(doc_t *doc, val_t *object, const char *key, const char *text)
{
    char *valid = text ? hw_text_valid_utf8(text) : NULL;
    if (valid)
        yyjson_mut_obj_add_strcpy(doc, object, key, valid);
    else
        yyjson_mut_obj_add_null(doc, object, key);
    free(valid);
}

static val_t *process(doc_t *doc, const struct hw_report_process *p)
{
    val_t *o = yyjson_mut_obj(doc);
    add_text(doc, o, "host", p->host);
    yyjson_mut_obj_add_uint(doc, o, "pid", p->pid);
    add_null_if(doc, o, "rank", p->rank < 0, (uint64_t)p->rank);
    add_null_if(doc, o, "world", p->world < 0, (uint64_t)p->world);
    add_text(doc, o, "python", p->python[0] ? p->python : NULL);
    add_null_if(doc, o, "steps", p->steps == 0, p->steps);
    yyjson_mut_obj_add_str(doc, o, "ended", ended_names[p->ended]);
    add_text(doc, o, "trace", p->path);
    val_t *in_flight = yyjson_mut_arr(doc);
    for (size_t i = 0; i < p->in_flight_count; i++) {
        const struct hw_report_call *c = &p->in_flight[i];
        val_t *call = yyjson_mut_obj(doc);
        add_text(doc, call, "api", c->api);
        add_text(doc, call, "hook", c->hook[0] ? c->hook : NULL);
        add_text(doc, call, "filename", c->filename[0] ? c->filename : NULL);
        yyjson_mut_obj_add_uint(doc, call, "row", c->row);
        yyjson_mut_obj_add_uint(doc, call, "bytes", c->bytes);
        yyjson_mut_arr_append(in_flight, call);
    }
    yyjson_mut_obj_add_val(doc, o, "in_flight", in_flight);
    return o;
}

static val_t *totals(doc_t *doc, const struct hw_trace_totals *t, enum hw_scope scope)
{
    val_t *o = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, o, "waits", t->waits);
    yyjson_mut_obj_add_uint(doc, o, "wait_ns", t->wait_ns);
    yyjson_mut_obj_add_uint(doc, o, "d2h_copies", t->d2h_copies);
    /* Outside of windows nobody asks what kind of memory an upload comes from: that would be a call of our own. */
    add_null_if(doc, o, "pageable_uploads", scope == HW_SCOPE_OUTSIDE, t->pageable_uploads);
    yyjson_mut_obj_add_uint(doc, o, "collectives", t->collectives);
    yyjson_mut_obj_add_uint(doc, o, "allocations", t->allocations);
    /* A launch is counted without looking where it was made, unless an explicit window is open. */
    add_null_if(doc, o, "launches", scope != HW_SCOPE_HOOK || t->launches == 0, t->launches);
    return o;
}

static val_t *row(doc_t *doc, const struct hw_report *report, const struct hw_report_row *r)
{
    val_t *o = yyjson_mut_obj(doc);
    add_text(doc, o, "code", r->rule ? r->rule->code : NULL);
    add_text(doc, o, "name", r->rule ? r->rule->name : NULL);
    yyjson_mut_obj_add_str(doc, o, "severity", hw_severity_name(r->severity));
    yyjson_mut_obj_add_str(doc, o, "scope", scope_names[r->scope]);
    add_text(doc, o, "hook", r->hook[0] ? r->hook : NULL);
    add_text(doc, o, "filename", r->filename[0] ? r->filename : NULL);
    val_t *location = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, location, "row", r->row);
    yyjson_mut_obj_add_val(doc, o, "location", location);
    add_text(doc, o, "api", r->api[0] ? r->api : NULL);
    add_text(doc, o, "callee", r->callee[0] ? r->callee : NULL);
    yyjson_mut_obj_add_uint(doc, o, "count", r->count);
    yyjson_mut_obj_add_uint(doc, o, "waits", r->waits);
    yyjson_mut_obj_add_uint(doc, o, "wait_ns", r->wait_ns);
    yyjson_mut_obj_add_uint(doc, o, "max_wait_ns", r->max_wait_ns);
    yyjson_mut_obj_add_uint(doc, o, "bytes", r->bytes);
    add_null_if(doc, o, "max_per_step", report->steps == 0, r->max_per_step);
    val_t *ranks = yyjson_mut_arr(doc);
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->ranks[i] >= 0)
            yyjson_mut_arr_add_int(doc, ranks, r->ranks[i]);
    yyjson_mut_obj_add_val(doc, o, "ranks", ranks);
    if (report->with_lint)
        yyjson_mut_obj_add_bool(doc, o, "predicted", r->predicted);
    else
        yyjson_mut_obj_add_null(doc, o, "predicted");
    add_text(doc, o, "predicted_code", r->predicted_rule ? r->predicted_rule->code : NULL);
    yyjson_mut_obj_add_bool(doc, o, "seen", r->seen);
    add_text(doc, o, "allowed", r->allowed);
    val_t *stack = yyjson_mut_arr(doc);
    for (size_t i = 0; i < r->stack_count; i++) {
        val_t *frame = yyjson_mut_obj(doc);
        add_text(doc, frame, "function", r->stack[i].function);
        add_text(doc, frame, "filename", r->stack[i].filename);
        yyjson_mut_obj_add_uint(doc, frame, "row", r->stack[i].row);
        yyjson_mut_arr_append(stack, frame);
    }
    yyjson_mut_obj_add_val(doc, o, "stack", stack);
    return o;
}

static void add_rows(doc_t *doc, val_t *root, const char *key, const struct hw_report *report, enum hw_scope scope,
                     bool findings)
{
    val_t *list = yyjson_mut_arr(doc);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct hw_report_row *r = &report->rows[i];
        bool finding = r->rule && r->scope != HW_SCOPE_FRAMEWORK;
        if (findings ? finding : !finding && r->scope == scope)
            yyjson_mut_arr_append(list, row(doc, report, r));
    }
    yyjson_mut_obj_add_val(doc, root, key, list);
}

int hw_report_json(const struct hw_report *report, FILE *out)
{
    doc_t *doc = yyjson_mut_doc_new(NULL);
    val_t *root = doc ? yyjson_mut_obj(doc) : NULL;
    if (!root) {
        errno = ENOMEM;
        return -1;
    }
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_uint(doc, root, "format", 1);
    yyjson_mut_obj_add_str(doc, root, "version", HW_VERSION);
    if (report->simulated)
        yyjson_mut_obj_add_str(doc, root, "simulated", report->values ? "values" : "zeros");
    else
        yyjson_mut_obj_add_null(doc, root, "simulated");
    val_t *processes = yyjson_mut_arr(doc);
    for (size_t i = 0; i < report->process_count; i++)
        yyjson_mut_arr_append(processes, process(doc, &report->processes[i]));
    yyjson_mut_obj_add_val(doc, root, "processes", processes);
    val_t *all = yyjson_mut_obj(doc);
    add_null_if(doc, all, "steps", report->steps == 0, report->steps);
    yyjson_mut_obj_add_uint(doc, all, "launches", report->launches);
    yyjson_mut_obj_add_val(doc, all, "in_hook", totals(doc, &report->totals[HW_SCOPE_HOOK], HW_SCOPE_HOOK));
    yyjson_mut_obj_add_val(doc, all, "in_flush", totals(doc, &report->totals[HW_SCOPE_FLUSH], HW_SCOPE_FLUSH));
    yyjson_mut_obj_add_val(doc, all, "framework", totals(doc, &report->totals[HW_SCOPE_FRAMEWORK], HW_SCOPE_FRAMEWORK));
    yyjson_mut_obj_add_val(doc, all, "outside", totals(doc, &report->totals[HW_SCOPE_OUTSIDE], HW_SCOPE_OUTSIDE));
    yyjson_mut_obj_add_val(doc, root, "totals", all);
    add_rows(doc, root, "findings", report, HW_SCOPE_HOOK, true);
    add_rows(doc, root, "flush", report, HW_SCOPE_FLUSH, false);
    add_rows(doc, root, "framework", report, HW_SCOPE_FRAMEWORK, false);
    val_t *coverage = yyjson_mut_obj(doc), *notes = yyjson_mut_arr(doc);
    yyjson_mut_obj_add_str(doc, coverage, "status", status_names[report->coverage]);
    for (size_t i = 0; i < report->note_count; i++)
        add_note(doc, notes, report->notes[i]);
    yyjson_mut_obj_add_val(doc, coverage, "notes", notes);
    yyjson_mut_obj_add_val(doc, root, "coverage", coverage);
    yyjson_write_err error;
    bool good = yyjson_mut_write_fp(out, doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END, NULL, &error);
    yyjson_mut_doc_free(doc);
    return good && fflush(out) == 0 ? 0 : -1;
}
