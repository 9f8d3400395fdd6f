/* The report: traces of all ranks merged, joined with what lint predicts, and the views of it. */
#ifndef HW_REPORT_H
#define HW_REPORT_H

#include "core/finding.h"
#include "interpose/trace/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct hw_report_frame {
    char *function, *filename;
    uint32_t row;
};

/* One line of user code and what it did, over all ranks. Strings are the report's. */
struct hw_report_row {
    const struct hw_rule *rule; /* NULL for framework and flush rows that break none */
    enum hw_severity severity;
    enum hw_scope scope;
    char *hook, *hook_filename, *filename, *api, *callee;
    uint32_t row;
    uint64_t count, late, waits, wait_ns, max_wait_ns, bytes, steps_seen, max_per_step;
    bool predicted, seen;
    const struct hw_rule *predicted_rule; /* lint's, where it differs */
    char *allowed;                        /* reason, "unknown" when the source cannot be read, NULL */
    char *message;                        /* lint's, for rows it predicted */
    struct hw_position start, end;        /* lint's, column 0 when only seen */
    int32_t *ranks;
    size_t rank_count;
    size_t processes, last_process; /* that made such calls; the last one counted, plus one */
    struct hw_report_frame stack[HW_TRACE_STACK];
    size_t stack_count;
};

/* A call that had not returned when the process ended. */
struct hw_report_call {
    char *api, *filename, *hook;
    uint32_t row;
    uint64_t bytes;
};

struct hw_report_process {
    char *host, *python, *path;
    uint32_t pid, ppid;
    int32_t rank, world;
    uint64_t steps;
    enum hw_ended ended;
    enum hw_sim_mode sim_mode;
    uint32_t coverage;   /* bits of enum hw_coverage */
    char *blind_library; /* what the bits about libraries mean */
    uint64_t lost, unvalued;
    bool cut; /* its trace */
    struct hw_report_call *in_flight;
    size_t in_flight_count;
};

enum hw_coverage_status { HW_COVERAGE_FULL, HW_COVERAGE_PARTIAL, HW_COVERAGE_UNKNOWN };

struct hw_report {
    struct hw_report_process *processes;
    size_t process_count;
    struct hw_report_row *rows; /* findings, worst first; then flush, framework */
    size_t row_count, row_room;
    struct hw_trace_totals totals[HW_SCOPE_COUNT];
    uint64_t launches; /* all, the ones that no window could be given included */
    uint64_t steps;    /* of the process with most; 0: unknown */
    bool with_lint;
    bool simulated, values; /* made on the simulated stack; in value mode */
    bool launch_blocking;
    enum hw_coverage_status coverage;
    char **notes;
    size_t note_count;
};

/* What a caller provides from lint; report itself depends on no parser. */
struct hw_report_lint {
    /* Calls `emit` for every finding, allowed ones included; 0, or -1 after a line on stderr. NULL: no prediction. */
    int (*run)(void (*emit)(const struct hw_finding *finding, void *user), void *user, void *context);
    /* As hw_lint_allowed. */
    int (*allowed)(const char *filename, uint32_t row, const char *code, char **reason);
    void *context;
};

struct hw_report_options {
    const char *dir;
    const char *const *path_maps; /* "FROM=TO": a prefix of traced paths, and what it is here */
    size_t path_map_count;
    struct hw_report_lint lint;
};

/* Reads DIR. Returns 0; or -1 after one line on stderr that says what to do (no traces, unreadable, not a trace). The caller
 * frees the report. */
int hw_report_load(const struct hw_report_options *options, struct hw_report *report);
void hw_report_free(struct hw_report *report);

/* True for a row that makes `report` fail: an error or a warning that was seen and is not allowed. */
bool hw_report_counts(const struct hw_report_row *row);

/* Views. 0, or -1 with errno when writing failed. */
int hw_report_text(const struct hw_report *report, FILE *out, bool color);
int hw_report_json(const struct hw_report *report, FILE *out);
int hw_report_sink(const struct hw_report *report, enum hw_format format, FILE *out);

/* join.c: marks rows predicted, adds predicted rows that were not seen. */
int hw_report_join(struct hw_report *report, const struct hw_report_lint *lint);
struct hw_report_row *hw_report_add(struct hw_report *report);
void hw_report_note(struct hw_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
