// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a model. One that loads holds what model.h promises: every index names something, and
// every byte that it points to can be read.
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

static uint32_t sum;

static void promise(bool holds)
{
    if (!holds) abort();
}

static void read_text(const char *text)
{
    promise(text != NULL);
    sum += fuzz_sum(text, strlen(text));
}

static void read_list(const int *list, int count, int below)
{
    for (int i = 0; i < count; i++) promise(list[i] >= -1 && list[i] < below);
}

static void read_sparsity(const struct hl_model_sparsity *s)
{
    sum += fuzz_sum(s->order, (size_t)s->order_count * sizeof *s->order);
    sum += fuzz_sum(s->block_map, (size_t)s->block_map_count * sizeof *s->block_map);
    for (int i = 0; i < s->dimension_count; i++) {
        const struct hl_model_sparse_dimension *d = &s->dimensions[i];
        sum += fuzz_sum(d->segments, (size_t)d->segment_count * sizeof *d->segments);
        sum += fuzz_sum(d->indices, (size_t)d->index_count * sizeof *d->indices);
    }
}

static void read_tensor(const struct hl_model_tensor *t, int tensor_count)
{
    const struct hl_model_quantization *q = &t->quantization;
    read_text(t->name);
    for (int i = 0; i < t->rank; i++) promise(t->dims[i] >= 0);
    for (int i = 0; i < t->signature_rank; i++) sum += (uint32_t)t->signature[i];
    if (t->data) sum += fuzz_sum(t->data, t->bytes);
    if (t->sparsity) read_sparsity(t->sparsity);
    if (q->type == kTfLiteAffineQuantization) {
        promise(q->scale_count == 1 || q->scale_count == t->dims[q->dimension]);
        sum += fuzz_sum(q->scales, (size_t)q->scale_count * sizeof *q->scales);
        sum += fuzz_sum(q->zero_points, (size_t)q->scale_count * sizeof *q->zero_points);
    } else if (q->type != kTfLiteNoQuantization) {
        promise(q->scales_tensor >= 0 && q->scales_tensor < tensor_count && q->zero_points_tensor < tensor_count);
        sum += fuzz_sum(q->dimensions, (size_t)q->dimension_count * sizeof *q->dimensions);
    }
}

static void read_subgraph(const TfLiteModel *model, const struct hl_model_subgraph *s)
{
    read_text(s->name);
    for (int i = 0; i < s->tensor_count; i++) read_tensor(&s->tensors[i], s->tensor_count);
    read_list(s->inputs, s->input_count, s->tensor_count);
    read_list(s->outputs, s->output_count, s->tensor_count);
    for (int i = 0; i < s->node_count; i++) {
        const struct hl_model_node *n = &s->nodes[i];
        promise(n->code >= 0 && n->code < model->code_count);
        read_list(n->inputs, n->input_count, s->tensor_count);
        read_list(n->outputs, n->output_count, s->tensor_count);
        read_list(n->intermediates, n->intermediate_count, s->tensor_count);
        sum += fuzz_sum(n->params, n->params_size) + fuzz_sum(n->custom_options, n->custom_options_size);
    }
}

static void read_entries(const TfLiteModel *model, const struct hl_model_signature *s,
                         const struct hl_model_signature_entry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        read_text(entries[i].name);
        promise(entries[i].tensor >= 0 && entries[i].tensor < model->subgraphs[s->subgraph].tensor_count);
    }
}

static void read_model(const TfLiteModel *model)
{
    read_text(model->description);
    for (int i = 0; i < model->code_count; i++) read_text(hl_model_code_name(&model->codes[i]));
    for (int i = 0; i < model->subgraph_count; i++) read_subgraph(model, &model->subgraphs[i]);
    for (int i = 0; i < model->signature_count; i++) {
        const struct hl_model_signature *s = &model->signatures[i];
        read_text(s->key);
        promise(s->subgraph >= 0 && s->subgraph < model->subgraph_count);
        read_entries(model, s, s->inputs, s->input_count);
        read_entries(model, s, s->outputs, s->output_count);
    }
    for (int i = 0; i < model->metadata_count; i++) {
        read_text(model->metadata[i].name);
        sum += fuzz_sum(model->metadata[i].data, model->metadata[i].bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hl_reporter reporter = {fuzz_ignore, NULL};
    TfLiteModel *model = hl_model_create(data, size, &reporter);
    if (!model) return 0;
    read_model(model);
    hl_model_release(model);
    if (sum == 1) putchar(0); // so that the sums are needed
    return 0;
}
