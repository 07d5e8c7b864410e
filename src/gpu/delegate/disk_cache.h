// SPDX-License-Identifier: Apache-2.0
// Keeps the compiled programs of a partition in a file for the next process. In: the folder and the model's name from
// the options, a device, a plan. Out: programs that the device need not compile, and a file
//     FOLDER/MODEL_FINGERPRINT.bin
// A file is read only if no other user may write to it, and used only if it is undamaged and was written for this
// version of the library, device, driver, precision, model and plan. Any other file is reported in one line, ignored
// and replaced. The plan is not stored: making one takes milliseconds, and its constants are those of the model.
#ifndef HALITE_GPU_DELEGATE_DISK_CACHE_H
#define HALITE_GPU_DELEGATE_DISK_CACHE_H

#include "gpu/delegate/engine.h"
#include "gpu/plan/plan.h"

// All zero: nothing is cached.
struct gpu_disk_cache {
    char *path;
    char identity[1024]; // lines of "name value" that the file must have
    bool open;           // the device collects programs
};

// Called before and after a runner is created. Neither fails: at worst, after a message, everything is compiled or
// nothing is saved.
void gpu_disk_cache_begin(struct gpu_disk_cache *cache, const struct gpu_engine *engine, const struct gpu_plan *plan);
// runner: its programs are saved, after they ran once if the driver compiles that late; NULL: nothing is saved.
void gpu_disk_cache_end(struct gpu_disk_cache *cache, const struct gpu_engine *engine, struct gpu_runner *runner);

// For tests. Returns the programs inside a file's bytes if the file passes the checks above, else NULL with the reason
// in *why.
const void *gpu_disk_cache_check(const void *bytes, size_t size, const char *identity, size_t *payload_size,
                                 const char **why);

#endif
