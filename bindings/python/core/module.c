// SPDX-License-Identifier: Apache-2.0
// The module itself: its types, which each Python interpreter has for itself, and functions without an object.
#include "core.h"

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Py_BuildValue("(sss)", HaliteVersion(), TfLiteVersion(), TfLiteExtensionApisVersion());
}

static PyMethodDef functions[] = {
    {"interpreter", (PyCFunction)(void (*)(void))core_interpreter_new, METH_VARARGS | METH_KEYWORDS,
     "interpreter(path, content, threads, kernels, delegates, registerers, preserve) -> Interpreter"},
    {"version", version, METH_NOARGS, "version() -> (Halite's, TensorFlow Lite's, of the extension interface)"},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module, PyType_Spec *spec, PyObject **type, const char *name)
{
    *type = PyType_FromSpec(spec);
    if (!*type) return -1;
    Py_INCREF(*type);
    if (PyModule_AddObject(module, name, *type) == 0) return 0;
    Py_DECREF(*type);
    return -1;
}

static int execute(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);
    return add_type(module, &core_interpreter_spec, &state->interpreter_type, "Interpreter") == 0 &&
                   add_type(module, &core_view_spec, &state->view_type, "View") == 0
               ? 0
               : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = PyModule_GetState(module);
    Py_VISIT(state->interpreter_type);
    Py_VISIT(state->view_type);
    return 0;
}

static int clear(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);
    Py_CLEAR(state->interpreter_type);
    Py_CLEAR(state->view_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "halite._core",
    .m_doc = "TensorFlow Lite models through Halite's C library; see halite.Interpreter.",
    .m_size = sizeof(struct core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
