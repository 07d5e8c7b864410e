// SPDX-License-Identifier: Apache-2.0
// See work.h.
#include "ops/common/work.h"

double hl_rows(const TfLiteTensor *tensor)
{
    return hl_rank(tensor) > 0 ? (double)hl_product(tensor->dims, 0, hl_rank(tensor) - 1) : 1;
}

double hl_work_of_filter(TfLiteContext *ctx, const TfLiteNode *node)
{
    return hl_rows(hl_output(ctx, node, 0)) * (double)hl_elements(hl_input(ctx, node, 1));
}

double hl_work_of_rows(TfLiteContext *ctx, const TfLiteNode *node)
{
    double others = 0;
    for (int i = 1; i < hl_input_count(node); i++) {
        const TfLiteTensor *input = hl_input(ctx, node, i);
        if (input && !input->is_variable) others += (double)hl_elements(input);
    }
    return hl_rows(hl_input(ctx, node, 0)) * others;
}

static double smaller(int a, int b)
{
    return a < b ? a : b;
}

double hl_work_of_window(const TfLiteTensor *image, const TfLiteTensor *output, int filter_height, int filter_width)
{
    return (double)hl_elements(output) * smaller(filter_height, hl_dim(image, 1)) *
           smaller(filter_width, hl_dim(image, 2));
}
