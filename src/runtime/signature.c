// SPDX-License-Identifier: Apache-2.0
// See signature.h.
#include "runtime/signature.h"

#include <stdlib.h>
#include <string.h>

static const struct hl_model_signature *find_signature(const TfLiteModel *model, const char *key)
{
    for (int i = 0; i < model->signature_count; i++) {
        const struct hl_model_signature *signature = &model->signatures[i];
        if (key ? strcmp(signature->key, key) == 0 : signature->subgraph == 0) return signature;
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct hl_model_signature_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

// Names of the primary subgraph's inputs and outputs, as if they were a signature.
static bool make_placeholder(TfLiteSignatureRunner *runner)
{
    const TfLiteIntArray *inputs = runner->subgraph->inputs, *outputs = runner->subgraph->outputs;
    int count = inputs->size + outputs->size;
    struct hl_model_signature_entry *entries = calloc((size_t)count + 1, sizeof *entries);
    if (!entries) return false;
    for (int i = 0; i < count; i++) {
        int tensor = i < inputs->size ? inputs->data[i] : outputs->data[i - inputs->size];
        const char *name = tensor >= 0 ? runner->subgraph->context.tensors[tensor].name : NULL;
        entries[i] = (struct hl_model_signature_entry){name ? name : "", tensor};
    }
    qsort(entries, (size_t)inputs->size, sizeof *entries, by_name);
    qsort(entries + inputs->size, (size_t)outputs->size, sizeof *entries, by_name);
    runner->placeholder = entries;
    runner->inputs = entries;
    runner->outputs = entries + inputs->size;
    runner->input_count = inputs->size;
    runner->output_count = outputs->size;
    return true;
}

TfLiteSignatureRunner *hl_signature_runner_create(TfLiteInterpreter *interpreter, const char *key)
{
    const TfLiteModel *model = interpreter->model;
    const struct hl_model_signature *signature = find_signature(model, key);
    bool placeholder = !signature && !key && model->signature_count == 0;
    if (!signature && !placeholder) return NULL;
    TfLiteSignatureRunner *runner = calloc(1, sizeof *runner);
    if (!runner) return NULL;
    runner->interpreter = interpreter;
    runner->subgraph = interpreter->subgraphs[signature ? signature->subgraph : 0];
    if (signature) {
        runner->inputs = signature->inputs;
        runner->outputs = signature->outputs;
        runner->input_count = signature->input_count;
        runner->output_count = signature->output_count;
    } else if (!make_placeholder(runner)) {
        free(runner);
        return NULL;
    }
    return runner;
}

void hl_signature_runner_destroy(TfLiteSignatureRunner *runner)
{
    if (!runner) return;
    free(runner->placeholder);
    free(runner);
}

static int find_entry(const struct hl_model_signature_entry *entries, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0) return entries[i].tensor;
    return -1;
}

int hl_signature_input(const TfLiteSignatureRunner *runner, const char *name)
{
    return name ? find_entry(runner->inputs, runner->input_count, name) : -1;
}

int hl_signature_output(const TfLiteSignatureRunner *runner, const char *name)
{
    return name ? find_entry(runner->outputs, runner->output_count, name) : -1;
}
