// SPDX-License-Identifier: Apache-2.0
// A run in a file: a ZIP archive, its files stored as they are, of
//     capsule.json     what was run, where, and what the tensors are
//     model.tflite     the model; it may be left out, its SHA-256 never is
//     inputs/N.npy     what the inputs held; N.bin (the bytes) where NumPy has no place for them
//     outputs/N.npy    what came out
//     nodes/N.npy      what each node made, where that was asked for
#ifndef HALITE_TOOLS_CAPSULE_CAPSULE_H
#define HALITE_TOOLS_CAPSULE_CAPSULE_H

#include <cjson/cJSON.h>

#include "diff/setting.h"
#include "zip.h"

enum { HL_CAPSULE_VERSION = 1 };

struct hl_capsule_tensor {
    const char *name;
    int node, tensor; // of a node: what made it, and the tensor's number; else 0
    struct hl_diff_tensor value;
};

struct hl_capsule_tensors {
    int count;
    struct hl_capsule_tensor *items;
};

struct hl_capsule {
    cJSON *manifest; // capsule.json
    const void *model;
    size_t model_size; // lent; model NULL: it is not in the capsule
    struct hl_capsule_tensors inputs, outputs, nodes;
};

// ---- content.c ----------------------------------------------------------------------------------

// Reads a capsule of any bytes, which are lent as long as it lives: what is in it belongs together then. False with the
// reason in `error`; hl_capsule_free is right in both cases.
bool hl_capsule_read(struct hl_capsule *capsule, const void *bytes, size_t size, struct hl_text *error);
// Completes the manifest by what the tensors are, and makes the archive of it all; writer->too_large where it has none.
void hl_capsule_write(struct hl_capsule *capsule, struct hl_zip_writer *writer);
void hl_capsule_free(struct hl_capsule *capsule);

// A member of the manifest, or of a part of it, as text; "" where there is none.
const char *hl_capsule_string(const cJSON *json, const char *name);

// ---- run.c --------------------------------------------------------------------------------------

// One run of a model in memory, with what a report is to say of it.
struct hl_capsule_run {
    bool ran; // false: it failed, and `failure` says how
    struct hl_text failure;
    struct hl_text place; // which nodes ran where, a line each place
    cJSON *device;        // the GPU; NULL: none
    cJSON *refused;       // nodes that the GPU delegate did not take, with its reasons; NULL: there is no GPU
    struct hl_capsule_tensors outputs;
};

struct hl_capsule_model {
    const char *command, *path; // for messages
    const void *bytes;
    size_t size;
};

// A copy of the model, opened. False after a message; hl_model_file_close is right in both cases.
bool hl_capsule_open(struct hl_model_file *file, const struct hl_capsule_model *model);
// What an input, or an output, is called is lent by `file`, which stays open until the run is freed. False after a
// message where the model cannot be opened; a run that fails has said so as well.
bool hl_capsule_run(struct hl_capsule_run *run, struct hl_model_file *file, const struct hl_capsule_model *model,
                    const struct hl_model_options *options, const struct hl_diff_inputs *inputs);
// What every node makes, or those of `only`, in a run of its own. False after a message.
bool hl_capsule_run_nodes(struct hl_capsule_tensors *nodes, const struct hl_capsule_model *model,
                          const struct hl_model_options *options, const struct hl_diff_inputs *inputs,
                          const struct hl_capsule_tensors *only);
void hl_capsule_run_free(struct hl_capsule_run *run);
void hl_capsule_tensors_free(struct hl_capsule_tensors *tensors);

// ---- settings.c ---------------------------------------------------------------------------------

// How the model is run, as JSON, and back: into options that are at their defaults. What is no such option is passed
// over, and so is a library that a capsule names (--delegate, --custom-ops), see below.
cJSON *hl_capsule_settings(const struct hl_model_options *options);
void hl_capsule_set(struct hl_model_options *options, const cJSON *settings);
// Puts those flags in their place that are on the command line, as `is_given` says by their names.
void hl_capsule_override(struct hl_model_options *options, const struct hl_model_options *given,
                         bool (*is_given)(const void *user_data, const char *flag), const void *user_data);
// The first of these settings that names a library, whose code a replay would run; NULL: none does.
const char *hl_capsule_library(const cJSON *settings);
// "gpu, device opencl:0, precision f16s" and so on; "the defaults".
void hl_capsule_add_settings(struct hl_text *text, const cJSON *settings);
// Environment variables that have a say in it.
cJSON *hl_capsule_environment(void);

// ---- show.c, replay.c ---------------------------------------------------------------------------

void hl_capsule_show(const struct hl_capsule *capsule, const char *path);

struct hl_capsule_bounds {
    double bound, steps; // of reals, as a part of the largest value; of integers
};
// Runs the capsule's inputs again and prints how far outputs, or nodes, are from what it holds. *differs: something is
// beyond the bound, or one of both failed. False after a message.
bool hl_capsule_replay(const struct hl_capsule *capsule, const struct hl_capsule_model *model,
                       const struct hl_model_options *options, const struct hl_capsule_bounds *bounds, bool nodes,
                       bool json, bool *differs);

#endif
