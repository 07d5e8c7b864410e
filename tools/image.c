// SPDX-License-Identifier: Apache-2.0
// Decoders behind one door. The whole file is read first; its first bytes say what it is. stb_image fills what a cut
// BMP or PNM lacks with zeros or garbage, so those headers are checked against the file's size here.
#include "image.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#include <stb/stb_image.h>

#include "exif.h"
#include "files.h"
#include "little_endian.h"
#include "pnm.h"

static const size_t file_limit = (size_t)256 << 20;
// 100 megapixels decode to 300 MB; side as libjpeg's.
static const int side_limit = 65500;
static const int64_t pixel_limit = 100000000;

const char *const hl_image_endings[] = {".jpg", ".jpeg", ".png", ".bmp", ".pgm", ".ppm", NULL};

bool hl_image_is_named(const char *path)
{
    for (const char *const *ending = hl_image_endings; *ending != NULL; ending++)
        if (hl_files_ends_with_any_case(path, *ending)) return true;
    return false;
}

static bool size_fits(int64_t width, int64_t height, struct hl_text *error)
{
    if (width > 0 && height > 0 && width <= side_limit && height <= side_limit && width * height <= pixel_limit)
        return true;
    hl_text_add(error, "is %lld x %lld pixels; pictures may have 1 to %d a side and %lld million in all",
                (long long)width, (long long)height, side_limit, (long long)(pixel_limit / 1000000));
    return false;
}

// ---- JPEG ---------------------------------------------------------------------------------------

// Scans of a progressive picture: encoders write about ten, and each costs time as for a whole picture.
enum { MAX_SCANS = 500 };

struct jpeg_trap {
    struct jpeg_error_mgr manager; // first: libjpeg hands back a pointer to it
    jmp_buf back;
    struct hl_text *error;
};

static void jpeg_fail(j_common_ptr info)
{
    struct jpeg_trap *trap = (struct jpeg_trap *)info->err;
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    hl_text_add(trap->error, "is a damaged JPEG file: %s", text);
    longjmp(trap->back, 1);
}

// libjpeg calls missing data a warning and makes pixels up. Oddities that cost no pixel (unknown markers, stray bytes
// between segments) pass.
static void jpeg_message(j_common_ptr info, int level)
{
    if (level >= 0) return;
    switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC: jpeg_fail(info); break;
    default: break;
    }
}

// Called while scans are read.
static void jpeg_watch(j_common_ptr info)
{
    if (((j_decompress_ptr)info)->input_scan_number <= MAX_SCANS) return;
    struct jpeg_trap *trap = (struct jpeg_trap *)info->err;
    hl_text_add(trap->error, "is a JPEG file of more than %d scans, which no camera or program writes", MAX_SCANS);
    longjmp(trap->back, 1);
}

// CMYK as Adobe writes it (inverted) or not; the fraction goes, as in TensorFlow's decoder.
static void cmyk_to_rgb(const unsigned char *cmyk, int width, bool inverted, unsigned char *rgb)
{
    for (int x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        int black = inverted ? cmyk[3] : 255 - cmyk[3];
        for (int i = 0; i < 3; i++) {
            int ink = inverted ? cmyk[i] : 255 - cmyk[i];
            rgb[i] = (unsigned char)(ink * black / 255);
        }
    }
}

// What a long jump must not lose lies in memory, not in registers: the caller's structs.
struct jpeg_work {
    struct jpeg_decompress_struct info;
    struct jpeg_trap trap;
    struct jpeg_progress_mgr watch;
    unsigned char *rgb, *row;
    int orientation;
};

static bool jpeg_decode(struct jpeg_work *work, const unsigned char *data, size_t bytes)
{
    struct jpeg_decompress_struct *info = &work->info;
    if (setjmp(work->trap.back)) return false;
    jpeg_create_decompress(info);
    work->watch.progress_monitor = jpeg_watch;
    info->progress = &work->watch;
    jpeg_save_markers(info, JPEG_APP0 + 1, 0xffff);
    jpeg_mem_src(info, (unsigned char *)data, (unsigned long)bytes);
    jpeg_read_header(info, TRUE);
    if (!size_fits(info->image_width, info->image_height, work->trap.error)) return false;
    // The first of them that is Exif: XMP comes in APP1 segments as well.
    const struct jpeg_marker_struct *marker = info->marker_list;
    for (work->orientation = 1; marker != NULL && work->orientation == 1; marker = marker->next)
        work->orientation = hl_exif_orientation(marker->data, marker->data_length);
    bool cmyk = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    info->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(info);
    size_t width = info->output_width;
    work->rgb = malloc(width * info->output_height * 3);
    work->row = malloc(width * 4);
    if (work->rgb == NULL || work->row == NULL) {
        hl_text_add(work->trap.error, "does not fit into memory");
        return false;
    }
    while (info->output_scanline < info->output_height) {
        unsigned char *to = work->rgb + info->output_scanline * width * 3;
        JSAMPROW row = cmyk ? work->row : to;
        jpeg_read_scanlines(info, &row, 1);
        if (cmyk) cmyk_to_rgb(work->row, (int)width, info->saw_Adobe_marker, to);
    }
    jpeg_finish_decompress(info);
    return true;
}

static bool load_jpeg(const unsigned char *data, size_t bytes, struct hl_image *image, struct hl_text *error)
{
    struct jpeg_work *work = hl_alloc(1, sizeof *work);
    work->info.err = jpeg_std_error(&work->trap.manager);
    work->trap.manager.error_exit = jpeg_fail;
    work->trap.manager.emit_message = jpeg_message;
    work->trap.error = error;
    bool ok = jpeg_decode(work, data, bytes);
    if (ok) {
        image->width = (int)work->info.output_width;
        image->height = (int)work->info.output_height;
        image->rgb = work->rgb;
        image->orientation = work->orientation;
    } else {
        free(work->rgb);
    }
    jpeg_destroy_decompress(&work->info);
    free(work->row);
    free(work);
    return ok;
}

// ---- PNG, BMP, PNM ------------------------------------------------------------------------------

// Of 2 bytes without a sign, of 4 with one.
static int64_t bmp_number(const unsigned char *at, int bytes)
{
    uint32_t value = hl_little_endian(at, bytes);
    return bytes == 4 ? (int32_t)value : (int64_t)value;
}

// File header of 14 bytes, then the bitmap header: its size, width, height (negative: from the top), planes, bits,
// compression. Only the uncompressed kinds, 0 and 3 (with masks), are read.
static bool check_bmp(const unsigned char *data, size_t bytes, struct hl_text *error)
{
    int64_t start = bytes >= 30 ? hl_little_endian(data + 10, 4) : 0;
    int64_t header = bytes >= 30 ? bmp_number(data + 14, 4) : 0;
    if (header < 16 && header != 12) {
        hl_text_add(error, "is a damaged BMP file: its header is cut off");
        return false;
    }
    bool old = header == 12;
    int64_t width = old ? bmp_number(data + 18, 2) : bmp_number(data + 18, 4);
    int64_t height = old ? bmp_number(data + 20, 2) : bmp_number(data + 22, 4);
    int64_t bits = old ? bmp_number(data + 24, 2) : bmp_number(data + 28, 2);
    int64_t compression = old || bytes < 34 ? 0 : bmp_number(data + 30, 4);
    if (!size_fits(width, height < 0 ? -height : height, error)) return false;
    if (compression != 0 && compression != 3) {
        hl_text_add(error, "is a compressed BMP file, which is not read here; convert it to PNG");
        return false;
    }
    int64_t row = (width * bits + 31) / 32 * 4, rows = height < 0 ? -height : height;
    // A writer may leave out the padding of the last row.
    if (start + row * (rows - 1) + (width * bits + 7) / 8 <= (int64_t)bytes) return true;
    hl_text_add(error, "is a damaged BMP file: it ends before its last row");
    return false;
}

// stb_image says of a picture that is too large what it says of one that it does not know.
static bool check_png(const unsigned char *data, size_t bytes, struct hl_text *error)
{
    enum { WIDTH = 16, HEIGHT = 20, END = 24 };
    int64_t width = 0, height = 0;
    if (bytes < END) return true; // which stb_image refuses
    for (int i = 0; i < 4; i++) {
        width = width << 8 | data[WIDTH + i];
        height = height << 8 | data[HEIGHT + i];
    }
    return size_fits(width, height, error);
}

static bool check_pnm(const unsigned char *data, size_t bytes, struct hl_text *error)
{
    struct hl_pnm pnm = {0};
    enum hl_pnm_step step = HL_PNM_MORE;
    size_t at = 0;
    while (step == HL_PNM_MORE && at < bytes) step = hl_pnm_take(&pnm, data[at++]);
    if (step != HL_PNM_SAMPLES) {
        hl_text_add(error, "is a damaged PNM file: its header is not three numbers");
        return false;
    }
    if (!size_fits(pnm.width, pnm.height, error)) return false;
    if (pnm.largest != 255) {
        hl_text_add(error, "is a PNM file with values up to %lld; only 255 is read here", (long long)pnm.largest);
        return false;
    }
    if ((int64_t)(bytes - at) >= hl_pnm_bytes(&pnm)) return true;
    hl_text_add(error, "is a damaged PNM file: it ends before its last pixel");
    return false;
}

// Pixels that are not opaque are laid on white, as viewers show them.
static void flatten(const unsigned char *rgba, size_t count, unsigned char *rgb)
{
    for (size_t i = 0; i < count; i++, rgba += 4, rgb += 3)
        for (int c = 0; c < 3; c++) rgb[c] = (unsigned char)((rgba[c] * rgba[3] + 255 * (255 - rgba[3]) + 127) / 255);
}

// stb_image's words, unless they quote bytes of the file. It has none where its first buffer cannot be had.
static const char *stb_reason(void)
{
    const char *reason = stbi_failure_reason();
    if (reason == NULL || strcmp(reason, "outofmem") == 0) return NULL;
    if (strcmp(reason, "unknown image type") == 0) return "its header makes no sense";
    if (strcmp(reason, "outofdata") == 0) return "it ends before its last pixel";
    for (const char *at = reason; *at != '\0'; at++)
        if (*at < 0x20 || *at > 0x7e) return "a part of it has an unknown type";
    return *reason != '\0' ? reason : "a part of it has an unknown type";
}

static bool fail_other(const char *kind, struct hl_text *error)
{
    const char *reason = stb_reason();
    if (reason != NULL)
        hl_text_add(error, "is a damaged %s file: %s", kind, reason);
    else
        hl_text_add(error, "does not fit into memory");
    return false;
}

static bool load_other(const unsigned char *data, size_t bytes, const char *kind, struct hl_image *image,
                       struct hl_text *error)
{
    int width, height, channels;
    if (!stbi_info_from_memory(data, (int)bytes, &width, &height, &channels)) return fail_other(kind, error);
    // Of a BMP file from the top stb_image tells the height with its sign.
    if (!size_fits(width, height < 0 ? -(int64_t)height : height, error)) return false;
    stbi_uc *rgba = stbi_load_from_memory(data, (int)bytes, &width, &height, &channels, 4);
    if (rgba == NULL) return fail_other(kind, error);
    size_t count = (size_t)width * (size_t)height;
    *image = (struct hl_image){.width = width, .height = height, .rgb = malloc(count * 3)};
    if (image->rgb != NULL)
        flatten(rgba, count, image->rgb);
    else
        hl_text_add(error, "does not fit into memory");
    stbi_image_free(rgba);
    return image->rgb != NULL;
}

static bool starts_with(const struct hl_text *file, const char *bytes, size_t count)
{
    return file->length >= count && memcmp(file->data, bytes, count) == 0;
}

bool hl_image_decode(const struct hl_text *file, struct hl_image *image, struct hl_text *error)
{
    const unsigned char *data = (const unsigned char *)file->data;
    if (file->length == 0) {
        hl_text_add(error, "is empty; a picture is wanted");
        return false;
    }
    if (starts_with(file, "\xff\xd8\xff", 3)) return load_jpeg(data, file->length, image, error);
    if (starts_with(file, "\x89PNG\r\n\x1a\n", 8))
        return check_png(data, file->length, error) && load_other(data, file->length, "PNG", image, error);
    if (starts_with(file, "BM", 2))
        return check_bmp(data, file->length, error) && load_other(data, file->length, "BMP", image, error);
    if (starts_with(file, "P5", 2) || starts_with(file, "P6", 2))
        return check_pnm(data, file->length, error) && load_other(data, file->length, "PNM", image, error);
    if (starts_with(file, "P2", 2) || starts_with(file, "P3", 2))
        hl_text_add(error, "is a PGM or PPM picture in plain text; a binary one (P5 or P6) can be read");
    else
        hl_text_add(error, "is no picture that can be read here (JPEG, PNG, BMP, PGM or PPM)");
    return false;
}

bool hl_image_load(const char *path, struct hl_image *image, struct hl_text *error)
{
    *image = (struct hl_image){0};
    struct hl_text file = {0};
    bool ok = hl_files_read(path, file_limit, &file, error) && hl_image_decode(&file, image, error);
    hl_text_free(&file);
    return ok;
}

bool hl_image_turn_upright(struct hl_image *image)
{
    enum { TRANSPOSED = 5 }; // from here on rows of the file are columns of the picture
    int orientation = image->orientation, width = image->width, height = image->height;
    if (orientation <= 1) return true;
    bool transposed = orientation >= TRANSPOSED;
    // From where in the file: mirrored in x for 2, 3, 7 and 8, in y for 3, 4, 6 and 7.
    bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    unsigned char *turned = malloc((size_t)width * (size_t)height * 3), *to = turned;
    if (turned == NULL) return false;
    int rows = transposed ? width : height, columns = transposed ? height : width;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++, to += 3) {
            int x = transposed ? row : column, y = transposed ? column : row;
            if (mirror_x) x = width - 1 - x;
            if (mirror_y) y = height - 1 - y;
            memcpy(to, image->rgb + 3 * ((size_t)y * (size_t)width + (size_t)x), 3);
        }
    free(image->rgb);
    *image = (struct hl_image){.width = columns, .height = rows, .rgb = turned, .orientation = 1};
    return true;
}

bool hl_image_load_upright(const char *path, struct hl_image *image, struct hl_text *error)
{
    if (!hl_image_load(path, image, error)) return false;
    if (hl_image_turn_upright(image)) return true;
    hl_text_add(error, "does not fit into memory a second time, turned upright");
    hl_image_free(image);
    return false;
}

void hl_image_free(struct hl_image *image)
{
    free(image->rgb);
    *image = (struct hl_image){0};
}
