// SPDX-License-Identifier: Apache-2.0
// delegate_table MODELS: the table of docs/delegates.md, which delegate takes what of which type of model. In:
// MobileNet v1 in five types, in the folder MODELS; each delegate's library, with a fake in place of its system, or
// for the GPU with a software device. Each model runs on the CPU and through each delegate. Out: a row for each type,
// a cell for each delegate: how many nodes it took, the bound within which the results lie, and why it left the first
// that it did not take. Ends with 1 where a result is beyond its bound, with 77 where a model or a system is not here.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "halite/halite.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"

enum { MISSING = 77, PAIRS = 2 };

// The types of the documents, by one model that there is in all of them.
static const struct row {
    const char *name, *file;
} rows[] = {
    {"float (32-bit)", "mobilenet_v1_1.0_224_float.tflite"},
    {"float16 quantization after training", "mobilenet_v1_1.0_224_fp16.tflite"},
    {"dynamic range quantization after training", "mobilenet_v1_1.0_224_dynamic_range.tflite"},
    {"integer quantization after training", "mobilenet_v1_1.0_224_int8.tflite"},
    {"quantization-aware training", "mobilenet_v1_1.0_224_quant.tflite"},
};
enum { ROWS = sizeof rows / sizeof *rows };

// A delegate. Each row has a bound: for floats in parts of 1, for integers in steps.
static const struct column {
    const char *name, *library;
    const char *keys[PAIRS], *values[PAIRS];
    const char *devices[4];       // of the option "device": the first that is here; "": it has no such option
    const char *variable, *value; // of the environment; NULL: none
    double bounds[ROWS];
} columns[] = {
    // Dynamic range: the CPU rounds activations to 8 bits, the delegates compute with floats. 8 bits on the GPU: it has
    // floats where the CPU rounds after each layer, which shows most on pictures that are like none, as this one.
    // OpenCL, Vulkan and OpenGL ES on a CPU are 4 and 3 steps off here, all three alike, and 1 and 0 on a photograph.
    // One step more is for a device that adds in another order, which can move the rounding of the result.
    {"GPU", GPU_DELEGATE, {"precision"}, {"f32"}, {"opencl", "vulkan", "gles"}, NULL, NULL, {1e-4, 1e-4, 5e-2, 5, 4}},
    {"NNAPI", NNAPI_DELEGATE, {"library_path"}, {FAKE_NNAPI}, {"google-edgetpu"}, NULL, NULL, {1e-5, 1e-5, 5e-2, 1, 1}},
    // A step of rounding grows on its way through the layers: the official runtime's own engines are as far apart.
    {"Hexagon", HEXAGON_DELEGATE, {"library_path"}, {FAKE_HEXAGON}, {""}, NULL, NULL, {0, 0, 0, 8, 5}},
    {"Core ML",
     COREML_DELEGATE,
     {"coreml_version"},
     {"3"},
     {"all"},
     "HALITE_COREML_RUNNER",
     FAKE_COREML,
     {1e-5, 1e-5, 5e-2, 0, 0}},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

// ---- a delegate's library -----------------------------------------------------------------------

// X(result, name, arguments)
#define FUNCTIONS(X)                                                                                      \
    X(TfLiteDelegate *, tflite_plugin_create_delegate,                                                    \
      (const char *const *, const char *const *, size_t, void (*)(const char *)))                         \
    X(void, tflite_plugin_destroy_delegate, (TfLiteDelegate *))                                           \
    X(HaliteDelegateReport *, HaliteDelegateReportCreate, (const TfLiteDelegate *))                       \
    X(void, HaliteDelegateReportDelete, (HaliteDelegateReport *))                                         \
    X(const HaliteDevice *, HaliteDelegateReportGetDevice, (const HaliteDelegateReport *))                \
    X(const HaliteDelegateGraph *, HaliteDelegateReportGetGraph, (const HaliteDelegateReport *, int32_t)) \
    X(const HaliteDelegateNode *, HaliteDelegateReportGetNode, (const HaliteDelegateReport *, int32_t))

struct functions {
#define X(result, name, arguments) result(*name) arguments;
    FUNCTIONS(X)
#undef X
};

static bool open_library(const struct column *column, struct functions *functions)
{
    struct hl_library *library = hl_library_open(column->library);
    bool found = library;
#define X(result, name, arguments) \
    found = found && hl_library_find(library, #name, &functions->name, sizeof functions->name);
    FUNCTIONS(X)
#undef X
    if (!found) fprintf(stderr, "%s: %s\n", column->library, hl_library_error());
    return found;
}

static void say(const char *text)
{
    fprintf(stderr, "%s\n", text);
}

static TfLiteDelegate *create(const struct column *column, const struct functions *functions, const char *device)
{
    const char *keys[PAIRS + 1] = {"device"}, *values[PAIRS + 1] = {device};
    size_t count = *device ? 1 : 0;
    for (int i = 0; i < PAIRS && column->keys[i]; i++) {
        keys[count] = column->keys[i];
        values[count++] = column->values[i];
    }
    return functions->tflite_plugin_create_delegate(keys, values, count, say);
}

// ---- a run --------------------------------------------------------------------------------------

static TfLiteInterpreter *open_interpreter(const TfLiteModel *model)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, 2);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) exit(EXIT_FAILURE);
    return interpreter;
}

// A picture of three gradients.
static unsigned char pixel(size_t i, int side)
{
    int channel = (int)(i % 3), x = (int)(i / 3) % side, y = (int)(i / 3) / side;
    return (unsigned char)((channel == 0 ? x : channel == 1 ? y : side - (x + y) / 2) * 255 / side);
}

static bool run(TfLiteInterpreter *interpreter)
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    bool floats = TfLiteTensorType(input) == kTfLiteFloat32;
    size_t count = TfLiteTensorByteSize(input) / (floats ? sizeof(float) : 1);
    for (size_t i = 0; i < count; i++) {
        unsigned char value = pixel(i, TfLiteTensorDim(input, 1));
        if (floats)
            ((float *)TfLiteTensorData(input))[i] = (float)value / 127.5f - 1;
        else
            ((unsigned char *)TfLiteTensorData(input))[i] = value;
    }
    return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
}

static double element(const TfLiteTensor *tensor, size_t i)
{
    const void *data = TfLiteTensorData(tensor);
    switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32: return (double)((const float *)data)[i];
    case kTfLiteInt8: return ((const int8_t *)data)[i];
    default: return ((const uint8_t *)data)[i];
    }
}

// The largest difference of the outputs.
static double difference(const TfLiteInterpreter *a, const TfLiteInterpreter *b)
{
    const TfLiteTensor *x = TfLiteInterpreterGetOutputTensor(a, 0), *y = TfLiteInterpreterGetOutputTensor(b, 0);
    size_t count = TfLiteTensorByteSize(x) / (TfLiteTensorType(x) == kTfLiteFloat32 ? sizeof(float) : 1);
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double apart = fabs(element(x, i) - element(y, i));
        if (!(apart <= largest)) largest = apart;
    }
    return largest;
}

// ---- a cell -------------------------------------------------------------------------------------

struct cell {
    char text[320];
    int status;
};

// Why the delegate leaves nodes: the first of them and its reason.
static void add_reason(const struct functions *functions, const HaliteDelegateReport *report, int count, char *text,
                       size_t size)
{
    for (int i = 0; i < count; i++) {
        const HaliteDelegateNode *node = functions->HaliteDelegateReportGetNode(report, i);
        if (node->on_gpu) continue;
        snprintf(text, size, "%s: %s", node->op, node->text);
        return;
    }
}

static void describe(const struct functions *functions, const HaliteDelegateReport *report, const char *bound,
                     struct cell *cell)
{
    const HaliteDelegateGraph *graph = functions->HaliteDelegateReportGetGraph(report, 0);
    int nodes = graph->node_count, taken = graph->gpu_node_count;
    char reason[200] = "";
    add_reason(functions, report, nodes, reason, sizeof reason);
    if (taken == 0)
        snprintf(cell->text, sizeof cell->text, "none; %s", reason);
    else if (taken == nodes)
        snprintf(cell->text, sizeof cell->text, "all %d nodes, within %s", nodes, bound);
    else
        snprintf(cell->text, sizeof cell->text, "%d of %d nodes in %d partition%s, within %s; %s", taken, nodes,
                 graph->partition_count, graph->partition_count == 1 ? "" : "s", bound, reason);
}

// Applies the delegate and compares. False: this device is not here.
static bool fill_with(const struct column *column, const struct functions *functions, const char *device, int row,
                      const TfLiteModel *model, const TfLiteInterpreter *cpu, struct cell *cell)
{
    TfLiteDelegate *delegate = create(column, functions, device);
    if (!delegate) return false;
    TfLiteInterpreter *interpreter = open_interpreter(model);
    bool applied = TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate) == kTfLiteOk;
    HaliteDelegateReport *report = functions->HaliteDelegateReportCreate(delegate);
    bool here = applied && report && functions->HaliteDelegateReportGetDevice(report);
    if (here) {
        bool floats = TfLiteTensorType(TfLiteInterpreterGetOutputTensor(cpu, 0)) == kTfLiteFloat32;
        double bound = column->bounds[row], apart = run(interpreter) ? difference(cpu, interpreter) : INFINITY;
        char text[48];
        snprintf(text, sizeof text, floats ? "%g" : "%g step%s", bound, bound > 1 ? "s" : "");
        describe(functions, report, text, cell);
        fprintf(stderr, "%s, %s, %s: apart by %g\n", rows[row].name, column->name, device, apart);
        cell->status = apart <= bound ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    TfLiteInterpreterDelete(interpreter);
    functions->HaliteDelegateReportDelete(report);
    functions->tflite_plugin_destroy_delegate(delegate);
    return here;
}

static void fill(const struct column *column, int row, const TfLiteModel *model, const TfLiteInterpreter *cpu,
                 struct cell *cell)
{
    struct functions functions;
    cell->status = EXIT_FAILURE;
    if (column->variable) setenv(column->variable, column->value, 1);
    if (!open_library(column, &functions)) return;
    for (int i = 0; column->devices[i]; i++)
        if (fill_with(column, &functions, column->devices[i], row, model, cpu, cell)) return;
    fprintf(stderr, "skipped: no device for %s is here\n", column->name);
    cell->status = MISSING;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: delegate_table MODELS\n");
        return EXIT_FAILURE;
    }
    printf("| type of the model |");
    for (int c = 0; c < COLUMNS; c++) printf(" %s |", columns[c].name);
    printf("\n|---|");
    for (int c = 0; c < COLUMNS; c++) printf("---|");
    printf("\n");
    for (int r = 0; r < ROWS; r++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", argv[1], rows[r].file);
        TfLiteModel *model = TfLiteModelCreateFromFile(path);
        if (!model) {
            fprintf(stderr, "skipped: no %s\n", path);
            return MISSING;
        }
        TfLiteInterpreter *cpu = open_interpreter(model);
        if (!run(cpu)) return EXIT_FAILURE;
        printf("| %s |", rows[r].name);
        for (int c = 0; c < COLUMNS; c++) {
            struct cell cell = {.text = ""};
            fill(&columns[c], r, model, cpu, &cell);
            if (cell.status != EXIT_SUCCESS) return cell.status;
            printf(" %s |", cell.text);
        }
        printf("\n");
        TfLiteInterpreterDelete(cpu);
        TfLiteModelDelete(model);
    }
    return EXIT_SUCCESS;
}
