// SPDX-License-Identifier: Apache-2.0
// How far a GPU is from the CPU's reference kernels: gpu_accuracy DEVICE DRAWS FILE... prints a table, a row for each
// FILE: a golden case (NAME.txt: its own inputs, and noise), or a model (NAME.tflite: noise). A cell is the largest
// difference as a part of the largest value, of all outputs together; of noise in [-1, 1] the median and the largest of
// DRAWS. Beside it the worst single output by its own largest value. 8-bit outputs count in steps of their range.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/manifest.h"
#include "halite/gpu_delegate.h"
#include "halite/halite.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

enum { PRECISIONS = 3, MAX_OUTPUTS = 64 };
static const char *const names[PRECISIONS] = {"f32", "f16s", "f16"};
static const HaliteGpuPrecision precisions[PRECISIONS] = {kHaliteGpuPrecisionF32, kHaliteGpuPrecisionF16S,
                                                          kHaliteGpuPrecisionF16};

// The outputs of a run, one behind the other.
struct outputs {
    int count;
    size_t lengths[MAX_OUTPUTS];
    bool is_real[MAX_OUTPUTS];
    double *values;
};

struct distance {
    double whole, worst, largest;
};

struct subject {
    const char *path;
    struct golden_case *golden; // NULL: a model alone
    unsigned char *data;        // of the case
    TfLiteModel *model;
    int draws; // runs: the case's steps, if there is one, then noise
    struct outputs *expected;
};

static int failure(const char *path, const char *what)
{
    fprintf(stderr, "gpu_accuracy: %s: %s\n", path, what);
    return 1;
}

static unsigned char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    unsigned char *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (data) {
        rewind(file);
        if (fread(data, 1, (size_t)size, file) != (size_t)size) {
            free(data);
            data = NULL;
        }
    }
    if (file) fclose(file);
    return data;
}

// splitmix64
static double draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
}

static void fill_noise(TfLiteTensor *tensor, uint64_t seed)
{
    unsigned char *bytes = TfLiteTensorData(tensor);
    if (TfLiteTensorType(tensor) == kTfLiteFloat32)
        for (size_t i = 0; i < TfLiteTensorByteSize(tensor) / 4; i++) {
            float value = (float)draw(&seed);
            memcpy(bytes + 4 * i, &value, sizeof value);
        }
    else
        for (size_t i = 0; i < TfLiteTensorByteSize(tensor); i++) bytes[i] = (unsigned char)(draw(&seed) * 128 + 128);
}

static bool fill(TfLiteInterpreter *interpreter, const struct subject *subject, int run)
{
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++)
        fill_noise(TfLiteInterpreterGetInputTensor(interpreter, i), (uint64_t)(1000 * run + i));
    if (run > 0 || !subject->golden) return true;
    const struct golden_step *step = &subject->golden->steps[0];
    for (int i = 0; i < step->in_count; i++) {
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, step->ins[i].index);
        if (!tensor ||
            TfLiteTensorCopyFromBuffer(tensor, subject->data + step->ins[i].offset, step->ins[i].bytes) != kTfLiteOk)
            return false;
    }
    return true;
}

static bool take(struct outputs *outputs, const TfLiteInterpreter *interpreter)
{
    size_t length = 0;
    outputs->count = TfLiteInterpreterGetOutputTensorCount(interpreter);
    if (outputs->count > MAX_OUTPUTS) return false;
    for (int i = 0; i < outputs->count; i++) {
        const TfLiteTensor *tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
        TfLiteType type = TfLiteTensorType(tensor);
        outputs->is_real[i] = type == kTfLiteFloat32;
        if (type != kTfLiteFloat32 && type != kTfLiteInt8 && type != kTfLiteUInt8) return false;
        outputs->lengths[i] = TfLiteTensorByteSize(tensor) / (type == kTfLiteFloat32 ? 4 : 1);
        length += outputs->lengths[i];
    }
    double *to = outputs->values = malloc((length + 1) * sizeof *to);
    for (int i = 0; to && i < outputs->count; i++) {
        const TfLiteTensor *tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
        const void *data = TfLiteTensorData(tensor);
        for (size_t n = 0; n < outputs->lengths[i]; n++)
            *to++ = outputs->is_real[i]                       ? ((const float *)data)[n]
                    : TfLiteTensorType(tensor) == kTfLiteInt8 ? ((const signed char *)data)[n]
                                                              : ((const unsigned char *)data)[n];
    }
    return outputs->values != NULL;
}

// subject->draws runs. device NULL: the CPU's reference kernels.
static bool run_all(const struct subject *subject, const char *device, HaliteGpuPrecision precision,
                    struct outputs *results)
{
    HaliteGpuDelegateOptions choice = {.struct_size = sizeof choice, .device = device, .precision = precision};
    TfLiteDelegate *gpu = device ? HaliteGpuDelegateCreate(&choice) : NULL;
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    if (gpu) TfLiteInterpreterOptionsAddDelegate(options, gpu);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(subject->model, options);
    bool ok = interpreter && (gpu || !device) && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    for (int i = 0; ok && subject->golden && i < subject->golden->steps[0].in_count; i++) {
        const struct golden_tensor *in = &subject->golden->steps[0].ins[i];
        ok = TfLiteInterpreterResizeInputTensor(interpreter, in->index, in->dims, in->rank) == kTfLiteOk;
    }
    ok = ok && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    for (int run = 0; ok && run < subject->draws; run++)
        ok = TfLiteInterpreterResetVariableTensors(interpreter) == kTfLiteOk && fill(interpreter, subject, run) &&
             TfLiteInterpreterInvoke(interpreter) == kTfLiteOk && take(&results[run], interpreter);
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteGpuDelegateV2Delete(gpu);
    return ok;
}

static void drop(struct outputs *results, int count)
{
    for (int i = 0; i < count; i++) free(results[i].values);
    free(results);
}

static struct distance distance_of(const struct outputs *a, const struct outputs *b)
{
    struct distance distance = {0};
    double difference = 0;
    const double *x = a->values, *y = b->values;
    for (int i = 0; i < a->count; i++) {
        double most = 0, largest = 0;
        for (size_t n = 0; n < a->lengths[i]; n++, x++, y++) {
            double apart = *x == *y ? 0 : fabs(*x - *y);
            if (!(apart <= most)) most = isnan(apart) ? INFINITY : apart;
            largest = fmax(largest, fabs(*x));
        }
        if (!a->is_real[i]) largest = 255;
        if (most > 0) distance.worst = fmax(distance.worst, most / largest);
        difference = fmax(difference, most);
        distance.largest = fmax(distance.largest, largest);
    }
    if (difference > 0) distance.whole = difference / distance.largest;
    return distance;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_cells(const struct subject *subject, const struct outputs *results)
{
    int first = subject->golden ? 1 : 0, count = subject->draws - first;
    double *noise = malloc((size_t)subject->draws * sizeof *noise), worst = 0;
    struct distance picture = {0};
    for (int run = 0; noise && run < subject->draws; run++) {
        struct distance distance = distance_of(&subject->expected[run], &results[run]);
        if (run < first)
            picture = distance;
        else
            noise[run - first] = distance.whole;
        if (run >= first) worst = fmax(worst, distance.worst);
    }
    if (!noise) return;
    qsort(noise, (size_t)count, sizeof *noise, rising);
    if (first)
        printf(" %.2g (%.2g) |", picture.whole, picture.worst);
    else
        printf(" |");
    printf(" %.2g .. %.2g (%.2g) |", noise[count / 2], noise[count - 1], worst);
    free(noise);
}

static bool measure(struct subject *subject, const char *device)
{
    const char *name = strrchr(subject->path, '/');
    name = name ? name + 1 : subject->path;
    subject->expected = calloc((size_t)subject->draws, sizeof *subject->expected);
    if (!subject->expected || !run_all(subject, NULL, kHaliteGpuPrecisionDefault, subject->expected)) return false;
    printf("| %.*s |", (int)(strrchr(name, '.') - name), name);
    bool ok = true;
    for (int p = 0; p < PRECISIONS && ok; p++) {
        struct outputs *results = calloc((size_t)subject->draws, sizeof *results);
        ok = results && run_all(subject, device, precisions[p], results);
        if (ok) print_cells(subject, results);
        if (results) drop(results, subject->draws);
    }
    printf("\n");
    fflush(stdout);
    return ok;
}

static int measure_file(const char *path, const char *device, int draws)
{
    struct hl_text message = {0};
    struct subject subject = {.path = path, .draws = draws};
    int status = 1;
    if (golden_is_manifest(path)) {
        subject.golden = golden_read_manifest(path, &message);
        if (!subject.golden || subject.golden->step_count < 1) {
            failure(path, hl_text_string(&message));
            goto done;
        }
        subject.data = read_file(subject.golden->data_path);
        subject.draws++;
    }
    subject.model = TfLiteModelCreateFromFile(subject.golden ? subject.golden->model_path : path);
    if (!subject.model || (subject.golden && !subject.data))
        failure(path, "cannot be read");
    else if (!measure(&subject, device))
        failure(path, "does not run, or has other outputs than floats and bytes");
    else
        status = 0;
done:
    if (subject.expected) drop(subject.expected, subject.draws);
    TfLiteModelDelete(subject.model);
    free(subject.data);
    golden_free_case(subject.golden);
    hl_text_free(&message);
    return status;
}

int main(int argc, char **argv)
{
    int draws = argc > 3 ? atoi(argv[2]) : 0, failed = 0;
    if (draws < 1 || draws > 1000) {
        fprintf(stderr, "usage: gpu_accuracy DEVICE DRAWS FILE...\n");
        return 2;
    }
    printf("|  |");
    for (int p = 0; p < PRECISIONS; p++) printf(" %s, picture | %s, noise |", names[p], names[p]);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (int i = 3; i < argc; i++) failed += measure_file(argv[i], argv[1], draws);
    return failed > 0;
}
