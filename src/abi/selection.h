// SPDX-License-Identifier: Apache-2.0
// The element types that this library has kernels for: bit n is the type kTfLite... of number n. Here are all of them;
// a selective build (cmake/select.cmake) puts a file of its own in this one's place, which also defines HL_WITHOUT_NAME
// as 1 for each operator that is left out.
#ifndef HALITE_ABI_SELECTION_H
#define HALITE_ABI_SELECTION_H

#define HL_SELECTED_TYPES 0xffffffffu

#endif
