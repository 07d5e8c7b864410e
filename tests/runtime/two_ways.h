// SPDX-License-Identifier: Apache-2.0
// A model on two interpreters: one that leaves out what nobody needs, and one that preserves all tensors, so that each
// node runs. In: a model file. Out: their outputs, compared bit for bit.
#ifndef HALITE_TESTS_RUNTIME_TWO_WAYS_H
#define HALITE_TESTS_RUNTIME_TWO_WAYS_H

#include "both_kernels.h"

#include "runtime/interpreter.h"
#include "runtime/subgraph.h"
#include "tensorflow/lite/c/c_api_experimental.h"

static inline TfLiteInterpreter *interpreter_of(const TfLiteModel *model, bool preserve, TfLiteDelegate *delegate)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetPreserveTensors(options, preserve);
    if (delegate) TfLiteInterpreterOptionsAddDelegate(options, delegate);
    TfLiteInterpreterOptionsSetNumThreads(options, 1 + pick(2));
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    return interpreter;
}

static inline const TfLiteTensor *tensor_of(const TfLiteInterpreter *interpreter, int number)
{
    return &interpreter->subgraphs[0]->context.tensors[number];
}

// A tensor that is not written has no memory.
static inline bool is_left_out(const TfLiteInterpreter *interpreter, int number)
{
    return tensor_of(interpreter, number)->data.raw == NULL;
}

// The same values whenever the start is the same.
static inline void run_with(TfLiteInterpreter *interpreter, unsigned start)
{
    const TfLiteIntArray *inputs = interpreter->subgraphs[0]->inputs;
    for (int n = 0; n < inputs->size; n++) {
        const TfLiteTensor *x = tensor_of(interpreter, inputs->data[n]);
        for (size_t i = 0; i < (x->type == kTfLiteFloat32 ? x->bytes / 4 : x->bytes); i++) {
            start = start * 1664525u + 1013904223u;
            if (x->type == kTfLiteFloat32)
                x->data.f[i] = (float)(start >> 8 & 1023) / 512 - 1;
            else
                x->data.uint8[i] = (uint8_t)(start >> 16);
        }
    }
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
}

static inline void assert_same_output(TfLiteInterpreter *a, TfLiteInterpreter *b)
{
    const unsigned start = (unsigned)pick(1 << 20);
    for (int again = 0; again < 2; again++) {
        run_with(a, start);
        run_with(b, start);
        const int output = a->subgraphs[0]->outputs->data[0];
        const TfLiteTensor *y = tensor_of(a, output);
        assert_true(y->bytes > 0 && y->bytes == tensor_of(b, output)->bytes);
        assert_memory_equal(y->data.raw, tensor_of(b, output)->data.raw, y->bytes);
    }
}

#endif
