/* Merging the traces of a directory: one row per line, hook and rule, summed over calls and ranks. */
#define _GNU_SOURCE
#include "report/report.h"

#include "interpose/python/versions.h"
#include "interpose/trace/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Rows by the text of what makes them one. */
struct index {
    UT_hash_handle hh;
    size_t row;
    char key[];
};

struct hw_report_row *hw_report_add(struct hw_report *report)
{
    if (report->row_count == report->row_room) {
        size_t room = report->row_room ? report->row_room * 2 : 64;
        struct hw_report_row *rows = realloc(report->rows, room * sizeof *rows);
        if (!rows)
            return NULL;
        report->rows = rows;
        report->row_room = room;
    }
    struct hw_report_row *row = &report->rows[report->row_count++];
    memset(row, 0, sizeof *row);
    return row;
}

void hw_report_note(struct hw_report *report, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return;
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i], text) == 0) {
            free(text);
            return;
        }
    }
    char **notes = realloc(report->notes, (report->note_count + 1) * sizeof *notes);
    if (!notes) {
        free(text);
        return;
    }
    report->notes = notes;
    report->notes[report->note_count++] = text;
}

static void lower_coverage(struct hw_report *report, enum hw_coverage_status status)
{
    if (status > report->coverage)
        report->coverage = status;
}

/* A traced path as it is called here: the first --path-map that fits, else itself. */
static char *map_path(const struct hw_report_options *options, const char *path)
{
    for (size_t i = 0; i < options->path_map_count; i++) {
        const char *map = options->path_maps[i], *equals = strchr(map, '=');
        size_t from = (size_t)(equals - map);
        char *mapped = NULL;
        if (strncmp(path, map, from) == 0 && asprintf(&mapped, "%s%s", equals + 1, path + from) >= 0)
            return mapped;
    }
    return strdup(path);
}

static bool add_rank(struct hw_report_row *row, int32_t rank)
{
    for (size_t i = 0; i < row->rank_count; i++)
        if (row->ranks[i] == rank)
            return true;
    int32_t *ranks = realloc(row->ranks, (row->rank_count + 1) * sizeof *ranks);
    if (!ranks)
        return false;
    row->ranks = ranks;
    row->ranks[row->rank_count++] = rank;
    return true;
}

static void add_totals(struct hw_trace_totals *to, const struct hw_trace_totals *from)
{
    to->waits += from->waits;
    to->wait_ns += from->wait_ns;
    to->d2h_copies += from->d2h_copies;
    to->pageable_uploads += from->pageable_uploads;
    to->collectives += from->collectives;
    to->allocations += from->allocations;
    to->launches += from->launches;
}

/* What a rule's default severity becomes at run time. */
static enum hw_severity severity_of(const struct hw_report_row *row)
{
    if (!row->rule)
        return HW_SEVERITY_NOTE;
    /* Caches fill in the first step and at the first visit of a line; only what goes on is a stall. */
    if (row->rule->number == 108)
        return row->late ? HW_SEVERITY_WARNING : HW_SEVERITY_NOTE;
    /* A copy that nobody waited for. */
    if (row->rule->number == 102 && !row->waits)
        return HW_SEVERITY_WARNING;
    return row->rule->severity;
}

static struct hw_report_row *find_row(struct hw_report *report, struct index **index, const char *key, bool *fresh)
{
    struct index *entry;
    HASH_FIND_STR(*index, key, entry);
    *fresh = !entry;
    if (entry)
        return &report->rows[entry->row];
    size_t size = strlen(key) + 1;
    entry = calloc(1, sizeof *entry + size);
    struct hw_report_row *row = entry ? hw_report_add(report) : NULL;
    if (!row) {
        free(entry);
        return NULL;
    }
    memcpy(entry->key, key, size);
    entry->row = report->row_count - 1;
    HASH_ADD_STR(*index, key, entry);
    return row;
}

static bool add_site(struct hw_report *report, struct index **index, const struct hw_report_options *options,
                     const struct hw_trace_view *view, const struct hw_record_site *site)
{
    if (site->scope >= HW_SCOPE_COUNT || !site->count)
        return true;
    const char *hook = hw_trace_view_text(view, site->hook.function), *traced = hw_trace_view_text(view, site->site.filename);
    const char *api = hw_trace_view_text(view, site->api);
    char *key = NULL, *filename = map_path(options, traced);
    /* Outside of hooks and where no rule applies, calls of different functions stay apart. */
    if (!filename || asprintf(&key, "%u|%u|%s|%s|%u|%s", site->scope, site->rule, hook, filename, site->site.row,
                              site->rule ? "" : api) < 0) {
        free(filename);
        return false;
    }
    bool fresh;
    struct hw_report_row *row = find_row(report, index, key, &fresh);
    free(key);
    if (!row) {
        free(filename);
        return false;
    }
    if (fresh) {
        row->rule = site->rule ? hw_rule_by_number(site->rule) : NULL;
        row->scope = site->scope;
        row->hook = strdup(hook);
        row->hook_filename = map_path(options, hw_trace_view_text(view, site->hook.filename));
        row->filename = filename;
        row->row = site->site.row;
        row->api = strdup(api);
        row->callee = strdup(hw_trace_view_text(view, site->callee));
        row->seen = true;
        for (unsigned i = 0; i < site->frames && i < HW_TRACE_STACK; i++) {
            row->stack[i] = (struct hw_report_frame){strdup(hw_trace_view_text(view, site->stack[i].function)),
                                                     map_path(options, hw_trace_view_text(view, site->stack[i].filename)),
                                                     site->stack[i].row};
            row->stack_count++;
        }
    } else {
        free(filename);
    }
    row->count += site->count;
    row->late += site->late;
    row->waits += site->waits;
    row->wait_ns += site->wait_ns;
    row->bytes += site->bytes;
    if (row->last_process != report->process_count) {
        row->last_process = report->process_count;
        row->processes++;
    }
    row->max_wait_ns = site->max_wait_ns > row->max_wait_ns ? site->max_wait_ns : row->max_wait_ns;
    row->steps_seen = site->steps_seen > row->steps_seen ? site->steps_seen : row->steps_seen;
    row->max_per_step = site->max_per_step > row->max_per_step ? site->max_per_step : row->max_per_step;
    return add_rank(row, view->header.rank);
}

static bool add_process(struct hw_report *report, const struct hw_trace_view *view)
{
    const struct hw_trace_header *h = &view->header;
    struct hw_report_process *list = realloc(report->processes, (report->process_count + 1) * sizeof *list);
    if (!list)
        return false;
    report->processes = list;
    list[report->process_count++] = (struct hw_report_process){
        .host = strdup(h->host),
        .python = strdup(h->python),
        .path = strdup(view->path),
        .pid = h->pid,
        .ppid = h->ppid,
        .rank = h->rank,
        .world = h->world,
        .steps = h->steps,
        .ended = h->ended == HW_ENDED_EXIT ? HW_ENDED_EXIT : HW_ENDED_UNKNOWN,
        .sim_mode = h->sim_mode <= HW_SIM_VALUES_INACTIVE ? (enum hw_sim_mode)h->sim_mode : HW_SIM_NONE,
        .coverage = h->coverage | (h->python[0] || h->coverage & HW_COVERAGE_NOTHING_SEEN ? 0 : HW_COVERAGE_NO_PYTHON),
        .blind_library = strdup(h->driver_user),
        .lost = h->lost,
        .unvalued = h->unvalued,
        .cut = view->cut,
    };
    for (unsigned scope = 0; scope < HW_SCOPE_COUNT; scope++)
        add_totals(&report->totals[scope], &h->totals[scope]);
    for (unsigned i = 0; i < HW_TRACE_THREADS; i++)
        report->launches += h->threads[i].launches;
    if (h->steps > report->steps)
        report->steps = h->steps;
    report->launch_blocking |= h->launch_blocking != 0;
    return true;
}

/* What one process could not see, in words, and what that makes of the whole report's coverage. */
static void note_process(struct hw_report *report, const struct hw_report_process *p)
{
    char who[96];
    if (p->rank >= 0)
        snprintf(who, sizeof who, "rank %d (pid %u)", p->rank, p->pid);
    else
        snprintf(who, sizeof who, "pid %u", p->pid);
    static const struct {
        uint32_t bit;
        enum hw_coverage_status status;
        const char *text;
    } rows[] = {
        {HW_COVERAGE_NOTHING_SEEN, HW_COVERAGE_UNKNOWN,
         "a CUDA or NCCL library was loaded, but no call of it came through the shim"},
        {HW_COVERAGE_NO_PYTHON, HW_COVERAGE_PARTIAL, "no Python interpreter ran: calls were counted without hooks or lines"},
        {HW_COVERAGE_PY_UNKNOWN, HW_COVERAGE_UNKNOWN,
         "the frames of this Python version cannot be read (those of " HW_PY_VERSIONS " can): no hook was recognised"},
        {HW_COVERAGE_PY_CHECK, HW_COVERAGE_UNKNOWN,
         "the frames of this Python build are laid out in a way that is not known: no hook was recognised"},
        {HW_COVERAGE_SITES_FULL, HW_COVERAGE_PARTIAL,
         "more lines made calls than the table holds: the rest is in the totals only"},
        {HW_COVERAGE_TRACE_FULL, HW_COVERAGE_PARTIAL, "the trace could not grow (disk full or at its bound)"},
        {HW_COVERAGE_DRIVER_USER, HW_COVERAGE_PARTIAL,
         "a loaded library calls the CUDA driver directly, which is not watched yet"},
        {HW_COVERAGE_STATIC_RUNTIME, HW_COVERAGE_UNKNOWN,
         "a loaded library holds its own copy of the CUDA runtime, which cannot be watched"},
        {HW_COVERAGE_LOST, HW_COVERAGE_PARTIAL, "calls were made while the trace was being opened"},
        {HW_COVERAGE_SETTINGS, HW_COVERAGE_PARTIAL, "a list in a HOOKWATCH_* variable was too long and was cut"},
        {HW_COVERAGE_DEEP_STACK, HW_COVERAGE_PARTIAL,
         "a Python stack was deeper than the 400 frames that are searched for hooks"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!(p->coverage & rows[i].bit))
            continue;
        bool library = rows[i].bit & (HW_COVERAGE_DRIVER_USER | HW_COVERAGE_STATIC_RUNTIME);
        hw_report_note(report, "%s: %s%s%s%s", who, rows[i].text, library ? " (" : "", library ? p->blind_library : "",
                       library ? ")" : "");
        lower_coverage(report, rows[i].status);
    }
    if (p->cut) {
        hw_report_note(report, "%s: its trace is cut short or damaged (%s): lines may be missing", who, p->path);
        lower_coverage(report, HW_COVERAGE_PARTIAL);
    }
    if (p->unvalued) {
        hw_report_note(report,
                       "%s: %llu operations of the simulated stack had no true value: counts that depend on it may be wrong",
                       who, (unsigned long long)p->unvalued);
        lower_coverage(report, HW_COVERAGE_PARTIAL);
    }
    if (p->lost) {
        hw_report_note(report, "%s: %llu calls could not be recorded by line", who, (unsigned long long)p->lost);
        lower_coverage(report, HW_COVERAGE_PARTIAL);
    }
}

static void judge(struct hw_report *report, const struct hw_report_lint *lint)
{
    for (size_t i = 0; i < report->row_count; i++) {
        struct hw_report_row *row = &report->rows[i];
        if (row->seen && row->rule && row->rule->number == 101 && !row->waits)
            row->rule = hw_rule_by_number(102); /* a scalar, but nobody waited: a non_blocking copy */
        row->severity = severity_of(row);
        if (!row->rule || row->allowed || !lint->allowed || !row->filename[0])
            continue;
        char *reason = NULL;
        int answer = lint->allowed(row->filename, row->row, row->rule->code, &reason);
        if (answer > 0)
            row->allowed = reason;
        else if (answer < 0)
            row->allowed = strdup("unknown");
    }
}

static int rank_of_scope(enum hw_scope scope)
{
    static const int order[HW_SCOPE_COUNT] = {
        [HW_SCOPE_HOOK] = 0, [HW_SCOPE_FLUSH] = 1, [HW_SCOPE_FRAMEWORK] = 2, [HW_SCOPE_OUTSIDE] = 3};
    return order[scope];
}

#define COMPARE(a, b) ((a) < (b) ? -1 : (a) > (b))

/* Worst first. Simulated waits are no times, so that counts decide there; ties by place, so that two runs print alike. */
static int by_cost(const void *left, const void *right, void *user)
{
    const struct hw_report_row *a = left, *b = right;
    const struct hw_report *report = user;
    int order = COMPARE(rank_of_scope(a->scope), rank_of_scope(b->scope));
    if (!order)
        order = COMPARE(b->severity, a->severity);
    if (!order && !report->simulated)
        order = COMPARE(b->wait_ns, a->wait_ns);
    if (!order)
        order = COMPARE(b->count, a->count);
    if (!order)
        order = strcmp(a->filename, b->filename);
    if (!order)
        order = COMPARE(a->row, b->row);
    return order ? order : COMPARE(a->rule ? a->rule->number : 0, b->rule ? b->rule->number : 0);
}

static void free_index(struct index *index)
{
    struct index *entry, *next;
    HASH_ITER (hh, index, entry, next) {
        HASH_DEL(index, entry);
        free(entry);
    }
}

static void look_at_simulation(struct hw_report *report)
{
    size_t simulated = 0, values = 0;
    for (size_t i = 0; i < report->process_count; i++) {
        simulated += report->processes[i].sim_mode != HW_SIM_NONE;
        values += report->processes[i].sim_mode == HW_SIM_VALUES;
        if (report->processes[i].sim_mode != HW_SIM_VALUES_INACTIVE)
            continue;
        hw_report_note(
            report,
            "pid %u: value mode was asked for, but its Python part did not start (python -I, -S or -E?): counts that "
            "depend on values may be wrong",
            report->processes[i].pid);
        lower_coverage(report, HW_COVERAGE_PARTIAL);
    }
    report->simulated = simulated > 0;
    report->values = simulated && simulated == values;
    if (simulated && simulated != report->process_count)
        hw_report_note(report, "some processes ran on the simulated stack and some did not");
}

static void free_process(struct hw_report_process *p)
{
    free(p->host);
    free(p->python);
    free(p->path);
    free(p->blind_library);
    for (size_t i = 0; i < p->in_flight_count; i++) {
        free(p->in_flight[i].api);
        free(p->in_flight[i].filename);
        free(p->in_flight[i].hook);
    }
    free(p->in_flight);
}

static bool is_idle(const struct hw_report_process *p)
{
    return p->coverage & HW_COVERAGE_NOTHING_SEEN && !(p->coverage & (HW_COVERAGE_DRIVER_USER | HW_COVERAGE_STATIC_RUNTIME));
}

/* Whether a process started another one that made calls, was started by one, or carries the rank of one. */
static bool is_relative(const struct hw_report *report, const struct hw_report_process *p)
{
    for (size_t i = 0; i < report->process_count; i++) {
        const struct hw_report_process *other = &report->processes[i];
        if (!(other->coverage & HW_COVERAGE_NOTHING_SEEN) && strcmp(other->host, p->host) == 0 &&
            (other->ppid == p->pid || other->pid == p->ppid || (p->rank >= 0 && other->rank == p->rank)))
            return true;
    }
    return false;
}

/* A launcher or a worker loads the framework and computes nothing: it takes nothing from what its child or its parent did. Any
 * other process without a call means that something was not seen. */
static void set_idle_aside(struct hw_report *report)
{
    size_t kept = 0, idle = 0;
    bool *aside = calloc(report->process_count + 1, sizeof *aside);
    if (!aside)
        return;
    for (size_t i = 0; i < report->process_count; i++)
        aside[i] = is_idle(&report->processes[i]) && is_relative(report, &report->processes[i]);
    for (size_t i = 0; i < report->process_count; i++) {
        if (aside[i]) {
            free_process(&report->processes[i]);
            idle++;
        } else {
            report->processes[kept++] = report->processes[i];
        }
    }
    free(aside);
    report->process_count = kept;
    if (idle)
        hw_report_note(report, "%zu launcher or worker process%s loaded CUDA and made no call", idle, idle == 1 ? "" : "es");
}

/* Ranks of which there is no trace, and processes that did not say goodbye. */
static void note_missing(struct hw_report *report)
{
    int32_t world = 0;
    size_t ranks = 0, abrupt = 0;
    for (size_t i = 0; i < report->process_count; i++) {
        const struct hw_report_process *p = &report->processes[i];
        bool again = p->rank < 0;
        for (size_t k = 0; k < i && !again; k++)
            again = report->processes[k].rank == p->rank;
        ranks += !again;
        abrupt += p->ended != HW_ENDED_EXIT;
        if (p->rank >= 0 && p->world > world)
            world = p->world;
    }
    if (world > 0 && ranks < (size_t)world) {
        hw_report_note(report, "%zu of %d ranks left a trace", ranks, world);
        lower_coverage(report, HW_COVERAGE_PARTIAL);
    }
    if (abrupt)
        hw_report_note(report,
                       "%zu process%s still running, or ended by a signal or os._exit: what was recorded until then counts",
                       abrupt, abrupt == 1 ? " is" : "es are");
}

/* What a process was doing when it ended without saying so. */
static bool add_in_flight(struct hw_report_process *p, const struct hw_report_options *options,
                          const struct hw_trace_view *view)
{
    if (p->ended == HW_ENDED_EXIT)
        return true;
    for (unsigned i = 0; i < HW_TRACE_RING; i++) {
        const struct hw_trace_call *call = &view->header.ring[i];
        const struct hw_record_site *site = hw_trace_view_site(view, call->site);
        if (!call->sequence || !call->in_flight || !site)
            continue;
        struct hw_report_call *list = realloc(p->in_flight, (p->in_flight_count + 1) * sizeof *list);
        if (!list)
            return false;
        p->in_flight = list;
        list[p->in_flight_count++] = (struct hw_report_call){
            .api = strdup(hw_trace_view_text(view, call->api)),
            .filename = map_path(options, hw_trace_view_text(view, site->site.filename)),
            .hook = strdup(hw_trace_view_text(view, site->hook.function)),
            .row = site->site.row,
            .bytes = call->bytes,
        };
    }
    return true;
}

static int load_one(struct hw_report *report, struct index **index, const struct hw_report_options *options, const char *path)
{
    struct hw_trace_view view;
    char error[512];
    if (hw_trace_view_open(path, &view, error, sizeof error) != 0) {
        fprintf(stderr, "hookwatch: %s\n", error);
        hw_report_note(report, "%s", error);
        lower_coverage(report, HW_COVERAGE_PARTIAL);
        return 0;
    }
    bool good = add_process(report, &view) && add_in_flight(&report->processes[report->process_count - 1], options, &view);
    size_t cursor = 0;
    for (const struct hw_record *record; good && (record = hw_trace_view_next(&view, &cursor));)
        if (record->kind == HW_RECORD_SITE)
            good = add_site(report, index, options, &view, (const struct hw_record_site *)record);
    hw_trace_view_close(&view);
    if (!good)
        fprintf(stderr, "hookwatch: %s: out of memory\n", path);
    return good ? 0 : -1;
}

static int list_traces(const char *dir, char ***paths, long *count, struct hw_report *report)
{
    size_t elsewhere;
    *count = hw_trace_list(dir, paths, &elsewhere);
    if (*count < 0) {
        fprintf(stderr, "hookwatch: %s: %s: no run left its traces here; name the directory given to `hookwatch run -o`\n", dir,
                strerror(errno));
        return -1;
    }
    if (elsewhere) {
        hw_report_note(report, "%zu trace%s still on other hosts' local disks", elsewhere, elsewhere == 1 ? " is" : "s are");
        lower_coverage(report, HW_COVERAGE_PARTIAL);
    }
    if (*count == 0 && elsewhere) {
        fprintf(stderr, "hookwatch: %s: its %zu traces are on other hosts' local disks; run `hookwatch report` there\n", dir,
                elsewhere);
        return -1;
    }
    if (*count == 0) {
        fprintf(
            stderr,
            "hookwatch: %s: no data: the shim was not loaded, no process used CUDA or NCCL, or nothing could be written; check "
            "LD_PRELOAD (absolute path, no spaces), the disk, and that the program is not set-uid\n",
            dir);
        return -1;
    }
    return 0;
}

int hw_report_load(const struct hw_report_options *options, struct hw_report *report)
{
    memset(report, 0, sizeof *report);
    char **paths = NULL;
    long count = 0;
    struct index *index = NULL;
    int status = list_traces(options->dir, &paths, &count, report);
    for (long i = 0; i < count; i++) {
        if (status == 0)
            status = load_one(report, &index, options, paths[i]);
        free(paths[i]);
    }
    free(paths);
    free_index(index);
    if (status == 0 && !report->process_count) {
        fprintf(stderr, "hookwatch: %s: none of its %ld traces can be read\n", options->dir, count);
        status = -1;
    }
    if (status == 0) {
        set_idle_aside(report);
        note_missing(report);
        for (size_t i = 0; i < report->process_count; i++)
            note_process(report, &report->processes[i]);
        look_at_simulation(report);
        if (options->lint.run) {
            report->with_lint = true;
            status = hw_report_join(report, &options->lint);
        }
    }
    if (status != 0) {
        hw_report_free(report);
        return -1;
    }
    judge(report, &options->lint);
    qsort_r(report->rows, report->row_count, sizeof *report->rows, by_cost, report);
    return 0;
}

void hw_report_free(struct hw_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        struct hw_report_row *row = &report->rows[i];
        free(row->hook);
        free(row->hook_filename);
        free(row->filename);
        free(row->api);
        free(row->callee);
        free(row->allowed);
        free(row->message);
        free(row->ranks);
        for (size_t k = 0; k < row->stack_count; k++) {
            free(row->stack[k].function);
            free(row->stack[k].filename);
        }
    }
    for (size_t i = 0; i < report->process_count; i++)
        free_process(&report->processes[i]);
    for (size_t i = 0; i < report->note_count; i++)
        free(report->notes[i]);
    free(report->rows);
    free(report->processes);
    free(report->notes);
    memset(report, 0, sizeof *report);
}

bool hw_report_counts(const struct hw_report_row *row)
{
    bool allowed = row->allowed && strcmp(row->allowed, "unknown") != 0;
    return row->scope != HW_SCOPE_FRAMEWORK && row->rule && row->seen && row->severity != HW_SEVERITY_NOTE && !allowed;
}
