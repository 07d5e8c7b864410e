// SPDX-License-Identifier: Apache-2.0
// A partition as a model specification. In: nodes of the runtime, one after the other, each turned into layers by the
// mapping of its operator (op.h). Out: the specification's bytes, and which tensors are its inputs and outputs. Where
// memory is out the model fails as a whole: layers and names are then NULL, which the functions here take.
#ifndef HALITE_DELEGATES_COREML_MODEL_H
#define HALITE_DELEGATES_COREML_MODEL_H

#include "base/arena.h"
#include "coreml_model.pb-c.h"
#include "delegates/coreml/coreml.h"
#include "delegates/coreml/layout.h"
#include "tensorflow/lite/c/builtin_op_data.h"

struct coreml_model {
    const struct coreml_delegate *delegate;
    TfLiteContext *context;
    struct hl_arena arena; // owns all below, and the messages
    Coreml__NeuralNetworkLayer **layers;
    int layer_count, layer_room;
    int *inputs, *outputs; // tensors, without constants
    int input_count, output_count;
    // The node that is being mapped.
    int node;
    const char *op;
    bool failed; // no memory
};

// Builds the model of these nodes. False after a message; coreml_model_free is right in both cases.
bool coreml_model_build(struct coreml_model *model, const struct coreml_delegate *delegate, TfLiteContext *context,
                        const TfLiteDelegateParams *params);
void coreml_model_free(struct coreml_model *model);
// The serialized specification, from malloc. NULL without memory.
uint8_t *coreml_model_pack(struct coreml_model *model, size_t *size);
// The name of a tensor in the specification.
void coreml_tensor_name(int tensor, char name[24]);
// What a feature's shape is: [C, H, W], or [B, C, H, W] for Core ML 3. Returns the rank.
int coreml_feature_shape(const struct coreml_delegate *delegate, const TfLiteTensor *tensor, int64_t shape[4]);

// ---- for mappings -------------------------------------------------------------------------------

// Zeroed memory that lives as long as the model. NULL: the model failed.
void *coreml_memory(struct coreml_model *model, size_t size);

// A new layer, whose message begins `size` bytes of the model's memory: a struct with the layer first and its
// parameters after it. from: the names of its inputs. It gets a name, which also is that of its output for now.
Coreml__NeuralNetworkLayer *coreml_add_layer(struct coreml_model *model, size_t size, int input_count,
                                             char *const *from);
// The name that layers know a tensor by.
char *coreml_name(struct coreml_model *model, int tensor);
// The name of what a layer computes.
char *coreml_output(const Coreml__NeuralNetworkLayer *layer);

// The elements of a constant in another order: position i0, i1, i2, i3 of dims is at the sum of i * stride.
struct coreml_order {
    int64_t dims[4], strides[4];
};
// Floats or float16s, as the model's file has them. *weights is initialized.
void coreml_set_weights(struct coreml_model *model, Coreml__WeightParams *weights, int tensor,
                        const struct coreml_order *order);

#endif
