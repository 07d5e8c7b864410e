// SPDX-License-Identifier: Apache-2.0
// label_image: what is on this picture? In: a classifier, its labels, a picture. Out, on standard error: the best
// classes and the mean time of a run, as TensorFlow Lite's example prints them. (halite label does more and is kinder.)
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "commands.h"
#include "delegates.h"
#include "element.h"
#include "image.h"
#include "labels.h"
#include "message.h"
#include "model_file.h"
#include "preprocess.h"
#include "runtime/interpreter.h"
#include "state.h"

struct options {
    int accelerated, allow_fp16, count, verbose, profiling, threads, num_results, max_profiling_buffer_entries;
    int warmup_runs, gl_backend, xnnpack_delegate;
    const char *image, *labels, *model, *hexagon;
    double input_mean, input_std;
    struct hl_delegate_flags delegates;
    const int *positions;
};

static const struct options defaults = {
    .count = 1,
    .threads = 4,
    .num_results = 5,
    .max_profiling_buffer_entries = 1024,
    .warmup_runs = 2,
    .image = "./grace_hopper.bmp",
    .labels = "./labels.txt",
    .model = "./mobilenet_quant_v1_224.tflite",
    .input_mean = 127.5,
    .input_std = 127.5,
    .delegates = HL_DELEGATE_DEFAULTS,
};

// clang-format off
#define SWITCH(flag, short_name, field, text)                                                                  \
    {.name = flag, .letter = short_name, .kind = HL_FLAG_INT, .value = "0|1", .min = 0, .max = 1,              \
     .offset = offsetof(struct options, field), .help = text}
#define NUMBER(flag, short_name, field, low, text)                                                             \
    {.name = flag, .letter = short_name, .kind = HL_FLAG_INT, .value = "N", .min = low, .max = 1000000000,     \
     .offset = offsetof(struct options, field), .help = text}
#define STRING(flag, short_name, field, text)                                                                  \
    {.name = flag, .letter = short_name, .kind = HL_FLAG_STRING, .value = "FILE",                              \
     .offset = offsetof(struct options, field), .help = text}
static const struct hl_flag flags[] = {
    STRING("tflite_model", 'm', model, "default ./mobilenet_quant_v1_224.tflite"),
    STRING("image", 'i', image, "BMP, JPEG, PNG, PGM or PPM; default ./grace_hopper.bmp"),
    STRING("labels", 'l', labels, "names of the classes; default ./labels.txt"),
    NUMBER("num_results", 'r', num_results, 1, "most classes to show; default 5"),
    NUMBER("count", 'c', count, 1, "timed runs; default 1"),
    NUMBER("warmup_runs", 'w', warmup_runs, 0, "runs before them; default 2"),
    NUMBER("threads", 't', threads, -1, "threads on the CPU; default 4"),
    {.name = "input_mean", .letter = 'b', .kind = HL_FLAG_NUMBER, .value = "X", .min = -1e9, .max = 1e9,
     .offset = offsetof(struct options, input_mean), .help = "of float models' inputs; default 127.5"},
    {.name = "input_std", .letter = 's', .kind = HL_FLAG_NUMBER, .value = "X", .min = 1e-9, .max = 1e9,
     .offset = offsetof(struct options, input_std), .help = "likewise"},
    SWITCH("verbose", 'v', verbose, "show tensors and nodes"),
    SWITCH("profiling", 'p', profiling, "show the time of each node"),
    NUMBER("max_profiling_buffer_entries", 'e', max_profiling_buffer_entries, 0, "nothing here: there is no such limit"),
    SWITCH("gl_backend", 'g', gl_backend, "as --use_gpu=true --gpu_inference_for_sustained_speed=true"),
    SWITCH("allow_fp16", 'f', allow_fp16, "with it: half precision"),
    SWITCH("accelerated", 'a', accelerated, "as --use_nnapi=true"),
    STRING("hexagon_delegate", 'j', hexagon, "as --use_hexagon=true, whatever is given"),
    SWITCH("xnnpack_delegate", 'x', xnnpack_delegate, "as --use_xnnpack=true"),
    HL_DELEGATE_FLAGS(options, delegates)
};
// clang-format on

struct labeller {
    const struct options *options;
    struct hl_delegates delegates;
    struct hl_model_file file;
    struct hl_labels labels;
    struct hl_preprocess_shape shape;
};

// ---- opening ------------------------------------------------------------------------------------

static bool open_delegates(struct labeller *labeller)
{
    const struct options *options = labeller->options;
    struct hl_delegate_flags delegate_flags = options->delegates;
    if (options->accelerated) {
        delegate_flags.use_nnapi = true;
        delegate_flags.nnapi_allow_fp16 = delegate_flags.nnapi_allow_fp16 || options->allow_fp16;
    }
    if (options->hexagon != NULL) delegate_flags.use_hexagon = true;
    if (options->xnnpack_delegate) delegate_flags.use_xnnpack = true;
    if (options->gl_backend) {
        delegate_flags.use_gpu = delegate_flags.gpu_inference_for_sustained_speed = true;
        delegate_flags.gpu_precision_loss_allowed = options->allow_fp16;
    }
    return hl_delegates_create(&delegate_flags, &hl_command_label_image, options->positions, &labeller->delegates);
}

static bool check_ends(struct labeller *labeller)
{
    const TfLiteInterpreter *interpreter = labeller->file.interpreter;
    const char *wanted = "an input and an output are wanted", *end = "the model";
    struct hl_text shape = {0};
    if (TfLiteInterpreterGetInputTensorCount(interpreter) > 0 &&
        TfLiteInterpreterGetOutputTensorCount(interpreter) > 0) {
        const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
        const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
        TfLiteType type = TfLiteTensorType(output);
        int rank = TfLiteTensorNumDims(output);
        bool scores = rank > 0 && hl_model_elements(output) == TfLiteTensorDim(output, rank - 1);
        wanted = hl_preprocess_look(input, &labeller->shape);
        end = wanted != NULL ? "the input" : "the output";
        hl_model_add_tensor_shape(&shape, wanted != NULL ? input : output);
        if (wanted == NULL && !scores) wanted = "one score for each class, [1,classes], is wanted";
        if (wanted == NULL && type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8)
            wanted = "float32, uint8 or int8 is wanted";
    }
    if (wanted != NULL) hl_error(HL_TFLITE, labeller->file.path, "%s is %s: %s", end, hl_text_string(&shape), wanted);
    hl_text_free(&shape);
    return wanted == NULL;
}

static bool open_model(struct labeller *labeller)
{
    const struct options *options = labeller->options;
    struct hl_model_file *file = &labeller->file;
    if (!hl_model_file_open(file, HL_TFLITE, options->model)) return false;
    hl_info(HL_TFLITE_EXAMPLE, NULL, "Loaded model %s", options->model);
    hl_info(HL_TFLITE_EXAMPLE, NULL, "resolved reporter");
    struct hl_model_options how = {.threads = options->threads, .delegates = &labeller->delegates};
    if (!hl_model_file_start(file, &how)) return false;
    for (int i = 0; i < labeller->delegates.count; i++)
        hl_info(HL_TFLITE_EXAMPLE, NULL, "Applied %s delegate.", labeller->delegates.items[i].name);
    if (TfLiteInterpreterAllocateTensors(file->interpreter) != kTfLiteOk) {
        hl_model_file_failed(file, "Failed to allocate tensors!");
        return false;
    }
    struct hl_text state = {0}, error = {0};
    if (options->verbose) hl_state_print(file, (struct hl_state_widths)HL_STATE_WIDTHS, &state);
    fputs(hl_text_string(&state), stdout);
    hl_text_free(&state);
    bool ok = check_ends(labeller);
    if (ok && !hl_labels_load(options->labels, &labeller->labels, &error)) {
        hl_error(HL_TFLITE, options->labels, "%s", error.data);
        ok = false;
    }
    hl_text_free(&error);
    return ok;
}

// ---- running ------------------------------------------------------------------------------------

static bool fill(struct labeller *labeller)
{
    const struct options *options = labeller->options;
    const struct hl_preprocess_shape *shape = &labeller->shape;
    struct hl_normalization normalization = {.given = shape->type == kTfLiteFloat32};
    for (int i = 0; i < 3; i++) {
        normalization.mean[i] = options->input_mean;
        normalization.std[i] = options->input_std;
    }
    struct hl_image image;
    struct hl_text error = {0};
    bool ok = hl_image_load(options->image, &image, &error);
    if (!ok) hl_error(HL_TFLITE, options->image, "%s", error.data);
    hl_text_free(&error);
    if (!ok) return false;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(labeller->file.interpreter, 0);
    size_t count = (size_t)shape->width * (size_t)shape->height * (size_t)shape->channels;
    float *pixels = malloc(count * sizeof *pixels);
    if (pixels != NULL) {
        hl_preprocess_scale(&image, HL_PREPROCESS_WHOLE, shape->width, shape->height, shape->channels, pixels);
        hl_preprocess_store(pixels, count, shape->channels, &normalization, shape->type,
                            TfLiteTensorQuantizationParams(input), TfLiteTensorData(input));
    } else {
        hl_error(HL_TFLITE, options->image, "does not fit into memory at %d x %d", shape->width, shape->height);
    }
    free(pixels);
    hl_image_free(&image);
    return pixels != NULL;
}

// Milliseconds of a run, below 0 after a message.
static double invoke(struct labeller *labeller, int count)
{
    double start = hl_seconds();
    for (int i = 0; i < count; i++) {
        if (TfLiteInterpreterInvoke(labeller->file.interpreter) == kTfLiteOk) continue;
        hl_model_file_failed(&labeller->file, "Failed to invoke tflite!");
        return -1;
    }
    return count > 0 ? 1000 * (hl_seconds() - start) / count : 0;
}

static void print_profile(const TfLiteInterpreter *interpreter)
{
    for (int s = 0; s < interpreter->subgraph_count; s++) {
        const struct hl_subgraph *subgraph = interpreter->subgraphs[s];
        for (int i = 0; i < subgraph->plan->size; i++) {
            const struct hl_node *node = subgraph->nodes[subgraph->plan->data[i]];
            if (node->runs == 0) continue;
            hl_info(HL_TFLITE_EXAMPLE, NULL, "%10.3f, Subgraph %3d, Node %3d, OpCode %3d, %s",
                    1e-6 * (double)node->nanoseconds / (double)node->runs, s, node->index,
                    node->registration.builtin_code, node->name);
        }
    }
}

// ---- results ------------------------------------------------------------------------------------

static float score(TfLiteType type, const void *data, int i)
{
    return type == kTfLiteFloat32 ? ((const float *)data)[i]
           : type == kTfLiteUInt8 ? (float)((const uint8_t *)data)[i] / 255.0f
                                  : (float)(((const int8_t *)data)[i] + 128) / 256.0f;
}

// Best first; among equal scores the higher class, as the original's queue has it.
static void print_results(const struct labeller *labeller)
{
    static const float threshold = 0.001f;
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(labeller->file.interpreter, 0);
    TfLiteType type = TfLiteTensorType(output);
    const void *data = TfLiteTensorData(output);
    int classes = (int)hl_model_elements(output), most = labeller->options->num_results, used = 0;
    if (most > classes) most = classes;
    int *best = hl_alloc((size_t)most, sizeof *best);
    for (int i = 0; i < classes; i++) {
        float value = score(type, data, i);
        if (!(value >= threshold) || (used == most && value < score(type, data, best[used - 1]))) continue;
        int at = used < most ? used++ : used - 1;
        for (; at > 0 && value >= score(type, data, best[at - 1]); at--) best[at] = best[at - 1];
        best[at] = i;
    }
    for (int i = 0; i < used; i++)
        hl_info(HL_TFLITE_EXAMPLE, NULL, "%g: %d %s", (double)score(type, data, best[i]), best[i],
                best[i] < labeller->labels.count ? labeller->labels.names[best[i]] : "");
    free(best);
}

static bool label(struct labeller *labeller)
{
    const struct options *options = labeller->options;
    if (!open_delegates(labeller) || !open_model(labeller) || !fill(labeller)) return false;
    TfLiteInterpreter *interpreter = labeller->file.interpreter;
    HaliteInterpreterSetProfiling(interpreter, options->profiling);
    if (invoke(labeller, options->warmup_runs) < 0) return false;
    double milliseconds = invoke(labeller, options->count);
    if (milliseconds < 0) return false;
    hl_info(HL_TFLITE_EXAMPLE, NULL, "invoked");
    hl_info(HL_TFLITE_EXAMPLE, NULL, "average time: %g ms", milliseconds);
    if (options->profiling) print_profile(interpreter);
    print_results(labeller);
    return true;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    struct labeller labeller = {.options = given};
    bool ok = label(&labeller);
    hl_model_file_close(&labeller.file);
    hl_delegates_free(&labeller.delegates);
    hl_labels_free(&labeller.labels);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

const struct hl_command hl_command_label_image = {
    .name = "label_image",
    .summary = "Name what a picture shows, as TensorFlow Lite's example does.",
    .details = "The picture is scaled to the model's input whole, whatever its shape.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .positions = offsetof(struct options, positions),
    .run = run,
};
