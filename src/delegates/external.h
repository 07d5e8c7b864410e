// SPDX-License-Identifier: Apache-2.0
// TfLiteExternalDelegateCreate for programs of this tree, which show messages in their own way.
#ifndef HALITE_DELEGATES_EXTERNAL_H
#define HALITE_DELEGATES_EXTERNAL_H

#include "base/report.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

// What the plug-in says while it makes the delegate goes to this reporter, and so does why there is none; what it says
// later goes to standard error. NULL: all of it does.
TfLiteDelegate *hl_external_delegate_create(const TfLiteExternalDelegateOptions *options,
                                            const struct hl_reporter *reporter);

#endif
