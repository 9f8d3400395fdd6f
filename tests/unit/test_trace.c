/* The trace file: what the writer puts in comes out of the reader, and no damage to a file makes the reader misbehave. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interpose/trace/reader.h"
#include "interpose/trace/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/hookwatch-trace-XXXXXX";
static char *path;

static uint32_t put_site(const char *file, uint32_t row)
{
    uint32_t offset = hw_trace_allocate(sizeof(struct hw_record_site));
    struct hw_record_site *site = hw_trace_at(offset);
    site->scope = HW_SCOPE_HOOK;
    site->rule = 101;
    site->count = row;
    site->site.filename = hw_trace_string(file, strlen(file));
    site->site.row = row;
    hw_trace_publish(offset, HW_RECORD_SITE);
    return offset;
}

static int make_trace(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_true(hw_trace_open(dir));
    for (uint32_t i = 1; i <= 2000; i++) { /* more than one chunk */
        char file[64];
        snprintf(file, sizeof file, "/home/somebody/probe_%u.py", i % 50);
        assert_int_not_equal(put_site(file, i), 0);
    }
    hw_trace_finish();
    char **paths;
    size_t elsewhere;
    assert_int_equal(hw_trace_list(dir, &paths, &elsewhere), 1);
    assert_int_equal(elsewhere, 0);
    path = paths[0];
    free(paths);
    return 0;
}

static void reads_back(void **state)
{
    (void)state;
    struct hw_trace_view view;
    char error[256];
    assert_int_equal(hw_trace_view_open(path, &view, error, sizeof error), 0);
    assert_int_equal(view.header.pid, getpid());
    assert_int_equal(view.header.ended, HW_ENDED_EXIT);
    uint32_t rows = 0, strings = 0;
    size_t cursor = 0;
    for (const struct hw_record *record; (record = hw_trace_view_next(&view, &cursor));) {
        strings += record->kind == HW_RECORD_STRING;
        if (record->kind != HW_RECORD_SITE)
            continue;
        const struct hw_record_site *site = (const struct hw_record_site *)record;
        char expected[64];
        rows++;
        snprintf(expected, sizeof expected, "/home/somebody/probe_%u.py", rows % 50);
        assert_string_equal(hw_trace_view_text(&view, site->site.filename), expected);
        assert_int_equal(site->site.row, rows);
    }
    assert_int_equal(rows, 2000);
    assert_int_equal(strings, 50); /* each text once */
    assert_string_equal(hw_trace_view_text(&view, 0), "");
    assert_string_equal(hw_trace_view_text(&view, 12), "");
    assert_string_equal(hw_trace_view_text(&view, UINT32_MAX), "");
    hw_trace_view_close(&view);
}

/* Reads everything there is; the sanitizers watch. */
static void visit(const char *file)
{
    struct hw_trace_view view;
    char error[256] = "";
    if (hw_trace_view_open(file, &view, error, sizeof error) != 0) {
        assert_memory_equal(error, file, strlen(file)); /* names the file */
        return;
    }
    size_t cursor = 0, texts = 0;
    for (const struct hw_record *record; (record = hw_trace_view_next(&view, &cursor));) {
        if (record->kind != HW_RECORD_SITE)
            continue;
        const struct hw_record_site *site = (const struct hw_record_site *)record;
        texts += strlen(hw_trace_view_text(&view, site->api)) + strlen(hw_trace_view_text(&view, site->site.filename)) +
                 strlen(hw_trace_view_text(&view, site->hook.function));
        hw_trace_view_site(&view, site->api);
    }
    assert_true(texts < SIZE_MAX);
    hw_trace_view_close(&view);
}

static void survives_damage(void **state)
{
    (void)state;
    int in = open(path, O_RDONLY);
    struct stat st;
    assert_int_equal(fstat(in, &st), 0);
    size_t size = (size_t)st.st_size;
    unsigned char *good = malloc(size), *bad = malloc(size);
    assert_int_equal(read(in, good, size), size);
    close(in);
    char damaged[PATH_MAX];
    snprintf(damaged, sizeof damaged, "%s/damaged" HW_TRACE_SUFFIX, dir);
    srand(1);
    for (int round = 0; round < 300; round++) {
        memcpy(bad, good, size);
        size_t length = round % 3 ? size : (size_t)rand() % size, first = sizeof(struct hw_trace_header);
        for (int i = 0; i < 200; i++)
            bad[round % 2 ? (size_t)rand() % 1000 : first + (size_t)rand() % (size - first)] = (unsigned char)rand();
        if (round % 5) {
            memcpy(bad, good, 16); /* past the check of the magic number and the version */
        }
        int out = open(damaged, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(out, bad, length), length);
        close(out);
        visit(damaged);
    }
    free(good);
    free(bad);
    unlink(damaged);
}

static void refuses_what_is_no_trace(void **state)
{
    (void)state;
    char other[PATH_MAX], error[256];
    struct hw_trace_view view;
    snprintf(other, sizeof other, "%s/other" HW_TRACE_SUFFIX, dir);
    FILE *out = fopen(other, "w");
    for (int i = 0; i < 100000; i++)
        fputs("text ", out);
    fclose(out);
    assert_int_equal(hw_trace_view_open(other, &view, error, sizeof error), -1);
    assert_non_null(strstr(error, "is not a hookwatch trace"));
    assert_int_equal(truncate(other, 10), 0);
    assert_int_equal(hw_trace_view_open(other, &view, error, sizeof error), -1);
    assert_non_null(strstr(error, "too short"));
    unlink(other);
    assert_int_equal(hw_trace_view_open(other, &view, error, sizeof error), -1);
    assert_non_null(strstr(error, "No such file"));
}

static int remove_trace(void **state)
{
    (void)state;
    unlink(path);
    free(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(refuses_what_is_no_trace),
    };
    return cmocka_run_group_tests_name("trace", tests, make_trace, remove_trace);
}
