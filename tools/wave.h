// SPDX-License-Identifier: Apache-2.0
// Sound as samples: WAV files, or bare samples (PCM) without a header. In: bytes, as they come. Out: samples from -1 to
// 1 of one channel, into which two are mixed. No byte is trusted, and only a block of samples is held at a time.
#ifndef HALITE_TOOLS_WAVE_H
#define HALITE_TOOLS_WAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum { HL_WAVE_MIN_RATE = 1000, HL_WAVE_MAX_RATE = 384000, HL_WAVE_MAGIC = 12 };

// Formats of samples, little-endian, by their names on the command line; NULL at the end.
extern const char *const hl_wave_formats[];

struct hl_pcm {
    int format; // index into hl_wave_formats
    int rate;   // samples of a channel in a second
    int channels;
};

struct hl_wave {
    // Gives `size` bytes, fewer only at the end.
    size_t (*read)(void *user_data, unsigned char *bytes, size_t size);
    void *user_data;
    struct hl_pcm pcm;
    bool headless;                      // the samples are bare
    uint64_t left;                      // frames (a sample of each channel) to come; UINT64_MAX: as many as there are
    unsigned char begin[HL_WAVE_MAGIC]; // of bare samples: bytes that were looked at
    size_t begin_count;
    bool cut, not_finite; // the file ended before its last sample; a sample was no number
};

// "s16", "s16:44100" or "s16:44100:2"; what is not there stays as it is. False where it is none of these.
bool hl_pcm_parse(const char *text, struct hl_pcm *pcm);

// Reads as far as the first sample; `read` and `user_data` are set. bare: what samples without a header are; NULL:
// there has to be one. False on failure, with the reason in `error`.
bool hl_wave_open(struct hl_wave *wave, const struct hl_pcm *bare, struct hl_text *error);
// Up to `count` samples; fewer only at the end, or where one is no number.
size_t hl_wave_read(struct hl_wave *wave, float *samples, size_t count);

#endif
