// SPDX-License-Identifier: Apache-2.0
// A compiled model: what compile.c makes, and run.c uses.
#ifndef HALITE_LITERT_CORE_COMPILED_MODEL_H
#define HALITE_LITERT_CORE_COMPILED_MODEL_H

#include "base/text.h"
#include "litert/core/core.h"

// One signature in the interpreter that runs.
struct litert_entry {
    const struct LiteRtSignatureT *signature;
    TfLiteSignatureRunner *runner; // NULL: a model without signatures, the interpreter itself
    bool is_allocated;             // since its inputs were resized
    // One for each input, then one for each output; made when they are asked for.
    struct LiteRtTensorBufferRequirementsT *requirements;
};

struct LiteRtCompiledModelT {
    LiteRtEnvironment environment;
    LiteRtModel model;
    TfLiteInterpreter *interpreter;
    struct litert_entry *entries;            // as many as the model has signatures
    LiteRtDelegateWrapper wrapper;           // of the GPU's delegate, NULL: none
    const LiteRtAcceleratorDef *accelerator; // that it came from
    bool is_fully_accelerated;
    LiteRtErrorReporterMode error_mode;
    struct hl_text errors;                  // lines, in the mode that keeps them
    TfLiteTelemetryProfilerStruct profiler; // hears of each node before it runs
    bool (*is_cancelled)(void *user_data);  // NULL: nobody cancels
    void *cancel_data;
    const struct litert_entry *running;
};

#endif
