// SPDX-License-Identifier: Apache-2.0
// See variant.h. An object begins with a pointer to its class's table of virtual functions. The Itanium C++ ABI, which
// everyone but Microsoft follows, has a virtual destructor twice (for the object alone, and with its memory), then the
// other functions in the order of their declaration.
#include "runtime/variant.h"

#include <stddef.h>

struct object {
    const struct functions *functions;
};

struct functions {
#if defined(_MSC_VER)
    void (*destroy)(struct object *object, unsigned free_memory);
#else
    void (*destroy)(struct object *object);
    void (*destroy_and_free)(struct object *object);
#endif
    struct object *(*clone_to)(const struct object *object, struct object *target);
};

void *hl_variant_copy(const void *object, void *target)
{
    const struct object *from = object;
    return from->functions->clone_to(from, target);
}

void hl_variant_delete(void *object)
{
    struct object *old = object;
    if (!old) return;
#if defined(_MSC_VER)
    old->functions->destroy(old, 1);
#else
    old->functions->destroy_and_free(old);
#endif
}
