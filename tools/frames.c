// SPDX-License-Identifier: Apache-2.0
// Each kind of video says in its own way where a frame ends; what lies between is collected and decoded as a file
// would be. Nothing is read beyond the end of a frame, so that a live one is seen when it is there, not with the next.
#include "frames.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pnm.h"

static const size_t frame_limit = (size_t)64 << 20; // of a JPEG file
enum { LINE_LIMIT = 256, SIDE_LIMIT = 16384 };

bool hl_frames_begin(struct hl_frames *frames, const char *format, struct hl_text *error)
{
    static const struct {
        const char *name;
        enum hl_frames_kind kind;
    } names[] = {{"mjpeg", HL_FRAMES_MJPEG}, {"ppm", HL_FRAMES_PPM}, {"y4m", HL_FRAMES_Y4M}};
    int end = 0;
    *frames = (struct hl_frames){.kind = HL_FRAMES_RAW};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(format, names[i].name) == 0) {
            frames->kind = names[i].kind;
            return true;
        }
    if (sscanf(format, "%5dx%5d%n", &frames->width, &frames->height, &end) == 2 && format[end] == '\0' &&
        frames->width > 0 && frames->width <= SIDE_LIMIT && frames->height > 0 && frames->height <= SIDE_LIMIT)
        return true;
    hl_text_add(error, "is no format of frames: mjpeg, ppm, y4m or WIDTHxHEIGHT (up to %d each) is", SIDE_LIMIT);
    return false;
}

static enum hl_frames_step broken(struct hl_text *error, const char *why)
{
    hl_text_add(error, "%s", why);
    return HL_FRAMES_BROKEN;
}

// Adds so many bytes. False where there are fewer.
static bool collect(FILE *file, struct hl_text *frame, size_t bytes)
{
    char block[65536];
    while (bytes > 0) {
        size_t wanted = bytes < sizeof block ? bytes : sizeof block, got = fread(block, 1, wanted, file);
        hl_text_add_bytes(frame, block, got);
        if (got < wanted) return false;
        bytes -= got;
    }
    return true;
}

static void add_byte(struct hl_text *frame, int byte)
{
    char one = (char)byte;
    hl_text_add_bytes(frame, &one, 1);
}

// ---- MJPEG --------------------------------------------------------------------------------------

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, RST0 = 0xd0, RST7 = 0xd7, TEM = 0x01 };

// Passes what lies in front of a picture, such as the headers of a camera's HTTP parts.
static bool find_start(FILE *file)
{
    int before = 0, byte;
    while ((byte = getc(file)) != EOF) {
        if (before == 0xff && byte == SOI) return true;
        before = byte;
    }
    return false;
}

// The marker behind coded pixels, where 0xff 0x00 is a pixel's byte, and restart markers are on the way. EOF: none.
static int pass_pixels(FILE *file, struct hl_text *frame)
{
    int byte;
    while (frame->length <= frame_limit && (byte = getc(file)) != EOF) {
        add_byte(frame, byte);
        if (byte != 0xff) continue;
        while ((byte = getc(file)) == 0xff) add_byte(frame, byte);
        if (byte == EOF) return EOF;
        add_byte(frame, byte);
        if (byte != 0 && (byte < RST0 || byte > RST7)) return byte;
    }
    return EOF;
}

static int pass_marker(FILE *file, struct hl_text *frame)
{
    int byte = getc(file);
    if (byte != 0xff) return EOF;
    add_byte(frame, byte);
    while ((byte = getc(file)) == 0xff) add_byte(frame, byte);
    if (byte != EOF) add_byte(frame, byte);
    return byte;
}

static bool pass_segment(FILE *file, struct hl_text *frame)
{
    int high = getc(file), low = high == EOF ? EOF : getc(file);
    if (low == EOF || high * 256 + low < 2) return false;
    add_byte(frame, high);
    add_byte(frame, low);
    return collect(file, frame, (size_t)(high * 256 + low - 2));
}

static enum hl_frames_step next_jpeg(FILE *file, struct hl_text *frame, struct hl_text *error)
{
    if (!find_start(file)) return ferror(file) ? broken(error, "cannot be read") : HL_FRAMES_END;
    hl_text_add_bytes(frame, "\xff\xd8", 2);
    int marker = pass_marker(file, frame);
    while (marker != EOI) {
        if (frame->length > frame_limit) return broken(error, "is larger than 64 MiB, more than is read of a frame");
        bool alone = marker == TEM || (marker >= RST0 && marker <= RST7);
        if (marker == EOF || marker == 0 || (!alone && !pass_segment(file, frame)))
            return broken(error, "is a damaged JPEG picture: it ends before its end marker");
        marker = marker == SOS ? pass_pixels(file, frame) : pass_marker(file, frame);
    }
    return HL_FRAMES_NEXT;
}

// ---- PNM ----------------------------------------------------------------------------------------

static enum hl_frames_step next_pnm(FILE *file, struct hl_text *frame, struct hl_text *error)
{
    struct hl_pnm pnm = {0};
    enum hl_pnm_step step = HL_PNM_MORE;
    int byte = EOF;
    while (step == HL_PNM_MORE && frame->length < frame_limit && (byte = getc(file)) != EOF) {
        add_byte(frame, byte);
        step = hl_pnm_take(&pnm, byte);
    }
    if (frame->length == 0) return ferror(file) ? broken(error, "cannot be read") : HL_FRAMES_END;
    if (step == HL_PNM_NONE) return broken(error, "does not begin with P5 or P6");
    if (step != HL_PNM_SAMPLES || pnm.width > SIDE_LIMIT || pnm.height > SIDE_LIMIT || pnm.largest != 255)
        return broken(error, "is no PGM or PPM picture with a width, a height and values up to 255");
    return collect(file, frame, (size_t)hl_pnm_bytes(&pnm)) ? HL_FRAMES_NEXT : broken(error, "is cut off");
}

// ---- YUV4MPEG2 ----------------------------------------------------------------------------------

// A line without its end. END: there is none.
static enum hl_frames_step next_line(FILE *file, char line[LINE_LIMIT], struct hl_text *error)
{
    int length = 0, byte;
    while ((byte = getc(file)) != EOF && byte != '\n' && length < LINE_LIMIT - 1) line[length++] = (char)byte;
    line[length] = '\0';
    if (byte == '\n') return HL_FRAMES_NEXT;
    return byte == EOF && length == 0 ? HL_FRAMES_END : broken(error, "has a header that does not end");
}

static bool take_colors(struct hl_frames *frames, const char *value)
{
    static const struct {
        const char *name;
        int chroma_w, chroma_h;
    } kinds[] = {{"420", 2, 2}, {"420jpeg", 2, 2}, {"420mpeg2", 2, 2}, {"420paldv", 2, 2},
                 {"422", 2, 1}, {"444", 1, 1},     {"mono", 0, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i].name) == 0) {
            frames->chroma_w = kinds[i].chroma_w;
            frames->chroma_h = kinds[i].chroma_h;
            return true;
        }
    return false;
}

static int side_of(const char *text)
{
    long side = strtol(text, NULL, 10);
    return side > 0 && side <= SIDE_LIMIT ? (int)side : 0;
}

static enum hl_frames_step begin_y4m(struct hl_frames *frames, FILE *file, struct hl_text *error)
{
    char line[LINE_LIMIT];
    enum hl_frames_step step = next_line(file, line, error);
    if (step != HL_FRAMES_NEXT) return step;
    char *word = strtok(line, " ");
    if (word == NULL || strcmp(word, "YUV4MPEG2") != 0) return broken(error, "does not begin with YUV4MPEG2");
    take_colors(frames, "420");
    while ((word = strtok(NULL, " ")) != NULL) {
        if (*word == 'W') frames->width = side_of(word + 1);
        if (*word == 'H') frames->height = side_of(word + 1);
        if (strcmp(word, "XCOLORRANGE=FULL") == 0) frames->full_range = true;
        if (*word == 'C' && !take_colors(frames, word + 1))
            return broken(error, "has colors that are not read here; C420, C422, C444 and Cmono are (8 bits)");
    }
    if (frames->width > 0 && frames->height > 0) return HL_FRAMES_NEXT;
    return broken(error, "has no width and height that can be read here");
}

static unsigned char clamp_byte(int value)
{
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// BT.601, as programs take video whose header does not say otherwise; factors are of 2^-16.
static void to_rgb(const struct hl_frames *frames, const unsigned char *yuv, unsigned char *rgb)
{
    const int w = frames->width, h = frames->height, cw = frames->chroma_w, ch = frames->chroma_h;
    const int row = cw > 0 ? (w + cw - 1) / cw : 0, rows = ch > 0 ? (h + ch - 1) / ch : 0;
    const unsigned char *blue = yuv + (size_t)w * (size_t)h, *red = blue + (size_t)row * (size_t)rows;
    const int luma = frames->full_range ? 65536 : 76309, black = frames->full_range ? 0 : 16;
    const int red_red = frames->full_range ? 91881 : 104597, blue_green = frames->full_range ? 22554 : 25675;
    const int red_green = frames->full_range ? 46802 : 53279, blue_blue = frames->full_range ? 116130 : 132201;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++, yuv++, rgb += 3) {
            const size_t at = cw > 0 ? (size_t)(y / ch) * (size_t)row + (size_t)(x / cw) : 0;
            const int light = (*yuv - black) * luma + 32768;
            const int u = cw > 0 ? blue[at] - 128 : 0, v = cw > 0 ? red[at] - 128 : 0;
            rgb[0] = clamp_byte((light + red_red * v) >> 16);
            rgb[1] = clamp_byte((light - blue_green * u - red_green * v) >> 16);
            rgb[2] = clamp_byte((light + blue_blue * u) >> 16);
        }
}

static enum hl_frames_step next_y4m(struct hl_frames *frames, FILE *file, struct hl_text *frame, struct hl_text *error)
{
    char line[LINE_LIMIT];
    enum hl_frames_step step = frames->width == 0 ? begin_y4m(frames, file, error) : HL_FRAMES_NEXT;
    if (step == HL_FRAMES_NEXT) step = next_line(file, line, error);
    if (step != HL_FRAMES_NEXT) return step;
    if (strncmp(line, "FRAME", 5) != 0) return broken(error, "does not begin with FRAME");
    size_t w = (size_t)frames->width, h = (size_t)frames->height, colors = 0;
    if (frames->chroma_w > 0)
        colors = 2 * ((w - 1) / (size_t)frames->chroma_w + 1) * ((h - 1) / (size_t)frames->chroma_h + 1);
    return collect(file, frame, w * h + colors) ? HL_FRAMES_NEXT : broken(error, "is cut off");
}

// ---- all of them --------------------------------------------------------------------------------

static enum hl_frames_step next_raw(const struct hl_frames *frames, FILE *file, struct hl_text *frame,
                                    struct hl_text *error)
{
    if (collect(file, frame, (size_t)frames->width * (size_t)frames->height * 3)) return HL_FRAMES_NEXT;
    if (ferror(file)) return broken(error, "cannot be read");
    return frame->length == 0 ? HL_FRAMES_END : broken(error, "is cut off");
}

static bool make_image(const struct hl_frames *frames, const struct hl_text *frame, struct hl_image *image,
                       struct hl_text *error)
{
    if (frames->kind == HL_FRAMES_MJPEG || frames->kind == HL_FRAMES_PPM) return hl_image_decode(frame, image, error);
    size_t pixels = (size_t)frames->width * (size_t)frames->height;
    *image = (struct hl_image){.width = frames->width, .height = frames->height, .rgb = malloc(pixels * 3)};
    if (image->rgb == NULL) {
        hl_text_add(error, "does not fit into memory");
        return false;
    }
    if (frames->kind == HL_FRAMES_Y4M)
        to_rgb(frames, (const unsigned char *)frame->data, image->rgb);
    else
        memcpy(image->rgb, frame->data, pixels * 3);
    return true;
}

enum hl_frames_step hl_frames_next(struct hl_frames *frames, FILE *file, struct hl_image *image, struct hl_text *error)
{
    struct hl_text frame = {0};
    enum hl_frames_step step = HL_FRAMES_END;
    *image = (struct hl_image){0};
    switch (frames->kind) {
    case HL_FRAMES_MJPEG: step = next_jpeg(file, &frame, error); break;
    case HL_FRAMES_PPM: step = next_pnm(file, &frame, error); break;
    case HL_FRAMES_Y4M: step = next_y4m(frames, file, &frame, error); break;
    case HL_FRAMES_RAW: step = next_raw(frames, file, &frame, error); break;
    }
    if (step == HL_FRAMES_NEXT && !make_image(frames, &frame, image, error)) step = HL_FRAMES_SPOILED;
    if (step != HL_FRAMES_END) frames->count++;
    hl_text_free(&frame);
    return step;
}
