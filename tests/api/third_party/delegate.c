// SPDX-License-Identifier: Apache-2.0
// A delegate as a third party writes one: a shared library of its own, compiled with the public headers and nothing
// else of this tree, linked with no TensorFlow Lite. It takes ADD nodes of two float tensors of one size and computes
// gain * (a + b). Options: "gain", a number; "say", a text to report when it is made; "fail", the step that does not
// work: "create", "silently" (the same without a word), "prepare", "late" (the same, with the nodes claimed), "init" or
// "invoke". With LACKS_DESTROY it forgets one of its two doors.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

struct delegate {
    TfLiteDelegate base;
    float gain;
    char fail[16];
};

// The nodes of a part, in order.
struct part {
    const struct delegate *delegate;
    int count;
    struct {
        int a, b, sum;
    } nodes[16];
};

static int alive;

// ---- a part ---------------------------------------------------------------------------------------------------------

static void *part_init(TfLiteContext *context, const char *buffer, size_t length)
{
    (void)length;
    const TfLiteDelegateParams *params = (const void *)buffer;
    const struct delegate *delegate = params->delegate->data_;
    struct part *part = calloc(1, sizeof *part);
    if (!part || strcmp(delegate->fail, "init") == 0) {
        context->ReportError(context, "third party: init fails");
        free(part);
        return NULL;
    }
    alive++;
    part->delegate = delegate;
    for (int i = 0; i < params->nodes_to_replace->size && i < 16; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node, &registration);
        part->nodes[i].a = node->inputs->data[0];
        part->nodes[i].b = node->inputs->data[1];
        part->nodes[i].sum = node->outputs->data[0];
        part->count++;
    }
    return part;
}

static void part_free(TfLiteContext *context, void *data)
{
    (void)context;
    if (data) alive--;
    free(data);
}

static TfLiteStatus part_prepare(TfLiteContext *context, TfLiteNode *node)
{
    (void)context;
    return node->user_data ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus part_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const struct part *part = node->user_data;
    if (strcmp(part->delegate->fail, "invoke") == 0) {
        context->ReportError(context, "third party: invoke fails");
        return kTfLiteError;
    }
    for (int n = 0; n < part->count; n++) {
        const TfLiteTensor *a = &context->tensors[part->nodes[n].a], *b = &context->tensors[part->nodes[n].b];
        TfLiteTensor *sum = &context->tensors[part->nodes[n].sum];
        for (size_t i = 0; i < sum->bytes / sizeof(float); i++)
            sum->data.f[i] = part->delegate->gain * (a->data.f[i] + b->data.f[i]);
    }
    return kTfLiteOk;
}

// ---- the delegate ---------------------------------------------------------------------------------------------------

static int takes(const TfLiteContext *context, const TfLiteNode *node, const TfLiteRegistration *registration)
{
    if (registration->builtin_code != kTfLiteBuiltinAdd || node->inputs->size != 2) return 0;
    const TfLiteTensor *a = &context->tensors[node->inputs->data[0]], *b = &context->tensors[node->inputs->data[1]];
    return a->type == kTfLiteFloat32 && b->type == kTfLiteFloat32 && a->bytes == b->bytes;
}

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *base)
{
    const struct delegate *delegate = base->data_;
    TfLiteRegistration registration = {
        .init = part_init,
        .free = part_free,
        .prepare = part_prepare,
        .invoke = part_invoke,
        .custom_name = "ThirdParty",
        .version = 1,
    };
    TfLiteIntArray *plan;
    if (strcmp(delegate->fail, "prepare") == 0) {
        context->ReportError(context, "third party: prepare fails");
        return kTfLiteDelegateError;
    }
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    TfLiteIntArray *nodes = calloc(1, sizeof *nodes + (size_t)plan->size * sizeof(int));
    if (!nodes) return kTfLiteError;
    for (int i = 0; i < plan->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *builtin;
        if (context->GetNodeAndRegistration(context, plan->data[i], &node, &builtin) == kTfLiteOk &&
            takes(context, node, builtin))
            nodes->data[nodes->size++] = plan->data[i];
    }
    TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, base);
    free(nodes);
    if (strcmp(delegate->fail, "late") == 0) {
        context->ReportError(context, "third party: late fails");
        return kTfLiteDelegateError;
    }
    return status;
}

// ---- doors ----------------------------------------------------------------------------------------------------------

TFL_EXTERNAL_DELEGATE_EXPORT TfLiteDelegate *tflite_plugin_create_delegate(const char *const *keys,
                                                                           const char *const *values, size_t count,
                                                                           void (*report_error)(const char *))
{
    struct delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) return NULL;
    delegate->gain = 1;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i], "gain") == 0)
            delegate->gain = (float)atof(values[i]);
        else if (strcmp(keys[i], "fail") == 0)
            snprintf(delegate->fail, sizeof delegate->fail, "%s", values[i]);
        else if (strcmp(keys[i], "say") == 0)
            report_error(values[i]);
        else
            snprintf(delegate->fail, sizeof delegate->fail, "create");
    }
    if (strcmp(delegate->fail, "silently") == 0) {
        free(delegate);
        return NULL;
    }
    if (strcmp(delegate->fail, "create") == 0) {
        report_error("third party: these options are not taken");
        free(delegate);
        return NULL;
    }
    delegate->base = (TfLiteDelegate){.data_ = delegate, .Prepare = prepare};
    alive++;
    return &delegate->base;
}

#if !defined(LACKS_DESTROY)
TFL_EXTERNAL_DELEGATE_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    if (!delegate) return;
    alive--;
    free(delegate->data_);
}
#endif

// For the test: delegates and parts that are not freed.
TFL_EXTERNAL_DELEGATE_EXPORT int third_party_alive(void);
TFL_EXTERNAL_DELEGATE_EXPORT int third_party_alive(void)
{
    return alive;
}
