/* The rule catalogue: unique, complete, found by code and by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/glob.h"
#include "core/rules.h"

#include <stdio.h>
#include <string.h>

static void every_rule_is_found_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < hw_rules_count; i++) {
        const struct hw_rule *rule = &hw_rules[i];
        char code[8];
        snprintf(code, sizeof code, "HW%d", rule->number);
        assert_string_equal(rule->code, code);
        assert_ptr_equal(hw_rule_find(code), rule);
        assert_ptr_equal(hw_rule_by_number(rule->number), rule);
        assert_true(i == 0 || rule->number > hw_rules[i - 1].number);
        assert_true(strlen(rule->name) > 3 && strlen(rule->summary) > 10);
        assert_int_equal(strspn(rule->where, "LRM"), strlen(rule->where));
        assert_non_null(hw_rule_page(rule));
        assert_non_null(strstr(hw_rule_page(rule), rule->name));
    }
    assert_null(hw_rule_find("HW10"));
    assert_null(hw_rule_find("hw101"));
    assert_null(hw_rule_find(NULL));
    assert_null(hw_rule_by_number(0));
}

static void globs(void **state)
{
    (void)state;
    assert_true(hw_glob_match("*_make_*_hook.<locals>.*", "P._make_x_hook.<locals>.hook"));
    assert_false(hw_glob_match("*_make_*_hook.<locals>.*", "P._make_x_hook"));
    assert_true(hw_glob_match("*/megatron/core/*", "/a/megatron/core/x.py"));
    assert_true(hw_glob_match("a?c*", "abc"));
    assert_false(hw_glob_match("", "a"));
    assert_true(hw_glob_match("***", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_is_found_again), cmocka_unit_test(globs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
