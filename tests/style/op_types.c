// SPDX-License-Identifier: Apache-2.0
// op_types: the types that each operator takes, found by trying: every model of support/op_models.h is loaded,
// allocated and invoked on the CPU, and offered to the GPU delegate (on the null device, which takes what the delegate
// can plan). A line for each operator: its name, the CPU's types, the GPU's, separated by tabs.
// op_types MODEL... checks that the types of every operator in these models, golden cases, are among those found where
// the case runs.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halite/halite.h"
#include "model/model.h"
#include "model/options.h"
#include "support/op_models.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

static void ignore(void *user_data, const char *format, va_list args)
{
    (void)user_data, (void)format, (void)args;
}

// ---- trying -------------------------------------------------------------------------------------

static TfLiteInterpreter *interpret(const TfLiteModel *model)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, ignore, NULL);
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    TfLiteInterpreter *interpreter = model ? TfLiteInterpreterCreate(model, options) : NULL;
    TfLiteInterpreterOptionsDelete(options);
    return interpreter;
}

// Ones for int32, so that indices and sizes are good; the rest zeros.
static void fill(TfLiteInterpreter *interpreter)
{
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
        TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, i);
        size_t bytes = TfLiteTensorByteSize(input);
        if (!TfLiteTensorData(input)) continue;
        memset(TfLiteTensorData(input), 0, bytes);
        for (size_t at = 0; TfLiteTensorType(input) == kTfLiteInt32 && at < bytes; at += sizeof(int32_t))
            memcpy((char *)TfLiteTensorData(input) + at, &(int32_t){1}, sizeof(int32_t));
    }
}

static bool runs(const TfLiteModel *model)
{
    TfLiteInterpreter *interpreter = interpret(model);
    bool ok = interpreter && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    if (ok) fill(interpreter);
    ok = ok && TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
    TfLiteInterpreterDelete(interpreter);
    return ok;
}

static bool goes_to_the_gpu(const TfLiteModel *model)
{
    const char *const keys[] = {"take_small_partitions", "device"}, *const values[] = {"true", "null"};
    TfLiteDelegate *delegate = tflite_plugin_create_delegate(keys, values, 2, NULL);
    TfLiteInterpreter *interpreter = interpret(model);
    int taken = 0;
    if (interpreter && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk &&
        TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate) == kTfLiteOk)
        for (int i = 0; i < HaliteInterpreterGetNodeCount(interpreter); i++) {
            HaliteNodeReport report;
            if (HaliteInterpreterGetNodeReport(interpreter, i, &report) == kTfLiteOk) taken += report.replaced_nodes;
        }
    TfLiteInterpreterDelete(interpreter);
    tflite_plugin_destroy_delegate(delegate);
    return taken > 0;
}

// ---- what was found -----------------------------------------------------------------------------

enum { MOST_TYPES = 32, ALONE = MOST_TYPES - 1 }; // ALONE: the second type of forms without one
enum { CPU, GPU, PLACES };

// names[0 .. name_count): the short names, in the order of the rows.
static const char *names[MOST_TYPES];
static int name_count;

struct found {
    bool typeless;   // the operator has no tensors of its own types
    bool of_weights; // the second type, else of outputs
    bool first[PLACES][MOST_TYPES];
    bool pair[PLACES][MOST_TYPES][MOST_TYPES]; // [first][second]
};

static int name_of(int type)
{
    if (type < 0) return ALONE;
    for (int i = 0; i < name_count; i++)
        if (strcmp(names[i], op_models_type(type)) == 0) return i;
    names[name_count] = op_models_type(type);
    return name_count++;
}

static void try_choice(const struct op_choice *choice, struct found *found)
{
    struct op_model m = op_model_make(choice);
    TfLiteModel *model = TfLiteModelCreateWithErrorReporter(m.file.bytes, m.file.size, ignore, NULL);
    int first = name_of(choice->type), second = name_of(choice->second);
    found->typeless = !op_models_tries_types(choice->form);
    found->of_weights |= op_models_place(choice->form, 'W', 0) >= 0;
    for (int place = 0; place < PLACES && model; place++) {
        if (found->pair[place][first][second] || !(place == CPU ? runs(model) : goes_to_the_gpu(model))) continue;
        found->first[place][first] = found->pair[place][first][second] = true;
    }
    TfLiteModelDelete(model);
    free(m.file.bytes);
}

// ---- as text ------------------------------------------------------------------------------------

// The names in a set; "all", "all but …" where few are missing.
static void print_set(const bool *set)
{
    int count = 0;
    for (int i = 0; i < name_count; i++) count += set[i];
    bool most = count > 3 * name_count / 4;
    if (most) printf(count < name_count ? "all but" : "all");
    for (int i = 0, printed = 0; i < name_count; i++)
        if (set[i] != most) printf("%s%s", most || printed++ ? " " : "", names[i]);
}

static void print_types(bool *printed, const bool *firsts, const char *sign, const bool *seconds)
{
    printf("%s", *printed ? "; " : "");
    *printed = true;
    print_set(firsts);
    printf("%s", sign);
    if (seconds) print_set(seconds);
}

// First the types that go with themselves or with none, then those with others; such with the same ones stand together.
static void print_place(const struct found *found, int place)
{
    const bool(*pair)[MOST_TYPES] = found->pair[place];
    bool alone[MOST_TYPES] = {false}, done[MOST_TYPES] = {false}, any = false, printed = false;
    for (int i = 0; i < name_count; i++) {
        int seconds = 0;
        for (int k = 0; k < name_count; k++) seconds += pair[i][k];
        done[i] = seconds == 0 || (seconds == 1 && pair[i][i]);
        alone[i] = done[i] && found->first[place][i];
        any |= alone[i];
    }
    if (found->typeless)
        printf(found->first[place][0] ? "yes" : "-");
    else if (any)
        print_types(&printed, alone, "", NULL);
    for (int i = 0; i < name_count; i++) {
        bool same[MOST_TYPES] = {false};
        if (done[i]) continue;
        for (int k = i; k < name_count; k++) {
            same[k] = !done[k] && memcmp(pair[i], pair[k], sizeof pair[i]) == 0;
            done[k] |= same[k];
        }
        print_types(&printed, same, found->of_weights ? " x " : " -> ", pair[i]);
    }
    if (!printed && !found->typeless) printf("-");
}

// ---- models that run ----------------------------------------------------------------------------

// The name of a tensor's type, ALONE where the form has no such tensor, -1 where it is absent or of a type without a
// name.
static int type_in(const struct hl_model_subgraph *graph, const struct hl_model_node *node, int place)
{
    if (place < 0) return ALONE;
    if (place >= node->input_count + node->output_count) return -1;
    int tensor = place < node->input_count ? node->inputs[place] : node->outputs[place - node->input_count];
    for (int i = 0; i < name_count && tensor >= 0; i++)
        for (int type = 0; type < op_models_types(); type++)
            if (name_of(type) == i &&
                hl_options_tensor_type(op_models_type_code(type)) == (int)graph->tensors[tensor].type)
                return i;
    return -1;
}

// By any of the operator's forms.
static bool is_found(const struct found *found, int op, const struct hl_model_subgraph *graph,
                     const struct hl_model_node *node)
{
    struct op_choice choice = {.op = -1};
    while (op_models_next(&choice, false)) {
        if (choice.op != op) continue;
        int letters = op_models_place(choice.form, 'W', node->input_count);
        if (letters < 0) letters = op_models_place(choice.form, 'Y', node->input_count);
        int first = type_in(graph, node, op_models_place(choice.form, 'T', node->input_count));
        int second = type_in(graph, node, letters);
        if (first == ALONE || (first >= 0 && (second < 0 ? found->first[CPU][first] : found->pair[CPU][first][second])))
            return true;
    }
    return false;
}

// The original refuses the case, as the manifest beside the model says.
static bool is_refused(const char *path)
{
    char name[4096], line[4096];
    bool refused = false;
    snprintf(name, sizeof name, "%.*s.txt", (int)(strlen(path) - strlen(".tflite")), path);
    FILE *manifest = fopen(name, "r");
    while (manifest && fgets(line, sizeof line, manifest)) refused |= strncmp(line, "fails ", 6) == 0;
    if (manifest) fclose(manifest);
    return refused;
}

static int check_model(const struct found *found, const char *path)
{
    const struct hl_reporter reporter = {ignore, NULL};
    TfLiteModel *model = hl_model_create_from_file(path, &reporter);
    int missing = 0;
    if (!model) return 1;
    for (int i = 0; i < model->subgraphs[0].node_count; i++) {
        const struct hl_model_node *node = &model->subgraphs[0].nodes[i];
        const char *name = hl_model_code_name(&model->codes[node->code]);
        for (int op = 0, code; op < op_models_ops(); op++) {
            if (strcmp(op_models_op(op, &code), name) != 0 || is_found(&found[op], op, &model->subgraphs[0], node))
                continue;
            fprintf(stderr, "op_types: %s: %s runs with other types than were found\n", path, name);
            missing++;
        }
    }
    hl_model_release(model);
    return missing;
}

static void print_found(const struct found *found)
{
    for (int op = 0, code; op < op_models_ops(); op++) {
        printf("%s\t", op_models_op(op, &code));
        print_place(&found[op], CPU);
        printf("\t");
        print_place(&found[op], GPU);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    struct found *found = calloc((size_t)op_models_ops(), sizeof *found);
    struct op_choice choice = {.op = -1};
    int missing = 0;
    if (!found) return 1;
    for (int type = 0; type < op_models_types(); type++) name_of(type);
    while (op_models_next(&choice, true)) try_choice(&choice, &found[choice.op]);
    for (int i = 1; i < argc; i++) missing += is_refused(argv[i]) ? 0 : check_model(found, argv[i]);
    if (argc == 1) print_found(found);
    free(found);
    return missing > 0;
}
