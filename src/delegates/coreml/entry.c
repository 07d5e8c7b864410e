// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the Core ML delegate: the documented one, and the plug-in's. In: options. Out: no delegate, with
// the reason, since this library writes no Core ML models; the names are there so that programs that ask for the
// delegate link, start and go on without it on every system.
#include <stddef.h>

#include "base/report.h"
#include "tensorflow/lite/delegates/coreml/coreml_delegate.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static const char reason[] =
#ifdef __APPLE__
    "TfLiteCoreMlDelegate: this version of Halite makes no Core ML models; run on the CPU, or with the GPU delegate";
#else
    "TfLiteCoreMlDelegate: this system has no Core ML, which is Apple's; run on the CPU, or with the GPU delegate";
#endif

TfLiteDelegate *TfLiteCoreMlDelegateCreate(const TfLiteCoreMlDelegateOptions *options)
{
    (void)options;
    hl_report(NULL, "%s", reason);
    return NULL;
}

void TfLiteCoreMlDelegateDelete(TfLiteDelegate *delegate)
{
    (void)delegate; // there is none
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    (void)options_keys;
    (void)options_values;
    (void)num_options;
    if (!report_error) return TfLiteCoreMlDelegateCreate(NULL);
    report_error(reason);
    return NULL;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    TfLiteCoreMlDelegateDelete(delegate);
}
