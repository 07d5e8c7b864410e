// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/core/acceleration/configuration/c/stable_delegate.h.
#ifndef TENSORFLOW_LITE_ACCELERATION_CONFIGURATION_C_STABLE_DELEGATE_H_
#define TENSORFLOW_LITE_ACCELERATION_CONFIGURATION_C_STABLE_DELEGATE_H_

#include "tensorflow/lite/core/acceleration/configuration/c/stable_delegate.h"

#endif  // TENSORFLOW_LITE_ACCELERATION_CONFIGURATION_C_STABLE_DELEGATE_H_
