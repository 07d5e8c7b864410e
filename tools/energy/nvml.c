// SPDX-License-Identifier: Apache-2.0
// NVIDIA's graphics cards by the library of their driver, which is opened here: joules since the driver was loaded
// where the card counts them (Volta and newer), else its power as it is at the moment.
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "energy/source.h"

struct nvml_device; // the library's own

// X(name, arguments): what is called. All return 0 or an error's number.
// clang-format off
#define NVML_FUNCTIONS(X)                                                                    \
    X(nvmlInit_v2, (void))                                                                   \
    X(nvmlShutdown, (void))                                                                  \
    X(nvmlDeviceGetCount_v2, (unsigned *count))                                              \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, struct nvml_device **device))          \
    X(nvmlDeviceGetName, (struct nvml_device *device, char *name, unsigned size))            \
    X(nvmlDeviceGetTotalEnergyConsumption, (struct nvml_device *device, unsigned long long *millijoules)) \
    X(nvmlDeviceGetPowerUsage, (struct nvml_device *device, unsigned *milliwatts))
// clang-format on

struct nvml {
    struct hl_library *library;
    const char *(*nvmlErrorString)(int code);
#define MEMBER(name, arguments) int(*name) arguments;
    NVML_FUNCTIONS(MEMBER)
#undef MEMBER
};

// A card, and the library to ask about it.
struct card {
    const struct nvml *nvml;
    struct nvml_device *device;
};

enum { MAX_CARDS = 64 };
struct state {
    struct nvml nvml;
    struct card cards[MAX_CARDS];
};

// The name of the function that is missing; NULL: none.
static const char *missing(struct nvml *nvml)
{
#define FIND(name, arguments) \
    if (!hl_library_find(nvml->library, #name, &nvml->name, sizeof nvml->name)) return #name;
    NVML_FUNCTIONS(FIND)
#undef FIND
    if (!hl_library_find(nvml->library, "nvmlErrorString", &nvml->nvmlErrorString, sizeof nvml->nvmlErrorString))
        return "nvmlErrorString";
    return NULL;
}

static bool read_card(const struct hl_energy_counter *counter, double *value, const char **lost)
{
    const struct card *card = counter->handle;
    unsigned long long millijoules = 0;
    unsigned milliwatts = 0;
    int code = counter->unit == HL_ENERGY_JOULES
                   ? card->nvml->nvmlDeviceGetTotalEnergyConsumption(card->device, &millijoules)
                   : card->nvml->nvmlDeviceGetPowerUsage(card->device, &milliwatts);
    *value = counter->scale * (counter->unit == HL_ENERGY_JOULES ? (double)millijoules : (double)milliwatts);
    if (code != 0) *lost = card->nvml->nvmlErrorString(code);
    return code == 0;
}

static void add_card(struct hl_energy *energy, const struct hl_energy_source *source, struct state *state,
                     unsigned index)
{
    const struct nvml *nvml = &state->nvml;
    struct card *card = &state->cards[index];
    char name[96] = "";
    unsigned long long millijoules;
    card->nvml = nvml;
    int code = nvml->nvmlDeviceGetHandleByIndex_v2(index, &card->device);
    if (code != 0) {
        hl_energy_say(energy, source, "GPU %u: %s", index, nvml->nvmlErrorString(code));
        return;
    }
    if (nvml->nvmlDeviceGetName(card->device, name, sizeof name) != 0) name[0] = '\0';
    name[sizeof name - 1] = '\0';
    bool counts = nvml->nvmlDeviceGetTotalEnergyConsumption(card->device, &millijoules) == 0;
    hl_energy_add(energy, source,
                  (struct hl_energy_counter){
                      .device = hl_energy_path("GPU %u%s%s", index, *name ? ": " : "", name),
                      .unit = counts ? HL_ENERGY_JOULES : HL_ENERGY_WATTS,
                      .scale = 1e-3,
                      .handle = card,
                  });
}

static void find(struct hl_energy *energy, const struct hl_energy_source *source)
{
    const char *named = hl_library_named("HALITE_NVML_LIBRARY");
    const char *const names[] = {named ? named : "libnvidia-ml.so.1", named ? NULL : "nvml.dll", NULL};
    struct state *state = hl_alloc(1, sizeof *state);
    struct nvml *nvml = &state->nvml;
    unsigned count = 0;
    const char *absent = NULL;
    nvml->library = hl_library_open_first(names);
    if (nvml->library == NULL)
        hl_energy_say(energy, source, "%s, of NVIDIA's driver, does not open", names[0]);
    else if ((absent = missing(nvml)) != NULL)
        hl_energy_say(energy, source, "%s has no %s", names[0], absent);
    if (nvml->library == NULL || absent != NULL) {
        if (nvml->library != NULL) hl_library_close(nvml->library);
        free(state);
        return;
    }
    *hl_energy_kept(energy) = state;
    int code = nvml->nvmlInit_v2();
    if (code != 0) {
        hl_energy_say(energy, source, "%s", nvml->nvmlErrorString(code));
        nvml->nvmlShutdown = NULL; // it was never started
        return;
    }
    code = nvml->nvmlDeviceGetCount_v2(&count);
    if (code != 0 || count == 0) hl_energy_say(energy, source, "%s", code ? nvml->nvmlErrorString(code) : "no GPU");
    for (unsigned i = 0; code == 0 && i < count && i < MAX_CARDS; i++) add_card(energy, source, state, i);
}

static void close_library(struct hl_energy *energy)
{
    struct state *state = *hl_energy_kept(energy);
    if (state == NULL) return;
    if (state->nvml.nvmlShutdown != NULL) state->nvml.nvmlShutdown();
    hl_library_close(state->nvml.library);
    free(state);
}

const struct hl_energy_source hl_energy_nvml = {
    .name = "nvml",
    .find = find,
    .read = read_card,
    .close = close_library,
};
