// SPDX-License-Identifier: Apache-2.0
// What kernels do where they cannot go on.
#ifndef TENSORFLOW_LITE_KERNELS_OP_MACROS_H_
#define TENSORFLOW_LITE_KERNELS_OP_MACROS_H_

#include "halite/cxx.h"

#include <cstdio>
#include <cstdlib>

#define TF_LITE_FATAL(message)                   \
    do {                                         \
        std::fprintf(stderr, "%s\n", (message)); \
        std::abort();                            \
    } while (false)
#define TF_LITE_ASSERT(x)            \
    do {                             \
        if (!(x)) TF_LITE_FATAL(#x); \
    } while (false)
#define TF_LITE_ASSERT_EQ(x, y)                          \
    do {                                                 \
        if ((x) != (y)) TF_LITE_FATAL(#x " is not " #y); \
    } while (false)
#define TFLITE_DIE(...)                    \
    do {                                   \
        std::fprintf(stderr, __VA_ARGS__); \
        std::abort();                      \
    } while (false)

#endif
