// SPDX-License-Identifier: Apache-2.0
// A libneuralnetworks.so that computes: it stands for Android's in tests. In: the calls of the system's interface. Out:
// results of Halite's reference kernels. Each call's order and arguments are checked as strictly as the real library
// checks them, and what is wrong is written to standard error. It proves what a delegate sends; how a vendor's driver
// behaves it cannot know. Tests turn its knobs with fakeNnapi_set, programs with FAKE_NNAPI="level=29,refuse=3".
#ifndef HALITE_TESTS_FAKES_NEURALNETWORKS_FAKE_H
#define HALITE_TESTS_FAKES_NEURALNETWORKS_FAKE_H

#include "common/knobs.h"
#include "delegates/nnapi/system.h"

// X(name, at first, what it is)
#define FAKE_KNOBS(X)                                                                            \
    X(level, 1000007, "feature level of the library, and of devices without one of their own")   \
    X(device_level, 0, "feature level of the devices but nnapi-reference; 0: the library's")     \
    X(support_level, 1000007, "what a support library says of itself; 0: it has nothing to say") \
    X(devices, 3, "how many devices there are, of those in devices.c")                           \
    X(refuse, -1, "operation code that accelerators do not support")                             \
    X(fail_at, 0, "number of the call that fails, from 1 on; 0: none")                           \
    X(fail_code, 5, "what that call returns")                                                    \
    X(calls, 0, "calls so far that return a code")                                               \
    X(live, 0, "objects that exist")                                                             \
    X(operations, 0, "operations of all compilations so far")                                    \
    X(runs, 0, "executions so far")                                                              \
    X(burst_runs, 0, "of these, in a burst")                                                     \
    X(preference, -1, "of the last compilation")                                                 \
    X(priority, 0, "the same")                                                                   \
    X(cached, 0, "compilations with a token so far")                                             \
    X(token_0, 0, "the four words of the last of these tokens")                                  \
    X(token_1, 0, "")                                                                            \
    X(token_2, 0, "")                                                                            \
    X(token_3, 0, "")                                                                            \
    X(devices_named, 0, "how many devices the last compilation is for; 0: the system's choice")  \
    X(relaxed, 0, "whether the last model may be computed in half precision")                    \
    X(timeout, 0, "of the last compilation, in nanoseconds")                                     \
    X(run_timeout, 0, "of the last execution")                                                   \
    X(loop_timeout, 0, "the same, of each loop")                                                 \
    X(complaints, 0, "calls so far whose order or arguments were wrong")

FAKE_DECLARE_KNOBS(fakeNnapi);

#define X(level, result, symbol, name, arguments) FAKE_EXPORT result symbol arguments;
NNAPI_FUNCTIONS(X)
#undef X
struct nnapi_support_library;
FAKE_EXPORT const struct nnapi_support_library *ANeuralNetworks_getSLDriverImpl(void);

// Begins each function that returns a code: counts it, and returns where it is to fail.
int fake_begin(void);
#define FAKE_BEGIN()                        \
    do {                                    \
        int failure_ = fake_begin();        \
        if (failure_ != 0) return failure_; \
    } while (0)
// Says what is wrong with a call, and returns the code.
int fake_complain(const char *function, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Returns with a complaint unless the condition holds.
#define FAKE_WANT(condition, code, ...)                                                        \
    do {                                                                                       \
        if (!(condition)) return fake_complain(__func__, ANEURALNETWORKS_##code, __VA_ARGS__); \
    } while (0)

// ---- models -------------------------------------------------------------------------------------

enum { FAKE_RANK = 8, FAKE_OPERANDS = 64 };
enum { FAKE_MERGES = 51 }; // the operand of BIDIRECTIONAL_SEQUENCE_LSTM that says whether it has one output

struct fake_operand {
    int32_t type;
    uint32_t rank, dims[FAKE_RANK];
    float scale;
    int32_t zero_point;
    uint32_t channel_dim, channels; // 0 channels: one scale
    float *channel_scales;
    bool has_value; // a constant; without bytes: left out
    const void *value;
    size_t size;
    uint8_t small[ANEURALNETWORKS_COPIED_VALUE_BYTES];
    bool is_input, is_output;
    int writer; // operation, -1: none
    bool read;
};

struct fake_operation {
    int32_t code;
    uint32_t input_count, output_count;
    uint32_t inputs[FAKE_OPERANDS], outputs[FAKE_OPERANDS];
};

struct ANeuralNetworksModel {
    struct fake_operand *operands;
    struct fake_operation *operations;
    uint32_t operand_count, operation_count;
    uint32_t *inputs, *outputs;
    uint32_t input_count, output_count;
    bool identified, finished;
    int users; // compilations: the model must outlive them
};

struct fake_program; // build.h

struct ANeuralNetworksDevice {
    const char *name;
    int delay_ms; // of each run
};

struct ANeuralNetworksCompilation {
    ANeuralNetworksModel *model;
    const ANeuralNetworksDevice *device; // the first of them; NULL: the system chose
    uint32_t device_count;
    bool finished;
    struct fake_program *program;
    int users;
};

static inline bool fake_is_tensor(int32_t type)
{
    return type != ANEURALNETWORKS_FLOAT32 && type != ANEURALNETWORKS_INT32 && type != ANEURALNETWORKS_UINT32 &&
           type != ANEURALNETWORKS_BOOL && type != ANEURALNETWORKS_FLOAT16;
}
static inline bool fake_is_8_bit(int32_t type)
{
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}
static inline bool fake_is_absent(const struct fake_operand *operand)
{
    return operand->has_value && operand->size == 0;
}
size_t fake_element_bytes(int32_t type);
// Bytes of all elements; 0 where a dimension is unknown.
size_t fake_bytes(const struct fake_operand *operand);
const char *fake_operation_name(int32_t code);

// check.c: whether an operation has the operands that the interface gives it, at the library's feature level. A code.
int fake_check_operation(const ANeuralNetworksModel *model, const struct fake_operation *operation);
// build.c: what computes the model with the reference kernels. NULL after a complaint.
struct fake_program *fake_build(const ANeuralNetworksModel *model);
void fake_program_free(struct fake_program *program);

#endif
