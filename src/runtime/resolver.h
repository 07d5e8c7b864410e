// SPDX-License-Identifier: Apache-2.0
// From an operator's name and version to its kernel: what the caller added, then the built-in operators; or the
// caller's own lookup functions instead of both.
#ifndef HALITE_RUNTIME_RESOLVER_H
#define HALITE_RUNTIME_RESOLVER_H

#include "model/model.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

// An operator that the caller added; names and registrations are copied, TfLiteOperators are not.
struct hl_added_operator {
    TfLiteRegistration registration; // builtin_code, custom_name and version are set by us
    char *custom_name;               // NULL: builtin
    int min_version, max_version;
};

// The lookup callbacks of the C API, newest form last. When one is set the resolver asks only callbacks.
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

// False when nobody knows the operator. The registration comes complete: code, name and version set.
bool hl_resolve(const struct hl_resolver *resolver, const struct hl_model_code *code, TfLiteRegistration *registration);
// custom_name NULL: builtin. Copies callbacks only: callers' structs may be shorter or half filled. False without
// memory.
bool hl_resolver_add(struct hl_resolver *resolver, int builtin, const char *custom_name,
                     const TfLiteRegistration *registration, int min_version, int max_version);
bool hl_resolver_add_operator(struct hl_resolver *resolver, TfLiteOperator *op);
bool hl_resolver_copy(struct hl_resolver *to, const struct hl_resolver *from);
void hl_resolver_free(struct hl_resolver *resolver);

#endif
