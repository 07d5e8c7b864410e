// SPDX-License-Identifier: Apache-2.0
// What the module TensorFlowLiteCCoreML holds: the options of the Core ML delegate and the types of its functions.
#ifndef HALITE_SWIFT_TENSORFLOWLITECCOREML_H
#define HALITE_SWIFT_TENSORFLOWLITECCOREML_H

#include <tensorflow/lite/delegates/coreml/coreml_delegate.h>

#endif
