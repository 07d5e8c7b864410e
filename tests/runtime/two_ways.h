// SPDX-License-Identifier: Apache-2.0
// A model on two interpreters: one that leaves out what nobody needs, and one that preserves all tensors, so that each
// node runs. In: a model, as test_model_write takes it. Out: their outputs, compared bit for bit.
#ifndef HALITE_TESTS_RUNTIME_TWO_WAYS_H
#define HALITE_TESTS_RUNTIME_TWO_WAYS_H

#include "both_kernels.h"

#include <string.h>

#include "runtime/interpreter.h"
#include "runtime/subgraph.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// A tensor of four dimensions; stored values have a scale and a zero point.
static inline struct test_tensor stored_tensor(const char *name, enum test_type type, const int dims[4])
{
    struct test_tensor tensor = {.name = name, .type = type, .rank = 4};
    memcpy(tensor.dims, dims, 4 * sizeof(int));
    if (type == TEST_FLOAT32) return tensor;
    tensor.scale = 0.02f;
    tensor.zero_point = type == TEST_UINT8 ? 131 : 3;
    return tensor;
}

// A bias of zeros, in `room` for so many, of a node whose values have stored_tensor's scale.
static inline struct test_tensor zero_bias(const char *name, enum test_type type, int32_t *room, int count)
{
    const bool floats = type == TEST_FLOAT32;
    return (struct test_tensor){.name = name,
                                .type = floats ? TEST_FLOAT32 : TEST_INT32,
                                .rank = 1,
                                .dims = {count},
                                .scale = floats ? 0 : 0.02f * 0.02f,
                                .data = room,
                                .bytes = (size_t)count * sizeof *room};
}

// Makes the tensor a constant with random values, in `room` of so many floats.
static inline void set_constant(struct test_tensor *tensor, void *room, int most)
{
    const int count = count_of(tensor);
    assert_true(count <= most);
    tensor->data = room;
    tensor->bytes = (size_t)count * (tensor->type == TEST_FLOAT32 ? 4 : 1);
    for (int i = 0; i < count; i++)
        if (tensor->type == TEST_FLOAT32)
            ((float *)room)[i] = (float)(pick(2001) - 1000) / 1000;
        else
            ((int8_t *)room)[i] = (int8_t)(pick(255) - 127);
}

// The same of weights, whose zero point is 0 where they are int8.
static inline void set_weights(struct test_tensor *tensor, void *room, int most)
{
    if (tensor->type == TEST_INT8) tensor->zero_point = 0;
    set_constant(tensor, room, most);
}

static inline TfLiteInterpreter *interpreter_of(const TfLiteModel *model, bool preserve, TfLiteDelegate *delegate)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetPreserveTensors(options, preserve);
    if (delegate) TfLiteInterpreterOptionsAddDelegate(options, delegate);
    TfLiteInterpreterOptionsSetNumThreads(options, 1 + pick(4));
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    return interpreter;
}

struct two_ways {
    unsigned char *file;
    TfLiteModel *loaded;
    TfLiteInterpreter *one, *other; // the other preserves all tensors
};

// `delegate`: of the first interpreter; NULL: none.
static inline struct two_ways begin_two_ways(const struct test_model *model, TfLiteDelegate *delegate)
{
    size_t size;
    struct two_ways both = {.file = test_model_write(model, &size)};
    both.loaded = TfLiteModelCreate(both.file, size);
    assert_non_null(both.loaded);
    both.one = interpreter_of(both.loaded, false, delegate);
    both.other = interpreter_of(both.loaded, true, NULL);
    return both;
}

// Both ways with a delegate that takes node *node, as `prepare` finds it in data_.
static inline struct two_ways begin_both_with(const struct test_model *model, TfLiteDelegate *delegate, int *node,
                                              TfLiteStatus (*prepare)(TfLiteContext *, TfLiteDelegate *))
{
    *delegate = TfLiteDelegateCreate();
    delegate->data_ = node;
    delegate->Prepare = prepare;
    struct two_ways both = begin_two_ways(model, delegate);
    TfLiteInterpreterDelete(both.other);
    both.other = interpreter_of(both.loaded, true, delegate);
    return both;
}

static inline void end_two_ways(struct two_ways *both)
{
    TfLiteInterpreterDelete(both->one);
    TfLiteInterpreterDelete(both->other);
    TfLiteModelDelete(both->loaded);
    free(both->file);
}

static inline void resize_both(struct two_ways *both, const int dims[4])
{
    TfLiteInterpreter *const interpreters[] = {both->one, both->other};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreters[i], 0, dims, 4), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterAllocateTensors(interpreters[i]), kTfLiteOk);
    }
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
                x->data.uint8[i] = (uint8_t)(x->type == kTfLiteBool ? start >> 16 & 1 : start >> 16);
        }
    }
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
}

static inline void assert_same_output(const struct two_ways *both)
{
    TfLiteInterpreter *a = both->one, *b = both->other;
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

// A caller who brings memory for a tensor wants to see it, though it would be left out otherwise.
static inline void check_memory_of_the_caller(struct two_ways *both, int tensor)
{
    const size_t bytes = tensor_of(both->one, tensor)->bytes;
    void *memory = calloc(1, bytes);
    assert_non_null(memory);
    const TfLiteCustomAllocation allocation = {memory, bytes};
    assert_int_equal(hl_subgraph_set_custom_allocation(both->one->subgraphs[0], tensor, &allocation,
                                                       kTfLiteCustomAllocationFlagsSkipAlignCheck),
                     kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(both->one), kTfLiteOk);
    assert_same_output(both);
    assert_memory_equal(memory, tensor_of(both->other, tensor)->data.raw, bytes);
    TfLiteInterpreterDelete(both->one);
    both->one = interpreter_of(both->loaded, false, NULL);
    free(memory);
}

// Copies as much of input 0 as the output has room for.
static inline TfLiteStatus copy_input(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    memcpy(y->data.raw, x->data.raw, x->bytes < y->bytes ? x->bytes : y->bytes);
    return kTfLiteOk;
}

// Prepare of a delegate that takes the node whose index its data_ points to, an int, and copies its input.
static inline TfLiteStatus take_node(TfLiteContext *context, TfLiteDelegate *delegate)
{
    const TfLiteRegistration registration = {.invoke = copy_input, .custom_name = "copy", .version = 1};
    TfLiteIntArray *nodes = TfLiteIntArrayCreate(1);
    nodes->data[0] = *(const int *)delegate->data_;
    const TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, delegate);
    TfLiteIntArrayFree(nodes);
    return status;
}

#endif
