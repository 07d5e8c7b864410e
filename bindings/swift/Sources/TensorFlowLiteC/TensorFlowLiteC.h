// SPDX-License-Identifier: Apache-2.0
// What the module TensorFlowLiteC holds: models, interpreters, tensors and the XNNPACK delegate.
#ifndef HALITE_SWIFT_TENSORFLOWLITEC_H
#define HALITE_SWIFT_TENSORFLOWLITEC_H

#include <tensorflow/lite/c/c_api.h>
#include <tensorflow/lite/c/c_api_experimental.h>
#include <tensorflow/lite/c/c_api_types.h>
#include <tensorflow/lite/c/common.h>
#include <tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h>

#endif
