// SPDX-License-Identifier: Apache-2.0
// The official runtime (the Python package ai-edge-litert) as a side of halite diff. In and out go through files in a
// folder of their own. HALITE_PYTHON names the interpreter that has the package; default python3.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/process.h"
#include "diff/setting.h"
#include "files.h"
#include "message.h"
#include "output_file.h"

// Arguments: model, folder. It reads FOLDER/inI (bytes of input I) and FOLDER/inI.shape, and writes FOLDER/outT (bytes)
// and FOLDER/outT.type for each tensor T that FOLDER/wanted lists. Reference kernels, nothing delegated, all tensors
// kept. Ends with NO_PACKAGES where it cannot begin.
enum { NO_PACKAGES = 66 };
static const char script[] =
    "import sys\n"
    "sys.path.pop(0)\n" // the folder that this runs in, whose files are none of the user's modules
    "try:\n"
    "    import numpy as np\n"
    "    try:\n"
    "        from ai_edge_litert import interpreter as lite\n"
    "    except ImportError:\n"
    "        from tflite_runtime import interpreter as lite\n"
    "except ImportError:\n"
    "    sys.exit(66)\n" // NO_PACKAGES
    "model, folder = sys.argv[1:]\n"
    "resolver = lite.OpResolverType.BUILTIN_REF\n"
    "it = lite.Interpreter(model_path=model, experimental_preserve_all_tensors=True, "
    "experimental_op_resolver_type=resolver)\n"
    "inputs = it.get_input_details()\n"
    "shapes = [tuple(int(d) for d in open(f'{folder}/in{i}.shape').read().split()) for i in range(len(inputs))]\n"
    "for d, shape in zip(inputs, shapes):\n"
    "    if tuple(d['shape']) != shape: it.resize_tensor_input(d['index'], shape)\n"
    "it.allocate_tensors()\n"
    "for i, (d, shape) in enumerate(zip(inputs, shapes)):\n"
    "    it.set_tensor(d['index'], np.fromfile(f'{folder}/in{i}', d['dtype']).reshape(shape))\n"
    "it.invoke()\n"
    "for t in open(f'{folder}/wanted').read().split():\n"
    "    a = it.get_tensor(int(t))\n"
    "    a.tofile(f'{folder}/out{t}')\n"
    "    open(f'{folder}/out{t}.type', 'w').write(f'{a.dtype} {a.size}')\n";

static const struct {
    const char *numpy;
    TfLiteType type;
} types[] = {
    {"float32", kTfLiteFloat32}, {"float16", kTfLiteFloat16}, {"float64", kTfLiteFloat64},
    {"int8", kTfLiteInt8},       {"uint8", kTfLiteUInt8},     {"int16", kTfLiteInt16},
    {"int32", kTfLiteInt32},     {"int64", kTfLiteInt64},     {"uint32", kTfLiteUInt32},
    {"bool", kTfLiteBool},       {"uint16", kTfLiteUInt16},   {"complex64", kTfLiteComplex64},
};

static bool write_file(const char *folder, const char *name, int number, const char *bytes, size_t count)
{
    struct hl_text path = {0};
    hl_text_add(&path, "%s/", folder);
    hl_text_add(&path, name, number);
    bool ok = hl_output_write("diff", path.data, bytes, count);
    hl_text_free(&path);
    return ok;
}

static bool write_question(const char *folder, const struct hl_diff_inputs *inputs, int count, const int *tensors)
{
    struct hl_text text = {0};
    bool ok = true;
    for (int i = 0; ok && i < inputs->count; i++) {
        hl_text_clear(&text);
        hl_text_add(&text, "%s", "");
        for (int d = 0; d < inputs->items[i].rank; d++) hl_text_add(&text, "%d ", inputs->items[i].dims[d]);
        ok = write_file(folder, "in%d.shape", i, text.data, text.length) &&
             write_file(folder, "in%d", i, hl_text_string(&inputs->items[i].bytes), inputs->items[i].bytes.length);
    }
    hl_text_clear(&text);
    for (int i = 0; i < count; i++) hl_text_add(&text, "%d\n", tensors[i]);
    ok = ok && write_file(folder, "wanted", 0, hl_text_string(&text), text.length);
    hl_text_free(&text);
    return ok;
}

static bool read_answer(const char *folder, int tensor, struct hl_diff_tensor *value)
{
    struct hl_text path = {0}, text = {0}, error = {0};
    char type[32] = "";
    long long count = 0;
    hl_text_add(&path, "%s/out%d.type", folder, tensor);
    bool ok = hl_files_read(path.data, 1 << 10, &text, &error) && sscanf(text.data, "%31s %lld", type, &count) == 2;
    path.data[path.length - strlen(".type")] = '\0';
    ok = ok && hl_files_read(path.data, HL_FILES_MOST, &value->bytes, &error);
    value->count = count;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].numpy, type) == 0) value->type = types[i].type;
    if (!ok) hl_error("diff", "official", "tensor %d is missing: %s", tensor, hl_text_string(&error));
    hl_text_free(&path);
    hl_text_free(&text);
    hl_text_free(&error);
    return ok;
}

static bool run_python(const char *model, const char *folder)
{
    const char *python = getenv("HALITE_PYTHON");
    if (python == NULL || *python == '\0') python = "python3";
    const char *path = hl_files_is_stdin(model) ? "/dev/stdin" : model;
    int code = hl_process_run((const char *const[]){python, "-c", script, path, folder, NULL});
    if (code == NO_PACKAGES)
        hl_error("diff", "official",
                 "%s has no ai-edge-litert or no numpy; install both (pip install ai-edge-litert numpy), or name "
                 "another Python in HALITE_PYTHON",
                 python);
    else if (code == 127)
        hl_error("diff", "official", "%s cannot be started; name a Python in HALITE_PYTHON", python);
    else if (code != 0)
        hl_error("diff", "official", "%s did not run the model", python);
    return code == 0;
}

static void remove_folder(const char *folder, int inputs, int count, const int *tensors)
{
    struct hl_text path = {0};
    static const char *const names[] = {"in%d", "in%d.shape", "out%d", "out%d.type"};
    for (int n = 0; n < 4; n++)
        for (int i = 0; i < (n < 2 ? inputs : count); i++) {
            hl_text_clear(&path);
            hl_text_add(&path, "%s/", folder);
            hl_text_add(&path, names[n], n < 2 ? i : tensors[i]);
            hl_file_remove(path.data);
        }
    hl_text_clear(&path);
    hl_text_add(&path, "%s/wanted", folder);
    hl_file_remove(path.data);
    hl_folder_remove(folder);
    hl_text_free(&path);
}

bool hl_diff_run_official(const char *model, const struct hl_diff_inputs *inputs, int count, const int *tensors,
                          struct hl_diff_tensor *values)
{
    char *folder = hl_folder_make_temporary("halite_diff");
    if (folder == NULL) {
        hl_error("diff", "official", "no folder can be made for its files in $TMPDIR, else /tmp: %s", strerror(errno));
        return false;
    }
    bool ok = write_question(folder, inputs, count, tensors) && run_python(model, folder);
    for (int i = 0; ok && i < count; i++) ok = read_answer(folder, tensors[i], &values[i]);
    remove_folder(folder, inputs->count, count, tensors);
    free(folder);
    return ok;
}
