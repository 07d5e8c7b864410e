// SPDX-License-Identifier: Apache-2.0
// The device of a delegate, shared with the kernels made from it and freed with the last of them. One thread uses it at
// a time: enter locks and says whose call this is, so that messages of every layer below reach that interpreter's
// reporter.
#ifndef HALITE_GPU_DELEGATE_ENGINE_H
#define HALITE_GPU_DELEGATE_ENGINE_H

#include "gpu/backend/devices.h"
#include "gpu/delegate/options.h"
#include "gpu/delegate/profile.h"
#include "tensorflow/lite/c/common.h"

struct gpu_engine;

// Takes the options over. NULL without memory: then they are still the caller's.
struct gpu_engine *gpu_engine_create(const struct gpu_options *options);
void gpu_engine_retain(struct gpu_engine *engine);
void gpu_engine_release(struct gpu_engine *engine); // NULL is fine

const struct gpu_options *gpu_engine_options(const struct gpu_engine *engine);

// stage: "Init", "Prepare" or "Invoke", which messages begin with: "TfLiteGpuDelegate Init: …".
void gpu_engine_enter(struct gpu_engine *engine, TfLiteContext *context, const char *stage);
void gpu_engine_leave(struct gpu_engine *engine);

// Between enter and leave. The reporter lives as long as the engine.
const struct hl_reporter *gpu_engine_reporter(const struct gpu_engine *engine);
const char *gpu_engine_last_error(const struct gpu_engine *engine); // the last message, shortened
struct gpu_profiles *gpu_engine_profiles(struct gpu_engine *engine);
// Opens the device unless it is open. False after a message.
bool gpu_engine_open(struct gpu_engine *engine);
const struct gpu_device_info *gpu_engine_info(const struct gpu_engine *engine); // NULL: not open
const struct gpu_backend *gpu_engine_backend(const struct gpu_engine *engine);
struct gpu_device *gpu_engine_device(const struct gpu_engine *engine);
// As the options say, and better where the device cannot do that.
enum gpu_precision gpu_engine_precision(const struct gpu_engine *engine);

#endif
