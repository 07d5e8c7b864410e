// SPDX-License-Identifier: Apache-2.0
// The compiled programs of a partition, kept in a file for the next process. In: the folder and the model's name of the
// options, a device, a plan. Out: programs that the device need not compile, and a file
//     FOLDER/MODEL_FINGERPRINT.bin
// A file is believed only where this user alone may write it, and all of it is as it was written, for this version of
// the library, device, driver, precision, model and plan. Any other is told of in one line, ignored and replaced.
// The plan is not in it: making one takes milliseconds, and its constants are the model's own.
#ifndef HALITE_GPU_DELEGATE_STORE_H
#define HALITE_GPU_DELEGATE_STORE_H

#include "gpu/delegate/engine.h"
#include "gpu/plan/plan.h"

// Zero: nothing is kept.
struct gpu_store {
    char *path;
    char identity[1024]; // what the file must be of: "name value" lines
    bool open;           // the device remembers programs
};

// Around the making of a runner. Neither fails: at worst everything is compiled, or nothing kept, after a message.
void gpu_store_begin(struct gpu_store *store, const struct gpu_engine *engine, const struct gpu_plan *plan);
// good: the runner was made, what it compiled is worth keeping.
void gpu_store_end(struct gpu_store *store, const struct gpu_engine *engine, bool good);

// A file's bytes, for tests: what the checks above let through, inside `bytes`; NULL: *why says what is wrong.
const void *gpu_store_check(const void *bytes, size_t size, const char *identity, size_t *payload_size,
                            const char **why);

#endif
