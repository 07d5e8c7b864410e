// SPDX-License-Identifier: Apache-2.0
// y = softmax(beta * (scale * q k^T + mask)) v for each batch and head, which graph/attention.c makes of two products
// and what is between them. The scores never reach memory: a group takes GROUP_Y * BLOCK rows of q and goes over the
// keys in tiles of 32. Each of the 32 work-items of a row along x first has one key, whose score it computes, and then
// one slice of the sums, to which it adds the values of the tile's keys. What was summed before shrinks where a tile
// has a larger score than all tiles before it. Where rows are few, GROUP_Z work-items along z share the tiles, and what
// they have summed is joined in the end. A device binds four buffers, so with a mask k and v come as one value, which a
// dispatch of its own puts together; it is small beside the scores.
//
// Any two axes may be batches and heads of q, k, v and y (b and h), as long as their product and order are the same.
// Heads may also be channels next to each other, which are then seen as batches.
#include "gpu/ops/reshape.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel kernel = {
    .name = "attention",
    .group = {32, 4, 1},
    // With MASK k has the slices of k and behind them those of v, and v is the mask.
    .args = {{GPU_IN, "q"}, {GPU_IN, "k"}, {GPU_IN, "v"}, {GPU_OUT, "y"}},
    // x: keys; y, z: scale and beta as float bits; w: heads of the scores that the mask is added to.
    .params = {"of"},
    // DEPTH: slices of q; SLICES: those of y, rounded up to a power of two; BLOCK: rows of a work-item.
    GPU_CONSTANTS({"DEPTH", 1}, {"SLICES", 1}, {"BLOCK", 1}, {"MASK", 0}),
    .shared = {"float4 queries[GROUP_Y * BLOCK * DEPTH]", "float scores[GROUP_Z * GROUP_Y * BLOCK * 32]",
               "float4 merged[GROUP_Z * GROUP_Y * 32]"},
    .body = GPU_TEXT(
        int first = (GROUP1 * GROUP_Y + LID1) * BLOCK;
        int own = LID1 * BLOCK;
        int line = (LID2 * GROUP_Y + LID1) * BLOCK;
        int lid = (LID2 * GROUP_Y + LID1) * 32 + LID0;
        int keys = P_of.x;
        float beta = bits_to_float(P_of.z);
        int batch = GROUP2 / q_h;
        int from = (batch * q_s * q_h + GROUP2 - batch * q_h) * q_w;
        float factor = bits_to_float(P_of.y) * beta;
        for (int i = LID0 + 32 * LID2; i < BLOCK * DEPTH; i += 32 * GROUP_Z) {
            int row = i / DEPTH;
            int s = i - row * DEPTH;
            queries[own * DEPTH + i] = to_acc4(load_q(from + s * q_h * q_w + min(first + row, q_w - 1))) * factor;
        }
        batch = GROUP2 / k_h;
        int from_k = (batch * k_s * k_h + GROUP2 - batch * k_h) * k_w;
        int step_k = k_h * k_w;
        int slice = min(LID0 % SLICES, y_s - 1);
        int from_v = from_k + (DEPTH + slice) * step_k;
        int from_mask = 0;
        int step_mask = 0;
        if (MASK == 0) {
            batch = GROUP2 / v_h;
            from_v = ((batch * v_s + slice) * v_h + GROUP2 - batch * v_h) * v_w;
        } else {
            batch = GROUP2 / P_of.w;
            int head = min(GROUP2 - batch * P_of.w, v_h - 1);
            from_mask = (min(batch, v_b - 1) * v_s * v_h + head) * v_w;
            step_mask = v_h * v_w;
        }

        float none = -3.402823466e38f;
        acc4 sums[BLOCK];
        float most[BLOCK];
        float total[BLOCK];
        float score[BLOCK];
        UNROLL for (int i = 0; i < BLOCK; i += 1) {
            sums[i] = splatf4(0.0f);
            most[i] = none;
            total[i] = 0.0f;
        }
        for (int all = 0; all < keys; all += 32 * GROUP_Z) {
            int tile = all + 32 * LID2;
            BARRIER;
            int key = min(tile + LID0, keys - 1);
            UNROLL for (int i = 0; i < BLOCK; i += 1) score[i] = 0.0f;
            for (int s = 0; s < DEPTH; s += 1) {
                acc4 one = to_acc4(load_k(from_k + s * step_k + key));
                UNROLL for (int i = 0; i < BLOCK; i += 1) score[i] += dot4(queries[(own + i) * DEPTH + s], one);
            }
            UNROLL for (int i = 0; i < BLOCK; i += 1) {
                if (MASK == 1) {
                    int at = from_mask + key / 4 * step_mask + min(first + i, v_w - 1);
                    score[i] += to_float(lane(load_v(at), key % 4)) * beta;
                    score[i] = finite(splatf4(score[i])).x;
                }
                scores[(line + i) * 32 + LID0] = score[i];
            }
            BARRIER;
            UNROLL for (int i = 0; i < BLOCK; i += 1) {
                float highest = most[i];
                for (int n = 0; n < 32; n += 1) highest = max(highest, scores[(line + i) * 32 + n]);
                float shrunk = exp(most[i] - highest);
                total[i] = total[i] * shrunk;
                sums[i] = sums[i] * shrunk;
                most[i] = highest;
            }
            BARRIER;
            UNROLL for (int i = 0; i < BLOCK; i += 1)
                scores[(line + i) * 32 + LID0] = exp(score[i] - most[i]);
            BARRIER;
            int count = min(32, keys - tile);
            for (int n = LID0 / SLICES; n < count; n += 32 / SLICES) {
                acc4 one = splatf4(0.0f);
                if (MASK == 0) one = to_acc4(load_v(from_v + tile + n));
                if (MASK == 1) one = to_acc4(load_k(from_v + tile + n));
                UNROLL for (int i = 0; i < BLOCK; i += 1) {
                    float share = scores[(line + i) * 32 + n];
                    total[i] += share;
                    sums[i] = mad(one, share, sums[i]);
                }
            }
        }

        batch = GROUP2 / y_h;
        UNROLL for (int i = 0; i < BLOCK; i += 1) {
            float highest = most[i];
            if (GROUP_Z > 1) {
                BARRIER;
                scores[lid] = most[i];
                BARRIER;
                for (int n = 0; n < GROUP_Z; n += 1) highest = max(highest, scores[(n * GROUP_Y + LID1) * 32]);
            }
            float shrunk = exp(most[i] - highest);
            BARRIER;
            merged[lid] = sums[i] * shrunk;
            scores[lid] = total[i] * shrunk;
            BARRIER;
            if (LID2 == 0 && LID0 < y_s && first + i < y_w) {
                acc4 sum = splatf4(0.0f);
                float whole = 0.0f;
                for (int part = 0; part < GROUP_Z; part += 1) {
                    int from_part = (part * GROUP_Y + LID1) * 32 + LID0;
                    for (int n = 0; n < 32; n += SLICES) {
                        sum += merged[from_part + n];
                        whole += scores[from_part + n];
                    }
                }
                write_y(mki4(first + i, GROUP2 - batch * y_h, LID0, batch), to_real4(sum * (1.0f / whole)));
            }
        }
    ),
};

// y: one batch for each batch and head, with the slices of k and then those of v.
static const struct gpu_kernel pack = {
    .name = "attention_pack",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "k"}, {GPU_IN, "v"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        int batch_k = p.w / k_h;
        int batch_v = p.w / v_h;
        real4 v = splat4(to_real(0.0f));
        if (p.z < k_s) {
            v = read_k(mki4(p.x, p.w - batch_k * k_h, p.z, batch_k));
        } else {
            v = read_v(mki4(p.x, p.w - batch_v * v_h, p.z - k_s, batch_v));
        }
        store_y(at_y(p), v);
    ),
};
// clang-format on

static bool refused(const struct gpu_node_view *view)
{
    return gpu_refuse(view, DELEGATE_PARAMETER, -1, "only the graph's passes make this operator");
}

// Finds how many work-items along z share the keys, the largest block of rows with which there are still seven warps
// for each compute unit, and whether two such blocks make a group, which they do not where units would get uneven work.
// Of 27 forms for each of four shapes, with 64 to 1,024 keys, on an H200 these were the fastest or within 5 % of it.
static void choose_block(const struct gpu_plan *plan, int64_t batches, int rows, int keys, int *block, int *height,
                         int *parts)
{
    const struct gpu_caps *caps = plan->caps;
    const int64_t units = caps->compute_units > 0 ? caps->compute_units : 16;
    *block = 4;
    *height = *parts = 1;
    while (*parts < 4 && 32 * *parts < keys && 64 * *parts <= caps->max_group_size && 2 * *parts <= caps->max_group[2])
        *parts *= 2;
    while (*block > 1 && batches * ((rows + *block - 1) / *block) * *parts < 7 * units) *block /= 2;
    const int64_t pairs = batches * ((rows + 2 * *block - 1) / (2 * *block));
    if (64 * *parts <= caps->max_group_size && (pairs <= units || pairs >= 3 * units)) *height = 2;
}

// The shape in which the kernel sees a value whose heads have so many channels.
static struct gpu_shape seen_by_head(const struct gpu_value *value, int channels)
{
    const struct gpu_shape s = value->shape;
    if (s.c == channels) return s;
    return (struct gpu_shape){s.b * (s.c / channels), 1, s.w, channels};
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *q = node->inputs[GPU_ATTENTION_Q], *k = node->inputs[GPU_ATTENTION_K];
    const struct gpu_value *v = node->inputs[GPU_ATTENTION_V], *mask = node->inputs[GPU_ATTENTION_MASK];
    const struct gpu_value *y = node->outputs[0];
    const float *numbers = node->inputs[GPU_ATTENTION_NUMBERS]->data;
    const struct gpu_shape of_q = seen_by_head(q, (int)numbers[6]), of_v = seen_by_head(v, (int)numbers[7]);
    struct gpu_shape of_k = seen_by_head(k, (int)numbers[6]);
    int keys = of_k.w, rows = of_q.w, batches = of_q.b * of_q.h, block, height, parts, slices = 1;
    int depth = gpu_slices(of_q);
    choose_block(plan, gpu_in_first_batch(plan, batches, y->shape.b), rows, keys, &block, &height, &parts);
    while (slices < gpu_slices(of_v)) slices *= 2;
    struct gpu_shape seen = {(int)numbers[2], (int)numbers[3], (int)numbers[4], keys};
    if (mask) {
        struct gpu_value *both =
            gpu_plan_scratch(plan, (struct gpu_shape){batches, 1, keys, 4 * (depth + gpu_slices(of_v))});
        if (!both) return false;
        struct gpu_dispatch_desc desc = {
            .kernel = &pack,
            .operands = {{.value = k}, {.value = v}, {.value = both}},
            .views = {of_k, of_v},
        };
        gpu_grid_over(&desc, both->shape);
        if (!gpu_plan_dispatch(plan, &desc) || !(mask = gpu_plan_seen_as(plan, mask, seen))) return false;
        k = both;
        of_k = both->shape;
    }
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = q}, {.value = k}, {.value = mask ? mask : v}, {.value = y}},
        .params = {{keys, gpu_float_bits(numbers[0]), gpu_float_bits(numbers[1]), (int)numbers[5]}},
        .constants = {{"DEPTH", depth}, {"SLICES", slices}, {"BLOCK", block}, {"MASK", mask != NULL}},
        .group = {32, height, parts},
        .grid = {32, (rows + block - 1) / block, batches * parts},
        .views = {of_q, of_k, mask ? seen : of_v, seen_by_head(y, (int)numbers[7])},
    };
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_attention = {
    .name = "ATTENTION",
    .max_version = 1,
    .operands = {.inputs = {4, 5}, .any_rank = true},
    .supported = refused,
    .plan = plan,
    GPU_KERNELS(&kernel, &pack, &gpu_kernel_reshape),
};
