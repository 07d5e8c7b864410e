// SPDX-License-Identifier: Apache-2.0
// One interpreter: made from a file or from bytes, asked by tensor index, run without Python's lock. A call that fails
// raises what the library reported: ValueError for what the caller gave, RuntimeError for what a run came to.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

// ---- messages of the library ----------------------------------------------------------------------------------------

// Runs with or without Python's lock, but for one thread at a time: `busy` sees to it.
static void keep_message(void *user_data, const char *format, va_list args)
{
    struct core_interpreter *self = user_data;
    char line[1024];
    int length = vsnprintf(line, sizeof line, format, args);
    if (length <= 0) return;
    size_t bytes = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    bool first = self->message_bytes == 0;
    char *message = realloc(self->message, self->message_bytes + bytes + 2);
    if (!message) return;
    self->message = message;
    if (!first) message[self->message_bytes++] = '\n';
    memcpy(message + self->message_bytes, line, bytes);
    self->message_bytes += bytes;
    message[self->message_bytes] = '\0';
}

static void forget_message(struct core_interpreter *self)
{
    self->message_bytes = 0;
    if (self->message) self->message[0] = '\0';
}

static PyObject *raise_message(struct core_interpreter *self, PyObject *type, const char *otherwise)
{
    const char *text = self->message_bytes > 0 ? self->message : otherwise;
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (message) PyErr_SetObject(type, message);
    Py_XDECREF(message);
    return NULL;
}

// ---- taking turns ---------------------------------------------------------------------------------------------------

// Before a call that may move tensors or run without Python's lock. False with an exception.
static bool begin(struct core_interpreter *self, bool moves_tensors)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the interpreter is running in another thread; give each thread an interpreter of its own");
        return false;
    }
    if (moves_tensors && self->views > 0) {
        PyErr_Format(PyExc_RuntimeError,
                     "There is at least 1 reference to internal data of this interpreter: %d arrays or slices of what "
                     "a function from tensor() returned are alive. Delete them first, and keep the function only.",
                     self->views);
        return false;
    }
    self->busy = true;
    forget_message(self);
    return true;
}

typedef TfLiteStatus (*library_call)(TfLiteInterpreter *);

static PyObject *call(PyObject *object, library_call function, const char *otherwise)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    if (!begin(self, true)) return NULL;
    TfLiteStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = function(self->interpreter);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != kTfLiteOk) return raise_message(self, PyExc_RuntimeError, otherwise);
    Py_RETURN_NONE;
}

static PyObject *allocate(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call(self, TfLiteInterpreterAllocateTensors, "AllocateTensors failed");
}

static PyObject *invoke(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call(self, TfLiteInterpreterInvoke, "Invoke failed");
}

// Zeros go into the tensors where they lie, so that views may stay.
static PyObject *reset_variables(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    if (!begin(self, false)) return NULL;
    TfLiteStatus status = TfLiteInterpreterResetVariableTensors(self->interpreter);
    self->busy = false;
    if (status != kTfLiteOk) return raise_message(self, PyExc_RuntimeError, "the variables could not be reset");
    Py_RETURN_NONE;
}

// set_num_threads(count); tensors lose their memory.
static PyObject *set_num_threads(PyObject *object, PyObject *args)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    int count;
    if (!PyArg_ParseTuple(args, "i:set_num_threads", &count) || !begin(self, true)) return NULL;
    TfLiteStatus status = HaliteInterpreterSetNumThreads(self->interpreter, count);
    self->busy = false;
    if (status != kTfLiteOk) return raise_message(self, PyExc_ValueError, "the number of threads could not be set");
    Py_RETURN_NONE;
}

// From any thread, while another one runs.
static PyObject *cancel(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    if (TfLiteInterpreterCancel(self->interpreter) == kTfLiteOk) Py_RETURN_NONE;
    PyErr_SetString(PyExc_RuntimeError, "the interpreter was not made to be cancelled");
    return NULL;
}

// ---- tensors --------------------------------------------------------------------------------------------------------

// The tensors of the model's file; the scratch tensors of kernels and delegates come after them and have no name.
static int count_tensors(struct core_interpreter *self, int subgraph)
{
    int count = HaliteInterpreterGetSubgraphTensorCount(self->interpreter, subgraph);
    while (count > 0 && !HaliteInterpreterGetSubgraphTensor(self->interpreter, subgraph, count - 1)->name) count--;
    return count;
}

static TfLiteTensor *tensor_at(struct core_interpreter *self, int subgraph, int index)
{
    int subgraphs = HaliteInterpreterGetSubgraphCount(self->interpreter);
    if (subgraph < 0 || subgraph >= subgraphs) {
        PyErr_Format(PyExc_ValueError, "Invalid subgraph index %d exceeds max subgraph index %d", subgraph, subgraphs);
        return NULL;
    }
    TfLiteTensor *tensor = HaliteInterpreterGetSubgraphTensor(self->interpreter, subgraph, index);
    if (!tensor)
        PyErr_Format(PyExc_ValueError, "Invalid tensor index %d exceeds max tensor index %d", index,
                     count_tensors(self, subgraph));
    return tensor;
}

// The tensor that (index, subgraph=0) names.
static TfLiteTensor *parse_tensor(PyObject *object, PyObject *args, const char *format, int *index, int *subgraph)
{
    *subgraph = 0;
    if (!PyArg_ParseTuple(args, format, index, subgraph)) return NULL;
    return tensor_at((struct core_interpreter *)object, *subgraph, *index);
}

// Scratch tensors, which come and go with a kernel, are none that callers count with.
static PyObject *describe(PyObject *self, PyObject *args)
{
    int index, subgraph;
    const TfLiteTensor *tensor = parse_tensor(self, args, "i|i:describe", &index, &subgraph);
    if (!tensor) return NULL;
    int count = count_tensors((struct core_interpreter *)self, subgraph);
    if (index < count) return core_describe(tensor);
    PyErr_Format(PyExc_ValueError, "Invalid tensor index %d exceeds max tensor index %d", index, count);
    return NULL;
}

// (type, shape, name): what each read and write asks for
static PyObject *kind(PyObject *self, PyObject *args)
{
    int index, subgraph;
    const TfLiteTensor *tensor = parse_tensor(self, args, "i|i:kind", &index, &subgraph);
    return tensor ? core_kind(tensor) : NULL;
}

// A tensor whose bytes can be read now.
static const TfLiteTensor *readable(PyObject *object, PyObject *args, const char *format)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    int index, subgraph;
    TfLiteTensor *tensor = parse_tensor(object, args, format, &index, &subgraph);
    if (!tensor) return NULL;
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the interpreter is running in another thread");
        return NULL;
    }
    if (tensor->delegate && subgraph == 0 &&
        TfLiteInterpreterEnsureTensorDataIsReadable(self->interpreter, index) != kTfLiteOk) {
        raise_message(self, PyExc_RuntimeError, "the delegate could not copy the tensor to the CPU's memory");
        return NULL;
    }
    if (!tensor->data.raw && tensor->bytes > 0) {
        PyErr_SetString(PyExc_ValueError, "Tensor data is null. Run allocate_tensors() first");
        return NULL;
    }
    return tensor;
}

static PyObject *view(PyObject *self, PyObject *args)
{
    const TfLiteTensor *tensor = readable(self, args, "i|i:view");
    return tensor ? core_view_new((struct core_interpreter *)self, tensor) : NULL;
}

static PyObject *read_strings(PyObject *self, PyObject *args)
{
    const TfLiteTensor *tensor = readable(self, args, "i|i:read_strings");
    if (!tensor) return NULL;
    if (tensor->type == kTfLiteString) return core_read_strings(tensor);
    PyErr_Format(PyExc_ValueError, "the tensor is %s, not STRING", TfLiteTypeGetName(tensor->type));
    return NULL;
}

// write(index, value, subgraph): an object with the buffer protocol or __dlpack__, or a list of bytes for a tensor of
// strings.
static PyObject *write_tensor(PyObject *object, PyObject *args)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    int index, subgraph = 0;
    PyObject *value;
    if (!PyArg_ParseTuple(args, "iO|i:write", &index, &value, &subgraph)) return NULL;
    TfLiteTensor *tensor = tensor_at(self, subgraph, index);
    if (!tensor) return NULL;
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the interpreter is running in another thread");
        return NULL;
    }
    if (tensor->allocation_type == kTfLiteMmapRo) {
        PyErr_Format(PyExc_ValueError, "Cannot set tensor: tensor %d is a constant of the model", index);
        return NULL;
    }
    if (tensor->type == kTfLiteString && PyList_Check(value)) {
        if (core_write_strings(tensor, value) != 0) return NULL;
        Py_RETURN_NONE;
    }
    if (!tensor->data.raw && tensor->bytes > 0) {
        PyErr_SetString(PyExc_ValueError,
                        "Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first");
        return NULL;
    }
    struct core_bytes bytes;
    if (core_acquire(value, false, &bytes) != 0) return NULL;
    if ((size_t)bytes.bytes != tensor->bytes)
        PyErr_Format(PyExc_ValueError, "numpy array had %zd bytes but expected %zu bytes.", bytes.bytes, tensor->bytes);
    else if (bytes.bytes > 0)
        memmove(tensor->data.raw, bytes.data, (size_t)bytes.bytes);
    core_release(&bytes);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

// bind(index, object): the tensor uses the object's memory from the next allocate() on.
static PyObject *bind_tensor(PyObject *object, PyObject *args)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    int index;
    PyObject *value;
    if (!PyArg_ParseTuple(args, "iO:bind", &index, &value)) return NULL;
    const TfLiteTensor *tensor = tensor_at(self, 0, index);
    struct core_bytes bytes;
    if (!tensor || core_acquire(value, true, &bytes) != 0) return NULL;
    if ((size_t)bytes.bytes < tensor->bytes) { // the tensor could be read before allocate() looks at it
        PyErr_Format(PyExc_ValueError, "the array has %zd bytes, the tensor takes %zu", bytes.bytes, tensor->bytes);
        core_release(&bytes);
        return NULL;
    }
    PyObject *kept = bytes.capsule ? bytes.capsule : value; // both keep the memory
    if (!begin(self, true)) goto fail;
    TfLiteCustomAllocation allocation = {(void *)(uintptr_t)bytes.data, (size_t)bytes.bytes};
    TfLiteStatus status = TfLiteInterpreterSetCustomAllocationForTensor(self->interpreter, index, &allocation,
                                                                        kTfLiteCustomAllocationFlagsSkipAlignCheck);
    self->busy = false;
    if (status != kTfLiteOk) {
        raise_message(self, PyExc_ValueError, "the tensor cannot use memory of the application");
        goto fail;
    }
    PyObject *key = PyLong_FromLong(index);
    status = key && PyDict_SetItem(self->bound, key, kept) == 0 ? kTfLiteOk : kTfLiteError;
    Py_XDECREF(key);
    Py_XDECREF(bytes.capsule); // the dict has a reference of its own
    if (status != kTfLiteOk) return NULL;
    Py_RETURN_NONE;
fail:
    core_release(&bytes);
    return NULL;
}

// Dimensions from a tuple of integers. -1 with an exception.
static int dims_of(PyObject *dims, int values[CORE_MAX_RANK])
{
    Py_ssize_t rank = PyTuple_Size(dims);
    if (rank > CORE_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "%zd dimensions, a tensor has at most %d", rank, CORE_MAX_RANK);
        return -1;
    }
    for (Py_ssize_t i = 0; i < rank; i++) {
        long value = PyLong_AsLong(PyTuple_GetItem(dims, i));
        if (value == -1 && PyErr_Occurred()) return -1;
        if (value < INT_MIN || value > INT_MAX) {
            PyErr_Format(PyExc_ValueError, "dimension %zd is %ld, too large", i, value);
            return -1;
        }
        values[i] = (int)value;
    }
    return (int)rank;
}

// resize(index, dims, strict, subgraph)
static PyObject *resize(PyObject *object, PyObject *args)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    int index, strict = 0, subgraph = 0;
    PyObject *dims;
    if (!PyArg_ParseTuple(args, "iO!|pi:resize", &index, &PyTuple_Type, &dims, &strict, &subgraph)) return NULL;
    int values[CORE_MAX_RANK];
    int rank = dims_of(dims, values);
    if (rank < 0 || !begin(self, true)) return NULL;
    TfLiteStatus status = HaliteInterpreterResizeTensor(self->interpreter, subgraph, index, values, rank, strict);
    self->busy = false;
    if (status != kTfLiteOk) return raise_message(self, PyExc_RuntimeError, "the tensor could not be resized");
    Py_RETURN_NONE;
}

// ---- the graph ------------------------------------------------------------------------------------------------------

static PyObject *list_of(const int *values, int count)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < count; i++) {
        PyObject *value = PyLong_FromLong(values[i]);
        if (!value || PyList_Append(list, value) != 0) Py_CLEAR(list);
        Py_XDECREF(value);
    }
    return list;
}

static PyObject *inputs(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    return list_of(TfLiteInterpreterInputTensorIndices(self->interpreter),
                   TfLiteInterpreterGetInputTensorCount(self->interpreter));
}

static PyObject *outputs(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    return list_of(TfLiteInterpreterOutputTensorIndices(self->interpreter),
                   TfLiteInterpreterGetOutputTensorCount(self->interpreter));
}

static PyObject *subgraph_count(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(HaliteInterpreterGetSubgraphCount(((struct core_interpreter *)object)->interpreter));
}

static PyObject *tensor_count(PyObject *object, PyObject *args)
{
    int subgraph = 0;
    if (!PyArg_ParseTuple(args, "|i:tensor_count", &subgraph)) return NULL;
    struct core_interpreter *self = (struct core_interpreter *)object;
    return PyLong_FromLong(count_tensors(self, subgraph));
}

static PyObject *views(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(((struct core_interpreter *)object)->views);
}

static PyObject *is_busy(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(((struct core_interpreter *)object)->busy);
}

static PyObject *handle(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((struct core_interpreter *)object)->interpreter);
}

// [(index, name, inputs, outputs)] in order of execution
static PyObject *nodes(PyObject *object, PyObject *args)
{
    int subgraph = 0;
    if (!PyArg_ParseTuple(args, "|i:nodes", &subgraph)) return NULL;
    struct core_interpreter *self = (struct core_interpreter *)object;
    PyObject *list = PyList_New(0);
    HaliteNode node;
    for (int i = 0; list && HaliteInterpreterGetSubgraphNode(self->interpreter, subgraph, i, &node) == kTfLiteOk; i++) {
        PyObject *row =
            Py_BuildValue("(isNN)", (int)node.index, node.op, list_of(node.node->inputs->data, node.node->inputs->size),
                          list_of(node.node->outputs->data, node.node->outputs->size));
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *set_profiling(PyObject *object, PyObject *args)
{
    int enable;
    if (!PyArg_ParseTuple(args, "p:set_profiling", &enable)) return NULL;
    HaliteInterpreterSetProfiling(((struct core_interpreter *)object)->interpreter, enable);
    Py_RETURN_NONE;
}

// [(node, operator, version, where, replaced nodes, runs, nanoseconds, run by node)] of the primary subgraph
static PyObject *node_reports(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    PyObject *list = PyList_New(0);
    HaliteNodeReport report, by;
    for (int i = 0; list && HaliteInterpreterGetNodeReport(self->interpreter, i, &report) == kTfLiteOk; i++) {
        HaliteInterpreterGetNodeReport(self->interpreter, HaliteInterpreterGetNodeRunBy(self->interpreter, i), &by);
        PyObject *row =
            Py_BuildValue("(isisiKKi)", report.node, report.op, report.version, report.where, report.replaced_nodes,
                          (unsigned long long)report.runs, (unsigned long long)report.nanoseconds, by.node);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

// {"arena": bytes, ...}: the fields of HaliteMemoryReport
static PyObject *memory_report(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    HaliteMemoryReport report;
    if (HaliteInterpreterGetMemoryReport(self->interpreter, &report) != kTfLiteOk)
        return PyErr_Format(PyExc_RuntimeError, "there is no memory report");
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:n}", "arena", (Py_ssize_t)report.arena, "arena_unshared",
                         (Py_ssize_t)report.arena_unshared, "persistent", (Py_ssize_t)report.persistent, "dynamic",
                         (Py_ssize_t)report.dynamic, "constants", (Py_ssize_t)report.constants);
}

// ---- signatures -----------------------------------------------------------------------------------------------------

static TfLiteSignatureRunner *runner_for(struct core_interpreter *self, const char *key)
{
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(self->interpreter, key);
    if (!runner) PyErr_Format(PyExc_ValueError, "Invalid signature_key provided: \"%s\".", key);
    return runner;
}

// [(name, tensor index)] of a signature's inputs or outputs
static PyObject *entries(const TfLiteSignatureRunner *runner, size_t count,
                         const char *(*name_of)(const TfLiteSignatureRunner *, int32_t),
                         int32_t (*index_of)(const TfLiteSignatureRunner *, const char *))
{
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; list && i < (int32_t)count; i++) {
        const char *name = name_of(runner, i);
        PyObject *row = Py_BuildValue("(si)", name, (int)index_of(runner, name));
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

// [(key, subgraph, inputs, outputs)]
static PyObject *signatures(PyObject *object, PyObject *unused)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    (void)unused;
    PyObject *list = PyList_New(0);
    int32_t count = TfLiteInterpreterGetSignatureCount(self->interpreter);
    for (int32_t i = 0; list && i < count; i++) {
        const char *key = TfLiteInterpreterGetSignatureKey(self->interpreter, i);
        TfLiteSignatureRunner *runner = runner_for(self, key);
        PyObject *row =
            !runner
                ? NULL
                : Py_BuildValue("(siNN)", key, (int)HaliteSignatureRunnerGetSubgraph(runner),
                                entries(runner, TfLiteSignatureRunnerGetInputCount(runner),
                                        TfLiteSignatureRunnerGetInputName, HaliteSignatureRunnerGetInputTensorIndex),
                                entries(runner, TfLiteSignatureRunnerGetOutputCount(runner),
                                        TfLiteSignatureRunnerGetOutputName, HaliteSignatureRunnerGetOutputTensorIndex));
        TfLiteSignatureRunnerDelete(runner);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *call_signature(PyObject *object, PyObject *args, const char *format,
                                TfLiteStatus (*function)(TfLiteSignatureRunner *), const char *otherwise)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    const char *key;
    if (!PyArg_ParseTuple(args, format, &key) || !begin(self, true)) return NULL;
    TfLiteSignatureRunner *runner = runner_for(self, key);
    TfLiteStatus status = kTfLiteError;
    if (runner) {
        Py_BEGIN_ALLOW_THREADS;
        status = function(runner);
        Py_END_ALLOW_THREADS;
    }
    TfLiteSignatureRunnerDelete(runner);
    self->busy = false;
    if (PyErr_Occurred()) return NULL;
    if (status != kTfLiteOk) return raise_message(self, PyExc_RuntimeError, otherwise);
    Py_RETURN_NONE;
}

static PyObject *allocate_signature(PyObject *self, PyObject *args)
{
    return call_signature(self, args, "s:allocate_signature", TfLiteSignatureRunnerAllocateTensors,
                          "AllocateTensors failed");
}

static PyObject *invoke_signature(PyObject *self, PyObject *args)
{
    return call_signature(self, args, "s:invoke_signature", TfLiteSignatureRunnerInvoke, "Invoke failed");
}

// ---- life -----------------------------------------------------------------------------------------------------------

static void interpreter_free(PyObject *object)
{
    struct core_interpreter *self = (struct core_interpreter *)object;
    PyTypeObject *type = Py_TYPE(object);
    TfLiteInterpreterDelete(self->interpreter);
    TfLiteModelDelete(self->model);
    Py_XDECREF(self->content);
    Py_XDECREF(self->delegates);
    Py_XDECREF(self->bound);
    Py_XDECREF(self->view_type);
    free(self->message);
    PyObject_Free(object);
    Py_DECREF(type);
}

// The arguments of core.interpreter.
struct creation {
    const char *path;
    PyObject *content;     // bytes or None
    PyObject *delegates;   // a list of pairs (address of a TfLiteDelegate, its owner)
    PyObject *registerers; // a list of functions of the address of a TfLiteInterpreterOptions
    int threads, kernels, preserve;
};

static TfLiteInterpreterOptions *make_options(struct core_interpreter *self, const struct creation *creation)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    if (!options) return NULL;
    TfLiteInterpreterOptionsSetErrorReporter(options, keep_message, self);
    TfLiteInterpreterOptionsSetNumThreads(options, creation->threads);
    TfLiteInterpreterOptionsEnableCancellation(options, true);
    HaliteInterpreterOptionsSetKernels(options, (HaliteKernels)creation->kernels);
    HaliteInterpreterOptionsSetPreserveTensors(options, creation->preserve);
    Py_ssize_t count = PyList_Size(creation->delegates);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *address = PyTuple_GetItem(PyList_GetItem(creation->delegates, i), 0);
        void *delegate = address ? PyLong_AsVoidPtr(address) : NULL;
        if (delegate) TfLiteInterpreterOptionsAddDelegate(options, delegate);
    }
    // They add custom operators to the options, with the functions of the C interface.
    count = PyList_Size(creation->registerers);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *address = PyLong_FromVoidPtr(options);
        PyObject *result =
            address ? PyObject_CallFunctionObjArgs(PyList_GetItem(creation->registerers, i), address, NULL) : NULL;
        Py_XDECREF(address);
        Py_XDECREF(result);
    }
    return options;
}

static bool load(struct core_interpreter *self, const struct creation *creation)
{
    const void *data = NULL;
    Py_ssize_t bytes = 0;
    if (creation->content != Py_None) {
        bytes = PyBytes_Size(creation->content);
        data = PyBytes_AsString(creation->content);
        if (bytes < 0 || !data) return false;
        Py_INCREF(creation->content);
        self->content = creation->content;
    }
    TfLiteInterpreterOptions *options = make_options(self, creation);
    if (PyErr_Occurred()) {
        TfLiteInterpreterOptionsDelete(options);
        return false;
    }
    Py_BEGIN_ALLOW_THREADS;
    self->model = data ? TfLiteModelCreateWithErrorReporter(data, (size_t)bytes, keep_message, self)
                       : TfLiteModelCreateFromFileWithErrorReporter(creation->path, keep_message, self);
    if (self->model && options) self->interpreter = TfLiteInterpreterCreate(self->model, options);
    Py_END_ALLOW_THREADS;
    TfLiteInterpreterOptionsDelete(options);
    if (self->interpreter) return true;
    raise_message(self, self->model ? PyExc_RuntimeError : PyExc_ValueError, "the model could not be loaded");
    return false;
}

PyObject *core_interpreter_new(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "content", "threads", "kernels", "delegates", "registerers", "preserve", NULL};
    struct creation creation = {.threads = 1};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "zOiiO!O!p:interpreter", names, &creation.path, &creation.content,
                                     &creation.threads, &creation.kernels, &PyList_Type, &creation.delegates,
                                     &PyList_Type, &creation.registerers, &creation.preserve))
        return NULL;
    const struct core_state *state = PyModule_GetState(module);
    struct core_interpreter *self =
        (struct core_interpreter *)PyType_GenericAlloc((PyTypeObject *)state->interpreter_type, 0);
    if (!self) return NULL;
    Py_INCREF(state->view_type);
    self->view_type = state->view_type;
    Py_INCREF(creation.delegates);
    self->delegates = creation.delegates;
    self->bound = PyDict_New();
    if (self->bound && load(self, &creation)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static PyMethodDef interpreter_methods[] = {
    {"allocate", allocate, METH_NOARGS, "Give every tensor memory."},
    {"invoke", invoke, METH_NOARGS, "Run the primary subgraph, without Python's lock."},
    {"cancel", cancel, METH_NOARGS, "Stop a run that another thread is in, after the node under way."},
    {"reset_variables", reset_variables, METH_NOARGS, "Set the variables to zero."},
    {"set_num_threads", set_num_threads, METH_VARARGS, "set_num_threads(count); tensors lose their memory"},
    {"resize", resize, METH_VARARGS, "resize(index, dims, strict=False, subgraph=0)"},
    {"describe", describe, METH_VARARGS, "describe(index, subgraph=0) -> tuple"},
    {"kind", kind, METH_VARARGS, "kind(index, subgraph=0) -> (type, shape, name)"},
    {"view", view, METH_VARARGS, "view(index, subgraph=0) -> View of the tensor's bytes"},
    {"read_strings", read_strings, METH_VARARGS, "read_strings(index, subgraph=0) -> list of bytes"},
    {"write", write_tensor, METH_VARARGS, "write(index, object, subgraph=0): copies the object's bytes"},
    {"bind", bind_tensor, METH_VARARGS, "bind(index, object): the tensor uses the object's memory"},
    {"inputs", inputs, METH_NOARGS, "Tensor indices of the inputs."},
    {"outputs", outputs, METH_NOARGS, "Tensor indices of the outputs."},
    {"subgraph_count", subgraph_count, METH_NOARGS, "Number of subgraphs."},
    {"tensor_count", tensor_count, METH_VARARGS, "tensor_count(subgraph=0): the tensors of the model's file"},
    {"nodes", nodes, METH_VARARGS, "nodes(subgraph=0) -> [(index, name, inputs, outputs)]"},
    {"set_profiling", set_profiling, METH_VARARGS, "set_profiling(enable)"},
    {"node_reports", node_reports, METH_NOARGS, "Where each node runs, and its time."},
    {"memory_report", memory_report, METH_NOARGS, "Bytes by kind."},
    {"signatures", signatures, METH_NOARGS, "[(key, subgraph, inputs, outputs)]"},
    {"allocate_signature", allocate_signature, METH_VARARGS, "allocate_signature(key)"},
    {"invoke_signature", invoke_signature, METH_VARARGS, "invoke_signature(key)"},
    {"views", views, METH_NOARGS, "How many views of tensors are alive."},
    {"busy", is_busy, METH_NOARGS, "Whether a thread is inside a call that gave Python's lock up."},
    {"handle", handle, METH_NOARGS, "Address of the TfLiteInterpreter."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot interpreter_slots[] = {
    {Py_tp_dealloc, (void *)interpreter_free},
    {Py_tp_methods, interpreter_methods},
    {Py_tp_doc, (void *)"One model made runnable; see halite.Interpreter."},
    {0, NULL},
};

PyType_Spec core_interpreter_spec = {
    .name = "halite._core.Interpreter",
    .basicsize = sizeof(struct core_interpreter),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = interpreter_slots,
};
