// SPDX-License-Identifier: Apache-2.0
// A tensor's bytes as Python sees them: through the buffer protocol (memoryview, numpy) and as a DLPack capsule (numpy,
// torch, jax). Nothing is copied. While a view lives, its interpreter refuses to move the tensor.
#include <string.h>

#include "core.h"

const char *core_format(TfLiteType type, Py_ssize_t *item_bytes)
{
    static const struct {
        TfLiteType type;
        const char *format;
        int bytes;
    } formats[] = {
        {kTfLiteFloat32, "f", 4},
        {kTfLiteInt32, "i", 4},
        {kTfLiteUInt8, "B", 1},
        {kTfLiteInt64, "q", 8},
        {kTfLiteBool, "?", 1},
        {kTfLiteInt16, "h", 2},
        {kTfLiteInt8, "b", 1},
        {kTfLiteFloat16, "e", 2},
        {kTfLiteFloat64, "d", 8},
        {kTfLiteUInt64, "Q", 8},
        {kTfLiteUInt32, "I", 4},
        {kTfLiteUInt16, "H", 2},
        {kTfLiteComplex64, "Zf", 8},
        {kTfLiteComplex128, "Zd", 16},
        {kTfLiteBFloat16, "H", 2},
        {kTfLiteFloat8E4M3FN, "B", 1},
        {kTfLiteFloat8E5M2, "B", 1},
        // Packed elements are seen as the bytes that hold them, in one dimension.
        {kTfLiteInt4, "B", 1},
        {kTfLiteUInt4, "B", 1},
        {kTfLiteInt2, "B", 1},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].type != type) continue;
        *item_bytes = formats[i].bytes;
        return formats[i].format;
    }
    return NULL;
}

static bool is_packed(TfLiteType type)
{
    return type == kTfLiteInt4 || type == kTfLiteUInt4 || type == kTfLiteInt2;
}

PyObject *core_view_new(struct core_interpreter *interpreter, const TfLiteTensor *tensor)
{
    Py_ssize_t item_bytes = 1;
    const char *format = core_format(tensor->type, &item_bytes);
    if (!format) {
        PyErr_Format(PyExc_ValueError, "a tensor of type %s has no numbers to look at",
                     TfLiteTypeGetName(tensor->type));
        return NULL;
    }
    int rank = is_packed(tensor->type) ? 1 : tensor->dims ? tensor->dims->size : 0;
    if (rank > CORE_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "the tensor has %d dimensions, a view has at most %d", rank, CORE_MAX_RANK);
        return NULL;
    }
    PyTypeObject *type = (PyTypeObject *)interpreter->view_type;
    struct core_view *view = (struct core_view *)PyType_GenericAlloc(type, 0);
    if (!view) return NULL;
    Py_INCREF(interpreter);
    view->interpreter = interpreter;
    interpreter->views++;
    view->data = tensor->data.raw;
    view->bytes = (Py_ssize_t)tensor->bytes;
    view->item_bytes = item_bytes;
    view->format = format;
    view->rank = rank;
    view->type = tensor->type;
    view->read_only = tensor->allocation_type == kTfLiteMmapRo;
    Py_ssize_t stride = item_bytes;
    for (int i = rank - 1; i >= 0; i--) {
        view->shape[i] = is_packed(tensor->type) ? view->bytes : tensor->dims->data[i];
        view->strides[i] = stride;
        stride *= view->shape[i];
    }
    return (PyObject *)view;
}

static void view_free(PyObject *self)
{
    struct core_view *view = (struct core_view *)self;
    PyTypeObject *type = Py_TYPE(self);
    view->interpreter->views--;
    Py_DECREF(view->interpreter);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int get_buffer(PyObject *self, struct core_buffer *buffer, int flags)
{
    struct core_view *view = (struct core_view *)self;
    if ((flags & CORE_BUFFER_WRITABLE) && view->read_only) {
        buffer->owner = NULL;
        PyErr_SetString(PyExc_BufferError, "the tensor is a constant of the model");
        return -1;
    }
    Py_INCREF(self);
    *buffer = (struct core_buffer){
        .data = view->data,
        .owner = self,
        .bytes = view->bytes,
        .item_bytes = view->item_bytes,
        .read_only = view->read_only,
        .rank = view->rank,
        .format = (char *)view->format,
        .shape = view->shape,
        .strides = view->strides,
    };
    return 0;
}

static PyObject *dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    (void)args, (void)keywords; // stream, max_version, dl_device and copy: the one form that there is serves all
    return core_view_dlpack((struct core_view *)self);
}

static PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", 1, 0); // kDLCPU
}

static PyMethodDef view_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))dlpack, METH_VARARGS | METH_KEYWORDS, "A DLPack capsule."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "The CPU."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, (void *)view_free},
    {Py_tp_methods, view_methods},
    {Py_tp_doc, (void *)"The bytes of a tensor where they lie, for memoryview, numpy and DLPack."},
    {CORE_SLOT_GET_BUFFER, (void *)get_buffer},
    {0, NULL},
};

PyType_Spec core_view_spec = {
    .name = "halite._core.View",
    .basicsize = sizeof(struct core_view),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = view_slots,
};
