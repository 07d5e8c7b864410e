// SPDX-License-Identifier: Apache-2.0
// Texts in which drivers describe themselves. In: a list of extension names, the name of a vendor. Out: whether a name
// is in the list, and which vendor it is.
#ifndef HALITE_GPU_BACKEND_NAME_LIST_H
#define HALITE_GPU_BACKEND_NAME_LIST_H

#include "gpu/backend/backend.h"

// Whether a list of names separated by spaces has this one. A NULL list is empty.
bool gpu_name_list_has(const char *list, const char *name);

// The vendor that a text names; GPU_VENDOR_OTHER if it names none or is NULL.
enum gpu_vendor gpu_vendor_of_text(const char *text);

#endif
