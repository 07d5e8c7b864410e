// SPDX-License-Identifier: Apache-2.0
// See op_case.h. Rows -> jobs (a row with its batch and channels, plain or with an addition and a LEAKY_RELU behind it,
// which passes put into its epilogue) -> tensors and nodes of one model -> the same inputs through the CPU and the
// device.
#include "gpu/op_case.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "halite/halite.h"
#include "support/bench.h"
#include "support/flex_map.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

// Batches and channels: slices that are not full, and one that is.
static const struct {
    int b, c;
} sizes[] = {{1, 3}, {2, 5}, {2, 17}, {1, 8}};
enum { LARGEST_SIZE = 2 };
enum { SIZES = sizeof sizes / sizeof *sizes, MAX_OUTPUTS = 8, MAX_TENSORS = 8192, MAX_JOBS = 2048 };

struct job {
    const struct op_case *row;
    int b, c;
    bool behind;              // the second kind
    int outputs[MAX_OUTPUTS]; // tensors of the model
    int output_count;
    int first_tensor, end_tensor; // its own
    int rank, dims[CASE_RANK];    // of output 0
    unsigned char *map;           // the row's, as bytes; NULL: none
};

struct table {
    const char *only;
    const struct op_target *target;
    struct op_count count;
    struct job jobs[MAX_JOBS];
    int job_count;
    struct test_tensor tensors[MAX_TENSORS];
    char names[MAX_TENSORS][16];
    void *data[MAX_TENSORS]; // of inputs and constants
    int tensor_count;
    struct test_node nodes[6 * MAX_JOBS];
    int job_of_node[6 * MAX_JOBS];
    int node_count;
};

// ---- rows to jobs -------------------------------------------------------------------------------

static bool is_counted(int value)
{
    return value <= -COUNTED;
}

static int counted(int value, const struct job *job)
{
    if (!is_counted(value)) return value;
    int channels = (value + C / 2) / C, rest = value - channels * C; // rounded to the next whole number, as batches are
    int batches = rest < 0 ? (rest + B / 2) / B : 0;
    return channels * job->c + batches * job->b + rest - batches * B;
}

static bool has_counted(const struct op_case *row)
{
    for (int i = 0; i < CASE_INPUTS; i++)
        for (int d = 0; d < row->inputs[i].rank; d++)
            if (is_counted(row->inputs[i].dims[d])) return true;
    return false;
}

static void describe(const struct job *job, char *text, size_t size)
{
    snprintf(text, size, "%s (batch %d, channels %d%s)", job->row->name, job->b, job->c,
             job->behind ? ", with an addition behind" : "");
}

static void add_job(struct table *table, const struct op_case *row, int size, bool behind)
{
    assert_true(table->job_count < MAX_JOBS);
    table->jobs[table->job_count++] =
        (struct job){.row = row, .b = sizes[size].b, .c = sizes[size].c, .behind = behind};
}

static void add_jobs(struct table *table, const struct op_family *family)
{
    const struct op_target_kind *kind = table->target->kind;
    for (const struct op_case *row = family->cases; row->name; row++) {
        if (table->only && !strstr(row->name, table->only)) continue;
        if (row->singles && table->target->precision != GPU_F32) continue;
        if (kind->leaves_out && kind->leaves_out(row)) continue;
        int last = has_counted(row) ? SIZES : 1;
        for (int size = 0; size < last; size++) add_job(table, row, size, false);
        bool one_float = row->output_count <= 1 && row->output.type == TEST_FLOAT32;
        if (kind->has_epilogue && kind->has_epilogue(row) && one_float) add_job(table, row, last > 1 ? 1 : 0, true);
    }
}

// ---- numbers ------------------------------------------------------------------------------------

struct seed {
    unsigned state;
};

static int draw(struct seed *seed, int count)
{
    seed->state = seed->state * 1664525u + 1013904223u;
    return (int)((seed->state >> 8) % (unsigned)count);
}

static float draw_value(struct seed *seed, enum case_values values)
{
    static const float divisors[] = {-2, -0.5f, 0.5f, 1, 2};
    switch (values) {
    case VALUES_POSITIVE: return (float)(1 + draw(seed, 32)) / 8;
    case VALUES_SMALL: return (float)(draw(seed, 33) - 16) / 16;
    case VALUES_DIVISORS: return divisors[draw(seed, 5)];
    case VALUES_TRUTH: return (float)draw(seed, 2);
    case VALUES_NEAR_ONE: return 1 + (float)(draw(seed, 3) - 1) / 8;
    case VALUES_INDICES: return (float)draw(seed, 3);
    case VALUES_WIDE: return (float)(draw(seed, 65) - 32) / 2;
    case VALUES_FAR:
        if (draw(seed, 32) == 0) return draw(seed, 2) ? 30000 : -30000;
        return (float)(draw(seed, 65) - 16) / 8;
    case VALUES_EQUAL: return (float)(draw(seed, 5) - 2);
    default: return (float)(draw(seed, 65) - 32) / 8;
    }
}

static float special_value(enum case_values values, size_t i)
{
    static const float numbers[] = {
        0,
        -0.0f,
        INFINITY,
        -INFINITY,
        NAN,
        1,
        -1,
        0.5f,
        -2.5f,
        3,
        -6,
        65504,
        -65504,
        0.00006103515625f,
        1024,
        -7,
        2,
        FLT_MAX,
        -FLT_MAX,
        3e38f,
        -1e38f,
        1e30f,
        -1e-30f,
        2e-38f,
        1e19f,
        16777216.0f,
        -16777217.0f,
        88.5f,
        -88.5f,
        100,
        -104,
        1e-6f,
    };
    enum { HALVES = 17, ALL = sizeof numbers / sizeof *numbers };
    if (values == VALUES_SPECIAL_ROWS) return numbers[i / HALVES % HALVES];
    return numbers[i % (values == VALUES_SPECIAL ? HALVES : ALL)];
}

static size_t bytes_of(enum test_type type)
{
    switch (type) {
    case TEST_BOOL:
    case TEST_UINT8:
    case TEST_INT8: return 1;
    case TEST_FLOAT16:
    case TEST_INT16: return 2;
    case TEST_INT64: return 8;
    default: return 4;
    }
}

static int clamped(float value, int low, int high)
{
    return value < (float)low ? low : value > (float)high ? high : (int)lrintf(value);
}

// One element; numbers of quantized tensors are within what 8 bits hold.
static void store(const struct test_tensor *tensor, void *data, size_t at, float value, float scale)
{
    float stored = scale != 0 ? value / scale + (float)tensor->zero_point : value;
    switch (tensor->type) {
    case TEST_INT8: ((int8_t *)data)[at] = (int8_t)clamped(stored, -128, 127); break;
    case TEST_UINT8: ((uint8_t *)data)[at] = (uint8_t)clamped(stored, 0, 255); break;
    case TEST_BOOL: ((bool *)data)[at] = value != 0; break;
    case TEST_INT32: ((int32_t *)data)[at] = clamped(stored, -1000000, 1000000); break;
    case TEST_FLOAT16: ((uint16_t *)data)[at] = hl_half_from_float(value); break;
    default: ((float *)data)[at] = value;
    }
}

// ---- jobs to a model ----------------------------------------------------------------------------

static struct test_tensor *add_tensor(struct table *table, enum test_type type, int rank, const int *dims)
{
    assert_true(table->tensor_count < MAX_TENSORS);
    int index = table->tensor_count++;
    snprintf(table->names[index], sizeof table->names[index], "t%d", index);
    struct test_tensor *tensor = &table->tensors[index];
    *tensor = (struct test_tensor){.name = table->names[index], .type = type, .rank = rank};
    if (dims) memcpy(tensor->dims, dims, (size_t)rank * sizeof *dims);
    return tensor;
}

static int index_of(const struct table *table, const struct test_tensor *tensor)
{
    return (int)(tensor - table->tensors);
}

static size_t elements_of(const struct test_tensor *tensor)
{
    size_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= (size_t)tensor->dims[i];
    return count;
}

static bool is_list(const struct case_tensor *from)
{
    return from->type == TEST_INT32 && from->kind == TENSOR_CONSTANT && from->scale == 0;
}

static void fill(struct table *table, struct test_tensor *tensor, const struct case_tensor *from, const struct job *job)
{
    size_t count = elements_of(tensor), behind = 1;
    struct seed seed = {(unsigned)(tensor - table->tensors) * 7919u + 1};
    tensor->bytes = count * bytes_of(tensor->type);
    void *data = malloc(tensor->bytes);
    assert_non_null(data);
    for (int i = from->channel_axis; from->channel_axis && i < tensor->rank; i++) behind *= (size_t)tensor->dims[i];
    for (size_t i = 0; i < count; i++) {
        float scale = tensor->scale_count ? tensor->scales[i / behind % (size_t)tensor->scale_count] : tensor->scale;
        float value = is_list(from)                    ? (float)counted(from->ints[i], job)
                      : from->int_count                ? (float)from->ints[i % (size_t)from->int_count]
                      : from->values >= VALUES_SPECIAL ? special_value(from->values, i)
                                                       : draw_value(&seed, from->values);
        store(tensor, data, i, value, scale);
    }
    table->data[index_of(table, tensor)] = data;
}

static void add_scales(struct test_tensor *tensor, const struct case_tensor *from)
{
    int count = tensor->dims[from->channel_axis - 1];
    float *scales = malloc((size_t)count * sizeof *scales);
    assert_non_null(scales);
    for (int i = 0; i < count; i++) scales[i] = from->scale * (float)(1 + i % 3);
    tensor->scales = scales;
    tensor->scale_count = count;
    tensor->quantized_dimension = from->channel_axis - 1;
}

static int add_input(struct table *table, const struct case_tensor *from, const struct job *job)
{
    if (from->kind == TENSOR_ABSENT) return -1;
    int dims[CASE_RANK];
    for (int i = 0; i < from->rank; i++) dims[i] = counted(from->dims[i], job);
    struct test_tensor *tensor = add_tensor(table, from->type, from->rank, dims);
    tensor->scale = from->scale;
    tensor->zero_point = from->zero_point;
    if (from->channel_axis) add_scales(tensor, from);
    tensor->is_variable = from->kind == TENSOR_VARIABLE;
    if (!tensor->is_variable) fill(table, tensor, from, job);
    if (from->kind == TENSOR_CONSTANT)
        tensor->data = table->data[index_of(table, tensor)];
    else
        tensor->is_input = !tensor->is_variable;
    return index_of(table, tensor);
}

static struct test_node *add_node(struct table *table, int job, int builtin)
{
    table->job_of_node[table->node_count] = job;
    struct test_node *node = &table->nodes[table->node_count++];
    *node = (struct test_node){.builtin = builtin};
    return node;
}

// output 0 -> + residual -> LEAKY_RELU
static void add_behind(struct table *table, int index)
{
    struct job *job = &table->jobs[index];
    static const struct case_tensor eighths = {.kind = TENSOR_INPUT};
    struct test_tensor *residual = add_tensor(table, TEST_FLOAT32, job->rank, job->dims);
    residual->is_input = true;
    fill(table, residual, &eighths, job);
    struct test_tensor *sum = add_tensor(table, TEST_FLOAT32, 0, NULL),
                       *last = add_tensor(table, TEST_FLOAT32, 0, NULL);
    struct test_node *add = add_node(table, index, kTfLiteBuiltinAdd);
    add->input_count = 2;
    add->inputs[0] = job->outputs[0];
    add->inputs[1] = index_of(table, residual);
    add->output_count = 1;
    add->outputs[0] = index_of(table, sum);
    add->settings[0] = (struct test_setting)SET(AddOptions, fused_activation_function, 0);
    struct test_node *leaky = add_node(table, index, kTfLiteBuiltinLeakyRelu);
    leaky->input_count = leaky->output_count = 1;
    leaky->inputs[0] = index_of(table, sum);
    leaky->outputs[0] = index_of(table, last);
    leaky->settings[0] = (struct test_setting)SET(LeakyReluOptions, alpha, 0.25);
    job->outputs[0] = leaky->outputs[0];
}

// An input, padded.
static int add_pad(struct table *table, int index, int input)
{
    const int *pad = table->jobs[index].row->pad;
    struct case_tensor pairs = PAIRS(0, 0, pad[0], pad[1], pad[2], pad[3], 0, 0);
    int paddings = add_input(table, &pairs, &table->jobs[index]);
    struct test_node *node = add_node(table, index, kTfLiteBuiltinPad);
    node->input_count = 2;
    node->inputs[0] = input;
    node->inputs[1] = paddings;
    node->output_count = 1;
    node->outputs[0] = index_of(table, add_tensor(table, TEST_FLOAT32, 0, NULL));
    return node->outputs[0];
}

// A value, added to or multiplied by a constant.
static int add_step(struct table *table, int index, const struct case_step *step, int input)
{
    if (!step->builtin && step->constant.kind == TENSOR_NONE) return input;
    int constant = add_input(table, &step->constant, &table->jobs[index]);
    struct test_node *node = add_node(table, index, step->builtin);
    switch (step->builtin) {
    case kTfLiteBuiltinAdd:
        node->settings[0] = (struct test_setting)SET(AddOptions, fused_activation_function, 0);
        break;
    case kTfLiteBuiltinSub:
        node->settings[0] = (struct test_setting)SET(SubOptions, fused_activation_function, 0);
        break;
    case kTfLiteBuiltinMul:
        node->settings[0] = (struct test_setting)SET(MulOptions, fused_activation_function, 0);
        break;
    default: node->settings[0] = (struct test_setting)SET(DivOptions, fused_activation_function, 0);
    }
    node->input_count = 2;
    node->inputs[0] = input;
    node->inputs[1] = constant;
    node->output_count = 1;
    node->outputs[0] = index_of(table, add_tensor(table, TEST_FLOAT32, 0, NULL));
    return node->outputs[0];
}

// What the device makes an int32 input of: floats.
static int add_cast(struct table *table, int index, const struct case_tensor *from)
{
    struct case_tensor floats = *from;
    floats.type = TEST_FLOAT32;
    static const struct case_step plus_zero = {kTfLiteBuiltinAdd, {.kind = TENSOR_CONSTANT, .int_count = 1}};
    int input = add_input(table, &floats, &table->jobs[index]);
    if (from->computed) input = add_step(table, index, &plus_zero, input);
    struct test_node *node = add_node(table, index, kTfLiteBuiltinCast);
    node->settings[0] = (struct test_setting)SET(CastOptions, out_data_type, TEST_INT32);
    node->input_count = node->output_count = 1;
    node->inputs[0] = input;
    node->outputs[0] = index_of(table, add_tensor(table, TEST_INT32, 0, NULL));
    return node->outputs[0];
}

static void add_nodes(struct table *table, int index, bool behind)
{
    struct job *job = &table->jobs[index];
    const struct op_case *row = job->row;
    job->first_tensor = table->tensor_count;
    bool padded = row->pad[0] || row->pad[1] || row->pad[2] || row->pad[3];
    int inputs[CASE_INPUTS], count = 0, fronted = 0;
    for (; count < CASE_INPUTS && row->inputs[count].kind != TENSOR_NONE; count++) {
        const struct case_tensor *from = &row->inputs[count];
        inputs[count] = from->made ? add_cast(table, index, from) : add_input(table, from, job);
        bool first = from->kind == TENSOR_INPUT && fronted++ == 0;
        if (first) inputs[count] = add_step(table, index, &row->front, inputs[count]);
        if (first && padded) inputs[count] = add_pad(table, index, inputs[count]);
    }
    struct test_node *node = add_node(table, index, row->builtin);
    node->custom = row->custom;
    node->options = row->options;
    node->option_bytes = row->option_bytes;
    if (row->map) {
        job->map = malloc(FLEX_MAP_BYTES);
        assert_non_null(job->map);
        node->options = job->map;
        node->option_bytes = flex_map_write(row->map, job->map);
    }
    node->version = row->version;
    memcpy(node->settings, row->settings, sizeof node->settings);
    memcpy(node->inputs, inputs, (size_t)count * sizeof *inputs);
    node->input_count = count;
    job->output_count = node->output_count = row->output_count ? row->output_count : 1;
    for (int i = 0; i < node->output_count; i++) {
        struct test_tensor *tensor = add_tensor(table, row->output.type, 0, NULL);
        tensor->scale = row->output.scale;
        tensor->zero_point = row->output.zero_point;
        node->outputs[i] = job->outputs[i] = index_of(table, tensor);
    }
    job->outputs[0] = add_step(table, index, &row->tail, job->outputs[0]);
    if (behind) add_behind(table, index);
    job->end_tensor = table->tensor_count;
    for (int i = 0; i < job->output_count; i++) table->tensors[job->outputs[i]].is_output = true;
}

static void clear(struct table *table)
{
    for (int i = 0; i < table->tensor_count; i++) {
        free(table->data[i]);
        free((void *)(uintptr_t)table->tensors[i].scales);
        table->data[i] = NULL;
    }
    table->tensor_count = table->node_count = 0;
    for (int i = 0; i < table->job_count; i++) {
        free(table->jobs[i].map);
        table->jobs[i].map = NULL;
    }
}

static void build(struct table *table)
{
    clear(table);
    for (int i = 0; i < table->job_count; i++) add_nodes(table, i, table->jobs[i].behind);
}

// ---- running ------------------------------------------------------------------------------------

struct session {
    struct table *table;
    char messages[4096];
    unsigned char *bytes;
    TfLiteModel *model;
    TfLiteDelegate *delegate;
    TfLiteInterpreter *interpreter;
};

static void collect(void *user_data, const char *format, va_list args)
{
    struct session *session = user_data;
    size_t used = strlen(session->messages), room = sizeof session->messages - used;
    int length = vsnprintf(session->messages + used, room, format, args);
    if (length > 0 && (size_t)length + 1 < room) strcat(session->messages, "\n");
}

// target NULL: the reference kernels of the CPU.
static void begin(struct session *session, struct table *table, const struct op_target *target)
{
    struct test_model model = {
        .tensor_count = table->tensor_count,
        .tensors = table->tensors,
        .node_count = table->node_count,
        .nodes = table->nodes,
    };
    size_t size;
    *session = (struct session){.table = table, .bytes = test_model_write(&model, &size)};
    session->model = TfLiteModelCreate(session->bytes, size);
    assert_non_null(session->model);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, collect, session);
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    for (int i = 0; i < table->job_count; i++) {
        const struct op_case *row = table->jobs[i].row;
        if (row->reference && row->custom)
            TfLiteInterpreterOptionsAddCustomOp(options, row->custom, row->reference, 1, 1);
        else if (row->reference && !target)
            TfLiteInterpreterOptionsAddBuiltinOp(options, (TfLiteBuiltinOperator)row->builtin, row->reference, 1, 8);
    }
    if (target) {
        session->delegate = target->kind->create(target);
        assert_non_null(session->delegate);
        TfLiteInterpreterOptionsAddDelegate(options, session->delegate);
    }
    session->interpreter = TfLiteInterpreterCreate(session->model, options);
    TfLiteInterpreterOptionsDelete(options);
    if (!session->interpreter || TfLiteInterpreterAllocateTensors(session->interpreter) != kTfLiteOk)
        fail_msg("%s", session->messages);
}

static void end(struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    if (session->delegate) tflite_plugin_destroy_delegate(session->delegate);
    TfLiteModelDelete(session->model);
    free(session->bytes);
}

static TfLiteStatus try_to_invoke(struct session *session)
{
    const struct table *table = session->table;
    for (int i = 0, input = 0; i < table->tensor_count; i++) {
        if (!table->tensors[i].is_input) continue;
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(session->interpreter, input++);
        assert_int_equal(TfLiteTensorCopyFromBuffer(tensor, table->data[i], table->tensors[i].bytes), kTfLiteOk);
    }
    return TfLiteInterpreterInvoke(session->interpreter);
}

static void invoke(struct session *session)
{
    if (try_to_invoke(session) != kTfLiteOk) fail_msg("%s", session->messages);
}

// The graph's outputs are in the order of the tensors.
static const TfLiteTensor *output_of(const struct session *session, int tensor)
{
    int output = 0;
    for (int i = 0; i < tensor; i++) output += session->table->tensors[i].is_output;
    return TfLiteInterpreterGetOutputTensor(session->interpreter, output);
}

// What stands behind a row needs to know what shape the row's output has.
static void learn_shapes(struct table *table)
{
    clear(table);
    for (int i = 0; i < table->job_count; i++) add_nodes(table, i, false);
    struct session session;
    begin(&session, table, NULL);
    for (int i = 0; i < table->job_count; i++) {
        struct job *job = &table->jobs[i];
        const TfLiteTensor *output = output_of(&session, job->outputs[0]);
        job->rank = TfLiteTensorNumDims(output);
        for (int d = 0; d < job->rank; d++) job->dims[d] = TfLiteTensorDim(output, d);
    }
    end(&session);
}

// ---- comparing ----------------------------------------------------------------------------------

static double element(const TfLiteTensor *tensor, size_t i)
{
    const void *data = TfLiteTensorData(tensor);
    switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32: return (double)((const float *)data)[i];
    case kTfLiteInt32: return ((const int32_t *)data)[i];
    case kTfLiteInt64: return (double)((const int64_t *)data)[i];
    case kTfLiteBool: return ((const bool *)data)[i];
    case kTfLiteInt8: return ((const int8_t *)data)[i];
    case kTfLiteUInt8: return ((const uint8_t *)data)[i];
    case kTfLiteFloat16: return (double)hl_half_to_float(((const uint16_t *)data)[i]);
    default: fail_msg("a type that the table cannot compare"); return 0;
    }
}

// Whether a tensor of the job differs; says so.
static bool differs(const struct op_target *target, const struct job *job, const char *what, const TfLiteTensor *wanted,
                    const TfLiteTensor *got, size_t element_bytes)
{
    size_t count = TfLiteTensorByteSize(wanted) / element_bytes, bad = 0, worst = 0;
    double excess = 0;
    assert_int_equal(TfLiteTensorByteSize(got), TfLiteTensorByteSize(wanted));
    for (size_t i = 0; i < count; i++) {
        double a = element(wanted, i), b = element(got, i);
        double room = target->kind->allowed(target, job->row, job->behind, TfLiteTensorType(wanted), a);
        if (a == b || fabs(a - b) <= room || (isnan(a) && isnan(b))) continue;
        // A half ends at 65504.
        if (target->precision != GPU_F32 && isinf(b) && fabs(a) >= 65504 && (a < 0) == (b < 0)) continue;
        // The CPU clamps sums of products to the activation's range, which ends at the largest float.
        if (job->row->tolerance == GPU_SUMS && isinf(b) && fabs(a) == FLT_MAX && (a < 0) == (b < 0)) continue;
        if (bad++ == 0 || fabs(a - b) - room > excess) {
            worst = i;
            excess = fabs(a - b) - room;
        }
    }
    if (bad == 0) return false;
    char name[160];
    describe(job, name, sizeof name);
    print_error("%s: %s differs in %zu of %zu elements, most in %zu: %g, the CPU says %g\n", name, what, bad, count,
                worst, element(got, worst), element(wanted, worst));
    return true;
}

// How many outputs and variables of the job differ.
static int compare(const struct op_target *target, const struct job *job, const struct session *cpu,
                   const struct session *device)
{
    int differ = 0;
    for (int o = 0; o < job->output_count; o++) {
        char what[32];
        snprintf(what, sizeof what, "output %d", o);
        differ += differs(target, job, what, output_of(cpu, job->outputs[o]), output_of(device, job->outputs[o]),
                          bytes_of(cpu->table->tensors[job->outputs[o]].type));
    }
    for (int i = job->first_tensor; i < job->end_tensor; i++)
        if (cpu->table->tensors[i].is_variable)
            differ += differs(target, job, "a variable", TfLiteInterpreterGetTensor(cpu->interpreter, i),
                              TfLiteInterpreterGetTensor(device->interpreter, i), sizeof(float));
    return differ;
}

// Counts the nodes, and returns how many of them should not have stayed on the CPU.
static int count_left(const struct session *session)
{
    struct table *table = session->table;
    const struct op_target *target = table->target;
    HaliteDelegateReport *report = HaliteDelegateReportCreate(session->delegate);
    assert_non_null(report);
    if (target->kind->check_report) target->kind->check_report(target, report);
    int left = 0;
    table->count = (struct op_count){.nodes = HaliteDelegateReportGetNodeCount(report)};
    for (int i = 0; i < table->count.nodes; i++) {
        const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, i);
        table->count.taken += node->on_gpu;
        if (node->on_gpu || !target->kind->takes_all) continue;
        char name[160];
        describe(&table->jobs[table->job_of_node[node->node]], name, sizeof name);
        print_error("%s: %s is not on %s: %s\n", name, node->op, target->kind->name, node->text);
        left++;
    }
    HaliteDelegateReportDelete(report);
    return left;
}

// ---- a family -----------------------------------------------------------------------------------

// Whether both the CPU and the device refuse the values of the row that the table consists of.
static bool is_refused(struct table *table)
{
    const struct op_case *row = table->jobs[0].row;
    struct session cpu, device;
    begin(&cpu, table, NULL);
    begin(&device, table, table->target);
    bool refused = count_left(&device) == 0 && try_to_invoke(&cpu) != kTfLiteOk &&
                   try_to_invoke(&device) != kTfLiteOk && strstr(device.messages, row->refusal);
    if (!refused) print_error("%s: not refused with \"%s\": %s\n", row->name, row->refusal, device.messages);
    end(&cpu);
    end(&device);
    return refused;
}

// How many rows that are to be refused are not; those of a family are all of this kind, or none is.
static int run_refused(struct table *table, const struct op_family *family)
{
    int failed = 0;
    for (const struct op_case *row = family->cases; row->name; row++) {
        if (table->only && !strstr(row->name, table->only)) continue;
        assert_non_null(row->refusal);
        clear(table);
        table->job_count = 0;
        add_job(table, row, LARGEST_SIZE, false);
        build(table);
        failed += !is_refused(table);
    }
    return failed;
}

static int run_compared(struct table *table, const struct op_family *family)
{
    add_jobs(table, family);
    if (table->job_count == 0) fail_msg("no row of %s has \"%s\" in its name", family->name, table->only);
    learn_shapes(table);
    build(table);
    struct session cpu, device;
    begin(&cpu, table, NULL);
    begin(&device, table, table->target);
    int failed = count_left(&device);
    for (int n = 0; n <= family->repeats + (family->repeats > 0); n++) {
        if (n > family->repeats) {
            assert_int_equal(TfLiteInterpreterResetVariableTensors(cpu.interpreter), kTfLiteOk);
            assert_int_equal(TfLiteInterpreterResetVariableTensors(device.interpreter), kTfLiteOk);
        }
        invoke(&cpu);
        invoke(&device);
        for (int i = 0; i < table->job_count; i++) failed += compare(table->target, &table->jobs[i], &cpu, &device);
    }
    end(&cpu);
    end(&device);
    if (device.messages[0]) print_error("%s", device.messages);
    return failed + (device.messages[0] != '\0');
}

static struct table *new_table(const struct op_target *target, const char *only)
{
    struct table *table = calloc(1, sizeof *table);
    assert_non_null(table);
    table->target = target;
    table->only = only;
    return table;
}

static void free_table(struct table *table)
{
    clear(table);
    free(table);
}

struct op_count op_family_run(const struct op_family *family, const struct op_target *target, const char *only)
{
    struct table *table = new_table(target, only);
    int failed = (family->cases->refusal ? run_refused : run_compared)(table, family);
    struct op_count count = table->count;
    free_table(table);
    if (failed) fail_msg("%d of them", failed);
    return count;
}

static void invoke_session(void *session)
{
    invoke(session);
}

// target NULL: on the CPU.
static double time_of(struct table *table, const struct op_target *target)
{
    struct session session;
    begin(&session, table, target);
    invoke(&session);
    double ns = bench_call(invoke_session, &session);
    end(&session);
    return ns;
}

void op_family_bench(const struct op_family *family, const struct op_target *target, const char *only)
{
    static const char *const precisions[] = {"f32", "f16s", "f16"};
    struct table *table = new_table(target, only);
    for (const struct op_case *row = family->cases; row->name; row++) {
        bool too_wide = row->singles && target->precision != GPU_F32;
        if (row->refusal || (only && !strstr(row->name, only)) || too_wide) continue;
        clear(table);
        table->job_count = 0;
        add_job(table, row, has_counted(row) ? LARGEST_SIZE : 0, false);
        build(table);
        char label[160], level[48];
        describe(&table->jobs[0], label, sizeof label);
        snprintf(level, sizeof level, "%s %s", target->device, precisions[target->precision]);
        bench_begin(label, time_of(table, NULL));
        bench_level(level, time_of(table, target));
        bench_end();
    }
    free_table(table);
}

void op_family_plan(const struct op_family *family, const struct op_target *target)
{
    struct table *table = new_table(target, NULL);
    add_jobs(table, family);
    learn_shapes(table);
    build(table);
    struct session session;
    begin(&session, table, target);
    int left = count_left(&session);
    end(&session);
    if (session.messages[0]) print_error("%s", session.messages);
    free_table(table);
    assert_int_equal(left, 0);
}
