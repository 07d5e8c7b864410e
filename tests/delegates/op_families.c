// SPDX-License-Identifier: Apache-2.0
// See op_families.h.
#include "delegates/op_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

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

int op_families_main(const struct op_target *target, bool wants_all, void (*last)(void **state))
{
    static const struct op_family *const families[] = {
#define OP_FAMILY(name) &op_family_##name,
        OP_FAMILIES(OP_FAMILY)
#undef OP_FAMILY
    };
    enum { FAMILIES = sizeof families / sizeof *families };
    struct family_test states[FAMILIES];
    struct CMUnitTest tests[FAMILIES + 1];
    size_t count = 0;
    for (size_t f = 0; f < FAMILIES; f++) {
        if (families[f]->cases->refusal) continue; // in words of the GPU delegate
        states[count] = (struct family_test){families[f], target, wants_all};
        tests[count] = (struct CMUnitTest){
            .name = families[f]->name,
            .test_func = run_family,
            .initial_state = &states[count],
        };
        count++;
    }
    if (last) tests[count++] = (struct CMUnitTest){.name = "what was taken in all", .test_func = last};
    return _cmocka_run_group_tests("the op table", tests, count, NULL, NULL);
}
