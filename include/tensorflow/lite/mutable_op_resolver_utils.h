// SPDX-License-Identifier: Apache-2.0
// Adds operators of the C interface (TfLiteOperator) to a resolver.
#ifndef TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_UTILS_H_
#define TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_UTILS_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/c/operator.h"
#include "tensorflow/lite/mutable_op_resolver.h"

namespace tflite
{

// The operator is lent and must outlive every interpreter that is built with the resolver. Null adds nothing.
inline void AddOp(MutableOpResolver *resolver, const TfLiteOperator *op, int min_version, int max_version)
{
    if (!op) return;
    TfLiteRegistration registration = {};
    registration.registration_external = const_cast<TfLiteOperator *>(op);
    registration.builtin_code = TfLiteOperatorGetBuiltInCode(op);
    if (registration.builtin_code == kTfLiteBuiltinCustom)
        resolver->AddCustom(TfLiteOperatorGetCustomName(op), &registration, min_version, max_version);
    else
        resolver->AddBuiltin(static_cast<BuiltinOperator>(registration.builtin_code), &registration, min_version,
                             max_version);
}
// For the version that the operator has.
inline void AddOp(MutableOpResolver *resolver, const TfLiteOperator *op)
{
    if (op) AddOp(resolver, op, TfLiteOperatorGetVersion(op), TfLiteOperatorGetVersion(op));
}

} // namespace tflite

#endif
