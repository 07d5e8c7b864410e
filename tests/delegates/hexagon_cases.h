// SPDX-License-Identifier: Apache-2.0
// Rows beside the op table's, of 8-bit operators that Hexagon has and the table does not.
#ifndef HALITE_TESTS_DELEGATES_HEXAGON_CASES_H
#define HALITE_TESTS_DELEGATES_HEXAGON_CASES_H

#include "gpu/op_case.h"

extern const struct op_family hexagon_cases;

#endif
