// SPDX-License-Identifier: Apache-2.0
// base/text.h: a string that grows, and what it does where memory is out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void grows_by_formats_and_bytes(void **state)
{
    (void)state;
    struct hl_text text = {0};
    size_t expected = 0;
    for (int i = 1000; i < 2000; i++, expected += 5) assert_true(hl_text_append(&text, "%d,", i));
    assert_int_equal(text.length, expected);
    assert_int_equal(strlen(text.data), expected);
    assert_memory_equal(text.data, "1000,1001,", 10);
    assert_string_equal(text.data + expected - 5, "1999,");
    assert_true(hl_text_append_bytes(&text, "a\0b", 3));
    assert_int_equal(text.length, expected + 3);
    assert_memory_equal(text.data + expected, "a\0b", 4);
    hl_text_free(&text);
    assert_null(text.data);
}

static void is_empty_and_not_absent(void **state)
{
    (void)state;
    struct hl_text text = {0};
    assert_null(hl_text_take(&text));
    assert_true(hl_text_append(&text, "%s", ""));
    assert_string_equal(text.data, "");
    assert_true(hl_text_append(&text, "long"));
    hl_text_clear(&text);
    assert_string_equal(text.data, "");
    assert_true(hl_text_append(&text, "x"));
    char *data = hl_text_take(&text);
    assert_string_equal(data, "x");
    assert_null(text.data);
    free(data);
}

static void stays_failed_until_cleared(void **state)
{
    (void)state;
    struct hl_text text = {0};
    assert_true(hl_text_append(&text, "before"));
    assert_false(hl_text_grow(&text, SIZE_MAX));
    assert_false(hl_text_append(&text, "after"));
    assert_string_equal(text.data, "before");
    assert_null(hl_text_take(&text)); // and frees: the leak checker would say
    assert_false(hl_text_grow(&text, SIZE_MAX - 1));
    hl_text_clear(&text);
    assert_true(hl_text_append(&text, "again"));
    assert_string_equal(text.data, "again");
    hl_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_by_formats_and_bytes),
        cmocka_unit_test(is_empty_and_not_absent),
        cmocka_unit_test(stays_failed_until_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
