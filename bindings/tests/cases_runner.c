// SPDX-License-Identifier: Apache-2.0
// Runs the cases of cases.json through the C API: cases_runner CASES REPOSITORY SHARED [NAME]. It prints each case that
// fails, and then how many passed, failed and were skipped. README.md says what a runner does with each field.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

enum step { CREATE, RESIZE, ALLOCATE, INPUT, RUN, OUTPUT, DONE };
static const char *const step_names[] = {"create", "resize", "allocate", "input", "run", "output", "done"};

enum { MAX_PATH = 4096, MAX_MESSAGES = 8192, MAX_RANK = 16 };

// A case as it runs: objects of the C API, and what the library has said.
struct run {
    const cJSON *description;
    TfLiteModel *model;
    TfLiteInterpreterOptions *options;
    TfLiteInterpreter *interpreter;
    TfLiteSignatureRunner *signature; // NULL: by index
    char messages[MAX_MESSAGES];
    char difference[200]; // why a result is not the expected one; "": it is
};

static const char *repository, *shared;

// ---- files --------------------------------------------------------------------------------------

static void *must_have(void *memory)
{
    if (memory != NULL) return memory;
    fprintf(stderr, "cases_runner: no memory\n");
    exit(1);
}

static void find_path(char *path, const char *name)
{
    const char *colon = strchr(name, ':');
    const char *folder = strncmp(name, "shared:", 7) == 0 ? shared : repository;
    snprintf(path, MAX_PATH, "%s/%s", folder, colon == NULL ? name : colon + 1);
}

// The bytes that a port's description names, to be freed. NULL where the file is shorter.
static unsigned char *read_part(const cJSON *port, size_t *bytes)
{
    char path[MAX_PATH];
    find_path(path, cJSON_GetObjectItem(port, "file")->valuestring);
    *bytes = (size_t)cJSON_GetObjectItem(port, "bytes")->valuedouble;
    unsigned char *data = must_have(malloc(*bytes + 1));
    FILE *file = fopen(path, "rb");
    bool read = file != NULL && fseek(file, (long)cJSON_GetObjectItem(port, "offset")->valuedouble, SEEK_SET) == 0 &&
                fread(data, 1, *bytes, file) == *bytes;
    if (file != NULL) fclose(file);
    if (read) return data;
    free(data);
    return NULL;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "cases_runner: cannot read %s\n", path);
        exit(1);
    }
    long size = ftell(file);
    rewind(file);
    char *text = must_have(calloc((size_t)size + 1, 1));
    size_t got = fread(text, 1, (size_t)size, file);
    fclose(file);
    if (got == (size_t)size) return text;
    free(text);
    return NULL;
}

// ---- the steps ----------------------------------------------------------------------------------

static void keep_message(void *data, const char *format, va_list arguments)
{
    struct run *run = data;
    size_t length = strlen(run->messages);
    vsnprintf(run->messages + length, sizeof run->messages - length, format, arguments);
}

static bool create(struct run *run)
{
    char path[MAX_PATH];
    const cJSON *threads = cJSON_GetObjectItem(run->description, "threads");
    const cJSON *signature = cJSON_GetObjectItem(run->description, "signature");
    find_path(path, cJSON_GetObjectItem(run->description, "model")->valuestring);
    run->model = TfLiteModelCreateFromFileWithErrorReporter(path, keep_message, run);
    if (run->model == NULL) return false;
    run->options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(run->options, keep_message, run);
    if (threads != NULL) TfLiteInterpreterOptionsSetNumThreads(run->options, threads->valueint);
    run->interpreter = TfLiteInterpreterCreate(run->model, run->options);
    if (run->interpreter == NULL || signature == NULL) return run->interpreter != NULL;
    run->signature = TfLiteInterpreterGetSignatureRunner(run->interpreter, signature->valuestring);
    return run->signature != NULL;
}

static const char *name_of(const struct run *run, const char *side, int index)
{
    const cJSON *port = cJSON_GetArrayItem(cJSON_GetObjectItem(run->description, side), index);
    return cJSON_GetObjectItem(port, "name")->valuestring;
}

static bool resize(struct run *run)
{
    const cJSON *shapes = cJSON_GetObjectItem(run->description, "resize");
    for (int i = 0; i < cJSON_GetArraySize(shapes); i++) {
        const cJSON *shape = cJSON_GetArrayItem(shapes, i);
        int dims[MAX_RANK], rank = cJSON_GetArraySize(shape);
        if (cJSON_IsNull(shape)) continue;
        for (int k = 0; k < rank; k++) dims[k] = cJSON_GetArrayItem(shape, k)->valueint;
        TfLiteStatus status =
            run->signature == NULL
                ? TfLiteInterpreterResizeInputTensor(run->interpreter, i, dims, rank)
                : TfLiteSignatureRunnerResizeInputTensor(run->signature, name_of(run, "inputs", i), dims, rank);
        if (status != kTfLiteOk) return false;
    }
    return true;
}

static bool allocate(struct run *run)
{
    return (run->signature == NULL ? TfLiteInterpreterAllocateTensors(run->interpreter)
                                   : TfLiteSignatureRunnerAllocateTensors(run->signature)) == kTfLiteOk;
}

// Strings have no size before they are there: the tensor takes memory for them.
static bool fill(TfLiteTensor *tensor, const void *data, size_t bytes)
{
    if (TfLiteTensorType(tensor) != kTfLiteString) return TfLiteTensorCopyFromBuffer(tensor, data, bytes) == kTfLiteOk;
    if (TfLiteTensorRealloc(bytes, tensor) != kTfLiteOk) return false;
    memcpy(TfLiteTensorData(tensor), data, bytes);
    return true;
}

static bool set_inputs(struct run *run)
{
    const cJSON *inputs = cJSON_GetObjectItem(run->description, "inputs");
    for (int i = 0; i < cJSON_GetArraySize(inputs); i++) {
        size_t bytes;
        TfLiteTensor *tensor = run->signature == NULL
                                   ? TfLiteInterpreterGetInputTensor(run->interpreter, i)
                                   : TfLiteSignatureRunnerGetInputTensor(run->signature, name_of(run, "inputs", i));
        unsigned char *data = read_part(cJSON_GetArrayItem(inputs, i), &bytes);
        bool done = tensor != NULL && data != NULL && fill(tensor, data, bytes);
        free(data);
        if (!done) return false;
    }
    return true;
}

static bool invoke(struct run *run)
{
    return (run->signature == NULL ? TfLiteInterpreterInvoke(run->interpreter)
                                   : TfLiteSignatureRunnerInvoke(run->signature)) == kTfLiteOk;
}

// ---- results ------------------------------------------------------------------------------------

static double half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? NAN : INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return half >> 15 ? -value : value;
}

// The element at an index, exact for all types but int64, whose bytes are compared.
static double element(TfLiteType type, const unsigned char *data, size_t index)
{
    float real;
    int32_t word;
    int16_t half;
    switch (type) {
    case kTfLiteFloat32: memcpy(&real, data + 4 * index, 4); return real;
    case kTfLiteInt32: memcpy(&word, data + 4 * index, 4); return word;
    case kTfLiteFloat16:
    case kTfLiteInt16:
        memcpy(&half, data + 2 * index, 2);
        return type == kTfLiteInt16 ? half : half_to_double((uint16_t)half);
    case kTfLiteInt8: return (int8_t)data[index];
    default: return data[index];
    }
}

static bool near(const cJSON *port, TfLiteType type, double got, double want)
{
    if (got == want || (isnan(got) && isnan(want))) return true;
    if (type != kTfLiteFloat32 && type != kTfLiteFloat16)
        return fabs(got - want) <= cJSON_GetObjectItem(port, "steps")->valuedouble;
    return fabs(got - want) <= cJSON_GetObjectItem(port, "absolute")->valuedouble +
                                   cJSON_GetObjectItem(port, "relative")->valuedouble * fmax(1, fabs(want));
}

static bool differs(struct run *run, const char *why, const char *name)
{
    snprintf(run->difference, sizeof run->difference, "output %s: %s", name, why);
    return true; // the step itself worked
}

static bool compare(struct run *run, const cJSON *port, const TfLiteTensor *tensor)
{
    const char *name = cJSON_GetObjectItem(port, "name")->valuestring;
    const cJSON *shape = cJSON_GetObjectItem(port, "shape");
    size_t bytes;
    TfLiteType type = TfLiteTensorType(tensor);
    if (strcasecmp(TfLiteTypeGetName(type), cJSON_GetObjectItem(port, "type")->valuestring) != 0)
        return differs(run, TfLiteTypeGetName(type), name);
    unsigned char *want = read_part(port, &bytes), *got = must_have(malloc(bytes + 1));
    if (want == NULL) {
        free(got);
        return differs(run, "its expected values cannot be read", name);
    }
    bool copied = TfLiteTensorCopyToBuffer(tensor, got, bytes) == kTfLiteOk;
    if (copied && TfLiteTensorNumDims(tensor) != cJSON_GetArraySize(shape)) differs(run, "another rank", name);
    for (int i = 0; copied && i < TfLiteTensorNumDims(tensor) && i < cJSON_GetArraySize(shape); i++)
        if (TfLiteTensorDim(tensor, i) != cJSON_GetArrayItem(shape, i)->valueint) differs(run, "another shape", name);
    if (copied && memcmp(want, got, bytes) != 0) {
        size_t size = type == kTfLiteFloat32 || type == kTfLiteInt32   ? 4
                      : type == kTfLiteFloat16 || type == kTfLiteInt16 ? 2
                                                                       : 1;
        if (type == kTfLiteInt64 || type == kTfLiteString) differs(run, "another value", name);
        for (size_t i = 0; i < bytes / size && run->difference[0] == '\0'; i++) {
            double a = element(type, got, i), b = element(type, want, i);
            char why[100];
            snprintf(why, sizeof why, "%.9g at %zu and not %.9g", a, i, b);
            if (!near(port, type, a, b)) differs(run, why, name);
        }
    }
    free(want);
    free(got);
    return copied;
}

static bool read_outputs(struct run *run)
{
    const cJSON *outputs = cJSON_GetObjectItem(run->description, "outputs");
    for (int i = 0; i < cJSON_GetArraySize(outputs); i++) {
        const TfLiteTensor *tensor =
            run->signature == NULL ? TfLiteInterpreterGetOutputTensor(run->interpreter, i)
                                   : TfLiteSignatureRunnerGetOutputTensor(run->signature, name_of(run, "outputs", i));
        if (tensor == NULL || TfLiteTensorData(tensor) == NULL) {
            size_t bytes = tensor == NULL ? 1 : TfLiteTensorByteSize(tensor);
            if (bytes > 0) return false;
        }
        if (!compare(run, cJSON_GetArrayItem(outputs, i), tensor)) return false;
    }
    return true;
}

// ---- cases --------------------------------------------------------------------------------------

static bool holds(const cJSON *list, const char *name)
{
    for (const cJSON *item = list ? list->child : NULL; item != NULL; item = item->next)
        if (strcmp(item->valuestring, name) == 0) return true;
    return false;
}

static bool needs_shared(const cJSON *description)
{
    return strncmp(cJSON_GetObjectItem(description, "model")->valuestring, "shared:", 7) == 0;
}

// Runs a case up to the step that fails, or to DONE.
static enum step play(struct run *run)
{
    static bool (*const steps[])(struct run * run) = {create, resize, allocate, set_inputs, invoke, read_outputs};
    const cJSON *skip = cJSON_GetObjectItem(run->description, "skip");
    for (enum step step = CREATE; step < DONE; step++)
        if (!holds(skip, step_names[step]) && !steps[step](run)) return step;
    return DONE;
}

static bool check(struct run *run, enum step end)
{
    const char *name = cJSON_GetObjectItem(run->description, "name")->valuestring;
    const cJSON *expect = cJSON_GetObjectItem(run->description, "expect");
    const char *at = expect != NULL ? cJSON_GetObjectItem(expect, "at")->valuestring : "done";
    const cJSON *text = cJSON_GetObjectItem(cJSON_GetObjectItem(expect, "c"), "text");
    if (strcmp(at, step_names[end]) != 0) {
        printf("%s: ended at %s, expected %s: %s\n", name, step_names[end], at, run->messages);
        return false;
    }
    if (expect == NULL && run->difference[0] != '\0') {
        printf("%s: %s\n", name, run->difference);
        return false;
    }
    if (text == NULL || strstr(run->messages, text->valuestring) != NULL) return true;
    printf("%s: said \"%s\", expected \"%s\"\n", name, run->messages, text->valuestring);
    return false;
}

static bool run_case(const cJSON *description)
{
    struct run run = {.description = description};
    enum step end = play(&run);
    bool passed = check(&run, end);
    if (run.signature != NULL) TfLiteSignatureRunnerDelete(run.signature);
    TfLiteInterpreterDelete(run.interpreter);
    TfLiteInterpreterOptionsDelete(run.options);
    TfLiteModelDelete(run.model);
    return passed;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: cases_runner CASES REPOSITORY SHARED [NAME]\n");
        return 2;
    }
    char *text = read_text(argv[1]), golden[MAX_PATH];
    repository = argv[2];
    shared = argv[3];
    cJSON *file = text == NULL ? NULL : cJSON_Parse(text);
    const cJSON *cases = cJSON_GetObjectItem(file, "cases");
    int passed = 0, failed = 0, skipped = 0;
    find_path(golden, "shared:golden/README.md");
    FILE *there = fopen(golden, "rb");
    if (there != NULL) fclose(there);
    for (const cJSON *item = cases ? cases->child : NULL; item != NULL; item = item->next) {
        if (argc > 4 && strcmp(argv[4], cJSON_GetObjectItem(item, "name")->valuestring) != 0) continue;
        if (holds(cJSON_GetObjectItem(item, "optional"), "c") || (there == NULL && needs_shared(item)))
            skipped++;
        else if (run_case(item))
            passed++;
        else
            failed++;
    }
    cJSON_Delete(file);
    free(text);
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0 || passed == 0;
}
