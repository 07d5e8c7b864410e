// SPDX-License-Identifier: Apache-2.0
//
// Name of the namespace in which C++ code defines what depends on the runtime that it was built for.
#ifndef TENSORFLOW_LITE_NAMESPACE_H_
#define TENSORFLOW_LITE_NAMESPACE_H_

#define TFLITE_CONDITIONAL_NAMESPACE regular_tflite

#endif  // TENSORFLOW_LITE_NAMESPACE_H_
