// SPDX-License-Identifier: Apache-2.0
// Average precision of a few boxes, against values worked out by hand: the precision at 101 recall points.
#include "eval/average_precision.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

// A square of side 0.1 at a place of its own, moved to the right.
static struct hl_box box(int picture, int place, double moved, double score)
{
    float left = (float)(0.2 * place + moved);
    return (struct hl_box){picture, 0.1f, left, 0.2f, left + 0.1f, (float)score};
}

static void assert_precision(const struct hl_box *truth, int truths, const struct hl_box *found, int count,
                             double threshold, double expected)
{
    double got = (double)hl_average_precision(truth, truths, found, count, (float)threshold);
    if (fabs(got - expected) > 1e-6) fail_msg("%.9g, not %.9g", got, expected);
}

static void overlap_is_intersection_over_union(void **state)
{
    (void)state;
    struct hl_box a = {.top = 0, .left = 0, .bottom = 1, .right = 1};
    struct hl_box half = {.top = 0, .left = 0.5f, .bottom = 1, .right = 1.5f};
    struct hl_box apart = {.top = 2, .left = 2, .bottom = 3, .right = 3};
    struct hl_box nothing = {.top = 1, .left = 1, .bottom = 0, .right = 1};
    assert_true(hl_box_overlap(&a, &a) == 1);
    assert_true(fabs((double)hl_box_overlap(&a, &half) - 1.0 / 3) < 1e-6);
    assert_true(hl_box_overlap(&a, &apart) == 0);
    assert_true(hl_box_overlap(&nothing, &nothing) == 0);
}

static void all_found(void **state)
{
    (void)state;
    const struct hl_box truth[] = {box(0, 0, 0, 0), box(0, 1, 0, 0), box(1, 0, 0, 0)};
    const struct hl_box found[] = {box(1, 0, 0, 0.3), box(0, 1, 0, 0.9), box(0, 0, 0, 0.5)};
    assert_precision(truth, 3, found, 3, 0.95, 1);
    // Moved by a tenth of its side: 0.9 / 1.1 = 0.818 in common.
    const struct hl_box moved[] = {box(1, 0, 0.01, 0.3), box(0, 1, 0.01, 0.9), box(0, 0, 0.01, 0.5)};
    assert_precision(truth, 3, moved, 3, 0.8, 1);
    assert_precision(truth, 3, moved, 3, 0.85, 0);
}

static void half_found(void **state)
{
    (void)state;
    // One of two: recall 0 to 0.5, which are 51 of the 101 points, with precision 1.
    const struct hl_box truth[] = {box(0, 0, 0, 0), box(1, 0, 0, 0)};
    const struct hl_box found[] = {box(0, 0, 0, 0.9)};
    assert_precision(truth, 2, found, 1, 0.5, 51.0 / 101);
    // A wrong one before it: half the precision. Behind it: none the worse.
    const struct hl_box before[] = {box(0, 3, 0, 0.95), box(0, 0, 0, 0.9)},
                        behind[] = {box(0, 3, 0, 0.8), box(0, 0, 0, 0.9)};
    assert_precision(truth, 2, before, 2, 0.5, 51.0 / 101 / 2);
    assert_precision(truth, 2, behind, 2, 0.5, 51.0 / 101);
    // The other one late: precision 2/3 from recall 0.51 to 1, 50 points.
    const struct hl_box late[] = {box(0, 0, 0, 0.9), box(0, 3, 0, 0.8), box(1, 0, 0, 0.7)};
    assert_precision(truth, 2, late, 3, 0.5, (51 + 50 * 2.0 / 3) / 101);
}

static void a_true_box_is_found_once(void **state)
{
    (void)state;
    const struct hl_box truth[] = {box(0, 0, 0, 0), box(0, 1, 0, 0)};
    // The second of the first place is wrong: precision 1/1, 1/2, 2/3.
    const struct hl_box found[] = {box(0, 0, 0, 0.9), box(0, 0, 0, 0.8), box(0, 1, 0, 0.7)};
    assert_precision(truth, 2, found, 3, 0.5, (51 + 50 * 2.0 / 3) / 101);
    // Not in another picture.
    const struct hl_box elsewhere[] = {box(1, 0, 0, 0.9), box(2, 1, 0, 0.7)};
    assert_precision(truth, 2, elsewhere, 2, 0.5, 0);
    // It takes the one that fits best, and leaves the other to the next.
    const struct hl_box near[] = {box(0, 0, 0, 0), box(0, 0, 0.03, 0)};
    const struct hl_box both[] = {box(0, 0, 0.03, 0.9), box(0, 0, 0, 0.8)};
    assert_precision(near, 2, both, 2, 0.9, 1);
}

static void equal_scores_keep_their_order(void **state)
{
    (void)state;
    const struct hl_box truth[] = {box(0, 0, 0, 0)};
    const struct hl_box right_first[] = {box(0, 0, 0, 0.5), box(0, 2, 0, 0.5)};
    const struct hl_box wrong_first[] = {box(0, 2, 0, 0.5), box(0, 0, 0, 0.5)};
    assert_precision(truth, 1, right_first, 2, 0.5, 1);
    assert_precision(truth, 1, wrong_first, 2, 0.5, 0.5);
}

static void nothing_to_find_or_nothing_found(void **state)
{
    (void)state;
    const struct hl_box boxes[] = {box(0, 0, 0, 0.5)};
    assert_precision(NULL, 0, boxes, 1, 0.5, 0);
    assert_precision(boxes, 1, NULL, 0, 0.5, 0);
    assert_precision(NULL, 0, NULL, 0, 0.5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_is_intersection_over_union),
        cmocka_unit_test(all_found),
        cmocka_unit_test(half_found),
        cmocka_unit_test(a_true_box_is_found_once),
        cmocka_unit_test(equal_scores_keep_their_order),
        cmocka_unit_test(nothing_to_find_or_nothing_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
