// SPDX-License-Identifier: Apache-2.0
// Output positions and padding of a window that slides along one axis.
// The window reaches over (filter - 1) * dilation + 1 input positions. SAME: one output for each
// stride begun, the missing positions padded half in front, half (and the odd one) behind. VALID:
// the windows that lie inside, no padding.
#include "ops/common/window.h"

TfLiteStatus hl_window_size(TfLiteContext *ctx, const TfLiteNode *node, const char *axis, TfLitePadding padding, int in,
                            int filter, int stride, int dilation, struct hl_window *window)
{
    HL_REQUIRE(ctx, node, padding == kTfLitePaddingSame || padding == kTfLitePaddingValid,
               "padding %d is neither SAME nor VALID", (int)padding);
    HL_REQUIRE(ctx, node, in >= 0, "input %s %d must not be negative", axis, in);
    HL_REQUIRE(ctx, node, filter >= 1, "filter %s %d must be positive", axis, filter);
    HL_REQUIRE(ctx, node, stride >= 1, "%s stride %d must be positive", axis, stride);
    HL_REQUIRE(ctx, node, dilation >= 1, "%s dilation %d must be positive", axis, dilation);

    int64_t reach = (int64_t)(filter - 1) * dilation + 1;
    int64_t out;
    if (padding == kTfLitePaddingSame)
        out = ((int64_t)in + stride - 1) / stride;
    else
        out = ((int64_t)in + stride - reach) / stride;
    HL_REQUIRE(ctx, node, out >= 0, "a filter that reaches over %lld positions does not fit into input %s %d",
               (long long)reach, axis, in);
    // Only a VALID window of zero outputs may reach beyond the input without being padded.
    int64_t total = (out - 1) * stride + reach - in;
    if (out == 0 || total < 0) total = 0;
    HL_REQUIRE(ctx, node, out <= INT32_MAX && total <= INT32_MAX,
               "a filter that reaches over %lld positions is too large for input %s %d", (long long)reach, axis, in);
    window->out = (int)out;
    window->before = (int)(total / 2);
    window->after = (int)(total - total / 2);
    return kTfLiteOk;
}
