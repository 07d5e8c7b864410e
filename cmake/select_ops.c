// SPDX-License-Identifier: Apache-2.0
// For selective builds: select_ops OPERATORS.DEF OUTPUT [OPERATOR | type:NAME | MODEL.tflite | FOLDER]... writes into
// the folder OUTPUT
//     abi/operators.def      those rows of OPERATORS.DEF that have an operator named or one that a model, or a model
//                            below FOLDER, uses; all rows where there are neither operators nor models
//     types/abi/selection.h  the types named and those of the models' tensors; all types where operators are named or
//                            nothing is, but no type; and the operators left out
// Names are those of OPERATORS.DEF and types.def. A name or a model that needs what OPERATORS.DEF has no kernel for is
// an error.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "model/model.h"

static struct hl_text wanted;  // names, each between newlines
static struct hl_text without; // built-in operators that are left out, as lines of C
static int found_models;       // below the folder that is searched
static bool named_operators, named_types, has_models;
// Shapes, indices, conditions and what operators keep: hardly a kernel is for these alone.
static uint32_t types = 1u << kTfLiteNoType | 1u << kTfLiteInt32 | 1u << kTfLiteInt64 | 1u << kTfLiteBool |
                        1u << kTfLiteString | 1u << kTfLiteResource | 1u << kTfLiteVariant;

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "select_ops: %s: %s\n", what, why);
    exit(1);
}

// Where a line with this name is, NULL: nowhere.
static char *find(const char *name)
{
    struct hl_text line = {0};
    hl_text_add(&line, "\n%s\n", name);
    char *found = strstr(hl_text_string(&wanted), line.data);
    hl_text_free(&line);
    return found;
}

static void want(const char *name)
{
    if (!find(name)) hl_text_add(&wanted, "%s\n", name);
}

static void want_type(const char *name)
{
    int type = kTfLiteFloat8E5M2;
    while (type > kTfLiteNoType && strcmp(hl_type_name((TfLiteType)type), name) != 0) type--;
    if (type == kTfLiteNoType) fail(name, "there is no such type; src/abi/types.def lists those that there are");
    types |= 1u << type;
    named_types = true;
}

static void want_model(void *user_data, const char *path)
{
    const struct hl_reporter to_stderr = {NULL, NULL};
    (void)user_data;
    found_models++;
    has_models = true;
    TfLiteModel *model = hl_model_create_from_file(path, &to_stderr);
    if (!model) fail(path, "this model cannot be loaded");
    for (int s = 0; s < model->subgraph_count; s++) {
        const struct hl_model_subgraph *subgraph = &model->subgraphs[s];
        for (int n = 0; n < subgraph->node_count; n++) want(hl_model_code_name(&model->codes[subgraph->nodes[n].code]));
        for (int t = 0; t < subgraph->tensor_count; t++) types |= 1u << subgraph->tensors[t].type;
    }
    hl_model_release(model);
}

// Copies the line where its operator is wanted, which is then no longer.
static void take_row(const char *line, FILE *output)
{
    char name[128];
    const bool is_builtin = sscanf(line, "OP( %127[A-Z0-9_a-z]", name) == 1;
    if (!is_builtin && sscanf(line, "CUSTOM( \"%127[^\"]", name) != 1) return;
    char *found = find(name);
    const bool all = !named_operators && !has_models;
    if (!found && !all) {
        if (is_builtin) hl_text_add(&without, "#define HL_WITHOUT_%s 1\n", name);
        return;
    }
    fputs(line, output);
    if (found) found[1] = ' '; // no name begins so
}

static FILE *open_output(const char *folder, const char *name, struct hl_text *path)
{
    hl_text_add(path, "%s/%s", folder, name);
    FILE *output = fopen(path->data, "w");
    if (!output) fail(path->data, "cannot be opened");
    return output;
}

static void close_output(FILE *output, struct hl_text *path)
{
    if (fclose(output) != 0) fail(path->data, "cannot be written");
    hl_text_free(path);
}

static void write_rows(const char *from, const char *folder)
{
    char line[1024];
    struct hl_text path = {0};
    FILE *input = fopen(from, "r"), *output = open_output(folder, "abi/operators.def", &path);
    if (!input) fail(from, "cannot be opened");
    fprintf(output, "// SPDX-License-Identifier: Apache-2.0\n// Made by select_ops from %s.\n", from);
    while (fgets(line, sizeof line, input)) take_row(line, output);
    fclose(input);
    close_output(output, &path);
}

static void write_types(const char *folder)
{
    struct hl_text path = {0};
    FILE *output = open_output(folder, "types/abi/selection.h", &path);
    const bool all = !named_types && (named_operators || !has_models);
    fprintf(output, "// SPDX-License-Identifier: Apache-2.0\n// Made by select_ops:");
    for (int type = 1; type <= kTfLiteFloat8E5M2; type++)
        if (all || types >> type & 1) fprintf(output, " %s", hl_type_name((TfLiteType)type));
    fprintf(output, "\n#define HL_SELECTED_TYPES 0x%xu\n%s", all ? UINT32_MAX : (unsigned)types,
            hl_text_string(&without));
    close_output(output, &path);
}

int main(int argc, char **argv)
{
    static const char type_mark[] = "type:";
    struct hl_text failed = {0};
    if (argc < 3)
        return fail("usage", "select_ops OPERATORS.DEF OUTPUT [OPERATOR | type:NAME | MODEL.tflite | FOLDER]...");
    hl_text_add(&wanted, "\n");
    for (int i = 3; i < argc; i++) {
        if (strncmp(argv[i], type_mark, sizeof type_mark - 1) == 0) {
            want_type(argv[i] + sizeof type_mark - 1);
        } else if (hl_path_is_folder(argv[i])) {
            found_models = 0;
            if (!hl_files_each(argv[i], ".tflite", want_model, NULL, &failed)) fail(failed.data, "cannot be read");
            if (!found_models) fail(argv[i], "no .tflite file below this folder");
        } else if (hl_files_ends_with(argv[i], ".tflite")) {
            want_model(NULL, argv[i]);
        } else {
            want(argv[i]);
            named_operators = true;
        }
    }
    write_rows(argv[1], argv[2]);
    write_types(argv[2]);
    for (char *name = strtok(wanted.data, "\n"); name; name = strtok(NULL, "\n"))
        if (name[0] != ' ') fail(name, "there is no kernel for this operator; docs/ops.md lists those that there are");
    hl_text_free(&wanted);
    hl_text_free(&without);
    return 0;
}
