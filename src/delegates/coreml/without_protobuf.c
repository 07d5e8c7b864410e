// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the Core ML delegate in a build without protobuf-c, which writes no model specifications. In:
// options. Out: no delegate, with the reason. The names are there so that programs that ask for the delegate link,
// start and go on without it on every system.
#include "base/report.h"
#include "delegates/common/plugin.h"
#include "tensorflow/lite/delegates/coreml/coreml_delegate.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static TfLiteDelegate *refuse(const char *const *keys, const char *const *values, size_t count,
                              const struct hl_reporter *reporter)
{
    (void)keys;
    (void)values;
    (void)count;
    hl_report(reporter,
              "TfLiteCoreMlDelegate: this build has no protobuf-c, with which models for Core ML are written; "
              "run on the CPU, or with the GPU delegate");
    return NULL;
}

TfLiteDelegate *TfLiteCoreMlDelegateCreate(const TfLiteCoreMlDelegateOptions *options)
{
    (void)options;
    return refuse(NULL, NULL, 0, NULL);
}

void TfLiteCoreMlDelegateDelete(TfLiteDelegate *delegate)
{
    (void)delegate; // there is none
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    return delegate_plugin_create(options_keys, options_values, num_options, report_error, refuse);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    TfLiteCoreMlDelegateDelete(delegate);
}
