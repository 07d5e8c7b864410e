// SPDX-License-Identifier: Apache-2.0
// base/grow.h: items stay when an array grows, and nothing changes where it cannot grow.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"

static void keeps_items_while_it_grows(void **state)
{
    (void)state;
    int *items = NULL, capacity = 0, copies = 0;
    for (int count = 0; count < 10000; count++) {
        int before = capacity;
        int *larger = hl_grow(items, count, &capacity, sizeof *items);
        assert_non_null(larger);
        assert_true(capacity > count);
        copies += capacity != before;
        items = larger;
        items[count] = 3 * count;
    }
    for (int i = 0; i < 10000; i++) assert_int_equal(items[i], 3 * i);
    assert_in_range(copies, 1, 20);
    free(items);
}

static void refuses_what_cannot_be_counted(void **state)
{
    (void)state;
    char item;
    int capacity = INT_MAX / 2 + 1;
    assert_null(hl_grow(&item, capacity, &capacity, 1));
    assert_int_equal(capacity, INT_MAX / 2 + 1);
    capacity = 1;
    assert_null(hl_grow(&item, 1, &capacity, SIZE_MAX));
    assert_int_equal(capacity, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_items_while_it_grows),
        cmocka_unit_test(refuses_what_cannot_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
