/* The values of the linter: interned, joined in any order to the same, bounded in depth and width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lint/knowledge.h"
#include "lint/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_world(void **state)
{
    static const struct hw_lint_options options;
    *state = hw_world_new(&options, NULL);
    return 0;
}

static int free_world(void **state)
{
    hw_world_free(*state);
    return 0;
}

static void equal_values_are_one(void **state)
{
    struct hw_world *w = *state;
    hw_val pair[] = {w->host, w->device};
    assert_ptr_equal(hw_value_tuple(w, pair, 2), hw_value_tuple(w, pair, 2));
    assert_ptr_not_equal(hw_value_list(w, w->device), hw_value_set(w, w->device));
    assert_ptr_equal(hw_value_simple(w, HW_HOST, 0, hw_intern(w, "cpu")), hw_value_simple(w, HW_HOST, 0, hw_intern(w, "cpu")));
}

static void joins(void **state)
{
    struct hw_world *w = *state;
    hw_val members[] = {w->unknown, w->none, w->host, w->device, w->host_tensor, hw_value_list(w, w->device)};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            hw_val joined = hw_value_join(w, members[i], members[j]);
            assert_ptr_equal(joined, hw_value_join(w, members[j], members[i]));
            assert_ptr_equal(joined, hw_value_join(w, joined, members[i]));
        }
    /* what holds on both sides stays, what may be a tuple on one side may be one after */
    hw_val maybe = hw_value_simple(w, HW_DEVICE, HW_MAYBE_TUPLE | HW_SCALAR, NULL);
    assert_int_equal(hw_value_join(w, maybe, w->scalar)->flags, HW_MAYBE_TUPLE | HW_SCALAR);
    assert_int_equal(hw_value_join(w, w->mask, w->scalar)->flags, 0);
    /* two lists are one list of both */
    hw_val both = hw_value_join(w, hw_value_list(w, w->host), hw_value_list(w, w->device));
    assert_int_equal(both->kind, HW_LIST);
    assert_true(hw_value_holds_device(both));
}

static void depth_and_width_are_bounded(void **state)
{
    struct hw_world *w = *state;
    hw_val deep = w->device;
    for (int i = 0; i < 100; i++)
        deep = hw_value_list(w, deep);
    assert_ptr_equal(hw_value_element(w, w->unknown), w->unknown);
    assert_true(deep->kind == HW_UNKNOWN || deep->kind == HW_LIST);
    hw_val wide = w->device;
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "c%d", i);
        wide = hw_value_join(w, wide, hw_value_simple(w, HW_EXTERN, 0, hw_intern(w, name)));
        assert_true(hw_value_count(wide) <= HW_UNION_LIMIT);
    }
}

static void dicts_know_their_constant_keys(void **state)
{
    struct hw_world *w = *state;
    hw_val a = hw_value_simple(w, HW_HOST, 0, hw_intern(w, "a")), dict = hw_value_empty_dict(w);
    dict = hw_value_entered(w, dict, a, w->device);
    assert_ptr_equal(dict->items[0], w->unknown);
    assert_ptr_equal(dict->items[2], w->device);
    for (int i = 0; i < 500; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        dict = hw_value_entered(w, dict, hw_value_simple(w, HW_HOST, 0, hw_intern(w, name)), w->none);
    }
    assert_true(dict->count <= 1 + 2 * HW_DICT_LIMIT);
    assert_non_null(hw_value_find(hw_value_any_entry(w, dict), HW_DEVICE));
}

static void places(void **state)
{
    struct hw_world *w = *state;
    assert_int_equal(hw_value_place(hw_value_simple(w, HW_HOST, 0, hw_intern(w, "cuda:1"))), HW_ON_DEVICE);
    assert_int_equal(hw_value_place(hw_value_simple(w, HW_HOST, 0, hw_intern(w, "cpu"))), HW_ON_HOST);
    assert_int_equal(hw_value_place(hw_value_simple(w, HW_HOST, 0, hw_intern(w, "float32"))), 0);
    assert_int_equal(hw_value_place(w->device), HW_ON_DEVICE);
    assert_int_equal(hw_value_place(hw_value_join(w, w->device, w->host_tensor)), 0);
}

static void tables_answer_by_name_package_and_packages_below(void **state)
{
    (void)state;
    assert_int_equal(hw_knowledge_call("torch.nonzero")->rule, 104);
    assert_string_equal(hw_knowledge_call("torch.softmax")->name, "torch.*");
    assert_null(hw_knowledge_call("torch.utils.data.DataLoader"));
    assert_string_equal(hw_knowledge_call("torch.cuda.memory.snapshot")->name, "torch.cuda.**");
    assert_int_equal(hw_knowledge_call("torch.distributed.all_reduce")->rule, 201);
    assert_int_equal(hw_knowledge_call("paddle.distributed.barrier")->rule, 203);
    assert_null(hw_knowledge_call("nothing"));
    assert_int_equal(hw_knowledge_method("item")->rule, 101);
    assert_null(hw_knowledge_method("no_such_method"));
    assert_int_equal(hw_knowledge_attribute("shape"), HW_GIVES_HOST);
    assert_non_null(hw_knowledge_registration("saved_tensors_hooks", 1));
    assert_null(hw_knowledge_registration("saved_tensors_hooks", 2));
    assert_null(hw_knowledge_registration("register_state_dict_hook", 0));
    for (size_t i = 0; i < hw_rules_count; i++)
        if (hw_rules[i].number < 110 || hw_rules[i].number / 10 == 20)
            assert_true(hw_rules[i].number == 109 || hw_rules[i].number >= 204 || hw_knowledge_hint(hw_rules[i].number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_values_are_one, make_world, free_world),
        cmocka_unit_test_setup_teardown(joins, make_world, free_world),
        cmocka_unit_test_setup_teardown(depth_and_width_are_bounded, make_world, free_world),
        cmocka_unit_test_setup_teardown(dicts_know_their_constant_keys, make_world, free_world),
        cmocka_unit_test_setup_teardown(places, make_world, free_world),
        cmocka_unit_test(tables_answer_by_name_package_and_packages_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
