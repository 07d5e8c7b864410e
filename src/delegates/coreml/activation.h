// SPDX-License-Identifier: Apache-2.0
// Activations as layers: those of operators of their own, and those that other operators have fused. In: the name of
// what a layer has computed. Out: the layers after it, the last of which makes the tensor.
#ifndef HALITE_DELEGATES_COREML_ACTIVATION_H
#define HALITE_DELEGATES_COREML_ACTIVATION_H

#include "delegates/coreml/model.h"

// Returns the last layer of the activation. NULL without memory.
Coreml__NeuralNetworkLayer *coreml_add_activation(struct coreml_model *model, char *from,
                                                  TfLiteFusedActivation activation);
// What the layer computes becomes the tensor, after this activation.
void coreml_finish(struct coreml_model *model, Coreml__NeuralNetworkLayer *layer, TfLiteFusedActivation activation,
                   int tensor);

#endif
