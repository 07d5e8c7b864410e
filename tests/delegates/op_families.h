// SPDX-License-Identifier: Apache-2.0
// The op table (tests/gpu/op_case.h) through a delegate that takes a part of it, before a fake of its system: the
// program's main function for each such delegate.
#ifndef HALITE_TESTS_DELEGATES_OP_FAMILIES_H
#define HALITE_TESTS_DELEGATES_OP_FAMILIES_H

#include "gpu/op_case.h"

// A cmocka test for each family, and then one more. wants_all: some nodes of each family are to go to the target.
int op_families_main(const struct op_target *target, bool wants_all, void (*last)(void **state));

#endif
