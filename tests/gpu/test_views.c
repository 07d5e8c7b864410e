// SPDX-License-Identifier: Apache-2.0
// A RESHAPE that leaves the order of channels and positions as it is: what reads its output reads its input, in the new
// shape (gpu_plan_see), without a dispatch, and each device that is here gives the CPU's elements.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

enum spoiler { RIGHT, OUTPUT, CHANNELS, IMAGES, STAGE, INPUT, SPOILERS };
static const char *const spoilers[] = {"right",
                                       "the new shape is an output",
                                       "channels become positions",
                                       "images become one",
                                       "an activation follows",
                                       "an input's memory serves as the value"};

// Zeros in front of and behind the axis in front of the last.
static int add_pad(struct sketch *sketch, int x)
{
    const int rank = sketch->tensors[x].rank, front = 1 + pick(2), back = pick(3);
    int dims[4], amounts[8] = {0};
    memcpy(dims, sketch->tensors[x].dims, sizeof dims);
    amounts[2 * rank - 4] = front;
    amounts[2 * rank - 3] = back;
    dims[rank - 2] += front + back;
    const int paddings = sketch_ints(sketch, 2 * rank, amounts);
    sketch->tensors[paddings].rank = 2;
    sketch->tensors[paddings].dims[0] = rank;
    sketch->tensors[paddings].dims[1] = 2;
    const int y = sketch_tensor(sketch, TEST_FLOAT32, rank, dims);
    sketch_node(sketch, kTfLiteBuiltinPad, 2, (int[]){x, paddings}, y);
    return y;
}

// The new shape of [b, h, w, c].
static int reshape(struct sketch *sketch, int x, int spoiler)
{
    const int *d = sketch->tensors[x].dims;
    if (spoiler == CHANNELS) return sketch_reshape(sketch, x, 4, (int[]){d[0], d[1], d[2] * 2, d[3] / 2});
    if (spoiler == IMAGES) return sketch_reshape(sketch, x, 4, (int[]){1, d[0] * d[1], d[2], d[3]});
    switch (pick(4)) {
    case 0: return sketch_reshape(sketch, x, 4, (int[]){d[0], d[2], d[1], d[3]});
    case 1: return sketch_reshape(sketch, x, 4, (int[]){d[0], 1, d[1] * d[2], d[3]});
    case 2: return sketch_reshape(sketch, x, 3, (int[]){d[0], d[1] * d[2], d[3]});
    default: // images are positions as others are where a slice has all channels
        return sketch_reshape(sketch, x, 4,
                              (int[]){d[3] <= 4 ? 1 : d[0], d[1] * d[2] * (d[3] <= 4 ? d[0] : 1), 1, d[3]});
    }
}

static void random_graph(struct sketch *sketch, int number, int spoiler)
{
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 271 + (uint32_t)spoiler + 3;
    for (int i = 0; i < 8; i++) pick(2);
    const int channels = spoiler == INPUT                           ? 4
                         : spoiler == CHANNELS || spoiler == IMAGES ? 8 + 2 * pick(6)
                                                                    : 1 + pick(20);
    const int height = 2 + pick(9);
    const int dims[4] = {spoiler == IMAGES ? 2 : 1 + pick(3), height, height + 1 + pick(4), channels};
    int x = sketch_input(sketch, 4, dims);
    if (spoiler != INPUT) x = sketch_one(sketch, kTfLiteBuiltinSin, x);
    int y = reshape(sketch, x, spoiler);
    if (spoiler == OUTPUT) sketch_output(sketch, y);
    if (spoiler == STAGE) y = sketch_one(sketch, kTfLiteBuiltinTanh, y);
    if (spoiler == RIGHT && pick(3) == 0 && sketch->tensors[y].rank == 4) y = reshape(sketch, y, RIGHT);
    if (pick(2)) sketch_output(sketch, sketch_mean(sketch, y, true));
    if (spoiler != INPUT && pick(2)) sketch_output(sketch, sketch_softmax(sketch, x, 1));
    sketch_output(sketch, add_pad(sketch, y));
}

static const struct sketch_graphs graphs = {random_graph, spoilers,       SPOILERS,
                                            .scale = 2,   .bound = 2e-5f, .bound_in_halves = 8e-3f};

static void no_dispatch_where_none_is_needed(void **state)
{
    (void)state;
    sketch_check_dispatches(&graphs, 60, "reshape", false);
}

static struct sketch_place places[] = SKETCH_PLACES(graphs, 6, 30, 1);

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(no_dispatch_where_none_is_needed),
        SKETCH_ROWS(places),
        SKETCH_ROWS_IN_HALVES(places),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
