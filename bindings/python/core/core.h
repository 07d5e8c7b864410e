// SPDX-License-Identifier: Apache-2.0
// The extension module halite._core: what Python needs of the C library, and no more. In: calls from the Python files
// in ../halite. Out: the public C interface. Tensors leave it as views that keep their interpreter alive.
//
// The module keeps to Python's limited API of 3.9, so that one build serves every later version. The buffer protocol
// joined that API in 3.11 only: its struct is declared here as it has been laid out since 3.3.
#ifndef HALITE_PYTHON_CORE_H
#define HALITE_PYTHON_CORE_H

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#ifdef Py_GIL_DISABLED
#error "halite needs a Python with the global interpreter lock: free-threaded builds have no stable ABI yet"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "halite/halite.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

// The slot of a type that gives out buffers, and the flag of a request that must be able to write.
enum { CORE_SLOT_GET_BUFFER = 1, CORE_BUFFER_WRITABLE = 1 };

// Python's Py_buffer.
struct core_buffer {
    void *data;
    PyObject *owner; // a reference that Python drops when the buffer is released
    Py_ssize_t bytes, item_bytes;
    int read_only, rank;
    char *format; // of one element, as in the module struct
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
};

enum { CORE_MAX_RANK = 32 }; // as many as the library reads from a model

// What the module keeps.
struct core_state {
    PyObject *interpreter_type, *view_type;
};

// One interpreter with its model. Calls that run the library hold `busy`, since they give up the interpreter lock.
struct core_interpreter {
    PyObject_HEAD TfLiteModel *model;
    TfLiteInterpreter *interpreter;
    PyObject *content;   // bytes that the model lies in; NULL: a file
    PyObject *delegates; // a list of pairs (address, object that owns the delegate), which outlive the interpreter
    PyObject *bound;     // a dict: tensor index -> object whose memory the tensor uses
    PyObject *view_type;
    char *message; // what the library reported since the last call began
    size_t message_bytes;
    int views; // that are alive
    bool busy;
};

// The bytes of one tensor where they lie.
struct core_view {
    PyObject_HEAD struct core_interpreter *interpreter; // a reference
    void *data;
    Py_ssize_t bytes, item_bytes;
    Py_ssize_t shape[CORE_MAX_RANK], strides[CORE_MAX_RANK];
    const char *format;
    int rank, read_only, type;
};

extern PyType_Spec core_interpreter_spec, core_view_spec;

// core.interpreter(...): see interpreter.c.
PyObject *core_interpreter_new(PyObject *module, PyObject *args, PyObject *keywords);
// A view of a tensor that has bytes; NULL with an exception.
PyObject *core_view_new(struct core_interpreter *interpreter, const TfLiteTensor *tensor);
// Format of an element of this type for the buffer protocol, and its size. NULL: none (strings, resources).
const char *core_format(TfLiteType type, Py_ssize_t *item_bytes);
// A tuple that describes a tensor, or NULL with an exception.
PyObject *core_describe(const TfLiteTensor *tensor);
PyObject *core_kind(const TfLiteTensor *tensor);
// The elements of a string tensor as a list of bytes, and the way back.
PyObject *core_read_strings(const TfLiteTensor *tensor);
int core_write_strings(TfLiteTensor *tensor, PyObject *list);

// Where the bytes of an object lie: of one with the buffer protocol, or of one with __dlpack__ in the CPU's memory.
// They stay valid while `object` is alive and core_release was not called. 0, or -1 with an exception.
struct core_bytes {
    const void *data;
    Py_ssize_t bytes;
    PyObject *capsule; // of DLPack, NULL: none
};
int core_acquire(PyObject *object, bool writable, struct core_bytes *bytes);
void core_release(struct core_bytes *bytes);
// A DLPack capsule of a view, which it keeps alive.
PyObject *core_view_dlpack(struct core_view *view);

#endif
