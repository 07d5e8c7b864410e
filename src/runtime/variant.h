// SPDX-License-Identifier: Apache-2.0
// A tensor of allocation type kTfLiteVariantObject points to a variant object. That is a C++ object of class
// VariantData (the C++ part of common.h), and the custom operators that use it make it. The runtime copies and deletes
// it through its virtual functions, whose table is part of the binary interface.
#ifndef HALITE_RUNTIME_VARIANT_H
#define HALITE_RUNTIME_VARIANT_H

// Copies the object: into `target` where that is not NULL and of the same class, else into a new one.
void *hl_variant_copy(const void *object, void *target);
// Destroys the object and frees its memory. NULL is fine.
void hl_variant_delete(void *object);

#endif
