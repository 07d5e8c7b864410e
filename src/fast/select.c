// SPDX-License-Identifier: Apache-2.0
// SELECT_V2 of a tensor and one value that is known, as masks of attention are written: alone it runs as the reference
// kernel, and as a step of a chain it goes on with the tensor.
#include "ops/select.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"

enum { CONDITION, IF_TRUE, IF_FALSE };

struct select {
    hl_pair_kernel *kernel; // NULL: `run` is as fast
    hl_select_run *run;
    struct hl_selected other; // `turned`: the tensor is selected where the condition is false
};

static bool is_value(const TfLiteTensor *x)
{
    return hl_is_packable(x) && hl_elements(x) == 1;
}

static TfLiteStatus select_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const bool turned = !is_value(hl_input(ctx, node, IF_FALSE));
    const TfLiteTensor *value = hl_input(ctx, node, turned ? IF_TRUE : IF_FALSE);
    if (!is_value(value) || !hl_chain_takes(ctx, node)) return kTfLiteOk;
    *bytes = sizeof(struct select);
    HL_TRY(hl_fast_make(ctx, node, *bytes, state));
    struct select *made = *state;
    if (!made) return kTfLiteOk;
    const size_t size = hl_type_size(value->type);
    made->run = hl_select_run_of((int64_t)size);
    if (size == sizeof made->other.value) made->kernel = hl_simd_best(INT_MAX)->kernels->elements->select_32;
    made->other.turned = turned;
    memcpy(&made->other.value, hl_data(value), size);
    return kTfLiteOk;
}

static TfLiteStatus select_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    (void)state;
    return hl_op_select_v2.invoke(ctx, node);
}

static void run_select(const struct hl_step *step, const void *x, const void *condition, void *y, int64_t count)
{
    const struct select *op = step->state;
    const bool turned = op->other.turned;
    const void *const value = &op->other.value;
    const struct hl_select_steps steps = {.condition = 1, .a = !turned, .b = turned, .count = (int)count};
    if (op->kernel)
        op->kernel(x, condition, y, count, &op->other);
    else
        op->run(condition, turned ? value : x, turned ? x : value, y, &steps);
}

static void select_describe(const TfLiteNode *node, const void *state, struct hl_step *step)
{
    (void)node;
    const struct select *op = state;
    const uint8_t tensor = op->other.turned ? IF_FALSE : IF_TRUE;
    *step = (struct hl_step){.run = run_select, .state = op, .inputs = {tensor, CONDITION}};
}

const struct hl_fast hl_fast_select = {.prepare = select_prepare,
                                       .invoke = select_invoke,
                                       .release = free,
                                       .describe = select_describe};
