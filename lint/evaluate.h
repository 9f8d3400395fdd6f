/* Abstract execution of Python functions: statements, expressions, calls. */
#ifndef HW_LINT_EVALUATE_H
#define HW_LINT_EVALUATE_H

#include "lint/knowledge.h"
#include "lint/world.h"

enum { HW_ARGUMENTS = 48 };

/* The arguments of one call. What does not fit, or comes by * and **, is joined into rest and rest_keywords. */
struct hw_args {
    hw_val values[HW_ARGUMENTS];
    const char *keywords[HW_ARGUMENTS]; /* NULL: positional */
    TSNode nodes[HW_ARGUMENTS];
    size_t count;
    hw_val rest, rest_keywords;
};

/* Where a call stands. */
struct hw_site {
    struct hw_frame *frame;
    TSNode call;  /* the whole expression */
    TSNode token; /* the method name or callee */
    TSNode callee;
};

/* statements.c */
void hw_execute(struct hw_world *world, struct hw_frame *frame, TSNode block);
void hw_assign(struct hw_world *world, struct hw_frame *frame, TSNode target, hw_val value, bool augmented);

/* expressions.c */
hw_val hw_evaluate(struct hw_world *world, struct hw_frame *frame, TSNode node);
hw_val hw_read_attribute(struct hw_world *world, struct hw_frame *frame, TSNode node, hw_val object, const char *name);
hw_val hw_annotation(struct hw_world *world, struct hw_frame *frame, TSNode type);
/* False, and one HW901, when the code is nested too deeply to follow; else hw_leave must be called. */
bool hw_enter(struct hw_world *world, struct hw_frame *frame, TSNode node);
void hw_leave(struct hw_world *world, struct hw_frame *frame);

/* narrowing.c: what a condition says about the names in it, on its true or false side. */
void hw_narrow(struct hw_world *world, struct hw_frame *frame, TSNode test, bool holds);

/* calls.c */
hw_val hw_call_node(struct hw_world *world, struct hw_frame *frame, TSNode node);
hw_val hw_call(struct hw_world *world, const struct hw_site *site, hw_val callee, struct hw_args *args);
hw_val hw_invoke(struct hw_world *world, const struct hw_site *site, hw_val callee, const struct hw_args *args);
/* Calls a function with what `parameters` (lint/knowledge/hooks.def) says it is handed. */
hw_val hw_invoke_root(struct hw_world *world, const struct hw_root *root);

/* library.c: calls that lead out of the sources. */
hw_val hw_call_library(struct hw_world *world, const struct hw_site *site, const char *dotted, struct hw_args *args);
hw_val hw_call_method(struct hw_world *world, const struct hw_site *site, hw_val receiver, const char *name,
                      struct hw_args *args);

/* roots.c */
/* A call of a function that the settings name as a wrapper: what it is handed are hooks. */
void hw_wrapper_call(struct hw_world *world, const struct hw_site *site, const char *name, const struct hw_args *args);
bool hw_register(struct hw_world *world, const struct hw_site *site, const char *function, struct hw_args *args);
void hw_root_add(struct hw_world *world, hw_val function, const char *parameters, bool by_name);
void hw_pending_add(struct hw_world *world, hw_val function, struct hw_class *self);
void hw_roots_run_pending(struct hw_world *world);
void hw_root_carrier(struct hw_world *world, const char *name);

/* findings.c: records a finding at `token`, up to the end of `whole`. Does nothing outside hooks. `message` is copied. */
void hw_report(struct hw_world *world, struct hw_module *module, int rule, enum hw_severity severity, TSNode token,
               TSNode whole, const char *message);
void hw_report_call(struct hw_world *world, const struct hw_site *site, int rule);
void hw_report_file(struct hw_world *world, struct hw_module *module, int rule, uint32_t start, uint32_t end,
                    const char *message);
/* Gives a record its fix: bytes [first, last) of its file become `content` (in the arena). */
void hw_fix_record(struct hw_world *world, struct hw_record *record, uint32_t first, uint32_t last, const char *content,
                   const char *message);
/* The record of a rule at a byte; NULL if there is none. */
struct hw_record *hw_record_at(struct hw_world *world, const struct hw_module *module, int rule, uint32_t byte);
/* Frees the index of what is recorded. */
void hw_findings_forget(struct hw_world *world);
void hw_findings_emit(struct hw_world *world, void (*emit)(const struct hw_finding *, void *), void *user,
                      struct hw_lint_stats *stats);
/* The source of an expression, shortened, for messages. */
const char *hw_quote(struct hw_world *world, struct hw_module *module, TSNode node);

/* rules/HW902.c, HW903.c: directives that are malformed or allow nothing, in a file whose findings are all recorded. */
void hw_rule_directives(struct hw_world *world, struct hw_module *module);
/* rules/HW110.c: the condition of a while loop. */
void hw_rule_poll(struct hw_world *world, struct hw_frame *frame, TSNode test);
/* rules/HW204.c: why the outcome of a test, or the number of turns of a loop, is this rank's own; NULL if it is not. */
const char *hw_rank_local(struct hw_world *world, struct hw_frame *frame, TSNode test, hw_val value);
const char *hw_rank_local_loop(const struct hw_world *world, const struct hw_frame *frame, TSNode iterable, hw_val value);
/* rules/HW204.c: a collective is entered, in a hook or a flush. */
void hw_collective(struct hw_world *world, const struct hw_site *site, const struct hw_args *args);
/* rules/HW307.c: `value` is stored in `target`, which outlives the hook. */
void hw_rule_retained(struct hw_world *world, struct hw_frame *frame, TSNode target, hw_val value);
/* rules/HW109.c: what reads a host tensor; whether a wait makes all copies complete. */
void hw_host_read(struct hw_world *world, const struct hw_site *site, hw_val value);
void hw_copies_waited(struct hw_world *world, struct hw_frame *frame);
/* rules/HW304.c: an except clause just executed; the findings in it begin at first_record. */
void hw_rule_fallback(struct hw_world *world, struct hw_frame *frame, TSNode clause, size_t first_record);
/* rules/HW301.c: a call of a metric schema method, by its name. */
void hw_schema_call(struct hw_world *world, const struct hw_site *site, hw_val object, const char *name,
                    const struct hw_args *args);
/* rules/HW401.c: set-up functions of a file. */
void hw_rule_chunks(struct hw_world *world, struct hw_module *module);
/* rules/HW901.c: text the parser gave up on that may hide a hook. */
void hw_rule_unread(struct hw_world *world, struct hw_module *module);
/* rules/HW103.c: the truth value of `value`, taken by `test`, is needed; `reader` is "if", "while", ... */
void hw_truth(struct hw_world *world, struct hw_frame *frame, TSNode test, hw_val value, const char *reader);
/* rules/HW201.c: what to add to the message when a plain comment stands beside the collective, else "". */
const char *hw_collective_remark(struct hw_world *world, const struct hw_site *site);
/* rules/HW201.c: allows the finding by its comment or docstring where the project says so, else offers a fix. */
void hw_collective_justify(struct hw_world *world, const struct hw_site *site, struct hw_record *record);
/* rules/HW105.c */
void hw_format_string(struct hw_world *world, struct hw_frame *frame, TSNode interpolation, hw_val value);
/* rules/HW107.c: transfers between host and device memory; each returns the resulting value. */
hw_val hw_move(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args);
hw_val hw_move_here(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args);
hw_val hw_cast(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args);
hw_val hw_copy_into(struct hw_world *world, const struct hw_site *site, hw_val receiver, struct hw_args *args);
hw_val hw_upload(struct hw_world *world, const struct hw_site *site, struct hw_args *args);
/* rules/HW101.c: what to add to the message when the read only re-discovers static data, else "". */
const char *hw_scalar_remark(const struct hw_site *site);
/* rules/HW101.c: subscripts that read a device value: indices, slice bounds, masks. */
hw_val hw_subscript(struct hw_world *world, struct hw_frame *frame, TSNode node, hw_val object, bool store, hw_val stored);

/* An argument by keyword or position; NULL when not given. */
hw_val hw_argument(const struct hw_args *args, const char *keyword, int position);

#endif
