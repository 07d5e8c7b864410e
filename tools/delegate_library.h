// SPDX-License-Identifier: Apache-2.0
// A library with one of Halite's delegates, for the subcommands: opened when one asks for it. In: a delegate's name
// (nnapi), or the path of a library. Out: how to make a delegate, and what it has done with a graph.
#ifndef HALITE_TOOLS_DELEGATE_LIBRARY_H
#define HALITE_TOOLS_DELEGATE_LIBRARY_H

#include <stdbool.h>

#include "base/library.h"
#include "halite/gpu_delegate.h"
#include "text.h"

// X(result, name, arguments)
// clang-format off
#define HL_REPORT_FUNCTIONS(X)                                                                                \
    X(HaliteDelegateReport *, HaliteDelegateReportCreate, (const TfLiteDelegate *))                           \
    X(void, HaliteDelegateReportDelete, (HaliteDelegateReport *))                                             \
    X(const HaliteDevice *, HaliteDelegateReportGetDevice, (const HaliteDelegateReport *))                    \
    X(HaliteGpuPrecision, HaliteDelegateReportGetPrecision, (const HaliteDelegateReport *))                   \
    X(int32_t, HaliteDelegateReportGetGraphCount, (const HaliteDelegateReport *))                             \
    X(const HaliteDelegateGraph *, HaliteDelegateReportGetGraph, (const HaliteDelegateReport *, int32_t))     \
    X(const HaliteDelegateNode *, HaliteDelegateReportGetNode, (const HaliteDelegateReport *, int32_t))
#define HL_PLUGIN_FUNCTIONS(X)                                                                                \
    X(TfLiteDelegate *, tflite_plugin_create_delegate,                                                        \
      (const char *const *, const char *const *, size_t, void (*)(const char *)))                             \
    X(void, tflite_plugin_destroy_delegate, (TfLiteDelegate *))
// clang-format on

struct hl_delegate_library {
    struct hl_library *handle; // stays open, drivers do not like to be unloaded; NULL: it is not there
    const char *device;        // the name of its devices' kind, for people: "NNAPI"
    // An option with which the delegate is made for its system where that is not here. NULL: there is none.
    const char *assume_key, *assume_value;
#define X(result, name, arguments) result(*name) arguments;
    HL_REPORT_FUNCTIONS(X) HL_PLUGIN_FUNCTIONS(X)
#undef X
};

// Where the library of a delegate is: beside the program where that was built or installed (bin/ and lib/), else a bare
// name, for the system to look for. What is no delegate's name is a path already.
void hl_delegate_library_path(const char *delegate, struct hl_text *path);
// False, with what was looked for in `problem`, where it cannot be opened, or is no library of Halite's.
bool hl_delegate_library_open(struct hl_delegate_library *library, const char *delegate, struct hl_text *problem);

#endif
