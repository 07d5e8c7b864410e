// SPDX-License-Identifier: Apache-2.0
// What runs a model specification: Core ML (run_apple.c), nothing (runner.c, for placement alone), or a stand-in that
// tests put in place of Core ML. In: the bytes of a specification, and arrays by name. Out: a compiled model, and what
// it computes.
#ifndef HALITE_DELEGATES_COREML_RUNNER_H
#define HALITE_DELEGATES_COREML_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A dense array of floats that is an input or an output of a model.
struct coreml_array {
    const char *name;
    int rank; // 3: [C, H, W]; 4: [B, C, H, W]
    int64_t shape[4];
    size_t count; // elements
    float *data;
};

// Of this table. A stand-in with another number is refused.
enum { COREML_RUNNER_INTERFACE = 1 };

// Functions that fail write why, in one line, into `why` of `size` bytes.
struct coreml_runner {
    int interface;
    // Whether it can be used here; *version: the newest version of Core ML that it has, 2 or 3. neural_engine: only on
    // devices that have one.
    bool (*open)(bool neural_engine, int *version, char *why, size_t size);
    // NULL: it failed. The bytes need not outlive the call.
    void *(*compile)(const uint8_t *bytes, size_t byte_count, char *why, size_t size);
    // Reads the inputs' data and writes the outputs'.
    bool (*run)(void *model, const struct coreml_array *inputs, int input_count, const struct coreml_array *outputs,
                int output_count, char *why, size_t size);
    void (*free)(void *model);
};

extern const struct coreml_runner coreml_runner_apple;
// Takes every model and runs none.
extern const struct coreml_runner coreml_runner_none;

// Apple's; or, for tests alone, the table `halite_coreml_runner` of the library that the environment variable
// HALITE_COREML_RUNNER names. NULL: that library cannot be used.
const struct coreml_runner *coreml_runner_find(char *why, size_t size);

#endif
