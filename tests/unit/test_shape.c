// SPDX-License-Identifier: Apache-2.0
// Shapes, broadcasting and walks. Every walk is compared with plain index arithmetic: position by
// position, and run by run.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// A shape without memory of its own to free.
struct shape {
    union {
        TfLiteIntArray array;
        int room[1 + HL_MAX_RANK + 1];
    } u;
};

static const TfLiteIntArray *set_shape(struct shape *shape, int rank, const int *dims)
{
    shape->u.room[0] = rank;
    for (int i = 0; i < rank; i++) shape->u.room[1 + i] = dims[i];
    return &shape->u.array;
}

#define SHAPE(shape, ...) set_shape((shape), COUNT(((const int[]){__VA_ARGS__})), (const int[]){__VA_ARGS__})

static void test_counts(void **state)
{
    (void)state;
    struct shape s, t;
    const TfLiteIntArray *dims = SHAPE(&s, 2, 3, 4);
    assert_int_equal(hl_product(dims, 0, 3), 24);
    assert_int_equal(hl_product(dims, 1, 2), 3);
    assert_int_equal(hl_product(dims, 2, 2), 1);

    SHAPE(&s, 70000, 70000);
    TfLiteTensor a = {.type = kTfLiteFloat32, .dims = &s.u.array};
    assert_true(hl_elements(&a) == INT64_C(4900000000));
    TfLiteTensor b = {.type = kTfLiteInt8, .dims = &t.u.array};
    SHAPE(&t, 70000, 70000);
    assert_true(hl_same_shape(&a, &b));
    assert_false(hl_same_type(&a, &b));
    SHAPE(&t, 70000, 1);
    assert_false(hl_same_shape(&a, &b));
    SHAPE(&t, 70000, 70000, 1);
    assert_false(hl_same_shape(&a, &b));
    set_shape(&t, 0, NULL);
    assert_int_equal(hl_elements(&b), 1);
}

static void test_axes(void **state)
{
    (void)state;
    int axis = 9;
    assert_true(hl_normalize_axis(0, 3, &axis) && axis == 0);
    assert_true(hl_normalize_axis(-1, 3, &axis) && axis == 2);
    assert_true(hl_normalize_axis(-3, 3, &axis) && axis == 0);
    assert_false(hl_normalize_axis(3, 3, &axis));
    assert_false(hl_normalize_axis(-4, 3, &axis));
    assert_false(hl_normalize_axis(0, 0, &axis));
    assert_false(hl_normalize_axis(-1, 0, &axis));
    assert_false(hl_normalize_axis(INT64_MIN, 3, &axis));
    assert_false(hl_normalize_axis(INT64_C(1) << 32, 3, &axis));
}

static void assert_broadcast(const TfLiteIntArray *a, const TfLiteIntArray *b, const TfLiteIntArray *c,
                             const TfLiteIntArray *expected)
{
    int rank, dims[HL_MAX_RANK];
    assert_true(hl_broadcast(a, b, c, &rank, dims));
    assert_int_equal(rank, expected->size);
    for (int i = 0; i < rank; i++) assert_int_equal(dims[i], expected->data[i]);
}

static void test_broadcast(void **state)
{
    (void)state;
    struct shape a, b, c, e;
    const TfLiteIntArray *scalar = set_shape(&e, 0, NULL);
    assert_broadcast(scalar, scalar, NULL, scalar);
    assert_broadcast(scalar, NULL, NULL, scalar);
    assert_broadcast(SHAPE(&a, 2, 3), scalar, NULL, SHAPE(&c, 2, 3));
    assert_broadcast(SHAPE(&a, 2, 1, 4), SHAPE(&b, 3, 1), NULL, SHAPE(&c, 2, 3, 4));
    assert_broadcast(SHAPE(&a, 4), SHAPE(&b, 2, 1), SHAPE(&c, 5, 1, 1), SHAPE(&e, 5, 2, 4));
    assert_broadcast(SHAPE(&a, 0), SHAPE(&b, 1), NULL, SHAPE(&c, 0));
    assert_broadcast(SHAPE(&a, 1), SHAPE(&b, 2, 0), NULL, SHAPE(&c, 2, 0));

    int rank, dims[HL_MAX_RANK];
    assert_false(hl_broadcast(SHAPE(&a, 2, 3), SHAPE(&b, 2, 4), NULL, &rank, dims));
    assert_false(hl_broadcast(SHAPE(&a, 0), SHAPE(&b, 2), NULL, &rank, dims));
    assert_false(hl_broadcast(SHAPE(&a, 2), SHAPE(&b, 1), SHAPE(&c, 3), &rank, dims));
    int ones[HL_MAX_RANK + 1];
    for (int i = 0; i <= HL_MAX_RANK; i++) ones[i] = 1;
    assert_false(hl_broadcast(set_shape(&a, HL_MAX_RANK + 1, ones), NULL, NULL, &rank, dims));
    assert_true(hl_broadcast(set_shape(&a, HL_MAX_RANK, ones), NULL, NULL, &rank, dims));
}

// The offset of one position, by division.
static int64_t offset_of(int64_t position, int rank, const int *dims, const int64_t *strides)
{
    int64_t offset = 0;
    for (int axis = rank - 1; axis >= 0; axis--) {
        offset += position % dims[axis] * strides[axis];
        position /= dims[axis];
    }
    return offset;
}

static void check_walk(struct hl_walk *walk, int rank, const int *dims, const int64_t (*strides)[HL_MAX_RANK])
{
    struct hl_walk runs = *walk;
    int64_t count = 1;
    for (int axis = 0; axis < rank; axis++) count *= dims[axis];
    assert_true(walk->count == count);
    for (int64_t i = 0; i < count; i++, hl_walk_next(walk))
        for (int o = 0; o < walk->operands; o++) assert_true(walk->at[o] == offset_of(i, rank, dims, strides[o]));

    int run = hl_walk_run(&runs);
    assert_true(run >= 1 && count % run == 0);
    for (int64_t i = 0; i < count; i += run, hl_walk_skip_run(&runs))
        for (int k = 0; k < run; k++)
            for (int o = 0; o < runs.operands; o++) {
                int64_t step = runs.rank ? runs.stride[o][runs.rank - 1] : 0;
                assert_true(runs.at[o] + k * step == offset_of(i + k, rank, dims, strides[o]));
            }
}

// Walks the broadcast of two shapes.
static struct hl_walk walk_two(const TfLiteIntArray *a, const TfLiteIntArray *b)
{
    int rank, dims[HL_MAX_RANK];
    assert_true(hl_broadcast(a, b, NULL, &rank, dims));
    struct hl_walk walk;
    const TfLiteIntArray *shapes[] = {a, b};
    hl_walk_start(&walk, rank, dims, 2, shapes);

    int64_t strides[2][HL_MAX_RANK] = {{0}};
    for (int o = 0; o < 2; o++)
        for (int axis = 0; axis < shapes[o]->size; axis++)
            strides[o][rank - shapes[o]->size + axis] =
                shapes[o]->data[axis] == 1 ? 0 : hl_product(shapes[o], axis + 1, shapes[o]->size);
    struct hl_walk copy = walk;
    check_walk(&copy, rank, dims, (const int64_t(*)[HL_MAX_RANK])strides);
    return walk;
}

static void test_walk_broadcast(void **state)
{
    (void)state;
    struct shape a, b;
    // Equal shapes are one run.
    struct hl_walk walk = walk_two(SHAPE(&a, 2, 3, 4), SHAPE(&b, 2, 3, 4));
    assert_int_equal(walk.rank, 1);
    assert_int_equal(hl_walk_run(&walk), 24);
    // A bias over channels: one run per row, its length that of the channels.
    walk = walk_two(SHAPE(&a, 2, 3, 4), SHAPE(&b, 4));
    assert_int_equal(walk.rank, 2);
    assert_int_equal(hl_walk_run(&walk), 4);
    // A scalar is stretched over one run.
    walk = walk_two(SHAPE(&a, 2, 3, 4), set_shape(&b, 0, NULL));
    assert_int_equal(walk.rank, 1);
    assert_int_equal(walk.stride[1][0], 0);
    // Dimensions of one never count.
    walk = walk_two(SHAPE(&a, 1, 5, 1, 2, 1), SHAPE(&b, 5, 1, 2, 1));
    assert_int_equal(walk.rank, 1);
    assert_int_equal(hl_walk_run(&walk), 10);
    walk = walk_two(set_shape(&a, 0, NULL), SHAPE(&b, 1, 1));
    assert_int_equal(walk.rank, 0);
    assert_true(walk.count == 1);
    assert_int_equal(hl_walk_run(&walk), 1);

    walk_two(SHAPE(&a, 2, 1, 4, 1), SHAPE(&b, 3, 1, 5));
    walk_two(SHAPE(&a, 5, 1, 1, 3), SHAPE(&b, 1, 2, 2, 1));
    walk_two(SHAPE(&a, 2, 2, 1, 1, 2, 2), SHAPE(&b, 2, 2, 3, 3, 1, 1));
    walk_two(SHAPE(&a, 2, 0, 3), SHAPE(&b, 1, 1, 3));
}

static void test_walk_strided(void **state)
{
    (void)state;
    struct hl_walk walk;
    // A transposition of [3, 4, 2] by (2, 0, 1) beside the dense result.
    const int64_t transposed[2][HL_MAX_RANK] = {{1, 8, 2}, {12, 4, 1}};
    hl_walk_start_strided(&walk, 3, (const int[]){2, 3, 4}, 2, transposed);
    assert_int_equal(walk.rank, 2); // axes 1 and 2 stay neighbors
    check_walk(&walk, 3, (const int[]){2, 3, 4}, transposed);
    // Reversed axes walk backwards.
    const int64_t reversed[2][HL_MAX_RANK] = {{-4, -1}, {4, -1}};
    hl_walk_start_strided(&walk, 2, (const int[]){3, 4}, 2, reversed);
    check_walk(&walk, 2, (const int[]){3, 4}, reversed);
    // A dimension of one may have any stride.
    const int64_t odd[1][HL_MAX_RANK] = {{100, 77, 1}};
    hl_walk_start_strided(&walk, 3, (const int[]){2, 1, 100}, 1, odd);
    assert_int_equal(hl_walk_run(&walk), 200);
    check_walk(&walk, 3, (const int[]){2, 1, 100}, odd);
}

static void test_run_from_its_middle(void **state)
{
    (void)state;
    struct shape a, b;
    struct hl_walk walk = walk_two(SHAPE(&a, 3, 4), SHAPE(&b, 4));
    hl_walk_next(&walk);
    hl_walk_next(&walk);
    hl_walk_skip_run(&walk);
    assert_int_equal(walk.at[0], 4);
    assert_int_equal(walk.at[1], 0);
}

// Runs are ints: neighbors whose product is not stay apart.
static void test_huge_runs_stay_apart(void **state)
{
    (void)state;
    struct hl_walk walk;
    const int64_t strides[1][HL_MAX_RANK] = {{65536, 1}};
    hl_walk_start_strided(&walk, 2, (const int[]){65536, 65536}, 1, strides);
    assert_int_equal(walk.rank, 2);
    assert_true(walk.count == INT64_C(1) << 32);
    hl_walk_skip_run(&walk);
    assert_int_equal(walk.at[0], 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_walk_broadcast),
        cmocka_unit_test(test_walk_strided),
        cmocka_unit_test(test_run_from_its_middle),
        cmocka_unit_test(test_huge_runs_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
