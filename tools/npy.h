// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: a tensor with its type and shape. Reads versions 1 and 2 (and 3, the same with UTF-8),
// little-endian, in C order; writes version 1. Types below 8 bits become int8 or uint8; types NumPy has no name for
// become raw bytes ("V2").
#ifndef HALITE_TOOLS_NPY_H
#define HALITE_TOOLS_NPY_H

#include <stdbool.h>
#include <stddef.h>

#include "tensorflow/lite/c/c_api_types.h"
#include "text.h"

enum { HL_NPY_MAX_RANK = 32 };

struct hl_npy {
    TfLiteType type; // bfloat16 stands for any 2 raw bytes, float8_e4m3fn for any raw byte
    int rank;
    int dims[HL_NPY_MAX_RANK];
    const void *data; // into file
    size_t bytes;
    struct hl_text file;
};

// False on failure, with the reason in `error`.
bool hl_npy_read(const char *path, struct hl_npy *npy, struct hl_text *error);
// The same for a file in memory, which is lent: npy->file stays empty.
bool hl_npy_parse(const void *bytes, size_t size, struct hl_npy *npy, struct hl_text *error);
void hl_npy_free(struct hl_npy *npy);

// May an array of type `from` fill a tensor of type `to`? True where the bytes mean the same.
bool hl_npy_type_fits(TfLiteType from, TfLiteType to);

// `data` holds a dense tensor as the runtime stores it. False, with the reason in `error`, for types that NumPy has no
// place for.
bool hl_npy_add(struct hl_text *file, TfLiteType type, int rank, const int *dims, const void *data,
                struct hl_text *error);
// The same to a file, of which nothing is left behind on failure.
bool hl_npy_write(const char *path, TfLiteType type, int rank, const int *dims, const void *data,
                  struct hl_text *error);

#endif
