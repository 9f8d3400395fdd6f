/* The text view: a table of 100 columns, worst line first, and what the run could not show. */
#define _GNU_SOURCE
#include "report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Columns of the table: rule 5, calls 7, per step 6, host wait 9, evidence 9, and these two. */
#define WHERE 30
#define HOOK  27

struct view {
    const struct hw_report *report;
    FILE *out;
    bool color;
    char base[PATH_MAX];
};

static const char *paint(const struct view *v, const char *code)
{
    return v->color ? code : "";
}
#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define PLAIN  "\033[0m"

/* Bytes of the UTF-8 character at `text`. */
static size_t character(const char *text)
{
    size_t n = 1;
    while ((text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static size_t width(const char *text)
{
    size_t columns = 0;
    for (; *text; text += character(text))
        columns++;
    return columns;
}

/* A qualified name without the "<locals>" that every closure carries. */
static void shorten(const char *qualname, char *out, size_t size)
{
    static const char locals[] = ".<locals>";
    size_t n = 0;
    while (*qualname && n + 1 < size) {
        if (strncmp(qualname, locals, sizeof locals - 1) == 0)
            qualname += sizeof locals - 1;
        else
            out[n++] = *qualname++;
    }
    out[n] = '\0';
}

/* Prints `text` in `columns` columns, cut at its start where the end tells more. */
static void put(const struct view *v, const char *text, size_t columns, bool last)
{
    size_t w = width(text);
    if (w > columns) {
        for (; w > columns - 1; w--)
            text += character(text);
        fputs("\u2026", v->out);
        w = columns;
    }
    for (; *text; text++) /* names come from traces: no terminal escapes */
        fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, v->out);
    if (!last)
        fprintf(v->out, "%*s", (int)(columns - w), "");
}

static const char *relative(const struct view *v, const char *path)
{
    size_t n = strlen(v->base);
    return n > 1 && strncmp(path, v->base, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static void put_duration(const struct view *v, uint64_t ns)
{
    double t = (double)ns;
    if (v->report->simulated)
        fprintf(v->out, "%9s", "-");
    else if (t < 1e6)
        fprintf(v->out, "%6.1f us", t / 1e3);
    else if (t < 1e9)
        fprintf(v->out, "%6.2f ms", t / 1e6);
    else
        fprintf(v->out, "%6.2f s ", t / 1e9);
}

/* Count per step and process. */
static void put_rate(const struct view *v, const struct hw_report_row *r)
{
    uint64_t processes = r->processes ? r->processes : 1;
    if (!v->report->steps || !r->seen)
        fprintf(v->out, "%6s", "-");
    else
        fprintf(v->out, "%6.1f", (double)r->count / (double)v->report->steps / (double)processes);
}

static const char *evidence(const struct hw_report_row *r)
{
    return r->predicted ? (r->seen ? "both" : "predicted") : "seen";
}

static void put_row(const struct view *v, const struct hw_report_row *r, const char *tag)
{
    char where[PATH_MAX + 16], hook[512];
    if (r->filename[0])
        snprintf(where, sizeof where, "%s:%u", relative(v, r->filename), r->row);
    else
        snprintf(where, sizeof where, "(no Python line)");
    const char *color = r->severity == HW_SEVERITY_ERROR ? RED : r->severity == HW_SEVERITY_WARNING ? YELLOW : DIM;
    fprintf(v->out, "%s%-5s%s ", paint(v, r->rule ? color : ""), tag, paint(v, r->rule ? PLAIN : ""));
    if (r->seen)
        fprintf(v->out, "%7llu ", (unsigned long long)r->count);
    else
        fprintf(v->out, "%7s ", "-");
    put_rate(v, r);
    fputc(' ', v->out);
    put_duration(v, r->wait_ns);
    fputs("  ", v->out);
    if (v->report->with_lint)
        fprintf(v->out, "%-9s ", r->rule ? evidence(r) : "");
    put(v, where, WHERE + (v->report->with_lint ? 0 : 10), false);
    fputc(' ', v->out);
    shorten(r->hook, hook, sizeof hook);
    put(v, hook[0] ? hook : "-", HOOK, true);
    fputc('\n', v->out);
    if (r->predicted_rule)
        fprintf(v->out, "       %slint predicts %s %s here%s\n", paint(v, DIM), r->predicted_rule->code,
                r->predicted_rule->name, paint(v, PLAIN));
    if (r->allowed && strcmp(r->allowed, "unknown") == 0)
        fprintf(v->out, "       %sallowed? unknown: the source is not here; see --path-map%s\n", paint(v, DIM),
                paint(v, PLAIN));
    else if (r->allowed)
        fprintf(v->out, "       %sallowed: %s%s\n", paint(v, DIM), r->allowed, paint(v, PLAIN));
}

static void put_head(const struct view *v, const char *first)
{
    fprintf(v->out, "%s%-5s %7s %6s %9s  ", paint(v, DIM), first, "calls", "/step", "host wait");
    if (v->report->with_lint)
        fprintf(v->out, "%-9s ", "evidence");
    fprintf(v->out, "%-*s %s%s\n", WHERE + (v->report->with_lint ? 0 : 10), "line", "hook", paint(v, PLAIN));
}

static bool is_finding(const struct hw_report_row *r)
{
    return r->rule && r->scope != HW_SCOPE_FRAMEWORK && r->severity != HW_SEVERITY_NOTE;
}

static size_t count_rows(const struct hw_report *report, bool (*want)(const struct hw_report_row *))
{
    size_t n = 0;
    for (size_t i = 0; i < report->row_count; i++)
        n += want(&report->rows[i]);
    return n;
}

static bool is_note(const struct hw_report_row *r)
{
    return r->rule && r->scope != HW_SCOPE_FRAMEWORK && r->severity == HW_SEVERITY_NOTE;
}

static bool is_framework(const struct hw_report_row *r)
{
    return r->scope == HW_SCOPE_FRAMEWORK;
}

static bool is_flush(const struct hw_report_row *r)
{
    return r->scope == HW_SCOPE_FLUSH && !r->rule;
}

static void put_section(const struct view *v, const char *title, const char *first, bool (*want)(const struct hw_report_row *),
                        bool by_rule)
{
    if (!count_rows(v->report, want))
        return;
    fprintf(v->out, "\n%s%s%s\n", paint(v, BOLD), title, paint(v, PLAIN));
    put_head(v, first);
    for (size_t i = 0; i < v->report->row_count; i++) {
        const struct hw_report_row *r = &v->report->rows[i];
        if (!want(r))
            continue;
        if (by_rule) {
            put_row(v, r, r->rule->code);
            continue;
        }
        put_row(v, r, "");
        fprintf(v->out, "      %s%s%s\n", paint(v, DIM), r->api, paint(v, PLAIN));
    }
}

static void put_legend(const struct view *v)
{
    bool any = false;
    for (size_t k = 0; k < hw_rules_count; k++) {
        for (size_t i = 0; i < v->report->row_count; i++) {
            if (v->report->rows[i].rule != &hw_rules[k] || !is_finding(&v->report->rows[i]))
                continue;
            if (!any)
                fputc('\n', v->out);
            any = true;
            fprintf(v->out, "%s%s %s: %s%s\n", paint(v, DIM), hw_rules[k].code, hw_rules[k].name, hw_rules[k].summary,
                    paint(v, PLAIN));
            break;
        }
    }
}

static void put_title(const struct view *v)
{
    const struct hw_report *report = v->report;
    fprintf(v->out, "%shookwatch%s %s: ", paint(v, BOLD), paint(v, PLAIN), HW_VERSION);
    if (report->steps)
        fprintf(v->out, "%llu steps, ", (unsigned long long)report->steps);
    else
        fputs("steps unknown, ", v->out);
    fprintf(v->out, "%zu process%s", report->process_count, report->process_count == 1 ? "" : "es");
    if (report->process_count && report->processes[0].python[0])
        fprintf(v->out, ", Python %s", report->processes[0].python);
    fputc('\n', v->out);
    if (report->simulated)
        fprintf(v->out, "%sSIMULATED (%s): no GPU took part; counts are of the real call sequence, times mean nothing.%s%s\n",
                paint(v, YELLOW), report->values ? "values" : "zeros",
                report->values ? "" : "\nBranches saw zeros: an expected 0 proves nothing.", paint(v, PLAIN));
    if (report->launch_blocking)
        fprintf(v->out, "%sCUDA_LAUNCH_BLOCKING is set: every launch waits, so that no wait below is typical.%s\n",
                paint(v, YELLOW), paint(v, PLAIN));
}

static void put_total(const struct view *v, const char *what, size_t field)
{
    uint64_t n[HW_SCOPE_COUNT];
    for (unsigned scope = 0; scope < HW_SCOPE_COUNT; scope++)
        memcpy(&n[scope], (const char *)&v->report->totals[scope] + field, sizeof n[scope]);
    fprintf(v->out, "%-12s %llu in hooks, %llu in flushes, %llu in framework hooks, %llu elsewhere\n", what,
            (unsigned long long)n[HW_SCOPE_HOOK], (unsigned long long)n[HW_SCOPE_FLUSH],
            (unsigned long long)n[HW_SCOPE_FRAMEWORK], (unsigned long long)n[HW_SCOPE_OUTSIDE]);
}

static void put_totals(const struct view *v)
{
    fputc('\n', v->out);
    put_total(v, "host waits:", offsetof(struct hw_trace_totals, waits));
    put_total(v, "collectives:", offsetof(struct hw_trace_totals, collectives));
}

static void put_in_flight(const struct view *v)
{
    for (size_t i = 0; i < v->report->process_count; i++) {
        const struct hw_report_process *p = &v->report->processes[i];
        for (size_t k = 0; k < p->in_flight_count; k++) {
            const struct hw_report_call *c = &p->in_flight[k];
            char where[PATH_MAX + 16];
            snprintf(where, sizeof where, c->filename[0] ? "%s:%u" : "no Python line", relative(v, c->filename), c->row);
            char rank[24] = "";
            if (p->rank >= 0)
                snprintf(rank, sizeof rank, "rank %d, ", p->rank);
            fprintf(v->out, "\n%s%spid %u was inside %s when it was last heard of:%s ", paint(v, YELLOW), rank, p->pid, c->api,
                    paint(v, PLAIN));
            put(v, where, sizeof where, true);
            if (c->hook[0]) {
                fputs(", hook ", v->out);
                put(v, c->hook, 512, true);
            }
            fputc('\n', v->out);
        }
    }
}

static void put_end(const struct view *v)
{
    const struct hw_report *report = v->report;
    static const char *const status[] = {"full", "PARTIAL", "UNKNOWN"};
    fprintf(v->out, "%-12s %s%s%s", "coverage:", paint(v, report->coverage == HW_COVERAGE_FULL ? "" : YELLOW),
            status[report->coverage], paint(v, report->coverage == HW_COVERAGE_FULL ? "" : PLAIN));
    fputs(report->coverage == HW_COVERAGE_FULL ? " (CUDA runtime and NCCL calls through dynamic symbols)\n" : "\n", v->out);
    for (size_t i = 0; i < report->note_count; i++)
        fprintf(v->out, "             %s\n", report->notes[i]);
    size_t findings = count_rows(report, hw_report_counts), notes = count_rows(report, is_note);
    if (report->coverage == HW_COVERAGE_UNKNOWN && !findings)
        fputs("Nothing was found, and nothing could have been: see the coverage above.", v->out);
    else
        fprintf(v->out, findings == 1 ? "%zu line breaks a rule." : "%zu lines break a rule.", findings);
    if (findings && !report->steps)
        fputs(" Steps are unknown: call hookwatch.step() after each,\nor name the function that flushes metrics in "
              "HOOKWATCH_FLUSH_ROOTS.",
              v->out);
    if (notes)
        fprintf(v->out, " %zu note%s (%s).", notes, notes == 1 ? "" : "s", "caches filling; --output-format json lists them");
    fputc('\n', v->out);
}

int hw_report_text(const struct hw_report *report, FILE *out, bool color)
{
    struct view v = {.report = report, .out = out, .color = color};
    if (!getcwd(v.base, sizeof v.base))
        v.base[0] = '\0';
    put_title(&v);
    put_section(&v, "Findings", "rule", is_finding, true);
    put_legend(&v);
    put_section(&v, "In flush windows, by the rules", "", is_flush, false);
    put_section(&v, "In the framework's own hooks (not judged)", "", is_framework, false);
    put_in_flight(&v);
    put_totals(&v);
    put_end(&v);
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}
