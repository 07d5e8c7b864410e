// SPDX-License-Identifier: Apache-2.0
// The library's custom operators one by one, to be added to a resolver under their names.
#ifndef TENSORFLOW_LITE_KERNELS_CUSTOM_OPS_REGISTER_H_
#define TENSORFLOW_LITE_KERNELS_CUSTOM_OPS_REGISTER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/kernels/register.h"

namespace tflite
{
namespace ops
{
namespace custom
{

// Each lends a registration, or gives nullptr where the build has no such kernel.
inline TfLiteRegistration *HaliteRegister(const char *name, TfLiteRegistration *registration)
{
    return HaliteFindOperator(kTfLiteBuiltinCustom, name, 1, registration) == kTfLiteOk ? registration : nullptr;
}
inline TfLiteRegistration *Register_DETECTION_POSTPROCESS()
{
    static TfLiteRegistration registration;
    return HaliteRegister("TFLite_Detection_PostProcess", &registration);
}
inline TfLiteRegistration *Register_AUDIO_SPECTROGRAM()
{
    static TfLiteRegistration registration;
    return HaliteRegister("AudioSpectrogram", &registration);
}
inline TfLiteRegistration *Register_MFCC()
{
    static TfLiteRegistration registration;
    return HaliteRegister("Mfcc", &registration);
}
inline TfLiteRegistration *Register_NUMERIC_VERIFY()
{
    static TfLiteRegistration registration;
    return HaliteRegister("NumericVerify", &registration);
}

} // namespace custom
} // namespace ops
} // namespace tflite

#endif
