// SPDX-License-Identifier: Apache-2.0
// Options of a compiled model, and the list of opaque ones in them.
#include "litert/c/litert_options.h"

#include <stdlib.h>
#include <string.h>

#include "litert/c/litert_opaque_options.h"
#include "litert/core/core.h"

struct LiteRtOpaqueOptionsT {
    LiteRtOpaqueOptions next;
    char *identifier;
    void *payload;
    void (*destructor)(void *payload); // NULL: the payload is somebody else's
};

LiteRtStatus LiteRtCreateOptions(LiteRtOptions *options)
{
    LITERT_NEED(options);
    LiteRtOptions made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    *options = made;
    return kLiteRtStatusOk;
}

void LiteRtDestroyOptions(LiteRtOptions options)
{
    if (!options) return;
    LiteRtDestroyOpaqueOptions(options->opaque);
    free(options);
}

LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions options, LiteRtHwAcceleratorSet accelerators)
{
    LITERT_NEED(options);
    int known = kLiteRtHwAcceleratorCpu | kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorNpu;
    if (accelerators & ~known)
        return litert_fail(kLiteRtStatusErrorInvalidArgument,
                           "hardware accelerators are %d, a sum of 1 (CPU), 2 (GPU) and 4 (NPU) was expected",
                           accelerators);
    options->hardware = accelerators;
    return kLiteRtStatusOk;
}

LITERT_GETTER(LiteRtGetOptionsHardwareAccelerators, LiteRtOptions, LiteRtHwAcceleratorSet, object->hardware)

LiteRtStatus LiteRtAddOpaqueOptions(LiteRtOptions options, LiteRtOpaqueOptions opaque_options)
{
    LITERT_NEED(options && opaque_options);
    return LiteRtAppendOpaqueOptions(&options->opaque, opaque_options);
}

LiteRtStatus LiteRtGetOpaqueOptions(LiteRtOptions options, LiteRtOpaqueOptions *opaque_options)
{
    LITERT_NEED(options && opaque_options);
    if (!options->opaque) return kLiteRtStatusErrorNotFound;
    *opaque_options = options->opaque;
    return kLiteRtStatusOk;
}

// ---- the list -----------------------------------------------------------------------------------

LiteRtStatus LiteRtCreateOpaqueOptions(const char *identifier, void *payload, void (*destructor)(void *payload),
                                       LiteRtOpaqueOptions *options)
{
    LITERT_NEED(identifier && options);
    LiteRtOpaqueOptions made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    made->identifier = litert_copy_text(identifier);
    if (!made->identifier) {
        free(made);
        LITERT_MEMORY(NULL);
    }
    made->payload = payload;
    made->destructor = destructor;
    *options = made;
    return kLiteRtStatusOk;
}

void LiteRtDestroyOpaqueOptions(LiteRtOpaqueOptions options)
{
    while (options) {
        LiteRtOpaqueOptions next = options->next;
        if (options->destructor) options->destructor(options->payload);
        free(options->identifier);
        free(options);
        options = next;
    }
}

LITERT_GETTER(LiteRtGetOpaqueOptionsIdentifier, LiteRtOpaqueOptions, const char *, object->identifier)
LITERT_GETTER(LiteRtGetOpaqueOptionsData, LiteRtOpaqueOptions, void *, object->payload)

LiteRtStatus LiteRtFindOpaqueOptionsData(LiteRtOpaqueOptions options, const char *identifier, void **payload)
{
    LITERT_NEED(options && identifier && payload);
    for (; options; options = options->next) {
        if (strcmp(options->identifier, identifier) != 0) continue;
        *payload = options->payload;
        return kLiteRtStatusOk;
    }
    return kLiteRtStatusErrorNotFound; // no message: readers ask for what they know
}

LiteRtStatus LiteRtGetNextOpaqueOptions(LiteRtOpaqueOptions *options)
{
    LITERT_NEED(options && *options);
    *options = (*options)->next;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAppendOpaqueOptions(LiteRtOpaqueOptions *options, LiteRtOpaqueOptions appended)
{
    LITERT_NEED(options && appended);
    while (*options) {
        if (*options == appended)
            return litert_fail(kLiteRtStatusErrorInvalidArgument, "opaque options are in this list already");
        options = &(*options)->next;
    }
    *options = appended;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtPopOpaqueOptions(LiteRtOpaqueOptions *options)
{
    LITERT_NEED(options && *options);
    while ((*options)->next) options = &(*options)->next;
    LiteRtDestroyOpaqueOptions(*options);
    *options = NULL;
    return kLiteRtStatusOk;
}
