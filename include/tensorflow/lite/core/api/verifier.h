// SPDX-License-Identifier: Apache-2.0
// A check of a program's own, which FlatBufferModel::VerifyAndBuildFromBuffer runs beside the library's verifier.
#ifndef TENSORFLOW_LITE_CORE_API_VERIFIER_H_
#define TENSORFLOW_LITE_CORE_API_VERIFIER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/api/error_reporter.h"

namespace tflite
{

class TfLiteVerifier
{
  public:
    virtual ~TfLiteVerifier() = default;
    // Whether a model may be used: length bytes at data. It reports why not.
    virtual bool Verify(const char *data, int length, ErrorReporter *reporter) = 0;
};

} // namespace tflite

#endif
