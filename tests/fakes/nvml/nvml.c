// SPDX-License-Identifier: Apache-2.0
// Stands for NVIDIA's libnvidia-ml.so.1: two cards of which the first counts joules and the second, older, shows its
// power alone. FAKE_NVML in the environment fails a call on purpose: "init", "count", "handle" (of the second card) or
// "read" (from the third look on).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, GPU_IS_LOST = 15 };

struct card {
    unsigned long long millijoules;
    int looks;
};
static struct card cards[2] = {{.millijoules = 5000000}};
static int users; // how many have started the library and not shut it down

static int fails(const char *what)
{
    const char *named = getenv("FAKE_NVML");
    return named != NULL && strcmp(named, what) == 0;
}

EXPORT int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    if (fails("init")) return NO_PERMISSION;
    users++;
    return SUCCESS;
}

EXPORT int nvmlShutdown(void);
int nvmlShutdown(void)
{
    if (users == 0) abort(); // nobody has started it
    users--;
    return SUCCESS;
}

EXPORT const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
    return code == NO_PERMISSION ? "Insufficient Permissions" : code == GPU_IS_LOST ? "GPU is lost" : "Not Supported";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return fails("count") ? NO_PERMISSION : SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct card **card);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct card **card)
{
    if (users == 0) abort();
    if (index > 1) return INVALID_ARGUMENT;
    if (index == 1 && fails("handle")) return NO_PERMISSION;
    *card = &cards[index];
    return SUCCESS;
}

EXPORT int nvmlDeviceGetName(struct card *card, char *name, unsigned size);
int nvmlDeviceGetName(struct card *card, char *name, unsigned size)
{
    snprintf(name, size, "Fake Card %s", card == &cards[0] ? "A" : "B");
    return SUCCESS;
}

// Half a joule with each look.
EXPORT int nvmlDeviceGetTotalEnergyConsumption(struct card *card, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(struct card *card, unsigned long long *millijoules)
{
    if (card == &cards[1]) return NOT_SUPPORTED;
    if (fails("read") && ++card->looks > 3) return GPU_IS_LOST;
    *millijoules = card->millijoules += 500;
    return SUCCESS;
}

EXPORT int nvmlDeviceGetPowerUsage(struct card *card, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(struct card *card, unsigned *milliwatts)
{
    (void)card;
    *milliwatts = 40000;
    return SUCCESS;
}
