/* Decoding, lines and columns of source files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/text.h"

#include <string.h>

#define TEXT(bytes) hw_text_from_bytes("/a.py", bytes, sizeof(bytes) - 1)

static void expect_line(const struct hw_text *text, uint32_t row, const char *want)
{
    uint32_t length;
    const char *line = hw_text_line(text, row, &length);
    assert_int_equal(length, strlen(want));
    assert_memory_equal(line, want, length);
}

static void lines_end_with_lf_or_crlf(void **state)
{
    (void)state;
    struct hw_text *text = TEXT("a\r\nb\n\nlast");
    assert_int_equal(text->line_count, 4);
    expect_line(text, 0, "a");
    expect_line(text, 1, "b");
    expect_line(text, 2, "");
    expect_line(text, 3, "last");
    expect_line(text, 4, "");
    hw_text_free(text);
    text = TEXT("");
    assert_int_equal(text->line_count, 1);
    expect_line(text, 0, "");
    hw_text_free(text);
}

static void columns_count_code_points(void **state)
{
    (void)state;
    struct hw_text *text = TEXT("x = 1\n\"\xe6\x97\xa5\xf0\x9f\x98\x80\"; y\n");
    uint32_t y = (uint32_t)(strchr(text->text, 'y') - text->text);
    assert_int_equal(hw_text_column(text, 1, y), 7);
    assert_int_equal(hw_text_column(text, 1, text->lines[1]), 1); /* backwards, past the cached column */
    assert_int_equal(hw_text_column(text, 1, y), 7);
    assert_int_equal(hw_text_column(text, 0, 4), 5);
    assert_int_equal(hw_text_column(text, 99, 0), 0);
    hw_text_free(text);
}

static void bom_cookie_and_broken_bytes(void **state)
{
    (void)state;
    struct hw_text *text = TEXT("\xef\xbb\xbfx");
    assert_string_equal(text->text, "x");
    hw_text_free(text);
    text = TEXT("x\xef\xbb\xbf"); /* only at the start is it a mark */
    assert_int_equal(text->size, 4);
    hw_text_free(text);
    text = TEXT("#!/usr/bin/python\n# -*- coding: latin-1 -*-\n\xe9");
    expect_line(text, 2, "\xc3\xa9");
    hw_text_free(text);
    text = TEXT("x = 1\n# coding: latin-1\n\xe9"); /* after code it is prose */
    expect_line(text, 2, "\xef\xbf\xbd");
    hw_text_free(text);
    text = TEXT("# coding: no-such-encoding\na\xff\xc0\x80z");
    expect_line(text, 1, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    hw_text_free(text);
    text = TEXT("\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82"); /* a surrogate, beyond Unicode, cut short: every byte is replaced */
    assert_int_equal(text->size, 9 * 3);
    hw_text_free(text);
    text = TEXT("a\0b");
    assert_string_equal(text->text, "a b");
    hw_text_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_lf_or_crlf),
        cmocka_unit_test(columns_count_code_points),
        cmocka_unit_test(bom_cookie_and_broken_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
