// SPDX-License-Identifier: Apache-2.0
// For selective builds: select_ops OPS.DEF OUTPUT [OPERATOR | MODEL.tflite | FOLDER]... writes those rows of OPS.DEF to
// OUTPUT that have an operator named or one that a model, or a model below a folder, uses. Names are those of OPS.DEF.
// A name or a model that needs what OPS.DEF has no kernel for is an error.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "model/model.h"

static struct hl_text wanted; // names, each between newlines
static int found_models;      // below the folder that is searched

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

static void want_model(void *user_data, const char *path)
{
    const struct hl_reporter to_stderr = {NULL, NULL};
    (void)user_data;
    found_models++;
    TfLiteModel *model = hl_model_create_from_file(path, &to_stderr);
    if (!model) fail(path, "this model cannot be loaded");
    for (int s = 0; s < model->subgraph_count; s++)
        for (int n = 0; n < model->subgraphs[s].node_count; n++)
            want(hl_model_code_name(&model->codes[model->subgraphs[s].nodes[n].code]));
    hl_model_release(model);
}

// Copies the line where its operator is wanted, which is then no longer.
static void take_row(const char *line, FILE *output)
{
    char name[128];
    if (sscanf(line, "OP( %127[A-Z0-9_a-z]", name) != 1 && sscanf(line, "CUSTOM( \"%127[^\"]", name) != 1) return;
    char *found = find(name);
    if (!found) return;
    fputs(line, output);
    found[1] = ' '; // no name begins so
}

int main(int argc, char **argv)
{
    char line[1024];
    struct hl_text failed = {0};
    if (argc < 3) return fail("usage", "select_ops OPS.DEF OUTPUT [OPERATOR | MODEL.tflite | FOLDER]...");
    hl_text_add(&wanted, "\n");
    for (int i = 3; i < argc; i++) {
        if (hl_path_is_folder(argv[i])) {
            found_models = 0;
            if (!hl_files_each(argv[i], ".tflite", want_model, NULL, &failed)) fail(failed.data, "cannot be read");
            if (!found_models) fail(argv[i], "no .tflite file below this folder");
        } else if (hl_files_ends_with(argv[i], ".tflite")) {
            want_model(NULL, argv[i]);
        } else {
            want(argv[i]);
        }
    }
    FILE *input = fopen(argv[1], "r"), *output = fopen(argv[2], "w");
    if (!input || !output) fail(input ? argv[2] : argv[1], "cannot be opened");
    fprintf(output, "// SPDX-License-Identifier: Apache-2.0\n// Made by select_ops from %s.\n", argv[1]);
    while (fgets(line, sizeof line, input)) take_row(line, output);
    if (fclose(output) != 0) fail(argv[2], "cannot be written");
    fclose(input);
    for (char *name = strtok(wanted.data, "\n"); name; name = strtok(NULL, "\n"))
        if (name[0] != ' ') fail(name, "there is no kernel for this operator; docs/ops.md lists those that there are");
    hl_text_free(&wanted);
    return 0;
}
