// SPDX-License-Identifier: Apache-2.0
// Keeps the measured blocks of a device in the folder of kept kernels, for every later run there:
//     FOLDER/tuned_API_DEVICE.txt
// It is text: lines that say of which device, driver and version of the library it is, rows (gpu/plan/tuning.h), and
// the hash of all that. A file is read only if no other user may write to it, and used only if it is undamaged and of
// this device, driver and version; any other is reported in one line and ignored. Blocks of it are taken only where
// the cost model counts them among its candidates, so that no file makes a plan that the library would not make.
#ifndef HALITE_GPU_DELEGATE_TUNING_FILE_H
#define HALITE_GPU_DELEGATE_TUNING_FILE_H

#include "gpu/delegate/engine.h"

// Once the device is open: reads engine->tuning from the folder of the options, if there is one.
void gpu_tuning_file_load(struct gpu_engine *engine);
// Writes it where something was measured.
void gpu_tuning_file_save(struct gpu_engine *engine);

// For tests: the rows of a file's text, if it begins with `identity` and is undamaged; else NULL, with the reason in
// *why. The text is changed: it ends where the rows do.
const char *gpu_tuning_file_check(char *text, const char *identity, const char **why);

#endif
