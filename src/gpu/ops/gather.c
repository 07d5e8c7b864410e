// SPDX-License-Identifier: Apache-2.0
// GATHER, GATHER_ND and EMBEDDING_LOOKUP take rows of a tensor or of a constant table by their numbers, which are
// constants or computed at run time. A row is what follows the gathered axes. A number without a row gives zeros, and
// the host refuses it. Constant numbers along channels have a kernel of their own, in which a row is one element.
#include "gpu/ops/index.h"

#include "gpu/graph/convert.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

// A half represents integers up to 2048, so that a constant number is stored as two of them.
enum { LOW = 1024, MOST = LOW * 2048, MAX_AXES = 4 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define LANE(I, NAME)                                                         \
    real NAME = to_real(0.0f);                                                \
    if (p.z * 4 + I < y_c) {                                                  \
        acc4 number = to_acc4(k(p.z * 4 + I));                                \
        int c = to_int(number.x) + to_int(number.y) * 1024;                   \
        NAME = lane(read_x(mki4(p.x, p.y, c / 4, p.w)), c % 4);               \
    }

static const struct gpu_kernel channels_kernel = {
    .name = "gather_channels",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        GPU_LANES
        write_y(p, finish(mk4(v0, v1, v2, v3), p));
    ),
};

// The output is [outer, count, row]. P_rows: count, how many outer indices share a list of numbers, numbers per row.
// P_lengths: the lengths of the gathered axes.
#define NUMBER_CONSTANT(N) (to_int(to_acc4(k(N)).x) + to_int(to_acc4(k(N)).y) * 1024)
#define ROW_VALUE(R) read_x(mki4(R % x_w, R / x_w % x_h, p.z, R / x_w / x_h))
#define ROW_TABLE(R) x(R * y_s + p.z)
#define ROWS(NUMBER, ROW)                                                                                  \
    int4 p = position();                                                                                   \
    if (outside_y(p)) return;                                                                              \
    int position = (p.w * y_h + p.y) * y_w + p.x;                                                             \
    int row = position / P_rows.x;                                                                            \
    int first = (row / P_rows.y * P_rows.x + position % P_rows.x) * P_rows.z;                                 \
    int inside = 1;                                                                                        \
    for (int j = 0; j < P_rows.z; j += 1) {                                                                \
        int n = NUMBER(first + j);                                                                         \
        int length = pick(j == 0, P_lengths.x, pick(j == 1, P_lengths.y, pick(j == 2, P_lengths.z, P_lengths.w))); \
        if (n < 0 || n >= length) inside = 0;                                                              \
        row = row * length + n;                                                                            \
    }                                                                                                      \
    real4 v = splat4(to_real(0.0f));                                                                       \
    if (inside == 1) v = ROW(row);                                                                         \
    write_y(p, finish(v, p));

#define KERNEL(SYMBOL, NAME, X_KIND, K_KIND, NUMBER, ROW)                                                  \
    static const struct gpu_kernel SYMBOL = {                                                              \
        .name = NAME,                                                                                      \
        .group = {32, 4, 1},                                                                               \
        .args = {{X_KIND, "x"}, {K_KIND, "k"}, {GPU_OUT, "y"}},                                            \
        .params = {"rows", "lengths"},                                                                     \
        .epilogue = true,                                                                                  \
        .body = GPU_TEXT_OF(ROWS(NUMBER, ROW)),                                                                \
    };
KERNEL(by_constant, "gather", GPU_IN, GPU_WEIGHTS, NUMBER_CONSTANT, ROW_VALUE)
KERNEL(by_raw, "gather_raw", GPU_IN, GPU_RAW_IN, GPU_INDEX_RAW, ROW_VALUE)
KERNEL(by_value, "gather_value", GPU_IN, GPU_IN, GPU_INDEX_VALUE, ROW_VALUE)
KERNEL(table_by_raw, "lookup_raw", GPU_WEIGHTS, GPU_RAW_IN, GPU_INDEX_RAW, ROW_TABLE)
KERNEL(table_by_value, "lookup_value", GPU_WEIGHTS, GPU_IN, GPU_INDEX_VALUE, ROW_TABLE)
// clang-format on
static const struct gpu_kernel *const kernels[] = {&channels_kernel,    &by_constant,  &by_raw,
                                                   &by_value,           &table_by_raw, &table_by_value,
                                                   &gpu_kernel_reshape, NULL};

// ---- supported ----------------------------------------------------------------------------------

static bool check_numbers(const struct gpu_node_view *view, int input)
{
    const TfLiteTensor *x = gpu_view_input(view, 1 - input), *numbers = gpu_view_input(view, input);
    const TfLiteTensor *y = gpu_view_output(view, 0);
    if (numbers->type != kTfLiteInt32 && numbers->type != kTfLiteInt64)
        return gpu_refuse(view, DELEGATE_TYPE, input, "the indices must be int32 or int64");
    if (hl_is_constant(x) && hl_is_constant(numbers))
        return gpu_refuse(view, DELEGATE_CONSTANT, 1 - input, "all inputs are constants");
    bool bytes = y->type == kTfLiteInt8 || y->type == kTfLiteUInt8;
    return !bytes || x->type == y->type ||
           gpu_refuse(view, DELEGATE_TYPE, -1, "rows of another type than the output's");
}

// Checks constant numbers, of which those at first, first + step, ... are positions on an axis of this length.
static bool check_range(const struct gpu_node_view *view, int input, int first, int step, int length)
{
    const TfLiteTensor *numbers = gpu_view_input(view, input);
    if (!hl_is_constant(numbers)) return true;
    if (!gpu_check_constant(view, input)) return false;
    int64_t count = hl_elements(numbers);
    for (int64_t i = first; i < count; i += step) {
        int number = gpu_integer_at(numbers, i);
        if (number < 0 || number >= length || number >= MOST)
            return gpu_refuse(view, DELEGATE_PARAMETER, input, "index %d of an axis of length %d", number, length);
    }
    return true;
}

// Checks that the kernels can see x and y as rows of this many elements.
static bool check_rows(const struct gpu_node_view *view, int input, const TfLiteIntArray *x, int axis)
{
    int64_t row = 1;
    for (int i = axis; i < x->size; i++) row *= x->data[i];
    const TfLiteTensor *from = gpu_view_input(view, input), *to = gpu_view_output(view, 0);
    if (row < 1) return gpu_refuse(view, DELEGATE_SHAPE, input, "rows without elements");
    struct gpu_shape x_shape = {1, 1, (int)(hl_elements(from) / row), (int)row};
    struct gpu_shape y_shape = {1, 1, (int)(hl_elements(to) / row), (int)row};
    return (hl_is_constant(from) || gpu_check_extent(view, input, x_shape)) && gpu_check_extent(view, -1, y_shape);
}

static bool gather_supported(const struct gpu_node_view *view)
{
    if (!check_numbers(view, 1)) return false;
    const TfLiteIntArray *x = gpu_view_input(view, 0)->dims, *numbers = gpu_view_input(view, 1)->dims;
    const TfLiteGatherParams *params = view->node->builtin_data;
    int axis = params->axis < 0 ? params->axis + x->size : params->axis;
    int batches = params->batch_dims < 0 ? params->batch_dims + numbers->size : params->batch_dims;
    if (axis < 0 || axis >= x->size)
        return gpu_refuse(view, DELEGATE_PARAMETER, 0, "axis %d of a tensor of rank %d", axis, x->size);
    if (batches < 0 || batches > axis || batches > numbers->size)
        return gpu_refuse(view, DELEGATE_PARAMETER, 1, "batch_dims %d with indices of rank %d along axis %d",
                          params->batch_dims, numbers->size, axis);
    for (int i = 0; i < batches; i++)
        if (x->data[i] != numbers->data[i])
            return gpu_refuse(view, DELEGATE_SHAPE, 1, "batch dimension %d is %d and %d", i, x->data[i],
                              numbers->data[i]);
    return check_rows(view, 0, x, axis + 1) && check_range(view, 1, 0, 1, x->data[axis]);
}

static bool gather_nd_supported(const struct gpu_node_view *view)
{
    if (!check_numbers(view, 1)) return false;
    const TfLiteIntArray *x = gpu_view_input(view, 0)->dims, *numbers = gpu_view_input(view, 1)->dims;
    int axes = numbers->size > 0 ? numbers->data[numbers->size - 1] : 0;
    if (axes < 1 || axes > x->size || axes > MAX_AXES)
        return gpu_refuse(view, DELEGATE_SHAPE, 1, "%d indices for a tensor of rank %d", axes, x->size);
    for (int i = 0; i < axes; i++)
        if (!check_range(view, 1, i, axes, x->data[i])) return false;
    return check_rows(view, 0, x, axes);
}

static bool lookup_supported(const struct gpu_node_view *view)
{
    if (!check_numbers(view, 0)) return false;
    const TfLiteIntArray *x = gpu_view_input(view, 1)->dims;
    if (x->size == 0) return gpu_refuse(view, DELEGATE_RANK, 1, "the table is a scalar");
    return check_rows(view, 1, x, 1) && check_range(view, 0, 0, 1, x->data[0]);
}

// ---- checks --------------------------------------------------------------------------------------

static bool check_along(const struct gpu_node *node, int input, const int *lengths, int axes,
                        struct gpu_value_check *check)
{
    *check = (struct gpu_value_check){GPU_CHECK_INDICES, input, gpu_index_of(node->inputs[input]).value, axes, {0}};
    for (int i = 0; i < axes; i++) check->lengths[i] = lengths[i];
    return true;
}

static bool gather_check(const struct gpu_node *node, struct gpu_value_check *check)
{
    const TfLiteGatherParams *params = node->params;
    const struct gpu_value *x = node->inputs[0];
    return check_along(node, 1, &x->dims[params->axis < 0 ? params->axis + x->rank : params->axis], 1, check);
}

static bool gather_nd_check(const struct gpu_node *node, struct gpu_value_check *check)
{
    const struct gpu_value *numbers = node->inputs[1];
    return check_along(node, 1, node->inputs[0]->dims, numbers->dims[numbers->rank - 1], check);
}

static bool lookup_check(const struct gpu_node *node, struct gpu_value_check *check)
{
    return check_along(node, 0, node->inputs[1]->dims, 1, check);
}

// ---- plan ---------------------------------------------------------------------------------------

// What to gather: y = [outer, count, row] from x = [outer, axes..., row].
struct rows {
    const struct gpu_value *x, *numbers;
    struct gpu_value *y;
    int outer, share; // number of outer indices, and how many in succession share their numbers
    int axes, lengths[MAX_AXES];
    int row; // elements
};

static struct gpu_weights *constant_numbers(struct gpu_plan *plan, const struct gpu_value *numbers)
{
    int count = (int)gpu_elements(numbers->shape);
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)count);
    for (int i = 0; weights && i < count; i++) {
        int number = gpu_constant_int(numbers, i);
        weights->data[4 * i] = (float)(number % LOW);
        weights->data[4 * i + 1] = (float)(number / LOW);
    }
    return weights;
}

// Makes a table of the rows of x, each in slices of four channels.
static struct gpu_weights *table_of(struct gpu_plan *plan, const struct gpu_value *x, int row)
{
    int64_t rows = gpu_elements(x->shape) / row;
    int slices = (row + 3) / 4;
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)(rows * slices));
    for (int64_t r = 0; weights && r < rows; r++)
        for (int c = 0; c < row; c++) weights->data[r * slices * 4 + c] = x->data[r * row + c];
    return weights;
}

static bool plan_rows(struct gpu_plan *plan, const struct gpu_node *node, const struct rows *rows)
{
    struct gpu_shape from = rows->x->shape, to = rows->y->shape;
    int positions = (int)(gpu_elements(to) / rows->row), source_rows = (int)(gpu_elements(from) / rows->row);
    if (from.c != rows->row) from = (struct gpu_shape){1, 1, source_rows, rows->row};
    if (to.c != rows->row) to = (struct gpu_shape){1, 1, positions, rows->row};
    struct gpu_value *target = gpu_plan_target(plan, rows->y, to);
    struct gpu_index index = gpu_index_of(rows->numbers);
    bool table = rows->x->data != NULL;
    struct gpu_dispatch_desc desc = {
        .kernel = rows->numbers->data ? &by_constant
                  : table             ? index.raw ? &table_by_raw : &table_by_value
                  : index.raw         ? &by_raw
                                      : &by_value,
        .views = {[2] = to},
        .params = {{positions / rows->outer, rows->share, rows->axes},
                   {rows->lengths[0], rows->lengths[1], rows->lengths[2], rows->lengths[3]}},
        .epilogue = target == rows->y ? &node->epilogue : NULL,
    };
    if (table) {
        desc.operands[0].weights = table_of(plan, rows->x, rows->row);
    } else {
        desc.operands[0].value = gpu_plan_seen_as(plan, rows->x, from);
        desc.views[0] = from;
    }
    if (rows->numbers->data)
        desc.operands[1].weights = constant_numbers(plan, rows->numbers);
    else
        desc.operands[1].value = index.value;
    desc.operands[2].value = target;
    gpu_grid_over(&desc, to);
    bool ok = target && (desc.operands[0].weights || desc.operands[0].value) &&
              (desc.operands[1].weights || desc.operands[1].value);
    return ok && gpu_plan_dispatch(plan, &desc) && gpu_plan_written_as(plan, target, rows->y, &node->epilogue);
}

static bool plan_channels(struct gpu_plan *plan, const struct gpu_node *node, const struct rows *rows)
{
    struct gpu_shape shape = rows->x->shape;
    shape.c = (int)gpu_elements(rows->numbers->shape);
    struct gpu_value *target = gpu_plan_target(plan, rows->y, shape);
    struct gpu_weights *numbers = constant_numbers(plan, rows->numbers);
    if (!target || !numbers) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = &channels_kernel,
        .operands = {{.value = rows->x}, {.weights = numbers}, {.value = target}},
        .views = {[2] = shape},
        .epilogue = target == rows->y ? &node->epilogue : NULL,
    };
    gpu_grid_over(&desc, shape);
    return gpu_plan_dispatch(plan, &desc) && gpu_plan_written_as(plan, target, rows->y, &node->epilogue);
}

static int product(const int *dims, int from, int to)
{
    int product = 1;
    for (int i = from; i < to; i++) product *= dims[i];
    return product;
}

static bool gather_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteGatherParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *numbers = node->inputs[1];
    int axis = params->axis < 0 ? params->axis + x->rank : params->axis;
    int batches = params->batch_dims < 0 ? params->batch_dims + numbers->rank : params->batch_dims;
    struct rows rows = {
        .x = x,
        .numbers = numbers,
        .y = node->outputs[0],
        .outer = product(x->dims, 0, axis),
        .share = product(x->dims, batches, axis),
        .axes = 1,
        .lengths = {x->dims[axis], 1, 1, 1},
        .row = product(x->dims, axis + 1, x->rank),
    };
    bool channels = numbers->data && axis == x->rank - 1 && batches == 0;
    return channels ? plan_channels(plan, node, &rows) : plan_rows(plan, node, &rows);
}

static bool gather_nd_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *numbers = node->inputs[1];
    struct rows rows = {
        .x = x,
        .numbers = numbers,
        .y = node->outputs[0],
        .outer = 1,
        .share = 1,
        .axes = numbers->dims[numbers->rank - 1],
        .lengths = {1, 1, 1, 1},
    };
    for (int i = 0; i < rows.axes; i++) rows.lengths[i] = x->dims[i];
    rows.row = product(x->dims, rows.axes, x->rank);
    return plan_rows(plan, node, &rows);
}

static bool lookup_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[1];
    struct rows rows = {
        .x = x,
        .numbers = node->inputs[0],
        .y = node->outputs[0],
        .outer = 1,
        .share = 1,
        .axes = 1,
        .lengths = {x->dims[0], 1, 1, 1},
        .row = product(x->dims, 1, x->rank),
    };
    return plan_rows(plan, node, &rows);
}

const struct gpu_op gpu_op_gather = {
    .name = "GATHER",
    .max_version = 8,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1), .any_rank = true},
    .supported = gather_supported,
    .plan = gather_plan,
    .check = gather_check,
    GPU_PARAMS(TfLiteGatherParams),
    .epilogue = true,
    .bytes = GPU_BYTES_MOVED,
    .kernels = kernels,
};
const struct gpu_op gpu_op_gather_nd = {
    .name = "GATHER_ND",
    .max_version = 6,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1), .any_rank = true},
    .supported = gather_nd_supported,
    .plan = gather_nd_plan,
    .check = gather_nd_check,
    .epilogue = true,
    .bytes = GPU_BYTES_MOVED,
    .kernels = kernels,
};
const struct gpu_op gpu_op_embedding_lookup = {
    .name = "EMBEDDING_LOOKUP",
    .max_version = 5,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(0), .any_rank = true},
    .supported = lookup_supported,
    .plan = lookup_plan,
    .check = lookup_check,
    .epilogue = true,
    .hybrid = true,
    .bytes = GPU_BYTES_COMPUTED,
    .kernels = kernels,
};
