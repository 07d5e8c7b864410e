// SPDX-License-Identifier: Apache-2.0
// What surrounds the documentation's C examples (doc_*.h, made by doc_example.sh), so that they become a program:
// client MODEL, for a model of 64 float32 inputs whose 10 outputs are probabilities.
#include <stdio.h>
#include <stdlib.h>

#include "doc_includes.h"

struct data {
    void *bytes, *mutableBytes;
    size_t length;
};

static struct data data_with_length(size_t length)
{
    void *bytes = calloc(1, length);
    return (struct data){bytes, bytes, length};
}

static float run(const char *model_path)
{
    const int input_size = 64, output_size = 10;
#include "doc_program.h"
    float sum = 0;
    for (int i = 0; i < output_size; i++) sum += ((float *)output_data.bytes)[i];
    free(input_data.bytes);
    free(output_data.bytes);
    return sum;
}

static void set_options(void)
{
    {
#include "doc_options_1.h"
    } {
#include "doc_options_2.h"
    }
}

int main(int argc, char **argv)
{
    set_options();
    float sum = argc > 1 ? run(argv[1]) : 0;
    printf("the example ran; the sum of its outputs is %.3f\n", (double)sum);
    return sum > 0.999f && sum < 1.001f ? 0 : 1;
}
