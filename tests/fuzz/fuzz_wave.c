// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a sound of halite transcribe-keywords. The first byte says whether samples may be bare
// (1 to 6: their format; the second: one or two channels). What is read are samples from -1 to 1, and no more than the
// bytes hold.
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

#include "wave.h"

struct bytes {
    const uint8_t *at;
    size_t left;
};

static size_t read_bytes(void *user_data, unsigned char *bytes, size_t size)
{
    struct bytes *from = user_data;
    size_t count = size < from->left ? size : from->left;
    if (count > 0) memcpy(bytes, from->at, count);
    from->at += count;
    from->left -= count;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    struct hl_text error = {0};
    struct bytes bytes = {data + 1, size - 1};
    struct hl_pcm bare = {.format = data[0] - 1, .rate = 16000, .channels = size > 1 ? 1 + data[1] % 2 : 1};
    struct hl_wave wave = {.read = read_bytes, .user_data = &bytes};
    bool opened = hl_wave_open(&wave, data[0] >= 1 && data[0] <= 6 ? &bare : NULL, &error);
    if (!opened && error.length == 0) abort();
    size_t count = 0, part;
    float samples[100];
    while (opened && (part = hl_wave_read(&wave, samples, 100)) > 0) {
        for (size_t i = 0; i < part; i++)
            if (!(fabsf(samples[i]) <= 1)) abort();
        count += part;
    }
    if (count > size) abort();
    hl_text_free(&error);
    return 0;
}
