// SPDX-License-Identifier: Apache-2.0
// The header is a Python dictionary in text: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }. Only what
// numpy.save writes is understood; everything else gets a message.
#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "element.h"
#include "files.h"
#include "output_file.h"

// clang-format off
// The first row of a description is read, the first row of a type written.
static const struct {
    TfLiteType type;
    const char *descr;
} kinds[] = {
    {kTfLiteFloat32, "<f4"},    {kTfLiteFloat64, "<f8"},     {kTfLiteFloat16, "<f2"},
    {kTfLiteInt8, "|i1"},       {kTfLiteInt16, "<i2"},       {kTfLiteInt32, "<i4"},
    {kTfLiteInt64, "<i8"},      {kTfLiteUInt8, "|u1"},       {kTfLiteUInt16, "<u2"},
    {kTfLiteUInt32, "<u4"},     {kTfLiteUInt64, "<u8"},      {kTfLiteBool, "|b1"},
    {kTfLiteComplex64, "<c8"},  {kTfLiteComplex128, "<c16"}, {kTfLiteBFloat16, "|V2"},
    {kTfLiteFloat8E4M3FN, "|V1"}, {kTfLiteFloat8E5M2, "|V1"},
    {kTfLiteInt4, "|i1"},       {kTfLiteInt2, "|i1"},        {kTfLiteUInt4, "|u1"},
};
// clang-format on

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

// ---- the header ---------------------------------------------------------------------------------

struct header {
    const char *at, *end;
};

static void skip_blanks(struct header *header)
{
    while (header->at < header->end && isspace((unsigned char)*header->at)) header->at++;
}

static bool take(struct header *header, char c)
{
    skip_blanks(header);
    if (header->at == header->end || *header->at != c) return false;
    header->at++;
    return true;
}

static bool take_word(struct header *header, const char *word)
{
    skip_blanks(header);
    size_t length = strlen(word);
    if ((size_t)(header->end - header->at) < length || memcmp(header->at, word, length) != 0) return false;
    header->at += length;
    return true;
}

// 'text' or "text" of fewer than `size` characters.
static bool take_string(struct header *header, char *text, size_t size)
{
    skip_blanks(header);
    if (header->at == header->end || (*header->at != '\'' && *header->at != '"')) return false;
    char quote = *header->at++;
    size_t length = 0;
    while (header->at < header->end && *header->at != quote && length + 1 < size) text[length++] = *header->at++;
    text[length] = '\0';
    return header->at < header->end && *header->at++ == quote;
}

static bool take_shape(struct header *header, struct hl_npy *npy, struct hl_text *error)
{
    npy->rank = 0;
    if (!take(header, '(')) return false;
    while (!take(header, ')')) {
        int64_t value = 0;
        const char *start = header->at;
        for (; header->at < header->end && isdigit((unsigned char)*header->at); header->at++) {
            value = value * 10 + (*header->at - '0');
            if (value <= INT_MAX) continue;
            hl_text_add(error, "has a dimension above %d", INT_MAX);
            return false;
        }
        if (header->at == start) return false;
        if (header->at < header->end && *header->at == 'L') header->at++; // Python 2 wrote 3L
        if (npy->rank == HL_NPY_MAX_RANK) {
            hl_text_add(error, "has more than %d dimensions", HL_NPY_MAX_RANK);
            return false;
        }
        npy->dims[npy->rank++] = (int)value;
        if (!take(header, ',') && header->at < header->end && *header->at != ')') return false;
    }
    return true;
}

static bool find_type(const char *descr, TfLiteType *type, struct hl_text *error)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        // One-byte types have no order: "<i1" and "|i1" are the same.
        bool same = strcmp(kinds[i].descr + 1, descr + 1) == 0 && (*descr == '<' || *descr == '|' || *descr == '=');
        if (!same || (*descr == '|' && *kinds[i].descr != '|')) continue;
        *type = kinds[i].type;
        return true;
    }
    if (*descr == '>')
        hl_text_add(error, "is big-endian ('%s'); save it with .astype(a.dtype.newbyteorder('<'))", descr);
    else
        hl_text_add(error, "has elements of type '%s', which no tensor has", descr);
    return false;
}

static bool parse_header(struct header *header, struct hl_npy *npy, struct hl_text *error)
{
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take(header, '{')) goto damaged;
    while (!take(header, '}')) {
        char key[32], descr[32];
        if (!take_string(header, key, sizeof key) || !take(header, ':')) goto damaged;
        if (strcmp(key, "descr") == 0) {
            if (take(header, '[')) {
                hl_text_add(error, "is an array of records; save one field of it");
                return false;
            }
            if (!take_string(header, descr, sizeof descr)) goto damaged;
            if (!find_type(descr, &npy->type, error)) return false;
            has_descr = true;
        } else if (strcmp(key, "fortran_order") == 0) {
            if (take_word(header, "True")) {
                hl_text_add(error, "is in Fortran order; save it with numpy.ascontiguousarray(a)");
                return false;
            }
            if (!take_word(header, "False")) goto damaged;
            has_order = true;
        } else if (strcmp(key, "shape") == 0) {
            if (!take_shape(header, npy, error)) goto damaged;
            has_shape = true;
        } else {
            goto damaged;
        }
        if (!take(header, ',')) skip_blanks(header);
    }
    if (has_descr && has_order && has_shape) return true;

damaged:
    if (error->length == 0) hl_text_add(error, "is a damaged .npy file: its header makes no sense");
    return false;
}

// Bytes of the array, from the product of its dimensions.
static bool array_bytes(const struct hl_npy *npy, size_t *bytes)
{
    int64_t count = 1;
    for (int i = 0; i < npy->rank; i++)
        if (!hl_mul_i64(count, npy->dims[i], &count)) return false;
    if (count > INT64_MAX / 16) return false;
    *bytes = hl_element_bytes(npy->type, count);
    return true;
}

bool hl_npy_parse(const void *bytes, size_t size, struct hl_npy *npy, struct hl_text *error)
{
    const unsigned char *file = bytes;
    *npy = (struct hl_npy){0};
    if (size < 10 || memcmp(file, "\x93NUMPY", 6) != 0) {
        hl_text_add(error, "is no .npy file");
        return false;
    }
    if (file[6] < 1 || file[6] > 3) {
        hl_text_add(error, "is a .npy file of version %d; 1 to 3 are read here", file[6]);
        return false;
    }
    size_t start = file[6] == 1 ? 10 : 12, length = file[8] | (size_t)file[9] << 8;
    if (file[6] > 1 && size >= 12) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (size < start || length > size - start) {
        hl_text_add(error, "is a damaged .npy file: its header is cut off");
        return false;
    }
    struct header header = {(const char *)file + start, (const char *)file + start + length};
    if (!parse_header(&header, npy, error)) return false;
    size_t needed, there = size - start - length;
    if (!array_bytes(npy, &needed)) {
        hl_text_add(error, "has a shape too large for any machine");
        return false;
    }
    if (there != needed) {
        hl_text_add(error, "is a damaged .npy file: %zu bytes of data where its shape takes %zu", there, needed);
        return false;
    }
    npy->data = file + start + length;
    npy->bytes = needed;
    return true;
}

bool hl_npy_read(const char *path, struct hl_npy *npy, struct hl_text *error)
{
    struct hl_text file = {0};
    *npy = (struct hl_npy){0};
    bool ok = hl_files_read(path, HL_FILES_MOST, &file, error) &&
              hl_npy_parse(hl_text_string(&file), file.length, npy, error);
    npy->file = file;
    if (!ok) hl_npy_free(npy);
    return ok;
}

void hl_npy_free(struct hl_npy *npy)
{
    hl_text_free(&npy->file);
    *npy = (struct hl_npy){0};
}

static const char *descr_of(TfLiteType type)
{
    for (int i = 0; i < KIND_COUNT; i++)
        if (kinds[i].type == type) return kinds[i].descr;
    return NULL;
}

bool hl_npy_type_fits(TfLiteType from, TfLiteType to)
{
    const char *a = descr_of(from), *b = descr_of(to);
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

// ---- writing ------------------------------------------------------------------------------------

// One byte an element, as the description of a packed type says.
static void add_unpacked(struct hl_text *file, TfLiteType type, int64_t count, const void *data)
{
    struct hl_element_type how = hl_element_type(type);
    hl_text_reserve(file, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = how.view == HL_ELEMENT_SIGNED ? hl_element_signed(data, how.bits, i)
                                                      : (int64_t)hl_element_bits(data, how.bits, i);
        char byte = (char)(value & 0xff);
        hl_text_add_bytes(file, &byte, 1);
    }
}

bool hl_npy_add(struct hl_text *file, TfLiteType type, int rank, const int *dims, const void *data,
                struct hl_text *error)
{
    const char *descr = descr_of(type);
    if (descr == NULL) {
        hl_text_add(error, "values of this type have no place in a .npy file");
        return false;
    }
    struct hl_text header = {0};
    hl_text_add(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        hl_text_add(&header, "%s%d%s", i > 0 ? " " : "", dims[i], i + 1 < rank || rank == 1 ? "," : "");
        count *= dims[i];
    }
    hl_text_add(&header, "), }");
    while ((10 + header.length + 1) % 64 != 0) hl_text_add(&header, " ");
    hl_text_add(&header, "\n");
    const char start[] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(header.length & 0xff), (char)(header.length >> 8)};
    hl_text_add_bytes(file, start, sizeof start);
    hl_text_add_bytes(file, header.data, header.length);
    if (hl_element_type(type).bits < 8)
        add_unpacked(file, type, count, data);
    else if (count > 0)
        hl_text_add_bytes(file, data, hl_element_bytes(type, count));
    hl_text_free(&header);
    return true;
}

bool hl_npy_write(const char *path, TfLiteType type, int rank, const int *dims, const void *data, struct hl_text *error)
{
    struct hl_text file = {0};
    struct hl_output output;
    bool ok = hl_npy_add(&file, type, rank, dims, data, error) && hl_output_open(&output, path, error);
    if (ok) fwrite(file.data, 1, file.length, output.file);
    ok = ok && hl_output_close(&output, error);
    hl_text_free(&file);
    return ok;
}
