// SPDX-License-Identifier: Apache-2.0
// A verified model holds what the bytes of a .tflite file say, as plain structs. Constants point into the file's bytes
// (zero copy). Everything else is decoded once, at load, and never changes, so one model may serve many interpreters on
// many threads. Whoever holds a TfLiteModel may rely on every index, count and size in it.
#ifndef HALITE_MODEL_MODEL_H
#define HALITE_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tensor.h"
#include "base/report.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

// This says what an operator is. It is an entry of the file's table of operator codes.
struct hl_model_code {
    int builtin;             // TfLiteBuiltinOperator: the larger of the file's old and new field
    const char *custom_name; // of a custom operator, else NULL
    int version;
};

struct hl_model_quantization {
    TfLiteQuantizationType type; // kTfLiteNoQuantization where the file has no scales
    int scale_count;             // affine: 1 or the size of the quantized dimension
    const float *scales;
    const int *zero_points; // scale_count of them
    int dimension;          // affine and blockwise
    int scales_tensor;      // blockwise and multi-axis: index of the tensor that holds the scales
    int zero_points_tensor; // likewise, -1 where absent
    int block_size;         // blockwise and multi-axis
    int dimension_count;    // multi-axis
    const int *dimensions;  // dimension_count of them
};

struct hl_model_sparse_dimension {
    TfLiteDimensionType format;
    int dense_size; // of a dense dimension
    int segment_count, index_count;
    const int *segments, *indices; // of a compressed one
};

struct hl_model_sparsity {
    int order_count, block_map_count, dimension_count;
    const int *order;
    const int *block_map;
    const struct hl_model_sparse_dimension *dimensions;
};

struct hl_model_tensor {
    const char *name; // "" where the file has none
    TfLiteType type;
    int rank;
    const int *dims;      // rank of them, each >= 0
    int signature_rank;   // -1 where the file has no shape signature
    const int *signature; // -1 for a dimension that may change
    const void *data;     // constant: its bytes, aligned for the type; NULL: not a constant
    size_t bytes;         // of data; of a string tensor whatever its strings take
    bool is_variable;
    bool external_data; // the data lies in another file, which Halite does not read
    struct hl_model_quantization quantization;
    const struct hl_model_sparsity *sparsity; // NULL where dense
};

struct hl_model_node {
    int code; // index into TfLiteModel.codes
    int input_count, output_count, intermediate_count;
    const int *inputs; // tensor indices, -1 where an optional input is absent
    const int *outputs;
    const int *intermediates;
    // TfLite...Params of a builtin operator, NULL where it takes none; params_size bytes to be copied
    const void *params;
    size_t params_size;
    const void *custom_options; // of a custom operator
    size_t custom_options_size;
    int64_t custom_options_offset; // in the file, -1 without options
};

// Node `to` must run after node `from`, which comes before it in the file.
struct hl_model_edge {
    int from, to;
};

struct hl_model_subgraph {
    const char *name;
    int tensor_count, node_count, input_count, output_count;
    const struct hl_model_tensor *tensors;
    const struct hl_model_node *nodes; // in order of execution
    const int *inputs;
    const int *outputs;
    // The order that nodes keep beside that of their tensors. NULL: the file does not say.
    const struct hl_model_edge *control_edges;
    int control_edge_count;
};

// This is one named input or output of a signature.
struct hl_model_signature_entry {
    const char *name;
    int tensor; // index in the signature's subgraph
};

struct hl_model_signature {
    const char *key;
    int subgraph;
    int input_count, output_count;
    const struct hl_model_signature_entry *inputs; // sorted by name
    const struct hl_model_signature_entry *outputs;
};

struct hl_model_metadata {
    const char *name;
    const char *data;
    size_t bytes;
};

struct TfLiteModel {
    int schema_version;
    const char *description;
    int code_count, subgraph_count, signature_count, metadata_count;
    const struct hl_model_code *codes;
    const struct hl_model_subgraph *subgraphs; // at least one
    const struct hl_model_signature *signatures;
    const struct hl_model_metadata *metadata;
    const void *file_bytes; // NULL: of a model without nodes, which came from no file
    size_t file_size;

    struct hl_model_storage *storage; // what the above lies in: model/load.c
};

// data must stay as it is until the last release; it need not be aligned. Returns NULL after one message.
TfLiteModel *hl_model_create(const void *data, size_t size, const struct hl_reporter *reporter);
// Returns a model of one subgraph without tensors and nodes, to which callers add theirs. Returns NULL without memory.
TfLiteModel *hl_model_create_empty(void);
extern const struct hl_model_subgraph hl_model_empty_subgraph;
// Maps the file. On failure a message names path and cause.
TfLiteModel *hl_model_create_from_file(const char *path, const struct hl_reporter *reporter);

// References are counted atomically. An interpreter keeps its model alive after TfLiteModelDelete.
TfLiteModel *hl_model_retain(const TfLiteModel *model);
void hl_model_release(const TfLiteModel *model); // NULL is fine

// What all interpreters of a model share, beside what the file says (runtime/weights.h). It lives as long as the model.
struct hl_model_companion {
    void (*destroy)(struct hl_model_companion *companion);
};
// The model's one companion, which the first call lets `create` make. Threads may ask at the same time. Returns NULL
// where create does.
struct hl_model_companion *hl_model_companion(const TfLiteModel *model, struct hl_model_companion *(*create)(void));

// Returns the file descriptor of a mapped model, or -1.
int hl_model_file_descriptor(const TfLiteModel *model);

// Returns the schema name of an operator ("CONV_2D"), a custom operator's own name, or "UNKNOWN" where the format has
// no such operator.
const char *hl_model_code_name(const struct hl_model_code *code);

#endif
