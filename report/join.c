/* Joining what was seen with what lint predicts: by statement and by family of rules, never by inventing a finding. */
#define _GNU_SOURCE
#include "report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct prediction {
    const struct hw_rule *rule;
    char *filename, *hook, *message, *allowed;
    struct hw_position start, end;
    uint32_t first, last;
    bool joined;
};

struct predictions {
    struct prediction *list;
    size_t count, room;
    bool failed;
};

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void collect(const struct hw_finding *finding, void *user)
{
    struct predictions *all = user;
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 64;
        struct prediction *list = realloc(all->list, room * sizeof *list);
        if (!list) {
            all->failed = true;
            return;
        }
        all->list = list;
        all->room = room;
    }
    all->list[all->count++] = (struct prediction){
        .rule = finding->rule,
        .filename = copy(finding->filename),
        .hook = copy(finding->hook ? finding->hook : ""),
        .message = copy(finding->message),
        .allowed = copy(finding->allowed),
        .start = finding->start,
        .end = finding->end,
        .first = finding->statement_first ? finding->statement_first : finding->start.row,
        .last = finding->statement_last ? finding->statement_last : finding->end.row,
    };
}

/* Count of trailing path components that two paths share. */
static int common_suffix(const char *a, const char *b)
{
    size_t i = strlen(a), j = strlen(b);
    int components = 0;
    while (i && j && a[i - 1] == b[j - 1]) {
        i--;
        j--;
        if (a[i] == '/')
            components++;
    }
    if ((i == 0 || a[i - 1] == '/') && (j == 0 || b[j - 1] == '/') && (i == 0 || j == 0))
        components++;
    return components;
}

/* The linted file that a traced path means: itself, else the one with the longest common suffix. NULL: none; an ambiguity is
 * reported and sets *bad. */
static const char *linted_file(const struct predictions *all, const char *traced, bool *bad)
{
    char real[PATH_MAX];
    const char *path = realpath(traced, real) ? real : traced, *best = NULL, *rival = NULL;
    int longest = 0;
    for (size_t i = 0; i < all->count; i++) {
        const char *file = all->list[i].filename;
        if (strcmp(file, path) == 0)
            return file;
        int shared = path == real ? 0 : common_suffix(file, traced);
        if (shared > longest) {
            longest = shared;
            best = file;
            rival = NULL;
        } else if (shared && shared == longest && strcmp(file, best) != 0) {
            rival = file;
        }
    }
    if (!rival)
        return best;
    fprintf(stderr, "hookwatch: %s could be %s or %s; tell with --path-map FROM=TO\n", traced, best, rival);
    *bad = true;
    return NULL;
}

static bool same_family(const struct hw_rule *a, const struct hw_rule *b)
{
    return a->number / 100 == b->number / 100;
}

/* Takes over lint's place and reason; the first prediction of a row decides. */
static void mark(struct hw_report_row *row, struct prediction *p)
{
    p->joined = true;
    if (row->predicted)
        return;
    row->predicted = true;
    row->message = copy(p->message);
    row->start = p->start;
    row->end = p->end;
    if (p->rule != row->rule)
        row->predicted_rule = p->rule;
    if (p->allowed && p->rule == row->rule && !row->allowed)
        row->allowed = copy(p->allowed);
}

/* Joins one row: all predictions of its own rule in the statement, else those of its family. */
static void join_row(struct predictions *all, struct hw_report_row *row, const char *file)
{
    for (int exact = 1; exact >= 0 && !row->predicted; exact--) {
        for (size_t i = 0; i < all->count; i++) {
            struct prediction *p = &all->list[i];
            if (row->row < p->first || row->row > p->last || strcmp(p->filename, file) != 0)
                continue;
            if (exact ? p->rule == row->rule : same_family(p->rule, row->rule))
                mark(row, p);
        }
    }
}

static bool add_unseen(struct hw_report *report, const struct prediction *p)
{
    struct hw_report_row *row = hw_report_add(report);
    if (!row)
        return false;
    row->rule = p->rule;
    row->scope = HW_SCOPE_HOOK;
    row->hook = copy(p->hook);
    row->hook_filename = strdup("");
    row->filename = copy(p->filename);
    row->row = p->start.row;
    row->api = strdup("");
    row->callee = strdup("");
    row->predicted = true;
    row->message = copy(p->message);
    row->start = p->start;
    row->end = p->end;
    row->allowed = copy(p->allowed);
    return true;
}

int hw_report_join(struct hw_report *report, const struct hw_report_lint *lint)
{
    struct predictions all = {0};
    bool bad = lint->run(collect, &all, lint->context) != 0;
    size_t seen = report->row_count;
    for (size_t i = 0; i < seen && !bad; i++) {
        struct hw_report_row *row = &report->rows[i];
        if (!row->rule || !row->filename[0])
            continue;
        const char *file = linted_file(&all, row->filename, &bad);
        if (file)
            join_row(&all, row, file);
    }
    for (size_t i = 0; i < all.count; i++) {
        struct prediction *p = &all.list[i];
        if (!bad && !all.failed && !p->joined)
            all.failed = !add_unseen(report, p);
        free(p->filename);
        free(p->hook);
        free(p->message);
        free(p->allowed);
    }
    free(all.list);
    if (all.failed)
        fprintf(stderr, "hookwatch: out of memory\n");
    return bad || all.failed ? -1 : 0;
}
