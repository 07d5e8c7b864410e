// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as FlexBuffers. Every value that is found can be read as every kind, to the depth and
// number that a kernel would look at.
#include "fuzz.h"

#include <stdio.h>

#include "abi/flexbuffer.h"

enum { DEEPEST = 6, MAX_VALUES = 2000 };

static uint32_t sum;
static int values;

static void read_value(const struct hl_flex *value, int depth)
{
    static const char *const keys[] = {"", "a", "num_classes", "padding", "\x01"};
    struct hl_flex child;
    const char *text;
    const void *blob;
    size_t length;
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    if (values++ > MAX_VALUES) return;
    if (hl_flex_integer(value, &integer) && hl_flex_float(value, &number) && hl_flex_bool(value, &truth))
        sum += (uint32_t)integer + truth + (number > 1);
    if (hl_flex_string(value, &text, &length)) sum += fuzz_sum(text, length + 1); // with the zero behind it
    if (hl_flex_blob(value, &blob, &length)) sum += fuzz_sum(blob, length);
    if (depth == 0) return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (hl_flex_find(value, keys[i], &child)) read_value(&child, depth - 1);
    sum += (uint32_t)hl_flex_is_map(value) + hl_flex_is_vector(value);
    for (size_t i = 0; i <= value->count && i < 100; i++) // one more than there are
        if (hl_flex_element(value, i, &child)) read_value(&child, depth - 1);
    if (hl_flex_element(value, SIZE_MAX, &child)) read_value(&child, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hl_flex root;
    values = 0;
    if (hl_flex_root(data, size, &root)) read_value(&root, DEEPEST);
    if (sum == 1) putchar(0); // so that the sums are needed
    return 0;
}
