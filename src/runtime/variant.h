// SPDX-License-Identifier: Apache-2.0
// Variant objects: what data points to in a tensor of allocation type kTfLiteVariantObject. They are C++ objects of
// class VariantData (the C++ part of common.h), made by the custom operators that use them; the runtime copies and
// deletes them through their virtual functions, whose table is part of the binary interface.
#ifndef HALITE_RUNTIME_VARIANT_H
#define HALITE_RUNTIME_VARIANT_H

// A copy of the object: in `target` where that is not NULL and of the same class, else new.
void *hl_variant_copy(const void *object, void *target);
// Destroys the object and frees its memory. NULL is fine.
void hl_variant_delete(void *object);

#endif
