// SPDX-License-Identifier: Apache-2.0
// Boxes for landmark models. MediaPipe turns them with the head or the hand; here they stand upright.
#include "pose/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "message.h"

bool hl_region_open(struct hl_region_finder *finder, const struct hl_model_options *options, const char *path)
{
    struct hl_text why = {0};
    if (!hl_model_file_open(&finder->file, "pose", path) || !hl_model_file_start(&finder->file, options) ||
        !hl_model_file_allocate(&finder->file))
        return false;
    bool known = hl_detector_look(finder->file.interpreter, &finder->detector, &why);
    if (!known) hl_error("pose", path, "%s", why.data);
    hl_text_free(&why);
    if (known) hl_picture_input_normalize(&finder->detector.input, finder->file.model, 0);
    return known;
}

void hl_region_close(struct hl_region_finder *finder)
{
    hl_model_file_close(&finder->file);
    free(finder->finds.items);
}

// A square around what was found: how much larger than the longer side, and how far up in parts of the box.
static void widen(struct hl_box *box, const char *found)
{
    static const struct {
        const char *found;
        float scale, up;
    } kinds[] = {{"face", 1.5f, 0}, {"palm", 2.6f, 0.5f}, {"person", 1.25f, 0}};
    float scale = 1.25f, up = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (found != NULL && strcmp(kinds[i].found, found) == 0) scale = kinds[i].scale, up = kinds[i].up;
    float x = (box->left + box->right) / 2, y = (box->top + box->bottom) / 2 - up * (box->bottom - box->top);
    float half = fmaxf(box->right - box->left, box->bottom - box->top) / 2 * scale;
    box->left = x - half;
    box->right = x + half;
    box->top = y - half;
    box->bottom = y + half;
}

bool hl_region_find(struct hl_region_finder *finder, const struct hl_image *image, double score)
{
    TfLiteInterpreter *interpreter = finder->file.interpreter;
    hl_picture_input_fill(&finder->detector.input, image, TfLiteInterpreterGetInputTensor(interpreter, 0));
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) {
        hl_model_file_failed(&finder->file, "the inference failed");
        return false;
    }
    hl_detector_read(&finder->detector, image, interpreter, score, &finder->finds);
    for (int i = 0; i < finder->finds.count; i++) widen(&finder->finds.items[i].box, finder->detector.only_class);
    return true;
}

bool hl_region_parse(const char *text, struct hl_box *box)
{
    float numbers[4];
    for (int i = 0; i < 4; i++) {
        char *end;
        numbers[i] = strtof(text, &end);
        if (end == text || *end != (i < 3 ? ',' : '\0') || !(fabsf(numbers[i]) < 1e6f)) return false;
        text = end + 1;
    }
    *box = (struct hl_box){.left = numbers[0], .top = numbers[1], .right = numbers[2], .bottom = numbers[3]};
    return box->left < box->right && box->top < box->bottom;
}

bool hl_region_cut(const struct hl_image *image, const struct hl_box *box, struct hl_image *cut)
{
    enum { MAX_SIDE = 65500 };
    int left = (int)floorf(box->left), top = (int)floorf(box->top);
    int width = (int)ceilf(box->right) - left, height = (int)ceilf(box->bottom) - top;
    if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || (double)width * height > 1e8) return false;
    *cut = (struct hl_image){.width = width, .height = height};
    cut->rgb = hl_alloc((size_t)width * (size_t)height * 3, 1); // zeros
    int from = left > 0 ? left : 0, to = left + width < image->width ? left + width : image->width;
    for (int y = top > 0 ? top : 0; y < top + height && y < image->height && from < to; y++)
        memcpy(cut->rgb + 3 * ((size_t)(y - top) * (size_t)width + (size_t)(from - left)),
               image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)from), 3 * (size_t)(to - from));
    return true;
}
