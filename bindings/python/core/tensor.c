// SPDX-License-Identifier: Apache-2.0
// What a tensor is, as Python objects: a tuple that describes it, and the elements of string tensors. The packed form
// of strings: int32 count, count + 1 int32 offsets, then the bytes.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

static PyObject *tuple_of(const int *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *value = PyLong_FromLong(values[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) != 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *tuple_of_array(const TfLiteIntArray *array)
{
    return array ? tuple_of(array->data, array->size) : PyTuple_New(0);
}

static PyObject *tuple_of_floats(const TfLiteFloatArray *array)
{
    int count = array ? array->size : 0;
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *value = PyFloat_FromDouble((double)array->data[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) != 0) Py_CLEAR(tuple);
    }
    return tuple;
}

// (scales, zero points, quantized dimension, block size). Blockwise: a tensor has the scales, here is its index.
static PyObject *quantization_of(const TfLiteTensor *tensor)
{
    const TfLiteQuantization *quantization = &tensor->quantization;
    PyObject *scales = NULL, *zeros = NULL;
    int dimension = 0, block = 0;
    if (quantization->type == kTfLiteAffineQuantization && quantization->params) {
        const TfLiteAffineQuantization *affine = quantization->params;
        scales = tuple_of_floats(affine->scale);
        zeros = tuple_of_array(affine->zero_point);
        dimension = affine->quantized_dimension;
    } else {
        if (quantization->type == kTfLiteBlockwiseQuantization && quantization->params) {
            const TfLiteBlockwiseQuantization *blockwise = quantization->params;
            dimension = blockwise->quantized_dimension;
            block = blockwise->blocksize;
            scales = PyLong_FromLong(blockwise->scale);
        } else {
            scales = PyTuple_New(0);
        }
        zeros = PyTuple_New(0);
    }
    if (scales && zeros) return Py_BuildValue("(NNii)", scales, zeros, dimension, block);
    Py_XDECREF(scales);
    Py_XDECREF(zeros);
    return NULL;
}

// None, or (traversal order, block map, [(is sparse, dense size, segments, indices)])
static PyObject *sparsity_of(const TfLiteTensor *tensor)
{
    const TfLiteSparsity *sparsity = tensor->sparsity;
    if (!sparsity) Py_RETURN_NONE;
    PyObject *dimensions = PyList_New(0);
    for (int i = 0; dimensions && i < sparsity->dim_metadata_size; i++) {
        const TfLiteDimensionMetadata *dimension = &sparsity->dim_metadata[i];
        PyObject *row =
            Py_BuildValue("(iiNN)", dimension->format == kTfLiteDimSparseCSR, dimension->dense_size,
                          tuple_of_array(dimension->array_segments), tuple_of_array(dimension->array_indices));
        if (!row || PyList_Append(dimensions, row) != 0) Py_CLEAR(dimensions);
        Py_XDECREF(row);
    }
    if (!dimensions) return NULL;
    return Py_BuildValue("(NNN)", tuple_of_array(sparsity->traversal_order), tuple_of_array(sparsity->block_map),
                         dimensions);
}

PyObject *core_describe(const TfLiteTensor *tensor)
{
    const char *name = tensor->name ? tensor->name : "";
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    bool has_signature = tensor->dims_signature && tensor->dims_signature->size > 0;
    PyObject *shape = tuple_of_array(tensor->dims);
    PyObject *signature = tuple_of_array(has_signature ? tensor->dims_signature : tensor->dims);
    PyObject *quantization = quantization_of(tensor), *sparsity = sparsity_of(tensor);
    if (text && shape && signature && quantization && sparsity)
        return Py_BuildValue("(NiNN(fi)NN)", text, (int)tensor->type, shape, signature, (double)tensor->params.scale,
                             (int)tensor->params.zero_point, quantization, sparsity);
    Py_XDECREF(text);
    Py_XDECREF(shape);
    Py_XDECREF(signature);
    Py_XDECREF(quantization);
    Py_XDECREF(sparsity);
    return NULL;
}

PyObject *core_kind(const TfLiteTensor *tensor)
{
    PyObject *shape = tuple_of_array(tensor->dims);
    return shape ? Py_BuildValue("(iNz)", (int)tensor->type, shape, tensor->name) : NULL;
}

// ---- strings --------------------------------------------------------------------------------------------------------

PyObject *core_read_strings(const TfLiteTensor *tensor)
{
    int32_t count = 0;
    size_t bytes = tensor->bytes;
    const char *data = tensor->data.raw_const;
    if (data && bytes >= sizeof count) memcpy(&count, data, sizeof count);
    if (count < 0 || (size_t)count > bytes / sizeof(int32_t)) {
        PyErr_Format(PyExc_ValueError, "the string tensor is damaged: %d strings in %zu bytes", count, bytes);
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; list && i < count; i++) {
        int32_t ends[2] = {-1, -1};
        size_t at = (size_t)(i + 1) * sizeof(int32_t);
        if (at + sizeof ends <= bytes) memcpy(ends, data + at, sizeof ends);
        PyObject *text = NULL;
        if (ends[0] < 0 || ends[1] < ends[0] || (size_t)ends[1] > bytes)
            PyErr_Format(PyExc_ValueError, "the string tensor is damaged: string %d lies outside of it", i);
        else
            text = PyBytes_FromStringAndSize(data + ends[0], ends[1] - ends[0]);
        if (!text || PyList_Append(list, text) != 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

int core_write_strings(TfLiteTensor *tensor, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list), total = 0;
    if (count < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t length = PyBytes_Size(PyList_GetItem(list, i));
        if (length < 0) return -1;
        total = length > INT32_MAX - total ? INT32_MAX : total + length;
    }
    Py_ssize_t header = (count + 2) * (Py_ssize_t)sizeof(int32_t);
    if (count > INT32_MAX / 8 || total >= INT32_MAX - header) {
        PyErr_SetString(PyExc_ValueError, "the strings are larger than the 2 GiB that a tensor of them can hold");
        return -1;
    }
    TfLiteTensorRealloc((size_t)(header + total), tensor);
    char *data = tensor->data.raw;
    if (!data) {
        PyErr_NoMemory();
        return -1;
    }
    int32_t number = (int32_t)count, end = (int32_t)header;
    memcpy(data, &number, sizeof number);
    for (Py_ssize_t i = 0; i < count; i++) {
        memcpy(data + (i + 1) * (Py_ssize_t)sizeof end, &end, sizeof end);
        PyObject *text = PyList_GetItem(list, i);
        Py_ssize_t length = PyBytes_Size(text);
        memcpy(data + end, PyBytes_AsString(text), (size_t)length);
        end += (int32_t)length;
    }
    memcpy(data + (count + 1) * (Py_ssize_t)sizeof end, &end, sizeof end);
    return 0;
}
