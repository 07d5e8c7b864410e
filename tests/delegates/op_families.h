// SPDX-License-Identifier: Apache-2.0
// The op table (tests/gpu/op_case.h) through a delegate that takes a part of it, before a fake of its system: the
// program's main function for each such delegate.
#ifndef HALITE_TESTS_DELEGATES_OP_FAMILIES_H
#define HALITE_TESTS_DELEGATES_OP_FAMILIES_H

#include "gpu/op_case.h"

// A cmocka test for each family, then one for rows of the delegate's own, then one more. own, last: NULL: none.
// wants_all: some nodes of each family are to go to the target.
int op_families_main(const struct op_target *target, bool wants_all, const struct op_family *own,
                     void (*last)(void **state));

// The check_report of a target that counts the nodes that it took, by operator.
void op_families_count(const struct op_target *target, const HaliteDelegateReport *report);
// Fails the running test unless nodes of each of these operators ("CONV_2D") were taken. Prints how many.
void op_families_check_taken(const char *const *operators, size_t count);

#endif
