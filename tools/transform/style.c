// SPDX-License-Identifier: Apache-2.0
// One run of the model that reads styles.
#include "transform/style.h"

#include <stdlib.h>

#include "alloc.h"
#include "image.h"
#include "message.h"
#include "picture_input.h"

static bool run_model(struct hl_model_file *file, const struct hl_image *image)
{
    struct hl_picture_input input;
    TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(file->interpreter, 0);
    const char *wanted = TfLiteInterpreterGetInputTensorCount(file->interpreter) == 1
                             ? hl_picture_input_look(tensor, false, &input)
                             : "one input for a picture is wanted";
    if (wanted != NULL) {
        hl_error(file->command, file->path, "is no model that reads a style: %s", wanted);
        return false;
    }
    hl_picture_input_normalize(&input, file->model, 0);
    if (!input.normalization.given)
        input.normalization = (struct hl_normalization){.given = true, .std = {255, 255, 255}};
    hl_picture_input_fill(&input, image, tensor);
    if (TfLiteInterpreterInvoke(file->interpreter) == kTfLiteOk) return true;
    hl_model_file_failed(file, "the inference failed");
    return false;
}

static bool take_output(struct hl_style *style, const struct hl_model_file *file, const TfLiteTensor *wanted)
{
    int64_t count = hl_model_elements(wanted);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensorCount(file->interpreter) > 0
                                     ? TfLiteInterpreterGetOutputTensor(file->interpreter, 0)
                                     : NULL;
    if (output == NULL || hl_model_elements(output) != count) {
        hl_error(file->command, file->path, "makes %lld numbers; the other model's second input takes %lld",
                 output != NULL ? (long long)hl_model_elements(output) : 0LL, (long long)count);
        return false;
    }
    style->count = count;
    style->values = hl_alloc((size_t)count, sizeof *style->values);
    for (int64_t i = 0; i < count; i++) style->values[i] = hl_model_real(output, i);
    return true;
}

bool hl_style_read(struct hl_style *style, const struct hl_model_options *options, const char *path,
                   const char *picture, const TfLiteTensor *wanted)
{
    struct hl_model_file file;
    struct hl_image image = {0};
    struct hl_text error = {0};
    bool loaded = hl_image_load_upright(picture, &image, &error);
    if (!loaded) hl_error("transform", picture, "%s", error.data);
    hl_text_free(&error);
    if (!loaded) return false;
    bool ok = hl_model_file_open(&file, "transform", path) && hl_model_file_start(&file, options) &&
              hl_model_file_allocate(&file) && run_model(&file, &image) && take_output(style, &file, wanted);
    hl_model_file_close(&file);
    hl_image_free(&image);
    return ok;
}

void hl_style_free(struct hl_style *style)
{
    free(style->values);
    *style = (struct hl_style){0};
}
