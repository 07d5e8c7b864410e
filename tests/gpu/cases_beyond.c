// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: numbers of rows that are beyond what there is. The CPU refuses them while running, a GPU cannot
// and gives zeros; so the other side of these rows are kernels of this file. And numbers beyond what half precision
// holds.
#include "gpu/op_case.h"
#include "tensorflow/lite/c/builtin_op_data.h"

static const TfLiteTensor *input_of(const TfLiteContext *context, const TfLiteNode *node, int i)
{
    return &context->tensors[node->inputs->data[i]];
}

static TfLiteTensor *output_of(const TfLiteContext *context, const TfLiteNode *node)
{
    return &context->tensors[node->outputs->data[0]];
}

static int elements(const TfLiteIntArray *dims, int from, int to)
{
    int count = 1;
    for (int i = from; i < to; i++) count *= dims->data[i];
    return count;
}

// Axes [from, to) of b in place of [at, at + gone) of a.
static TfLiteStatus resize(TfLiteContext *context, TfLiteNode *node, const TfLiteIntArray *a, int at, int gone,
                           const TfLiteIntArray *b, int from, int to)
{
    TfLiteIntArray *dims = TfLiteIntArrayCreate(a->size - gone + to - from);
    int n = 0;
    for (int i = 0; i < at; i++) dims->data[n++] = a->data[i];
    for (int i = from; i < to; i++) dims->data[n++] = b->data[i];
    for (int i = at + gone; i < a->size; i++) dims->data[n++] = a->data[i];
    return context->ResizeTensor(context, output_of(context, node), dims);
}

// ---- GATHER -------------------------------------------------------------------------------------

static TfLiteStatus gather_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteGatherParams *params = node->builtin_data;
    const TfLiteIntArray *x = input_of(context, node, 0)->dims, *rows = input_of(context, node, 1)->dims;
    return resize(context, node, x, params->axis, 1, rows, params->batch_dims, rows->size);
}

static TfLiteStatus gather_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteGatherParams *params = node->builtin_data;
    const TfLiteTensor *x = input_of(context, node, 0), *rows = input_of(context, node, 1);
    float *y = output_of(context, node)->data.f;
    int outer = elements(x->dims, 0, params->batch_dims), between = elements(x->dims, params->batch_dims, params->axis);
    int length = x->dims->data[params->axis], inner = elements(x->dims, params->axis + 1, x->dims->size);
    int count = elements(rows->dims, params->batch_dims, rows->dims->size);
    for (int n = 0; n < outer * between * count * inner; n++) {
        int i = n % inner, k = n / inner % count, before = n / inner / count;
        int row = rows->data.i32[before / between * count + k];
        y[n] = row >= 0 && row < length ? x->data.f[(before * length + row) * inner + i] : 0;
    }
    return kTfLiteOk;
}

static const TfLiteRegistration gather = {.prepare = gather_prepare, .invoke = gather_invoke};

// ---- GATHER_ND ----------------------------------------------------------------------------------

static TfLiteStatus gather_nd_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteIntArray *x = input_of(context, node, 0)->dims, *places = input_of(context, node, 1)->dims;
    return resize(context, node, x, 0, places->data[places->size - 1], places, 0, places->size - 1);
}

static TfLiteStatus gather_nd_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = input_of(context, node, 0), *places = input_of(context, node, 1);
    float *y = output_of(context, node)->data.f;
    int axes = places->dims->data[places->dims->size - 1], count = elements(places->dims, 0, places->dims->size - 1);
    int inner = elements(x->dims, axes, x->dims->size);
    for (int k = 0; k < count; k++) {
        int from = 0;
        bool inside = true;
        for (int axis = 0; axis < axes; axis++) {
            int index = places->data.i32[k * axes + axis];
            inside = inside && index >= 0 && index < x->dims->data[axis];
            from = from * x->dims->data[axis] + index;
        }
        for (int i = 0; i < inner; i++) y[k * inner + i] = inside ? x->data.f[from * inner + i] : 0;
    }
    return kTfLiteOk;
}

static const TfLiteRegistration gather_nd = {.prepare = gather_nd_prepare, .invoke = gather_nd_invoke};

// ---- EMBEDDING_LOOKUP ---------------------------------------------------------------------------

static TfLiteStatus lookup_prepare(TfLiteContext *context, TfLiteNode *node)
{
    return resize(context, node, input_of(context, node, 1)->dims, 0, 1, input_of(context, node, 0)->dims, 0, 1);
}

static TfLiteStatus lookup_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *rows = input_of(context, node, 0), *x = input_of(context, node, 1);
    float *y = output_of(context, node)->data.f;
    int inner = elements(x->dims, 1, x->dims->size);
    for (int n = 0; n < rows->dims->data[0] * inner; n++) {
        int row = rows->data.i32[n / inner];
        y[n] = row >= 0 && row < x->dims->data[0] ? x->data.f[row * inner + n % inner] : 0;
    }
    return kTfLiteOk;
}

static const TfLiteRegistration lookup = {.prepare = lookup_prepare, .invoke = lookup_invoke};

// ---- rows ---------------------------------------------------------------------------------------

#define GATHER(name_, axis_, batches_, ...)                                                                  \
    {                                                                                                        \
        .name = "GATHER " name_ " beyond", OP(Gather), .version = (batches_) ? 5 : 1, .reference = &gather,  \
        .settings = {SET(GatherOptions, axis, axis_), SET(GatherOptions, batch_dims, batches_)}, .inputs = { \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define GATHER_ND(name_, ...)                                                                                  \
    {                                                                                                          \
        .name = "GATHER_ND " name_ " beyond", OP(GatherNd), .reference = &gather_nd, .inputs = { __VA_ARGS__ } \
    }

static const struct op_case cases[] = {
    GATHER("of batches", 0, 0, IN(B + 1, 3, 4, C), IN_LIST((5), -1, 0, 1, 0, 4)),
    GATHER("of rows", 1, 0, IN(B, 3, 4, C), IN_LIST((5), -1, 2, 1, 0, 3)),
    GATHER("of columns", 2, 0, IN(B, 3, 4, C), MADE_LIST((5), -1, 2, 3, 0, 4)),
    GATHER("of channels", 3, 0, IN(B, 3, 4, 7), IN_LIST((5), -1, 2, 6, 0, 7)),
    GATHER("of rank 2", 0, 0, IN(6, C), MADE_LIST((B, 2, 3), -1, 2, 5, 6, 0)),
    GATHER("of a table", 0, 0, CONST(19, C), IN_LIST((B, 6), -1, 18, 19, 7, 0)),
    GATHER("of a table by numbers of the device", 0, 0, CONST(19, C), MADE_LIST((B, 6), -1, 18, 19, 7, 0)),
    GATHER("of columns of a table", 1, 0, CONST(B, 3, C), IN_LIST((7), 3, 2, 1, -1, 0)),
    GATHER("of channels of a table", 2, 0, CONST(B, 3, 7), MADE_LIST((7), 7, 2, 6, -1, 0)),
    GATHER("in batches", 1, 1, IN(B, 5, C), IN_LIST((B, 3), 5, 2, 4, -1, 0)),
    GATHER("of a table of 5003 rows, with none", 0, 0, CONST(5003, 3), IN_LIST((1, 4), 5002, 2049, 4099, 4097)),
    GATHER_ND("of rows", IN(3, C), IN_LIST((B, 5, 1), -1, 2, 3, 0, 1)),
    GATHER_ND("of places", IN(3, 4, C), MADE_LIST((B, 5, 2), -1, 2, 2, 4, 1, 3, 0)),
    GATHER_ND("of pixels", IN(3, 3, 4, C), IN_LIST((B, 5, 3), -1, 2, 2, 0, 1, 3, 2)),
    {.name = "EMBEDDING_LOOKUP of a table beyond",
     OP(EmbeddingLookup),
     .reference = &lookup,
     .inputs = {IN_LIST((B + 3), 9, 3, -1, 8), CONST(9, 2, C)}},
    {.name = "EMBEDDING_LOOKUP of values beyond",
     OP(EmbeddingLookup),
     .reference = &lookup,
     .inputs = {IN_LIST((B + 3), 9, 3, -1, 8), IN(9, 2, C)}},
    {0}};

const struct op_family op_family_beyond = {.name = "beyond", .cases = cases};
