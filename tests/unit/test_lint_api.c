/* What report asks of the linter: the rows of a finding's whole statement, and whether a directive covers a row. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lint/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void put(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Each test has a file name of its own: hw_lint_allowed keeps the file it read last. */
static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/hookwatch-lint-XXXXXX.py");
    int fd = mkstemps(path, 3);
    assert_true(fd >= 0);
    return close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

struct rows {
    size_t count;
    struct {
        int number;
        uint32_t row, first, last;
        char hook[64];
        size_t witness_count;
    } items[16];
};

static void collect(const struct hw_finding *finding, void *user)
{
    struct rows *rows = user;
    assert_true(rows->count < 16);
    rows->items[rows->count].number = finding->rule->number;
    rows->items[rows->count].row = finding->start.row;
    rows->items[rows->count].first = finding->statement_first;
    rows->items[rows->count].last = finding->statement_last;
    rows->items[rows->count].witness_count = finding->witness_count;
    snprintf(rows->items[rows->count].hook, sizeof rows->items[0].hook, "%s", finding->hook ? finding->hook : "");
    rows->count++;
}

static struct rows lint(void)
{
    const char *const paths[] = {path};
    struct hw_lint_options options = {.paths = paths, .path_count = 1};
    struct hw_lint_stats stats;
    struct rows rows = {0};
    assert_int_equal(hw_lint_run(&options, collect, &rows, &stats), 0);
    assert_int_equal(stats.files, 1);
    assert_int_equal(stats.findings + stats.notes, rows.count);
    return rows;
}

static void statements_and_headers(void **state)
{
    (void)state;
    put("def _make_x_hook(s):\n"
        "    def hook(m, i, o):\n"
        "        s.add(\n" /* 3 */
        "            o.abs()\n"
        "            .max()\n"
        "            .item(),\n" /* 6 */
        "        )\n"
        "        if (\n" /* 8 */
        "            o.sum()\n"
        "            > 0\n" /* 10 */
        "        ):\n"
        "            s.add(1)\n"
        "        for k in range(\n" /* 13 */
        "            o.argmax()\n"
        "        ):\n"
        "            pass\n"
        "        with s.f(o.item()) as k, s.g(\n" /* 17 */
        "                k):\n"
        "            pass\n"
        "        x = 1; y = o.item(); z = (\n" /* 20 */
        "            2)\n"
        "    return hook\n");
    struct rows rows = lint();
    static const struct {
        int number;
        uint32_t row, first, last;
    } want[] = {{101, 6, 3, 7}, {103, 10, 8, 11}, {101, 13, 13, 15}, {101, 17, 17, 18}, {101, 20, 20, 20}};
    assert_int_equal(rows.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < rows.count; i++) {
        assert_int_equal(rows.items[i].number, want[i].number);
        assert_int_equal(rows.items[i].row, want[i].row);
        assert_int_equal(rows.items[i].first, want[i].first);
        assert_int_equal(rows.items[i].last, want[i].last);
        assert_string_equal(rows.items[i].hook, "_make_x_hook.<locals>.hook");
        assert_int_equal(rows.items[i].witness_count, 1);
    }
}

static void expect_allowed(uint32_t row, const char *code, const char *want)
{
    char *reason = NULL;
    assert_int_equal(hw_lint_allowed(path, row, code, &reason), want ? 1 : 0);
    if (want)
        assert_string_equal(reason, want);
    else
        assert_null(reason);
    free(reason);
}

static void rows_that_a_directive_covers(void **state)
{
    (void)state;
    put("# hookwatch: allow HW101 -- above\n" /* 1 */
        "x = f(\n"
        "    t.item(),\n" /* 3 */
        ")\n"
        "y = t.item()  # hookwatch: allow HW102 -- behind\n" /* 5 */
        "\n"
        "if t > 0:  # hookwatch: allow HW103 -- header\n" /* 7 */
        "    z = t.item()\n");
    for (uint32_t row = 2; row <= 4; row++)
        expect_allowed(row, "HW101", "above");
    expect_allowed(5, "HW101", NULL);
    expect_allowed(5, "HW102", "behind");
    expect_allowed(7, "HW103", "header");
    expect_allowed(8, "HW103", NULL);
    expect_allowed(6, "HW101", NULL);
    expect_allowed(9999, "HW101", NULL);
    char *reason = NULL;
    assert_int_equal(hw_lint_allowed("/nowhere/at/all.py", 1, "HW101", &reason), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statements_and_headers, make_file, remove_file),
        cmocka_unit_test_setup_teardown(rows_that_a_directive_covers, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
