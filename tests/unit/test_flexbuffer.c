// SPDX-License-Identifier: Apache-2.0
// The FlexBuffer reader: a map with every kind of value, small buffers byte by byte, and the same
// bytes damaged.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/flexbuffer.h"

// {count: 300, low: -5, ratio: -2.5, on: true, name: "hi", list: [1, 2, 300], mixed: ["x", 1],
// inner: {deep: 7, none: null}, blob: 01 00 02}
static const uint8_t example[] = {99,  111, 117, 110, 116, 0,   108, 111, 119, 0,   114, 97,  116, 105, 111, 0,   111,
                                  110, 0,   110, 97,  109, 101, 0,   2,   104, 105, 0,   108, 105, 115, 116, 0,   0,
                                  3,   0,   1,   0,   2,   0,   44,  1,   5,   5,   5,   109, 105, 120, 101, 100, 0,
                                  1,   120, 0,   2,   3,   1,   20,  4,   105, 110, 110, 101, 114, 0,   100, 101, 101,
                                  112, 0,   110, 111, 110, 101, 0,   2,   11,  7,   2,   1,   2,   7,   0,   4,   0,
                                  98,  108, 111, 98,  0,   3,   1,   0,   2,   9,   10,  96,  38,  70,  93,  55,  82,
                                  86,  93,  9,   0,   0,   0,   1,   0,   0,   0,   9,   0,   0,   0,   25,  0,   0,
                                  0,   44,  1,   0,   0,   43,  0,   0,   0,   92,  0,   0,   0,   251, 255, 255, 255,
                                  81,  0,   0,   0,   115, 0,   0,   0,   1,   0,   0,   0,   0,   0,   32,  192, 100,
                                  6,   36,  41,  6,   40,  20,  106, 14,  45,  38,  1};

static struct hl_flex find(const char *key)
{
    struct hl_flex root, value;
    assert_true(hl_flex_root(example, sizeof example, &root));
    assert_true(hl_flex_is_map(&root));
    assert_true(hl_flex_find(&root, key, &value));
    return value;
}

static void test_map(void **state)
{
    (void)state;
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    const char *text = NULL;
    const void *data = NULL;
    size_t length = 0;
    struct hl_flex value = find("count"), element;
    assert_true(hl_flex_integer(&value, &integer));
    assert_int_equal(integer, 300);
    assert_true(hl_flex_float(&value, &number));
    assert_true(number == 300);
    assert_false(hl_flex_string(&value, &text, &length));
    assert_false(hl_flex_element(&value, 0, &element));
    value = find("low");
    assert_true(hl_flex_integer(&value, &integer));
    assert_int_equal(integer, -5);
    value = find("ratio");
    assert_true(hl_flex_float(&value, &number));
    assert_true(number == -2.5);
    assert_true(hl_flex_integer(&value, &integer));
    assert_int_equal(integer, -2);
    value = find("on");
    assert_true(hl_flex_bool(&value, &truth));
    assert_true(truth);
    assert_true(hl_flex_integer(&value, &integer));
    assert_int_equal(integer, 1);
    value = find("name");
    assert_true(hl_flex_string(&value, &text, &length));
    assert_int_equal(length, 2);
    assert_string_equal(text, "hi");
    assert_false(hl_flex_integer(&value, &integer));
    value = find("list");
    assert_true(hl_flex_is_vector(&value));
    assert_false(hl_flex_is_map(&value));
    assert_int_equal(value.count, 3);
    assert_true(hl_flex_element(&value, 2, &element));
    assert_true(hl_flex_integer(&element, &integer));
    assert_int_equal(integer, 300);
    assert_false(hl_flex_element(&value, 3, &element));
    value = find("mixed");
    assert_true(hl_flex_element(&value, 0, &element));
    assert_true(hl_flex_string(&element, &text, &length));
    assert_string_equal(text, "x");
    assert_true(hl_flex_element(&value, 1, &element));
    assert_true(hl_flex_integer(&element, &integer));
    assert_int_equal(integer, 1);
    value = find("inner");
    assert_true(hl_flex_find(&value, "deep", &element));
    assert_true(hl_flex_integer(&element, &integer));
    assert_int_equal(integer, 7);
    assert_true(hl_flex_find(&value, "none", &element));
    assert_false(hl_flex_integer(&element, &integer));
    assert_false(hl_flex_find(&value, "dee", &element));
    assert_false(hl_flex_find(&value, "deep2", &element));
    value = find("blob");
    assert_true(hl_flex_blob(&value, &data, &length));
    assert_int_equal(length, 3);
    assert_memory_equal(data, "\1\0\2", 3);
}

static void test_absent_keys_leave_the_default(void **state)
{
    (void)state;
    struct hl_flex root, value;
    int64_t integer = 42;
    assert_true(hl_flex_root(example, sizeof example, &root));
    if (hl_flex_find(&root, "absent", &value)) hl_flex_integer(&value, &integer);
    assert_int_equal(integer, 42);
    assert_false(hl_flex_find(&root, "", &value));
    value = find("name");
    assert_false(hl_flex_find(&value, "name", &value)); // not a map
}

static struct hl_flex root_of(const uint8_t *bytes, size_t size)
{
    struct hl_flex root;
    assert_true(hl_flex_root(bytes, size, &root));
    return root;
}

static void test_small_buffers(void **state)
{
    (void)state;
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    struct hl_flex element, value = root_of((const uint8_t[]){0xfd, 1 << 2, 1}, 3);
    assert_true(hl_flex_integer(&value, &integer));
    assert_int_equal(integer, -3);
    static const uint8_t largest[] = {255, 255, 255, 255, 255, 255, 255, 255, 2 << 2 | 3, 8};
    value = root_of(largest, sizeof largest);
    assert_false(hl_flex_integer(&value, &integer)); // above the largest int64
    assert_true(hl_flex_float(&value, &number));
    assert_true(number == 18446744073709551615.0);
    static const uint8_t lowest[] = {0, 0, 0, 0, 0, 0, 0, 128, 1 << 2 | 3, 8};
    value = root_of(lowest, sizeof lowest);
    assert_true(hl_flex_integer(&value, &integer));
    assert_true(integer == INT64_MIN);
    static const uint8_t tenth[] = {0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f, 3 << 2 | 3, 8};
    value = root_of(tenth, sizeof tenth);
    assert_true(hl_flex_float(&value, &number));
    assert_true(number == 0.1);
    static const uint8_t not_a_number[] = {0, 0, 0xc0, 0x7f, 3 << 2 | 2, 4};
    value = root_of(not_a_number, sizeof not_a_number);
    assert_true(hl_flex_float(&value, &number));
    assert_true(isnan(number));
    assert_false(hl_flex_integer(&value, &integer));
    static const uint8_t indirect[] = {0x90, 0xee, 0xfe, 0xff, 4, 6 << 2 | 2, 1};
    value = root_of(indirect, sizeof indirect);
    assert_true(hl_flex_integer(&value, &integer));
    assert_int_equal(integer, -70000);
    static const uint8_t three[] = {4, 5, 6, 3, 19 << 2, 1};
    value = root_of(three, sizeof three);
    assert_int_equal(value.count, 3);
    assert_true(hl_flex_element(&value, 2, &element));
    assert_true(hl_flex_integer(&element, &integer));
    assert_int_equal(integer, 6);
    static const uint8_t truths[] = {2, 1, 0, 2, 36 << 2, 1};
    value = root_of(truths, sizeof truths);
    assert_true(hl_flex_element(&value, 0, &element));
    assert_true(hl_flex_bool(&element, &truth));
    assert_true(truth);
}

static void refuse(const uint8_t *bytes, size_t size)
{
    struct hl_flex root;
    assert_false(hl_flex_root(bytes, size, &root));
}

static void test_wrong_buffers(void **state)
{
    (void)state;
    refuse(NULL, 0);
    refuse(example, 0);
    refuse((const uint8_t[]){1}, 1);
    refuse((const uint8_t[]){4, 1}, 2);
    refuse((const uint8_t[]){0, 4, 3}, 3);                   // width 3
    refuse((const uint8_t[]){0, 4, 2}, 3);                   // width 2, 1 byte
    refuse((const uint8_t[]){0, 5 << 2, 1}, 3);              // string at distance 0
    refuse((const uint8_t[]){9, 5 << 2, 1}, 3);              // before the buffer
    refuse((const uint8_t[]){'a', 0, 2, 5 << 2, 1}, 5);      // no room for its length
    refuse((const uint8_t[]){1, 'a', 'b', 2, 5 << 2, 1}, 6); // no zero byte
    refuse((const uint8_t[]){200, 'a', 0, 2, 5 << 2, 1}, 6); // too long
    refuse((const uint8_t[]){'a', 'b', 2, 4 << 2, 200}, 5);  // key
    refuse((const uint8_t[]){4, 5, 3, 19 << 2, 1}, 5);       // three elements, at distance 3
    refuse((const uint8_t[]){100, 5, 1, 11 << 2, 1}, 5);     // 100 elements
    refuse((const uint8_t[]){5, 1, 27 << 2, 1}, 4);          // unknown type
    refuse((const uint8_t[]){5, 1, 6 << 2 | 3, 1}, 4);       // 8 bytes of indirect integer
}

// Reads everything that can be reached; the sanitizers watch.
static void read_all(const struct hl_flex *value, int depth, int *budget)
{
    int64_t integer;
    double number;
    bool truth;
    const char *text;
    const void *data;
    size_t length, sum = 0;
    struct hl_flex element;
    if (depth == 0 || --*budget < 0) return;
    hl_flex_integer(value, &integer);
    hl_flex_float(value, &number);
    hl_flex_bool(value, &truth);
    if (hl_flex_string(value, &text, &length))
        for (size_t i = 0; i <= length; i++) sum += (unsigned char)text[i];
    if (hl_flex_blob(value, &data, &length))
        for (size_t i = 0; i < length; i++) sum += ((const unsigned char *)data)[i];
    if (hl_flex_find(value, "count", &element)) read_all(&element, depth - 1, budget);
    if (hl_flex_find(value, "inner", &element)) read_all(&element, depth - 1, budget);
    for (size_t i = 0; hl_flex_element(value, i, &element) && *budget > 0; i++) read_all(&element, depth - 1, budget);
    assert_true(sum < SIZE_MAX);
}

static void test_damaged_bytes(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof example; at++)
        for (int bit = 0; bit < 9; bit++) {
            size_t size = bit == 8 ? at : sizeof example; // 8: cut instead
            uint8_t *copy = malloc(size + 1);
            struct hl_flex root;
            int budget = 1000;
            assert_non_null(copy);
            memcpy(copy, example + sizeof example - size, size);
            if (bit < 8) copy[at] ^= (uint8_t)(1 << bit);
            copy = realloc(copy, size ? size : 1);
            if (hl_flex_root(copy, size, &root)) read_all(&root, 6, &budget);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),           cmocka_unit_test(test_absent_keys_leave_the_default),
        cmocka_unit_test(test_small_buffers), cmocka_unit_test(test_wrong_buffers),
        cmocka_unit_test(test_damaged_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
