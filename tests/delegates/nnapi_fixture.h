// SPDX-License-Identifier: Apache-2.0
// For tests of the NNAPI delegate before its fake: both libraries, opened as programs open them, and delegates made of
// options as texts.
#ifndef HALITE_TESTS_DELEGATES_NNAPI_FIXTURE_H
#define HALITE_TESTS_DELEGATES_NNAPI_FIXTURE_H

#include "delegates/session.h"
#include "tensorflow/lite/acceleration/configuration/c/nnapi_plugin.h"
#include "tensorflow/lite/delegates/nnapi/nnapi_delegate_c_api.h"

struct nnapi_support_library;

// X(result, name, arguments)
#define DELEGATE_FUNCTIONS(X)                                                            \
    PLUGIN_FUNCTIONS(X)                                                                  \
    X(TfLiteNnapiDelegateOptions, TfLiteNnapiDelegateOptionsDefault, (void))             \
    X(TfLiteDelegate *, TfLiteNnapiDelegateCreate, (const TfLiteNnapiDelegateOptions *)) \
    X(void, TfLiteNnapiDelegateDelete, (TfLiteDelegate *))                               \
    X(const TfLiteDelegatePlugin *, TfLiteNnapiDelegatePluginCApi, (void))
#define FAKE_FUNCTIONS(X)                             \
    X(void, fakeNnapi_reset, (void))                  \
    X(void, fakeNnapi_set, (const char *, long long)) \
    X(long long, fakeNnapi_get, (const char *))       \
    X(struct nnapi_support_library *, ANeuralNetworks_getSLDriverImpl, (void))

struct nnapi_functions {
#define X(result, name, arguments) result(*name) arguments;
    DELEGATE_FUNCTIONS(X) FAKE_FUNCTIONS(X)
#undef X
};
extern struct nnapi_functions lib;

// Opens both; a setup of cmocka.
int open_libraries(void **state);

// With options as text: key, value, ... NULL. The fake stands for the system where nothing else is named.
TfLiteDelegate *make(const char *const *texts);
#define MAKE(...) make((const char *const[]){__VA_ARGS__, NULL})
#endif
