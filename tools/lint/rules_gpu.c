// SPDX-License-Identifier: Apache-2.0
// Rules about what GPUs make slow, and about inputs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "lint/lint.h"

// Bytes a second that a copy makes, for estimates: that of a desktop's or a good phone's memory.
static const double copy_rate = 10e9;

void hl_lint_check_channels_not_in_fours(struct hl_lint *lint)
{
    static const char *const ops[] = {"CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"};
    enum { LEAST_WASTE_PERCENT = 5 };
    for (int n = 0; n < lint->graph->node_count; n++) {
        bool wanted = false;
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) wanted = wanted || hl_lint_is(lint, n, ops[i]);
        const struct hl_model_tensor *to = wanted ? hl_lint_output(lint, n) : NULL;
        if (to == NULL || to->rank != 4 || lint->is_output[lint->graph->nodes[n].outputs[0]]) continue;
        int channels = to->dims[3], held = channels / 4 * 4 + (channels % 4 != 0) * 4;
        if (channels < 1 || (held - channels) * 100 < held * LEAST_WASTE_PERCENT) continue;
        hl_lint_add(lint, "channels_not_in_fours", 1, &n, (double)(held - channels) / held, false,
                    "%s has %d channels, which take the place of %d", hl_lint_op(lint, n), channels, held);
    }
}

// Inputs that are pictures: height, width and 1, 3 or 4 channels.
static const struct hl_model_tensor *picture_at(const struct hl_lint *lint, int input)
{
    int tensor = lint->graph->inputs[input];
    const struct hl_model_tensor *at = tensor >= 0 ? &lint->graph->tensors[tensor] : NULL;
    if (at == NULL || at->rank != 4 || at->dims[1] < 8 || at->dims[2] < 8) return NULL;
    return at->dims[3] == 1 || at->dims[3] == 3 || at->dims[3] == 4 ? at : NULL;
}

static double elements_of(const struct hl_model_tensor *tensor)
{
    double count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

void hl_lint_check_rgb_input(struct hl_lint *lint)
{
    for (int i = 0; i < lint->graph->input_count; i++) {
        const struct hl_model_tensor *picture = picture_at(lint, i);
        if (picture == NULL || picture->dims[3] != 3) continue;
        double bytes = elements_of(picture) / 3 * 4 * hl_element_type(picture->type).bits / 8;
        hl_lint_add_estimate(lint, "rgb_input", bytes / copy_rate, false,
                             "input %d, %dx%d, has 3 channels: each picture is copied to 4", i, picture->dims[1],
                             picture->dims[2]);
    }
}

void hl_lint_check_float_input(struct hl_lint *lint)
{
    for (int i = 0; i < lint->graph->input_count; i++) {
        const struct hl_model_tensor *picture = picture_at(lint, i);
        if (picture == NULL || picture->type != kTfLiteFloat32) continue;
        hl_lint_add_estimate(lint, "float_input", 3 * elements_of(picture) / copy_rate, false,
                             "input %d, %dx%dx%d, is float32", i, picture->dims[1], picture->dims[2], picture->dims[3]);
    }
}

// ---- placement ----------------------------------------------------------------------------------

static const char *string_of(const cJSON *row, const char *name)
{
    const cJSON *string = cJSON_GetObjectItem(row, name);
    return cJSON_IsString(string) ? string->valuestring : "";
}

// A node that no GPU kernel takes; nodes that only wait in a part of their own are its consequence.
static bool is_refused(const cJSON *row)
{
    const char *where = string_of(row, "where"), *reason = string_of(row, "reason");
    return strcmp(where, "CPU") == 0 && strcmp(reason, "PARTITION") != 0;
}

void hl_lint_check_not_on_gpu(struct hl_lint *lint)
{
    const cJSON *rows = cJSON_GetArrayItem(cJSON_GetObjectItem(lint->placement, "subgraphs"), 0);
    int rows_count = cJSON_GetArraySize(rows), waiting = 0, refused = 0;
    if (rows_count != lint->graph->node_count) return; // not known, or not of this graph
    const cJSON **by_node = hl_alloc((size_t)rows_count, sizeof *by_node), *row;
    int *nodes = hl_alloc((size_t)rows_count, sizeof *nodes), at = 0;
    bool *done = hl_alloc((size_t)rows_count, sizeof *done);
    cJSON_ArrayForEach(row, rows) by_node[at++] = row;
    for (int n = 0; n < rows_count; n++) {
        waiting += strcmp(string_of(by_node[n], "reason"), "PARTITION") == 0;
        refused += is_refused(by_node[n]);
    }
    for (int n = 0; n < rows_count; n++) {
        int count = 0;
        if (done[n] || !is_refused(by_node[n])) continue;
        for (int i = n; i < rows_count; i++) {
            if (done[i] || !is_refused(by_node[i]) || strcmp(hl_lint_op(lint, i), hl_lint_op(lint, n)) != 0 ||
                strcmp(string_of(by_node[i], "text"), string_of(by_node[n], "text")) != 0)
                continue;
            done[i] = true;
            nodes[count++] = i;
        }
        hl_lint_add(lint, "not_on_gpu", count, nodes, 1, false, "%s: %s", hl_lint_op(lint, n),
                    string_of(by_node[n], "text"));
    }
    if (waiting > 0 && refused > 0)
        hl_lint_add_estimate(lint, "not_on_gpu", (double)NAN, false,
                             "%d more node%s could run on a GPU and stay%s on the CPU, in parts cut off by these",
                             waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "");
    free(by_node);
    free(nodes);
    free(done);
}

void hl_lint_check_dynamic_shape(struct hl_lint *lint)
{
    for (int i = 0; i < lint->graph->input_count; i++) {
        int tensor = lint->graph->inputs[i];
        if (tensor < 0 || hl_lint_is_static(&lint->graph->tensors[tensor])) continue;
        struct hl_text shape = {0};
        const struct hl_model_tensor *at = &lint->graph->tensors[tensor];
        hl_model_add_shape(&shape, at->type, at->signature_rank, at->signature);
        hl_lint_add_estimate(lint, "dynamic_shape", (double)NAN, false, "input %d is %s", i, shape.data);
        hl_text_free(&shape);
    }
    static const struct {
        const char *op;
        int input; // that says the output's shape
    } shaped[] = {{"RESHAPE", 1},
                  {"FILL", 0},
                  {"TILE", 1},
                  {"SLICE", 2},
                  {"BROADCAST_TO", 1},
                  {"PAD", 1},
                  {"RANGE", 1},
                  {"RESIZE_BILINEAR", 1},
                  {"RESIZE_NEAREST_NEIGHBOR", 1},
                  {"TRANSPOSE_CONV", 0},
                  {"EXPAND_DIMS", 1}};
    for (int n = 0; n < lint->graph->node_count; n++)
        for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++) {
            const struct hl_model_tensor *given = hl_lint_input(lint, n, shaped[i].input);
            if (!hl_lint_is(lint, n, shaped[i].op) || given == NULL || given->data != NULL) continue;
            hl_lint_add(lint, "dynamic_shape", 1, &n, 1, false, "%s takes its shape from a tensor that is computed",
                        hl_lint_op(lint, n));
        }
}
