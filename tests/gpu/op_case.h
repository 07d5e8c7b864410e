// SPDX-License-Identifier: Apache-2.0
// The op table of the delegates: a row is one node as a model has it, options, shapes, types and constants. Rows stand
// in the files cases_X.c, a family of operators each. op_case.c puts all rows of a family into one model, for each
// batch and number of channels, and compares what a delegate makes of it with the reference kernels of the CPU. Which
// delegate that is, an op_target says: test_ops.c is the program for the GPU's, with op_target_gpu.c.
#ifndef HALITE_TESTS_GPU_OP_CASE_H
#define HALITE_TESTS_GPU_OP_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/tolerance.h"
#include "halite/gpu_delegate.h"
#include "model/schema.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

// Lengths of a row that differ from run to run: numbers of batches and of channels, and what is counted from them, such
// as 2 * C, B + 1 or C - 4. They are negative, which no length is, so that a plain length may be any number. What is
// added to them must stay below COUNTED.
enum { COUNTED = 1 << 11, B = -2 * COUNTED, C = -(1 << 20) };

enum { CASE_INPUTS = 24, CASE_INTS = 16, CASE_RANK = 8 };

// What a float tensor is filled with; all of it is exact in half precision.
enum case_values {
    VALUES_EIGHTHS,      // multiples of 1/8 from -4 to 4
    VALUES_POSITIVE,     // multiples of 1/8 from 1/8 to 4
    VALUES_SMALL,        // multiples of 1/16 from -1 to 1
    VALUES_DIVISORS,     // -2, -1/2, 1/2, 1, 2: quotients by them are exact
    VALUES_TRUTH,        // 0 or 1
    VALUES_NEAR_ONE,     // 1 and 1/8 more or less: products of many stay small
    VALUES_INDICES,      // integers 0, 1, 2
    VALUES_WIDE,         // multiples of 1/2 from -16 to 16
    VALUES_FAR,          // multiples of 1/8 from -2 to 6, and now and then 30000 and -30000
    VALUES_EQUAL,        // few different numbers, so that equal ones meet
    VALUES_SPECIAL,      // in turns: zeros of both signs, infinities, NaN, the ends of half precision, a few plain ones
    VALUES_SPECIAL_ROWS, // the same, each as often in a row as there are: beside VALUES_SPECIAL each meets each
    VALUES_EXTREME       // in turns: numbers near both ends of single precision, and the special ones
};

struct case_tensor {
    enum { TENSOR_NONE, TENSOR_INPUT, TENSOR_CONSTANT, TENSOR_ABSENT, TENSOR_VARIABLE } kind;
    enum test_type type;
    enum case_values values;
    int rank, dims[CASE_RANK];
    int ints[CASE_INTS]; // of a constant with int32 values; of an input, where there are some, over and over
    int int_count;       // of an input's
    float scale;         // 8-bit, 16-bit and int32: numbers are rounded to it; 0: not quantized
    int zero_point;
    bool made;        // by a CAST on the device, of what the model is given
    bool computed;    // made, of a sum: the operator reads what the device holds, and not what the model is given
    int channel_axis; // 1 + axis: a scale for each of its indices, growing from `scale`
};

struct case_output {
    enum test_type type;
    float scale;
    int zero_point;
};

// ADD, SUB, MUL or DIV by a constant.
struct case_step {
    int builtin;
    struct case_tensor constant;
};

struct op_case {
    const char *name;
    int builtin;
    const char *custom;
    const TfLiteRegistration *reference; // in place of the CPU's own kernel, in all rows of the family
    const void *options;                 // of a custom operator: bytes of them
    size_t option_bytes;
    const char *map; // in place of them: text for flex_map_write
    int version;     // 0 means 1
    struct test_setting settings[TEST_SETTINGS];
    struct case_tensor inputs[CASE_INPUTS];
    int pad[4]; // top, bottom, left, right of a PAD in front of the first input, which a pass takes into the node
    struct case_step front, tail; // on the first float input, and behind output 0: a pass takes them into the node
    int output_count;             // 0 means 1
    struct case_output output;    // of each
    enum gpu_tolerance tolerance;
    int steps;           // 8-bit outputs: by how many steps of the scale they may differ
    const char *refusal; // the values make Invoke fail, and the delegate says so with these words
    bool singles;        // only in f32: its numbers are no halves
};

#define CASE_COUNT(...) (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))
#define SHAPED(...) .rank = CASE_COUNT(__VA_ARGS__), .dims = {__VA_ARGS__}
// Tensors of a row: what the model is given, with other numbers, and constants.
#define IN(...)                                   \
    {                                             \
        .kind = TENSOR_INPUT, SHAPED(__VA_ARGS__) \
    }
#define IN_OF(values_, ...)                                                   \
    {                                                                         \
        .kind = TENSOR_INPUT, .values = VALUES_##values_, SHAPED(__VA_ARGS__) \
    }
#define IN_INT(...)                                                                             \
    {                                                                                           \
        .kind = TENSOR_INPUT, .type = TEST_INT32, .values = VALUES_INDICES, SHAPED(__VA_ARGS__) \
    }
#define MADE_INT(...)                                                                                         \
    {                                                                                                         \
        .kind = TENSOR_INPUT, .type = TEST_INT32, .values = VALUES_INDICES, .made = true, SHAPED(__VA_ARGS__) \
    }
#define COMPUTED_INT(...)                                                                                   \
    {                                                                                                       \
        .kind = TENSOR_INPUT, .type = TEST_INT32, .values = VALUES_INDICES, .made = true, .computed = true, \
        SHAPED(__VA_ARGS__)                                                                                 \
    }
#define IN_LIST(shape_, ...)                                                            \
    {                                                                                   \
        .kind = TENSOR_INPUT, .type = TEST_INT32, SHAPED shape_, .ints = {__VA_ARGS__}, \
        .int_count = CASE_COUNT(__VA_ARGS__)                                            \
    }
#define MADE_LIST(shape_, ...)                                                                        \
    {                                                                                                 \
        .kind = TENSOR_INPUT, .type = TEST_INT32, .made = true, SHAPED shape_, .ints = {__VA_ARGS__}, \
        .int_count = CASE_COUNT(__VA_ARGS__)                                                          \
    }
#define IN_BOOL(...)                                                                         \
    {                                                                                        \
        .kind = TENSOR_INPUT, .type = TEST_BOOL, .values = VALUES_TRUTH, SHAPED(__VA_ARGS__) \
    }
#define IN_SCALAR            \
    {                        \
        .kind = TENSOR_INPUT \
    }
#define CONST(...)                                   \
    {                                                \
        .kind = TENSOR_CONSTANT, SHAPED(__VA_ARGS__) \
    }
#define CONST_OF(values_, ...)                                                   \
    {                                                                            \
        .kind = TENSOR_CONSTANT, .values = VALUES_##values_, SHAPED(__VA_ARGS__) \
    }
#define CONST_SCALAR            \
    {                           \
        .kind = TENSOR_CONSTANT \
    }
#define ABSENT                \
    {                         \
        .kind = TENSOR_ABSENT \
    }
#define VARIABLE(...)                                \
    {                                                \
        .kind = TENSOR_VARIABLE, SHAPED(__VA_ARGS__) \
    }
// Axes, sizes, paddings: int32 constants of rank 1, of rank 0, of pairs.
#define INTS(...)                                                                                            \
    {                                                                                                        \
        .kind = TENSOR_CONSTANT, .type = TEST_INT32, .rank = 1, .dims = {CASE_COUNT(__VA_ARGS__)}, .ints = { \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define INT(value_)                                                     \
    {                                                                   \
        .kind = TENSOR_CONSTANT, .type = TEST_INT32, .ints = { value_ } \
    }
#define PAIRS(...)                                                                                                  \
    {                                                                                                               \
        .kind = TENSOR_CONSTANT, .type = TEST_INT32, .rank = 2, .dims = {CASE_COUNT(__VA_ARGS__) / 2, 2}, .ints = { \
            __VA_ARGS__                                                                                             \
        }                                                                                                           \
    }
// 8-bit tensors.
#define IN_8(type_, scale_, zero_, ...)                                                                           \
    {                                                                                                             \
        .kind = TENSOR_INPUT, .type = TEST_##type_, .scale = (scale_), .zero_point = (zero_), SHAPED(__VA_ARGS__) \
    }
#define CONST_8(type_, scale_, zero_, ...)                                                                           \
    {                                                                                                                \
        .kind = TENSOR_CONSTANT, .type = TEST_##type_, .scale = (scale_), .zero_point = (zero_), SHAPED(__VA_ARGS__) \
    }
#define CONST_8_BY(axis_, type_, scale_, ...)                                                          \
    {                                                                                                  \
        .kind = TENSOR_CONSTANT, .type = TEST_##type_, .scale = (scale_), .channel_axis = 1 + (axis_), \
        SHAPED(__VA_ARGS__)                                                                            \
    }
#define SET(table_, field_, value_)                        \
    {                                                      \
        .field = HL_##table_##_##field_, .value = (value_) \
    }
#define OP(suffix_) .builtin = kTfLiteBuiltin##suffix_

// Rows of operators that several families have.
#define PACK(name_, axis_, ...)                                                                     \
    {                                                                                               \
        .name = "PACK " name_, OP(Pack),                                                            \
        .settings = {SET(PackOptions, values_count, 3), SET(PackOptions, axis, axis_)}, .inputs = { \
            IN(__VA_ARGS__),                                                                        \
            IN(__VA_ARGS__),                                                                        \
            IN(__VA_ARGS__)                                                                         \
        }                                                                                           \
    }
#define UNPACK(name_, axis_, ...)                                                                               \
    {                                                                                                           \
        .name = "UNPACK " name_, OP(Unpack),                                                                    \
        .settings = {SET(UnpackOptions, num, 3), SET(UnpackOptions, axis, axis_)}, .inputs = {IN(__VA_ARGS__)}, \
        .output_count = 3                                                                                       \
    }
#define SPLIT(name_, axis_, ...)                                                           \
    {                                                                                      \
        .name = "SPLIT " name_, OP(Split), .settings = {SET(SplitOptions, num_splits, 2)}, \
        .inputs = {INT(axis_), IN(__VA_ARGS__)}, .output_count = 2                         \
    }

// A family: rows up to the first without a name.
struct op_family {
    const char *name;
    const struct op_case *cases;
    bool by_device; // block sizes are chosen by the device: once more as if it were a large GPU
    // further invocations, before which variables keep their values; then one more behind a reset of them
    int repeats;
};
// Each in a file of its own, cases_NAME.c.
#define OP_FAMILIES(X) \
    X(elementwise) X(move) X(pick) X(reduce) X(convolve) X(quantized) X(ranks) X(recurrent) X(special) X(refused)
#define OP_FAMILY(name) extern const struct op_family op_family_##name;
OP_FAMILIES(OP_FAMILY)
#undef OP_FAMILY

// What the table runs on. The program is linked with the delegate's plug-in interface and its report.
struct op_target {
    const struct op_target_kind *kind;
    const char *device;
    enum gpu_precision precision; // of its floats
};

struct op_target_kind {
    const char *name; // as messages say it: "the GPU"
    TfLiteDelegate *(*create)(const struct op_target *target);
    bool takes_all; // a node that stays on the CPU is a failure; else it is only counted
    // Checks what the report says of the delegate itself. NULL: nothing.
    void (*check_report)(const struct op_target *target, const HaliteDelegateReport *report);
    // Whether the target computes the row by a formula that is not good for its numbers: it is left out. NULL: none.
    bool (*leaves_out)(const struct op_case *row);
    // Whether the row's operator takes what stands behind it into its own kernel. NULL: none does.
    bool (*has_epilogue)(const struct op_case *row);
    // By how much an element may differ, which the CPU says is `expected`. behind: a sum and a product stand behind it.
    double (*allowed)(const struct op_target *target, const struct op_case *row, bool behind, TfLiteType type,
                      double expected);
};

struct op_count {
    int nodes, taken; // by the delegate
};

// Runs a family through the target; a difference and a message each fail the running cmocka test. only: rows whose name
// has it; NULL: all. Families whose rows are to be refused are for targets that take all. Returns how many nodes the
// delegate had.
struct op_count op_family_run(const struct op_family *family, const struct op_target *target, const char *only);
// Prints how long an inference of each row alone takes, on the CPU's reference kernels and on the target, copies of
// inputs included. Rows have their largest batch and channels. Nothing is compared.
void op_family_bench(const struct op_family *family, const struct op_target *target, const char *only);
// Only plans the family for the target, and runs nothing.
void op_family_plan(const struct op_family *family, const struct op_target *target);

// op_target_gpu.c
extern const struct op_target_kind op_target_gpu, op_target_exact; // in floats, and with quantized = exact

#endif
