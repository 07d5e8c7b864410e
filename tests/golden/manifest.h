// SPDX-License-Identifier: Apache-2.0
// A golden case as its manifest describes it: which model, which inputs step by step, which outputs the official
// runtime gave. In: NAME.txt. Out: plain structs; offsets and sizes are checked against NAME.bin when the case runs.
#ifndef HALITE_GOLDEN_MANIFEST_H
#define HALITE_GOLDEN_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "../../tools/text.h"
#include "tensorflow/lite/c/c_api_types.h"

enum { GOLDEN_MAX_RANK = 32 };

// What a "spread" line says about the disagreement of the official runtime's own kernels.
enum golden_spread_kind {
    GOLDEN_SPREAD_ABSENT,
    GOLDEN_SPREAD_FINITE,
    GOLDEN_SPREAD_INFINITE,
    GOLDEN_SPREAD_REFUSED,
};

struct golden_spread {
    enum golden_spread_kind kind;
    double difference; // where finite
};

// An "in" or "out" line.
struct golden_tensor {
    int index;
    TfLiteType type;
    int rank;
    int dims[GOLDEN_MAX_RANK];
    size_t offset, bytes; // in NAME.bin
    const char *name;
    struct golden_spread ref, opt, xnn; // of an "out"
};

struct golden_step {
    const char *signature; // NULL: the primary subgraph
    bool reset;            // variables, before this step
    int in_count, out_count;
    struct golden_tensor *ins, *outs;
};

// Where the official runtime refuses.
// GOLDEN_ANY: it crashed, or the file is malformed; whatever happens here is right
// but a crash, a hang or a hunger for memory.
enum golden_stage { GOLDEN_RUNS, GOLDEN_LOAD, GOLDEN_ALLOCATE, GOLDEN_INVOKE, GOLDEN_ANY };

enum golden_resolver { GOLDEN_REF, GOLDEN_OPT, GOLDEN_XNN };

struct golden_case {
    char *name;       // path of the manifest without ".txt"
    char *model_path; // found on disk, or where it ought to be
    char *data_path;  // NAME.bin
    enum golden_stage fails;
    const char *fails_text;
    bool custom_excuse; // a note says that a runtime with the missing operator may run the model
    enum golden_resolver resolver;
    int step_count;
    struct golden_step *steps;
    char *text; // the manifest; the names above point into it
};

// True where the file begins like a manifest: folders hold other text files too.
bool golden_is_manifest(const char *path);

// NULL on failure, with the reason in `message` ("line 7: ...").
struct golden_case *golden_read_manifest(const char *path, struct hl_text *message);
void golden_free_case(struct golden_case *c);

const char *golden_stage_name(enum golden_stage stage);

#endif
