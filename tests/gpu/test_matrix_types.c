// SPDX-License-Identifier: Apache-2.0
// What the build makes of SPIR-V whose types of cooperative matrices name a number of bits in place of a type of
// floats.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/lang/spirv/pack.h"
#include "gpu/lang/spirv/spirv.h"

enum { INTS = 1, SIXTEEN, THIRTY_TWO, EIGHT, X, SUM, FLOATS, HALVES, OTHER, VECTOR, BOUND };

#define OP(opcode, words) ((uint32_t)(words) << 16 | (opcode))
#define HEADER 0x07230203, 0x10300, 0, BOUND, 0
#define NAME OP(5, 3), X, 0x78
#define TYPE_INTS OP(21, 4), INTS, 32, 1
#define CONSTANT(id, value) OP(43, 4), INTS, id, value
#define CONSTANTS CONSTANT(SIXTEEN, 16), CONSTANT(THIRTY_TWO, 32), CONSTANT(EIGHT, 8)
#define TYPE_FLOAT(id, bits) OP(22, 3), id, bits
#define TYPE_MATRIX(id, number) OP(4456, 7), id, number, EIGHT, SIXTEEN, SIXTEEN, INTS
#define TYPE_VECTOR OP(23, 4), VECTOR, FLOATS, 4

static void check(const uint32_t *from, size_t from_words, const uint32_t *expected, size_t expected_words)
{
    size_t count = from_words / sizeof *from;
    uint32_t *made = gpu_spirv_complete_types(from, &count);
    assert_non_null(made);
    assert_int_equal(count, expected_words / sizeof *expected);
    assert_memory_equal(made, expected, expected_words);
    free(made);
}

static void floats_come_before_matrices(void **state)
{
    (void)state;
    static const uint32_t from[] = {HEADER,
                                    NAME,
                                    TYPE_INTS,
                                    CONSTANTS,
                                    TYPE_MATRIX(X, SIXTEEN),
                                    TYPE_MATRIX(SUM, THIRTY_TWO),
                                    TYPE_FLOAT(FLOATS, 32),
                                    TYPE_VECTOR,
                                    TYPE_FLOAT(HALVES, 16)};
    static const uint32_t expected[] = {HEADER,
                                        TYPE_INTS,
                                        CONSTANTS,
                                        TYPE_FLOAT(HALVES, 16),
                                        TYPE_MATRIX(X, HALVES),
                                        TYPE_FLOAT(FLOATS, 32),
                                        TYPE_MATRIX(SUM, FLOATS),
                                        TYPE_VECTOR};
    check(from, sizeof from, expected, sizeof expected);
}

static void floats_that_come_before_stay(void **state)
{
    (void)state;
    static const uint32_t from[] = {HEADER,
                                    TYPE_INTS,
                                    TYPE_FLOAT(FLOATS, 32),
                                    TYPE_VECTOR,
                                    CONSTANTS,
                                    TYPE_MATRIX(SUM, THIRTY_TWO),
                                    TYPE_MATRIX(X, THIRTY_TWO)};
    static const uint32_t expected[] = {HEADER,
                                        TYPE_INTS,
                                        TYPE_FLOAT(FLOATS, 32),
                                        TYPE_VECTOR,
                                        CONSTANTS,
                                        TYPE_MATRIX(SUM, FLOATS),
                                        TYPE_MATRIX(X, FLOATS)};
    check(from, sizeof from, expected, sizeof expected);
}

static void floats_that_nothing_else_uses_are_added(void **state)
{
    (void)state;
    static const uint32_t from[] = {HEADER, TYPE_INTS, CONSTANTS, TYPE_MATRIX(X, SIXTEEN), TYPE_MATRIX(OTHER, SIXTEEN)};
    uint32_t expected[] = {
        HEADER, TYPE_INTS, CONSTANTS, TYPE_FLOAT(BOUND, 16), TYPE_MATRIX(X, BOUND), TYPE_MATRIX(OTHER, BOUND)};
    expected[GPU_SPIRV_BOUND]++;
    check(from, sizeof from, expected, sizeof expected);
}

static void check_refused(const uint32_t *from, size_t bytes)
{
    size_t count = bytes / sizeof *from;
    assert_null(gpu_spirv_complete_types(from, &count));
}

static void other_numbers_are_refused(void **state)
{
    (void)state;
    static const uint32_t eight_bits[] = {HEADER, TYPE_INTS, CONSTANTS, TYPE_MATRIX(X, EIGHT)};
    static const uint32_t no_constant[] = {HEADER, TYPE_INTS, CONSTANTS, TYPE_MATRIX(X, OTHER)};
    check_refused(eight_bits, sizeof eight_bits);
    check_refused(no_constant, sizeof no_constant);
}

static void what_is_no_module_is_refused(void **state)
{
    (void)state;
    static const uint32_t endless[] = {HEADER, 0, TYPE_INTS};
    static const uint32_t whole[] = {HEADER, TYPE_INTS, CONSTANTS};
    check_refused(endless, sizeof endless);
    check_refused(whole, sizeof whole - sizeof *whole);
    check_refused(whole, GPU_SPIRV_HEADER * sizeof *whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_come_before_matrices),
        cmocka_unit_test(floats_that_come_before_stay),
        cmocka_unit_test(floats_that_nothing_else_uses_are_added),
        cmocka_unit_test(other_numbers_are_refused),
        cmocka_unit_test(what_is_no_module_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
