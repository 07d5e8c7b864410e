// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: what the GPU delegate takes from outside, option texts, names of devices and files of kept kernels,
// as any bytes. The first byte says which. Whatever they are, each call returns, and what it made can be deleted.
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/backend/devices.h"
#include "gpu/backend/program_cache.h"
#include "gpu/delegate/disk_cache.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

enum { MAX_OPTIONS = 16 };

static void ignore(const char *text)
{
    (void)text;
}

// Texts with a 0 behind each: value, key, value, … A key that is a digit or a capital stands for one of the known ones.
static void take_options(char *texts, size_t size)
{
    static const char *const known[] = {"is_precision_loss_allowed",
                                        "inference_preference",
                                        "inference_priority1",
                                        "inference_priority2",
                                        "inference_priority3",
                                        "experimental_flags",
                                        "max_delegated_partitions",
                                        "serialization_dir",
                                        "model_token",
                                        "device",
                                        "precision",
                                        "require_full_delegation",
                                        "take_small_partitions",
                                        "keep_tensor_memory"};
    const char *keys[MAX_OPTIONS], *values[MAX_OPTIONS];
    size_t count = 0;
    for (size_t at = 0; at < size && count < MAX_OPTIONS; count++) {
        keys[count] = texts + at;
        at += strlen(texts + at) + 1;
        values[count] = at < size ? texts + at : "";
        if (at < size) at += strlen(texts + at) + 1;
        size_t number = (size_t)(unsigned char)keys[count][0] - 'A';
        if (keys[count][0] && !keys[count][1] && number < sizeof known / sizeof *known) keys[count] = known[number];
    }
    tflite_plugin_destroy_delegate(tflite_plugin_create_delegate(keys, values, count, ignore));
}

// Of the null device, so that no driver is opened.
static void take_device(char *text)
{
    struct hl_reporter reporter = {fuzz_ignore, NULL};
    struct gpu_device_info chosen;
    if (strncmp(text, "null", 4) == 0) gpu_device_choose(text, "", false, &reporter, &chosen);
}

static void take_file(const uint8_t *bytes, size_t size)
{
    size_t payload_size;
    const char *why;
    const uint8_t *payload = gpu_disk_cache_check(bytes, size, "backend null\n", &payload_size, &why);
    if (payload && payload_size > 0 && payload[payload_size - 1] == payload[0]) return; // all of it can be read
}

static void take_programs(const uint8_t *bytes, size_t size)
{
    struct gpu_program_cache kept = {.open = false};
    void *again;
    size_t found, again_size;
    uint64_t key = 0;
    gpu_program_cache_open(&kept, bytes, size);
    if (size >= sizeof key) memcpy(&key, bytes, sizeof key);
    const uint8_t *binary = gpu_program_cache_find(&kept, key, &found);
    if (binary && binary[found - 1] == 0) gpu_program_cache_add(&kept, key + 1, calloc(1, found), found);
    if (gpu_program_cache_close(&kept, &again, &again_size)) {
        if (again && !gpu_program_cache_open(&kept, again, again_size)) abort(); // what was written can be read
        gpu_program_cache_free(&kept);
    }
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char *texts = malloc(size); // what follows the first byte, and a 0
    if (!texts) return 0;
    memcpy(texts, data + 1, size - 1);
    texts[size - 1] = 0;
    switch (data[0] % 4) {
    case 0: take_options(texts, size - 1); break;
    case 1: take_device(texts); break;
    case 2: take_file(data + 1, size - 1); break;
    case 3: take_programs(data + 1, size - 1); break;
    }
    free(texts);
    return 0;
}
