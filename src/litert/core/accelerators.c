// SPDX-License-Identifier: Apache-2.0
// Accelerators of an environment: the search for libLiteRtGpuAccelerator, and what users ask of one. The search is
// LiteRT's: an object that the program brings, else the library in the folder of an option, else where the system
// looks.
#include "litert/c/litert_accelerator.h"

#include "base/library.h"
#include "base/text.h"
#include "litert/c/litert_environment.h"
#include "litert/core/core.h"

static bool find_option(LiteRtEnvironment environment, LiteRtEnvOptionTag tag, LiteRtAnyType type, LiteRtAny *value)
{
    return LiteRtGetEnvironmentOptionsValue(&environment->options, tag, value) == kLiteRtStatusOk &&
           value->type == type;
}

static bool is_usable(const LiteRtAcceleratorDef *def)
{
    if (def->abi_header.major_version != 1 || def->abi_header.struct_size < sizeof *def) {
        hl_report(NULL, "LiteRT: a GPU accelerator of version %d.%d with %d bytes; this library takes 1.0 with %zu",
                  def->abi_header.major_version, def->abi_header.minor_version, def->abi_header.struct_size,
                  sizeof *def);
        return false;
    }
    return def->get_name && def->get_version && def->get_hardware_support && def->create_delegate &&
           def->is_tflite_delegate_responsible_for_jit_compilation;
}

static void add(LiteRtEnvironment environment, const LiteRtAcceleratorDef *def)
{
    environment->accelerators[environment->accelerator_count++] = (struct LiteRtAcceleratorT){def};
}

static const LiteRtAcceleratorDef *open_library(LiteRtEnvironment environment)
{
    static const char name[] = "libLiteRtGpuAccelerator.so";
    LiteRtAny folder = {.type = kLiteRtAnyTypeNone};
    struct hl_text path = {0};
    if (find_option(environment, kLiteRtEnvOptionTagRuntimeLibraryDir, kLiteRtAnyTypeString, &folder))
        hl_text_append(&path, "%s/", folder.str_value);
    const LiteRtAcceleratorDef *def = NULL;
    if (hl_text_append(&path, "%s", name)) environment->library = hl_library_open(path.data);
    hl_text_free(&path);
    if (environment->library) hl_library_find(environment->library, "LiteRtAcceleratorImpl", &def, sizeof def);
    return def;
}

void litert_find_accelerators(LiteRtEnvironment environment)
{
    LiteRtAny value = {.type = kLiteRtAnyTypeNone};
    bool wanted = !find_option(environment, kLiteRtEnvOptionTagAutoRegisterAccelerators, kLiteRtAnyTypeInt, &value) ||
                  (value.int_value & kLiteRtHwAcceleratorGpu);
    const LiteRtAcceleratorDef *def = NULL;
    if (wanted &&
        find_option(environment, kLiteRtEnvOptionTagSystemGpuAcceleratorHandle, kLiteRtAnyTypeVoidPtr, &value))
        def = value.ptr_value;
    if (wanted && !def) def = open_library(environment);
    if (def && is_usable(def)) add(environment, def);
    add(environment, NULL);
}

void litert_close_accelerators(LiteRtEnvironment environment)
{
    if (environment->library) hl_library_close(environment->library);
}

// ---- what users ask -----------------------------------------------------------------------------

LITERT_GETTER(LiteRtGetNumAccelerators, LiteRtEnvironment, LiteRtParamIndex,
              (LiteRtParamIndex)object->accelerator_count)

LiteRtStatus LiteRtGetAccelerator(LiteRtEnvironment environment, LiteRtParamIndex index, LiteRtAccelerator *accelerator)
{
    LITERT_NEED(environment && accelerator);
    LITERT_INDEX(index, environment->accelerator_count);
    *accelerator = &environment->accelerators[index];
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetAcceleratorName(LiteRtAccelerator accelerator, const char **name)
{
    LITERT_NEED(accelerator && name);
    if (accelerator->def) return accelerator->def->get_name(accelerator, name);
    *name = "CpuAccelerator";
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetAcceleratorVersion(LiteRtAccelerator accelerator, LiteRtApiVersion *version)
{
    LITERT_NEED(accelerator && version);
    if (accelerator->def) return accelerator->def->get_version(accelerator, version);
    *version = (LiteRtApiVersion){1, 0, 0};
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetAcceleratorHardwareSupport(LiteRtAccelerator accelerator, LiteRtHwAcceleratorSet *hardware)
{
    LITERT_NEED(accelerator && hardware);
    if (accelerator->def) return accelerator->def->get_hardware_support(accelerator, hardware);
    *hardware = kLiteRtHwAcceleratorCpu;
    return kLiteRtStatusOk;
}
