// SPDX-License-Identifier: Apache-2.0
// See wave.h. A WAV file is "RIFF", a size, "WAVE" and chunks: four letters, a size, content, a byte more where the
// size is odd. "fmt " says what the samples are and comes before "data", which holds them; others are passed over.
#include "wave.h"

#include <math.h>
#include <string.h>

#include "little_endian.h"

enum { BLOCK = 4096, TAG_PCM = 1, TAG_FLOAT = 3, TAG_EXTENSIBLE = 0xfffe };

// Programs that write to a pipe do not know the size, and put one in its place that is at least this.
static const uint32_t unknown_size = 0x7ffff000;

static float read_u8(const unsigned char *at)
{
    return (float)(at[0] - 128) / 128;
}

// The bytes as the upper ones of 32 bits.
static float read_signed(const unsigned char *at, int bytes)
{
    uint32_t bits = hl_little_endian(at, bytes) << (32 - 8 * bytes);
    double value = bits < UINT32_C(0x80000000) ? (double)bits : (double)bits - 4294967296.0;
    return (float)(value / 2147483648.0);
}

static float read_s16(const unsigned char *at)
{
    return read_signed(at, 2);
}

static float read_s24(const unsigned char *at)
{
    return read_signed(at, 3);
}

static float read_s32(const unsigned char *at)
{
    return read_signed(at, 4);
}

static float clip(double value)
{
    return isnan(value) ? NAN : (float)fmax(-1, fmin(1, value));
}

static float read_f32(const unsigned char *at)
{
    uint32_t bits = hl_little_endian(at, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return clip((double)value);
}

static float read_f64(const unsigned char *at)
{
    uint64_t bits = hl_little_endian(at, 4) | (uint64_t)hl_little_endian(at + 4, 4) << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return clip(value);
}

static const struct {
    int tag, bytes;
    float (*read)(const unsigned char *at);
} formats[] = {
    {TAG_PCM, 1, read_u8},  {TAG_PCM, 2, read_s16},   {TAG_PCM, 3, read_s24},
    {TAG_PCM, 4, read_s32}, {TAG_FLOAT, 4, read_f32}, {TAG_FLOAT, 8, read_f64},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const char *const hl_wave_formats[] = {"u8", "s16", "s24", "s32", "f32", "f64", NULL};

// ---- the header ---------------------------------------------------------------------------------

static size_t read_bytes(const struct hl_wave *wave, unsigned char *bytes, size_t size)
{
    return wave->read(wave->user_data, bytes, size);
}

static bool skip(const struct hl_wave *wave, uint64_t size)
{
    unsigned char block[BLOCK];
    while (size > 0) {
        size_t part = size < sizeof block ? (size_t)size : sizeof block;
        if (read_bytes(wave, block, part) < part) return false;
        size -= part;
    }
    return true;
}

static bool check_pcm(const struct hl_pcm *pcm, struct hl_text *error)
{
    if (pcm->channels != 1 && pcm->channels != 2)
        hl_text_add(error, "has %d channels; one or two are read here", pcm->channels);
    else if (pcm->rate < HL_WAVE_MIN_RATE || pcm->rate > HL_WAVE_MAX_RATE)
        hl_text_add(error, "has %d samples a second; %d to %d are read here", pcm->rate, HL_WAVE_MIN_RATE,
                    HL_WAVE_MAX_RATE);
    else
        return true;
    return false;
}

// Takes the content of "fmt ", of which so many bytes are there.
static bool parse_format(struct hl_wave *wave, const unsigned char *chunk, size_t size, struct hl_text *error)
{
    enum { SHORT = 16, SUBFORMAT = 24 };
    if (size < SHORT) {
        hl_text_add(error, "is a damaged WAV file: what its samples are is cut off");
        return false;
    }
    int tag = (int)hl_little_endian(chunk, 2), bits = (int)hl_little_endian(chunk + 14, 2);
    uint32_t rate = hl_little_endian(chunk + 4, 4);
    if (tag == TAG_EXTENSIBLE && size >= SUBFORMAT + 2) tag = (int)hl_little_endian(chunk + SUBFORMAT, 2);
    wave->pcm.channels = (int)hl_little_endian(chunk + 2, 2);
    wave->pcm.rate = rate <= INT32_MAX ? (int)rate : INT32_MAX;
    for (wave->pcm.format = 0; wave->pcm.format < FORMAT_COUNT; wave->pcm.format++)
        if (formats[wave->pcm.format].tag == tag && 8 * formats[wave->pcm.format].bytes == bits) break;
    if (wave->pcm.format == FORMAT_COUNT) {
        hl_text_add(error,
                    "is a WAV file of format %d with %d bits a sample; PCM of 8, 16, 24 and 32 bits (format 1) and "
                    "floats of 32 and 64 (3) are read here",
                    tag, bits);
        return false;
    }
    if (!check_pcm(&wave->pcm, error)) return false;
    int frame = (int)hl_little_endian(chunk + 12, 2), wanted = wave->pcm.channels * formats[wave->pcm.format].bytes;
    if (frame == wanted) return true;
    hl_text_add(error, "is a damaged WAV file: its samples take %d bytes at once, and %d are said", wanted, frame);
    return false;
}

// From the first chunk to the samples.
static bool parse_chunks(struct hl_wave *wave, struct hl_text *error)
{
    bool has_format = false;
    for (;;) {
        unsigned char head[8], chunk[40];
        if (read_bytes(wave, head, sizeof head) < sizeof head) break;
        uint32_t size = hl_little_endian(head + 4, 4);
        if (memcmp(head, "data", 4) == 0) {
            if (!has_format) {
                hl_text_add(error, "is a damaged WAV file: its samples come before what they are");
                return false;
            }
            uint32_t frame = (uint32_t)(wave->pcm.channels * formats[wave->pcm.format].bytes);
            wave->left = size >= unknown_size ? UINT64_MAX : size / frame;
            return true;
        }
        uint64_t rest = (uint64_t)size + size % 2;
        if (memcmp(head, "fmt ", 4) == 0) {
            size_t part = size < sizeof chunk ? size : sizeof chunk, there = read_bytes(wave, chunk, part);
            if (!parse_format(wave, chunk, there, error)) return false;
            has_format = true;
            rest -= part;
        }
        if (!skip(wave, rest)) break;
    }
    hl_text_add(error, "is a damaged WAV file: it ends before its first sample");
    return false;
}

bool hl_wave_open(struct hl_wave *wave, const struct hl_pcm *bare, struct hl_text *error)
{
    wave->begin_count = read_bytes(wave, wave->begin, sizeof wave->begin);
    bool riff = wave->begin_count == sizeof wave->begin && memcmp(wave->begin, "RIFF", 4) == 0 &&
                memcmp(wave->begin + 8, "WAVE", 4) == 0;
    if (riff) {
        wave->begin_count = 0;
        return parse_chunks(wave, error);
    }
    if (wave->begin_count == 0) {
        hl_text_add(error, "is empty; a WAV file%s wanted", bare != NULL ? " or samples are" : " is");
        return false;
    }
    if (bare == NULL) {
        bool other = memcmp(wave->begin, "RIFX", 4) == 0 || memcmp(wave->begin, "RF64", 4) == 0;
        hl_text_add(error, other ? "is a WAV file of a kind (RIFX or RF64) that is not read here" : "is no WAV file");
        return false;
    }
    wave->pcm = *bare;
    wave->left = UINT64_MAX;
    wave->headless = true;
    return check_pcm(&wave->pcm, error);
}

bool hl_pcm_parse(const char *text, struct hl_pcm *pcm)
{
    size_t length = strcspn(text, ":");
    bool known = false;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (strlen(hl_wave_formats[i]) != length || strncmp(text, hl_wave_formats[i], length) != 0) continue;
        pcm->format = i;
        known = true;
    }
    int *const numbers[] = {&pcm->rate, &pcm->channels};
    text += length;
    for (int i = 0; known && i < 2 && *text == ':'; i++) {
        char *end;
        long value = strtol(text + 1, &end, 10);
        known = end != text + 1 && value > 0 && value <= HL_WAVE_MAX_RATE;
        if (known) *numbers[i] = (int)value;
        text = end;
    }
    return known && *text == '\0';
}

// ---- samples ------------------------------------------------------------------------------------

// So many bytes of samples, first those that were looked at; fewer only at the end.
static size_t read_block(struct hl_wave *wave, unsigned char *block, size_t size)
{
    size_t from_begin = wave->begin_count < size ? wave->begin_count : size;
    memcpy(block, wave->begin, from_begin);
    wave->begin_count -= from_begin;
    memmove(wave->begin, wave->begin + from_begin, wave->begin_count);
    return from_begin + (from_begin < size ? read_bytes(wave, block + from_begin, size - from_begin) : 0);
}

size_t hl_wave_read(struct hl_wave *wave, float *samples, size_t count)
{
    unsigned char block[BLOCK];
    const size_t bytes = (size_t)formats[wave->pcm.format].bytes, channels = (size_t)wave->pcm.channels;
    float (*const read)(const unsigned char *at) = formats[wave->pcm.format].read;
    size_t made = 0;
    while (made < count && wave->left > 0 && !wave->not_finite) {
        size_t wanted = sizeof block / (bytes * channels);
        if (wanted > count - made) wanted = count - made;
        if (wanted > wave->left) wanted = (size_t)wave->left;
        size_t frames = read_block(wave, block, wanted * bytes * channels) / (bytes * channels);
        for (size_t i = 0; i < frames && !wave->not_finite; i++) {
            const unsigned char *at = block + i * bytes * channels;
            float sample = channels == 1 ? read(at) : (read(at) + read(at + bytes)) / 2;
            wave->not_finite = isnan(sample);
            if (!wave->not_finite) samples[made++] = sample;
        }
        if (wave->left != UINT64_MAX) wave->left -= frames;
        if (frames == wanted) continue;
        wave->cut = wave->left != UINT64_MAX;
        wave->left = 0;
    }
    return made;
}
