// SPDX-License-Identifier: Apache-2.0
// A runner of Core ML's models that computes: it stands for Core ML in tests (src/delegates/coreml/runner.h). In: the
// bytes of a specification. Out: results of plain loops, written after the documentation of the format and sharing
// nothing with the delegate but the messages' definition. What is wrong with a specification is written to standard
// error, and refused. It proves what the delegate sends; how Core ML computes it, it cannot know. Tests turn its knobs
// with fakeCoreml_set, programs with FAKE_COREML="version=2".
#ifndef HALITE_TESTS_FAKES_COREML_FAKE_H
#define HALITE_TESTS_FAKES_COREML_FAKE_H

#include "common/knobs.h"
#include "coreml_model.pb-c.h"
#include "delegates/coreml/runner.h"

// X(name, at first, what it is)
#define FAKE_KNOBS(X)                                                  \
    X(version, 3, "of Core ML; 0: the system is too old for any")      \
    X(neural_engine, 1, "whether the device has one")                  \
    X(fail_at, 0, "number of the call that fails, from 1 on; 0: none") \
    X(calls, 0, "calls so far that can fail")                          \
    X(live, 0, "models that exist")                                    \
    X(models, 0, "models compiled so far")                             \
    X(layers, 0, "layers of them")                                     \
    X(runs, 0, "runs so far")                                          \
    X(halves, 0, "weights so far that are float16")                    \
    X(specification, 0, "specificationVersion of the last model")      \
    X(complaints, 0, "specifications and calls so far that were not correct")

FAKE_DECLARE_KNOBS(fakeCoreml);

FAKE_EXPORT extern const struct coreml_runner halite_coreml_runner;

// ---- models -------------------------------------------------------------------------------------

// What a layer reads or writes, as [B, C, H, W].
struct fake_blob {
    const char *name;
    int64_t b, c, h, w;
    float *data;
};

// A layer that has passed its checks.
struct fake_step {
    const Coreml__NeuralNetworkLayer *layer;
    struct fake_blob **inputs, *output;
    int input_count;
    float *weights, *bias;     // as floats; NULL: there are none
    int64_t pad_top, pad_left; // of windows
};

// Writes a complaint to `why` and to standard error. Returns false.
struct fake_place {
    const char *layer; // NULL: the model itself
    char *why;
    size_t size;
};
bool fake_complain(const struct fake_place *place, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define FAKE_WANT(place, condition, ...)                              \
    do {                                                              \
        if (!(condition)) return fake_complain((place), __VA_ARGS__); \
    } while (0)

// A kind of layers.
struct fake_kind {
    Coreml__NeuralNetworkLayer__LayerCase layer_case;
    int inputs[2]; // fewest and most
    // Checks the parameters, sets the output's shape and what else the step needs.
    bool (*check)(struct fake_step *step, const struct fake_place *place);
    void (*compute)(const struct fake_step *step);
};
extern const struct fake_kind fake_convolution, fake_inner_product, fake_pooling, fake_padding, fake_resize_bilinear,
    fake_activation, fake_unary, fake_add, fake_multiply, fake_softmax, fake_concat, fake_reshape;

// Weights as floats, from malloc. NULL after a complaint: there have to be `count` of one type.
float *fake_weights(const Coreml__WeightParams *weights, uint64_t count, const struct fake_place *place);

static inline float *fake_at(const struct fake_blob *blob, int64_t b, int64_t c, int64_t h, int64_t w)
{
    return blob->data + ((b * blob->c + c) * blob->h + h) * blob->w + w;
}
static inline int64_t fake_count(const struct fake_blob *blob)
{
    return blob->b * blob->c * blob->h * blob->w;
}

#endif
