// SPDX-License-Identifier: Apache-2.0
// Which TfLiteType a C++ type stands for, and the other way round. Types that no tensor has give kTfLiteNoType.
#ifndef TENSORFLOW_LITE_PORTABLE_TYPE_TO_TFLITETYPE_H_
#define TENSORFLOW_LITE_PORTABLE_TYPE_TO_TFLITETYPE_H_

#include "halite/cxx.h"

#include <complex>
#include <cstdint>

#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

template <typename T> constexpr TfLiteType typeToTfLiteType()
{
    return kTfLiteNoType;
}

template <TfLiteType type> struct TfLiteTypeToType {
};

#define HALITE_MATCH_TYPE(cpp_type, code)                         \
    template <> constexpr TfLiteType typeToTfLiteType<cpp_type>() \
    {                                                             \
        return code;                                              \
    }                                                             \
    template <> struct TfLiteTypeToType<code> {                   \
        using Type = cpp_type;                                    \
    }

HALITE_MATCH_TYPE(bool, kTfLiteBool);
HALITE_MATCH_TYPE(int8_t, kTfLiteInt8);
HALITE_MATCH_TYPE(uint8_t, kTfLiteUInt8);
HALITE_MATCH_TYPE(int16_t, kTfLiteInt16);
HALITE_MATCH_TYPE(uint16_t, kTfLiteUInt16);
HALITE_MATCH_TYPE(int32_t, kTfLiteInt32);
HALITE_MATCH_TYPE(uint32_t, kTfLiteUInt32);
HALITE_MATCH_TYPE(int64_t, kTfLiteInt64);
HALITE_MATCH_TYPE(uint64_t, kTfLiteUInt64);
HALITE_MATCH_TYPE(float, kTfLiteFloat32);
HALITE_MATCH_TYPE(double, kTfLiteFloat64);
HALITE_MATCH_TYPE(TfLiteFloat16, kTfLiteFloat16);
HALITE_MATCH_TYPE(TfLiteBFloat16, kTfLiteBFloat16);
HALITE_MATCH_TYPE(std::complex<float>, kTfLiteComplex64);
HALITE_MATCH_TYPE(std::complex<double>, kTfLiteComplex128);
#undef HALITE_MATCH_TYPE

} // namespace tflite

#endif
