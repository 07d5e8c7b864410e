// SPDX-License-Identifier: Apache-2.0
// See op_families.h.
#include "delegates/op_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct family_test {
    const struct op_family *family;
    const struct op_target *target;
    bool wants_all;
};

static void run_family(void **state)
{
    const struct family_test *test = *state;
    struct op_count count = op_family_run(test->family, test->target, NULL);
    print_message("%s: %d of %d nodes on %s\n", test->family->name, count.taken, count.nodes, test->target->kind->name);
    assert_true(count.taken > 0 || !test->wants_all);
}

static struct CMUnitTest family_test(struct family_test *state)
{
    return (struct CMUnitTest){.name = state->family->name, .test_func = run_family, .initial_state = state};
}

int op_families_main(const struct op_target *target, bool wants_all, const struct op_family *own,
                     void (*last)(void **state))
{
    static const struct op_family *const families[] = {
#define OP_FAMILY(name) &op_family_##name,
        OP_FAMILIES(OP_FAMILY)
#undef OP_FAMILY
    };
    enum { FAMILIES = sizeof families / sizeof *families };
    struct family_test states[FAMILIES + 1];
    struct CMUnitTest tests[FAMILIES + 2];
    size_t count = 0;
    for (size_t f = 0; f < FAMILIES; f++) {
        if (families[f]->cases->refusal) continue; // in words of the GPU delegate
        states[count] = (struct family_test){families[f], target, wants_all};
        tests[count] = family_test(&states[count]);
        count++;
    }
    if (own) {
        states[count] = (struct family_test){own, target, true};
        tests[count] = family_test(&states[count]);
        count++;
    }
    if (last) tests[count++] = (struct CMUnitTest){.name = "what was taken in all", .test_func = last};
    return _cmocka_run_group_tests("the op table", tests, count, NULL, NULL);
}

// ---- operators that were taken ------------------------------------------------------------------

struct taken {
    char op[64];
    int nodes;
};

// NULL: there are too many operators.
static struct taken *find_taken(const char *op)
{
    static struct taken rows[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].op[0]) snprintf(rows[i].op, sizeof rows[i].op, "%s", op);
        if (strcmp(rows[i].op, op) == 0) return &rows[i];
    }
    return NULL;
}

void op_families_count(const struct op_target *target, const HaliteDelegateReport *report)
{
    (void)target;
    for (int32_t i = 0; i < HaliteDelegateReportGetNodeCount(report); i++) {
        const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, i);
        struct taken *taken = find_taken(node->op);
        assert_non_null(taken);
        taken->nodes += node->on_gpu;
    }
}

void op_families_check_taken(const char *const *operators, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct taken *taken = find_taken(operators[i]);
        assert_non_null(taken);
        print_message("%s: %d\n", operators[i], taken->nodes);
        if (taken->nodes == 0) fail_msg("no node of %s", operators[i]);
    }
}
