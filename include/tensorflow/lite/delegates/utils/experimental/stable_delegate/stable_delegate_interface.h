// SPDX-License-Identifier: Apache-2.0
//
// What the author of a stable delegate defines in a library of his own. Nothing here is in Halite's.
#ifndef TENSORFLOW_LITE_DELEGATES_UTILS_EXPERIMENTAL_STABLE_DELEGATE_STABLE_DELEGATE_INTERFACE_H_
#define TENSORFLOW_LITE_DELEGATES_UTILS_EXPERIMENTAL_STABLE_DELEGATE_STABLE_DELEGATE_INTERFACE_H_

#include "tensorflow/lite/acceleration/configuration/c/stable_delegate.h"

#ifdef __cplusplus
extern "C" {
#endif

// Before the definition below, and before its declaration for programs that link to such a library.
#ifndef TFL_STABLE_DELEGATE_EXPORT
#if !defined(_WIN32)
#define TFL_STABLE_DELEGATE_EXPORT __attribute__((visibility("default")))
#elif defined(TFL_STABLE_DELEGATE_COMPILE_LIBRARY)
#define TFL_STABLE_DELEGATE_EXPORT __declspec(dllexport)
#else
#define TFL_STABLE_DELEGATE_EXPORT __declspec(dllimport)
#endif
#endif

// Loaders look for it by name.
extern TFL_STABLE_DELEGATE_EXPORT const TfLiteStableDelegate TFL_TheStableDelegate;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_UTILS_EXPERIMENTAL_STABLE_DELEGATE_STABLE_DELEGATE_INTERFACE_H_
