// SPDX-License-Identifier: Apache-2.0
// The knobs of the fake, its complaints, and its devices.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegates/nnapi/support_library.h"
#include "fake.h"

FAKE_DEFINE_KNOBS(fakeNnapi, "FAKE_NNAPI")

int fake_begin(void)
{
    fake_read_environment();
    fake.calls++;
    return fake.calls == fake.fail_at ? (int)fake.fail_code : 0;
}

int fake_complain(const char *function, int code, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "fake NNAPI: %s: ", function);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fake.complaints++;
    return code;
}

// ---- the same as a support library -------------------------------------------------------------

static void set_member(struct nnapi_support_library *library, const char *symbol, const void *pointer, size_t size)
{
    size_t at = nnapi_support_library_offset(symbol);
    if (at > 0) memcpy((char *)library + at, pointer, size);
}

const struct nnapi_support_library *ANeuralNetworks_getSLDriverImpl(void)
{
    static struct nnapi_support_library library;
    fake_read_environment();
    library.level = fake.support_level;
#define X(level, result, symbol, name, arguments)                  \
    {                                                              \
        result(*function) arguments = symbol;                      \
        set_member(&library, #symbol, &function, sizeof function); \
    }
    NNAPI_FUNCTIONS(X)
#undef X
    return library.level ? &library : NULL;
}

// ---- devices ------------------------------------------------------------------------------------

static const ANeuralNetworksDevice devices[] = {
    {"nnapi-reference", 0},
    {"google-edgetpu", 0},
    {"slow-gpu", 3},
};
enum { DEVICES = sizeof devices / sizeof *devices };

int64_t ANeuralNetworks_getRuntimeFeatureLevel(void)
{
    fake_read_environment();
    return fake.level;
}

int ANeuralNetworks_getDeviceCount(uint32_t *count)
{
    FAKE_BEGIN();
    FAKE_WANT(count, UNEXPECTED_NULL, "no count");
    *count = fake.devices < DEVICES ? (uint32_t)fake.devices : DEVICES;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice **device)
{
    FAKE_BEGIN();
    FAKE_WANT(device, UNEXPECTED_NULL, "no device");
    FAKE_WANT(index < DEVICES && index < fake.devices, BAD_DATA, "there is no device %u", index);
    *device = (ANeuralNetworksDevice *)(uintptr_t)&devices[index];
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name)
{
    FAKE_BEGIN();
    FAKE_WANT(device && name, UNEXPECTED_NULL, "no device or name");
    *name = device->name;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *level)
{
    FAKE_BEGIN();
    FAKE_WANT(device && level, UNEXPECTED_NULL, "no device or level");
    *level = fake.device_level > 0 && device != &devices[0] ? fake.device_level : fake.level;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                          const ANeuralNetworksDevice *const *list, uint32_t count,
                                                          bool *supported)
{
    FAKE_BEGIN();
    FAKE_WANT(model && list && supported, UNEXPECTED_NULL, "no model, devices or answer");
    FAKE_WANT(count > 0, BAD_DATA, "no devices");
    FAKE_WANT(model->finished, BAD_STATE, "the model is not finished");
    for (uint32_t i = 0; i < model->operation_count; i++) {
        supported[i] = false;
        for (uint32_t k = 0; k < count; k++)
            supported[i] = supported[i] || list[k] == &devices[0] || model->operations[i].code != fake.refuse;
    }
    return ANEURALNETWORKS_NO_ERROR;
}
