// SPDX-License-Identifier: Apache-2.0
// Memory that is shared with other libraries' arrays: out as a DLPack capsule, in from one or from the buffer protocol.
// The structs follow the public description of DLPack 0.8, which every consumer still takes.
#include <stdlib.h>

#include "core.h"

struct dl_tensor {
    void *data;
    struct {
        int32_t kind, number; // 1: the CPU
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } type;
    int64_t *shape, *strides; // strides in elements; NULL: dense, the last dimension first
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *owner;
    void (*release)(struct dl_managed *self);
};

enum { DL_CPU = 1, DL_CUDA_HOST = 3 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

// ---- out ------------------------------------------------------------------------------------------------------------

struct exported {
    struct dl_managed managed;
    int64_t shape[CORE_MAX_RANK];
};

static void release_exported(struct dl_managed *self)
{
    PyGILState_STATE lock = PyGILState_Ensure(); // consumers may call this from any thread
    Py_DECREF((PyObject *)self->owner);
    PyGILState_Release(lock);
    free(self);
}

// Nobody took the capsule: its memory is still ours.
static void free_capsule(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    struct dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
    managed->release(managed);
}

static uint8_t code_of(TfLiteType type)
{
    switch (type) {
    case kTfLiteFloat16:
    case kTfLiteFloat32:
    case kTfLiteFloat64: return DL_FLOAT;
    case kTfLiteBFloat16: return DL_BFLOAT;
    case kTfLiteComplex64:
    case kTfLiteComplex128: return DL_COMPLEX;
    case kTfLiteBool: return DL_BOOL;
    case kTfLiteInt8:
    case kTfLiteInt16:
    case kTfLiteInt32:
    case kTfLiteInt64: return DL_INT;
    default: return DL_UINT;
    }
}

PyObject *core_view_dlpack(struct core_view *view)
{
    struct exported *exported = calloc(1, sizeof *exported);
    if (!exported) return PyErr_NoMemory();
    struct dl_tensor *tensor = &exported->managed.tensor;
    tensor->data = view->data;
    tensor->device.kind = DL_CPU;
    tensor->rank = view->rank;
    tensor->type.code = code_of((TfLiteType)view->type);
    tensor->type.bits = (uint8_t)(view->item_bytes * 8);
    tensor->type.lanes = 1;
    for (int i = 0; i < view->rank; i++) exported->shape[i] = view->shape[i];
    tensor->shape = exported->shape;
    exported->managed.owner = view;
    exported->managed.release = release_exported;
    PyObject *capsule = PyCapsule_New(&exported->managed, "dltensor", free_capsule);
    if (!capsule) {
        free(exported);
        return NULL;
    }
    Py_INCREF(view);
    return capsule;
}

// ---- in -------------------------------------------------------------------------------------------------------------

static int acquire_dlpack(PyObject *object, struct core_bytes *bytes)
{
    PyObject *capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
    if (!capsule) return -1;
    struct dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
    if (!managed) goto fail;
    const struct dl_tensor *tensor = &managed->tensor;
    if (tensor->device.kind != DL_CPU && tensor->device.kind != DL_CUDA_HOST) {
        PyErr_SetString(PyExc_ValueError, "the array lies on a device; move it to the CPU's memory first");
        goto fail;
    }
    int64_t count = 1;
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        if (tensor->strides && tensor->shape[i] > 1 && tensor->strides[i] != count) {
            PyErr_SetString(PyExc_ValueError, "the array's elements are not next to each other; make it contiguous");
            goto fail;
        }
        count *= tensor->shape[i];
    }
    bytes->data = (const char *)tensor->data + tensor->byte_offset;
    bytes->bytes = (Py_ssize_t)(count * tensor->type.bits * tensor->type.lanes / 8);
    bytes->capsule = capsule;
    return 0;
fail:
    Py_DECREF(capsule);
    return -1;
}

// In Python's stable ABI of every version, though headers no longer declare them: PyObject_GetBuffer joined it in 3.11.
PyAPI_FUNC(int) PyObject_AsReadBuffer(PyObject *object, const void **data, Py_ssize_t *bytes);
PyAPI_FUNC(int) PyObject_AsWriteBuffer(PyObject *object, void **data, Py_ssize_t *bytes);

int core_acquire(PyObject *object, bool writable, struct core_bytes *bytes)
{
    *bytes = (struct core_bytes){NULL, 0, NULL};
    void *data = NULL;
    int status = writable ? PyObject_AsWriteBuffer(object, &data, &bytes->bytes)
                          : PyObject_AsReadBuffer(object, &bytes->data, &bytes->bytes);
    if (status == 0) {
        if (writable) bytes->data = data;
        return 0;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace); // asking for an attribute would clear it
    if (!PyObject_HasAttrString(object, "__dlpack__")) {
        PyErr_Restore(type, value, trace);
        return -1;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return acquire_dlpack(object, bytes);
}

void core_release(struct core_bytes *bytes)
{
    Py_CLEAR(bytes->capsule); // its destructor gives the memory back
}
