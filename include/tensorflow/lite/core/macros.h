// SPDX-License-Identifier: Apache-2.0
//
// What compilers call differently.
#ifndef TENSORFLOW_LITE_CORE_MACROS_H_
#define TENSORFLOW_LITE_CORE_MACROS_H_

#ifdef __has_builtin
#define TFLITE_HAS_BUILTIN(x) __has_builtin(x)
#else
#define TFLITE_HAS_BUILTIN(x) 0
#endif

#ifdef __has_attribute
#define TFLITE_HAS_ATTRIBUTE(x) __has_attribute(x)
#else
#define TFLITE_HAS_ATTRIBUTE(x) 0
#endif

// The condition, which mostly is false or true.
#if !defined(__NVCC__) && (defined(__GNUC__) || TFLITE_HAS_BUILTIN(__builtin_expect))
#define TFLITE_EXPECT_FALSE(condition) __builtin_expect(!!(condition), 0)
#define TFLITE_EXPECT_TRUE(condition) __builtin_expect(!!(condition), 1)
#else
#define TFLITE_EXPECT_FALSE(condition) (condition)
#define TFLITE_EXPECT_TRUE(condition) (condition)
#endif

// A function that is called and never copied into its caller.
#if defined(_MSC_VER) && !defined(__clang__)
#define TFLITE_NOINLINE __declspec(noinline)
#elif defined(__GNUC__) || TFLITE_HAS_ATTRIBUTE(noinline)
#define TFLITE_NOINLINE __attribute__((noinline))
#else
#define TFLITE_NOINLINE
#endif

// A definition that gives way to another one of the same name; not on Windows.
#ifndef TFLITE_ATTRIBUTE_WEAK
#if !defined(_WIN32) && (defined(__GNUC__) || TFLITE_HAS_ATTRIBUTE(weak))
#define TFLITE_ATTRIBUTE_WEAK __attribute__((weak))
#define TFLITE_HAS_ATTRIBUTE_WEAK 1
#else
#define TFLITE_ATTRIBUTE_WEAK
#define TFLITE_HAS_ATTRIBUTE_WEAK 0
#endif
#endif

#endif  // TENSORFLOW_LITE_CORE_MACROS_H_
