// SPDX-License-Identifier: Apache-2.0
// Attention as converters write it, in random sizes and spellings: the plan makes one dispatch of the products and the
// softmax (two with a mask), unless somebody else reads what lies between, or it is something else; and each device
// that is here computes what the CPU's operators do, one after the other.
#include <math.h>

#include "gpu/backend/null.h"
#include "gpu/sketch.h"

// What is wrong with a graph, or nothing.
enum spoiler {
    NOTHING,
    SCORES_ARE_OUTPUT,
    SHARES_ARE_OUTPUT,
    SHARES_ARE_READ,
    SCALED_AFTER_MASK,
    TWO_MASKS,
    KEYS_BY_ROWS,
    MANY_CHANNELS,
    ONE_HEAD_OF_KEYS,
    NO_KEYS_LEFT,
    SPOILERS
};
static const char *const spoilers[SPOILERS] = {
    "nothing",
    "the scores are an output",
    "the shares are an output",
    "the shares are read twice",
    "a mask that is scaled",
    "two masks",
    "products with k as it is",
    "130 channels",
    "keys that all heads share",
    "a mask that leaves no keys",
};

struct sizes {
    int b, h, rows, keys, c, out;
};

static int add_masking(struct sketch *sketch, int scores, const struct sizes *n, bool is_four)
{
    int kind = pick(4), heads[4] = {n->b, 1, 1, n->keys}, rows[4] = {1, 1, n->rows, n->keys},
        all[4] = {n->b, n->h, n->rows, n->keys}, flat[3] = {pick(2) ? 1 : n->b * n->h, n->rows, n->keys};
    int mask, rank = is_four ? 4 : 3;
    const int *dims = !is_four ? flat : kind == 0 ? heads : kind == 1 ? rows : all;
    if (kind == 2) // of keys alone
        mask = sketch_constant(sketch, 1, &n->keys, -3, 1);
    else if (pick(2))
        mask = sketch_constant(sketch, rank, dims, -3, 1);
    else
        mask = sketch_input(sketch, rank, dims);
    if (kind == 2 || pick(2)) { // what is masked out, as models write it
        float *data = sketch->owned[mask];
        for (int i = 0; data && i < sketch_elements(sketch, mask); i++)
            if (pick(3) == 0) data[i] = -1.0e9f;
    }
    return sketch_in_any_order(sketch, kTfLiteBuiltinAdd, scores, mask);
}

// [b, h, w, c], by itself or as the heads among the channels of [b, w, h * c]; transposed as b's rows are, if so asked.
static int add_heads(struct sketch *sketch, const int dims[4], bool split, bool turned)
{
    if (!split) {
        const int x = sketch_input(sketch, 4, dims);
        return turned ? sketch_transpose(sketch, x, (int[]){0, 1, 3, 2}) : x;
    }
    const int joined[3] = {dims[0], dims[2], dims[1] * dims[3]}, apart[4] = {dims[0], dims[2], dims[1], dims[3]};
    const int x = sketch_reshape(sketch, sketch_input(sketch, 3, joined), 4, apart);
    if (turned && dims[3] % 4 == 0) return sketch_transpose(sketch, x, (int[]){0, 2, 3, 1});
    const int y = sketch_transpose(sketch, x, (int[]){0, 2, 1, 3});
    return turned ? sketch_transpose(sketch, y, (int[]){0, 1, 3, 2}) : y;
}

// Scores where a constant is true, which is never false for all keys of a row unless `empty`, and else a low number.
static int select_scores(struct sketch *sketch, int scores, const struct sizes *n, bool empty)
{
    const int all[4] = {pick(2) ? n->b : 1, pick(2) ? n->h : 1, n->rows, n->keys};
    const int truths = sketch_tensor(sketch, TEST_BOOL, 4, all), count = sketch_elements(sketch, truths);
    char *data = calloc((size_t)count, 1);
    assert_non_null(data);
    for (int i = 0; i < count; i++) data[i] = !empty && (i % n->keys == i / n->keys % n->keys || pick(2));
    sketch->owned[truths] = data;
    sketch->tensors[truths].data = data;
    sketch->tensors[truths].bytes = (size_t)count;
    const int low = sketch_number(sketch, pick(2) ? -65504.0f : -1.0e9f);
    const int y = sketch_tensor(sketch, TEST_FLOAT32, 4, sketch->tensors[scores].dims);
    sketch_node(sketch, kTfLiteBuiltinSelectV2, 3, (int[]){truths, scores, low}, y);
    return y;
}

static void random_sizes(struct sizes *n, enum spoiler spoiler)
{
    static const int keys[] = {1, 3, 4, 7, 31, 32, 33, 65, 100, 130, 260},
                     channels[] = {1, 3, 4, 8, 20, 32, 64, 70, 128};
    *n = (struct sizes){.b = 1 + pick(3), .h = 1 + pick(4), .rows = 1 + pick(21), .keys = keys[pick(11)]};
    n->c = spoiler == MANY_CHANNELS && pick(2) ? 130 : channels[pick(9)];
    n->out = spoiler == MANY_CHANNELS && n->c <= 128 ? 130 : channels[pick(9)];
    if (spoiler == ONE_HEAD_OF_KEYS) n->h = 2 + pick(3);
    if (spoiler == KEYS_BY_ROWS) n->keys = n->c = 4 + pick(30); // so that both products are possible
}

static void random_graph(struct sketch *sketch, int number, enum spoiler spoiler, bool *masked)
{
    struct sizes n;
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)(number * 64 + (int)spoiler);
    for (int i = 0; i < 8; i++) pick(2);
    random_sizes(&n, spoiler);
    bool is_four = pick(2) || spoiler == ONE_HEAD_OF_KEYS || spoiler == NO_KEYS_LEFT,
         swaps = spoiler == KEYS_BY_ROWS || pick(2);
    *masked = pick(2) || spoiler == SCALED_AFTER_MASK || spoiler == TWO_MASKS;
    int q_four[4] = {n.b, n.h, n.rows, n.c}, k_four[4] = {n.b, n.h, n.keys, n.c}, v_four[4] = {n.b, n.h, n.keys, n.out};
    int q_three[3] = {n.b * n.h, n.rows, n.c}, k_three[3] = {n.b * n.h, n.keys, n.c};
    int v_three[3] = {n.b * n.h, n.keys, n.out};
    int scores_four[4] = {n.b, n.h, n.rows, n.keys}, scores_three[3] = {n.b * n.h, n.rows, n.keys};
    int y_four[4] = {n.b, n.h, n.rows, n.out};
    if (spoiler == ONE_HEAD_OF_KEYS) k_four[1] = 1;
    int q = is_four ? add_heads(sketch, q_four, pick(2), false) : sketch_input(sketch, 3, q_three);
    const bool turned = is_four && swaps && spoiler != KEYS_BY_ROWS;
    int k = is_four   ? add_heads(sketch, k_four, pick(2), turned)
            : pick(2) ? sketch_input(sketch, 4, k_four)
                      : sketch_input(sketch, 3, k_three);
    int v = is_four ? add_heads(sketch, v_four, pick(2), false) : sketch_input(sketch, 3, v_three);
    if (pick(2)) v = sketch_one(sketch, kTfLiteBuiltinTanh, v);
    if (swaps && !turned && spoiler != KEYS_BY_ROWS)
        k = sketch_transpose(sketch, k, sketch->tensors[k].rank == 4 ? (int[]){0, 1, 3, 2} : (int[]){0, 2, 1});
    if (!is_four && sketch->tensors[k].rank == 4) {
        int dims[3] = {n.b * n.h, sketch->tensors[k].dims[2], sketch->tensors[k].dims[3]};
        k = sketch_reshape(sketch, k, 3, dims);
    }
    int value = sketch_matmul(sketch, q, k, !swaps), scale_kind = pick(3);
    if (spoiler == SCORES_ARE_OUTPUT) sketch_output(sketch, value);
    if (scale_kind == 0) value = sketch_two(sketch, kTfLiteBuiltinMul, value, sketch_number(sketch, 0.375f));
    if (scale_kind == 1) value = sketch_two(sketch, kTfLiteBuiltinDiv, value, sketch_number(sketch, 2.5f));
    bool four_now = is_four;
    if (!is_four && pick(2)) value = sketch_reshape(sketch, value, 4, scores_four), four_now = true;
    if (spoiler == NO_KEYS_LEFT || (*masked && four_now && pick(3) == 0))
        value = select_scores(sketch, value, &n, spoiler == NO_KEYS_LEFT);
    else if (*masked)
        value = add_masking(sketch, value, &n, four_now);
    if (spoiler == SCALED_AFTER_MASK) value = sketch_two(sketch, kTfLiteBuiltinMul, value, sketch_number(sketch, 0.5f));
    if (spoiler == TWO_MASKS) value = add_masking(sketch, value, &n, four_now);
    value = sketch_softmax(sketch, value, pick(2) ? 1.0f : 0.75f);
    if (spoiler == SHARES_ARE_OUTPUT) sketch_output(sketch, value);
    if (spoiler == SHARES_ARE_READ) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinExp, value));
    if (four_now && !is_four) value = sketch_reshape(sketch, value, 3, scores_three);
    value = sketch_matmul(sketch, value, v, false);
    if (!is_four && pick(2)) value = sketch_reshape(sketch, value, 4, y_four);
    if (sketch->tensors[value].rank == 4 && pick(2)) {
        value = sketch_transpose(sketch, value, (int[]){0, 2, 1, 3});
        if (pick(2)) value = sketch_reshape(sketch, value, 3, (int[]){n.b, n.rows, n.h * n.out});
    }
    if (pick(2)) value = sketch_one(sketch, kTfLiteBuiltinTanh, value);
    sketch_output(sketch, value);
}

enum { GRAPHS = 40 };

static void one_dispatch(void **state)
{
    (void)state;
    for (int number = 0; number < GRAPHS; number++)
        for (int spoiler = NOTHING; spoiler < SPOILERS; spoiler++) {
            struct sketch sketch;
            bool masked, right = spoiler == NOTHING;
            random_graph(&sketch, number, (enum spoiler)spoiler, &masked);
            int count = sketch_count(&sketch, "attention ", NULL),
                packs = sketch_count(&sketch, "attention_pack ", NULL);
            int products = sketch_count(&sketch, "matmul", NULL), softmax = sketch_count(&sketch, "softmax", NULL);
            if (count != right || packs != (right && masked) || products != (right ? 0 : 2) || softmax == right)
                fail_msg("graph %d, %s: %d, %d packs", number, spoilers[spoiler], count, packs);
            sketch_free(&sketch);
        }
}

// Heads among channels take no dispatch to get there and back, if they begin at slices.
static void heads_are_channels(void **state)
{
    (void)state;
    for (int c = 6; c <= 12; c += 2) {
        struct sketch sketch = {.tensor_count = 0};
        const int dims[4] = {2, 3, 5, c};
        const int q = add_heads(&sketch, dims, true, false), k = add_heads(&sketch, dims, true, true);
        int y = sketch_matmul(&sketch, q, k, false);
        y = sketch_two(&sketch, kTfLiteBuiltinMul, y, sketch_number(&sketch, 0.5f));
        y = sketch_matmul(&sketch, sketch_softmax(&sketch, y, 1), add_heads(&sketch, dims, true, false), false);
        y = sketch_transpose(&sketch, y, (int[]){0, 2, 1, 3});
        sketch_output(&sketch, sketch_reshape(&sketch, y, 3, (int[]){2, 5, 3 * c}));
        const int moves = sketch_count(&sketch, "affine", NULL) + sketch_count(&sketch, "reshape", NULL);
        assert_int_equal(sketch_count(&sketch, "attention ", NULL), 1);
        assert_int_equal(moves == 0, c % 4 == 0);
        if (has_device("vulkan")) sketch_compare(&sketch, "vulkan", "f32", 2, 1e-5f, "heads");
        sketch_free(&sketch);
    }
}

static void any_graph(struct sketch *sketch, int number, int spoiler)
{
    bool masked;
    random_graph(sketch, number, (enum spoiler)spoiler, &masked);
}

// Results are means of numbers up to 1.
static const struct sketch_graphs graphs = {any_graph,  spoilers,       SPOILERS,
                                            .scale = 2, .bound = 1e-5f, .bound_in_halves = 0.01f};

static struct sketch_place places[] = {
    {&graphs, "opencl", "f32", 12, 1}, {&graphs, "vulkan", "f32", 30, 0}, {&graphs, "gles", "f32", 2, 0},
    {&graphs, "cuda", "f32", 3, 0},    {&graphs, "opencl", "f16", 3, 0},
};

// A row in which everything is masked out has the mean of all values, as on the CPU, not that of the keys that a tile
// is filled up with.
static void rows_without_keys(void **state)
{
    if (!has_device(*state)) skip();
    struct sketch sketch = {0};
    int dims[4] = {1, 2, 3, 4}, keys[4] = {1, 2, 5, 4}, mask_dims[4] = {1, 1, 3, 5};
    int q = sketch_input(&sketch, 4, dims), k = sketch_input(&sketch, 4, keys), v = sketch_input(&sketch, 4, keys);
    int mask = sketch_constant(&sketch, 4, mask_dims, 0, 0);
    float *data = sketch.owned[mask];
    for (int i = 0; i < 5; i++) data[5 + i] = -INFINITY;
    data[12] = -INFINITY;
    int value = sketch_two(&sketch, kTfLiteBuiltinAdd, sketch_matmul(&sketch, q, k, true), mask);
    value = sketch_matmul(&sketch, sketch_softmax(&sketch, value, 1), v, false);
    sketch_output(&sketch, value);
    assert_int_equal(sketch_count(&sketch, "attention ", NULL), 1);
    sketch_compare(&sketch, *state, "f32", graphs.scale, graphs.bound, "all is masked");
    sketch_free(&sketch);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_dispatch),
        cmocka_unit_test(heads_are_channels),
        SKETCH_ROWS(places),
        {"rows_without_keys opencl", rows_without_keys, NULL, NULL, "opencl"},
        {"rows_without_keys vulkan", rows_without_keys, NULL, NULL, "vulkan"},
        SKETCH_ROW("opencl, f16", &places[4]),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
