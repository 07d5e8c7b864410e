// SPDX-License-Identifier: Apache-2.0
// The resolver finds the kernel of an operator by its name and version. It asks what the caller added, then the
// built-in operators. The caller's own lookup functions, where there are some, replace both.
#ifndef HALITE_RUNTIME_RESOLVER_H
#define HALITE_RUNTIME_RESOLVER_H

#include "model/model.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

// This is an operator that the caller added. Names and registrations are copied, TfLiteOperators are not.
struct hl_added_operator {
    TfLiteRegistration registration; // builtin_code, custom_name and version are set by us
    char *custom_name;               // NULL: builtin
    int min_version, max_version;
};

// These are the lookup callbacks of the C API. Where one is set the resolver asks only callbacks.
struct hl_resolver_callbacks {
    void *user_data;
    const TfLiteOperator *(*operator_builtin)(void *user_data, int op, int version);
    const TfLiteOperator *(*operator_custom)(void *user_data, const char *op, int version);
    const TfLiteRegistration *(*builtin)(void *user_data, TfLiteBuiltinOperator op, int version);
    const TfLiteRegistration *(*custom)(void *user_data, const char *op, int version);
    const TfLiteRegistration_V3 *(*builtin_v3)(void *user_data, TfLiteBuiltinOperator op, int version);
    const TfLiteRegistration_V3 *(*custom_v3)(void *user_data, const char *op, int version);
    const TfLiteRegistration_V2 *(*builtin_v2)(void *user_data, TfLiteBuiltinOperator op, int version);
    const TfLiteRegistration_V2 *(*custom_v2)(void *user_data, const char *op, int version);
    const TfLiteRegistration_V1 *(*builtin_v1)(void *user_data, TfLiteBuiltinOperator op, int version);
    const TfLiteRegistration_V1 *(*custom_v1)(void *user_data, const char *op, int version);
};

struct hl_resolver {
    struct hl_added_operator *added;
    int added_count;
    struct hl_resolver_callbacks callbacks;
    bool without_builtins; // TfLiteInterpreterCreateWithSelectedOps
};

// Returns false where nobody knows the operator. The registration is complete: its code, name and version are set.
bool hl_resolve(const struct hl_resolver *resolver, const struct hl_model_code *code, TfLiteRegistration *registration);
// A builtin operator has the custom_name NULL. Only callbacks are copied, since callers' structs may be shorter or half
// filled. Returns false without memory.
bool hl_resolver_add(struct hl_resolver *resolver, int builtin, const char *custom_name,
                     const TfLiteRegistration *registration, int min_version, int max_version);
bool hl_resolver_add_operator(struct hl_resolver *resolver, TfLiteOperator *op);
bool hl_resolver_copy(struct hl_resolver *to, const struct hl_resolver *from);
void hl_resolver_free(struct hl_resolver *resolver);

#endif
