// SPDX-License-Identifier: Apache-2.0
// Random concatenations of values that were reshaped before, as the heads of detectors have them: the reshapes are gone
// where only the concatenation reads them, each part is inserted by itself where no two parts meet within a slice, and
// each device that is here gives the CPU's elements.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

struct join {
    int parts, rank, axis, reshaped, kept; // kept: reshapes that somebody else reads as well
    bool meet;                             // two parts meet within a slice
};

// A part of the given shape, computed in another shape of its own or in this one.
static int add_part(struct sketch *sketch, struct join *join, const int *dims)
{
    int count = 1, own[4] = {1, 1, 1, 1};
    for (int i = 0; i < join->rank; i++) count *= dims[i];
    bool reshaped = pick(3) != 0;
    if (!reshaped) return sketch_one(sketch, kTfLiteBuiltinNeg, sketch_input(sketch, join->rank, dims));
    int channels = 1 + pick(13);
    while (count % channels) channels--;
    int width = 1 + pick(7);
    while (count / channels % width) width--;
    own[1] = count / channels / width;
    own[2] = width;
    own[3] = channels;
    int x = sketch_one(sketch, kTfLiteBuiltinNeg, sketch_input(sketch, 4, own));
    int y = sketch_reshape(sketch, x, join->rank, dims);
    bool same = join->rank == 4 && memcmp(own, dims, sizeof own) == 0;
    join->reshaped += !same;
    if (!same && pick(5) == 0) {
        sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinAbs, y));
        join->kept++;
    }
    return y;
}

static struct join random_join(struct sketch *sketch, int number)
{
    memset(sketch, 0, sizeof *sketch);
    seed = (uint32_t)number * 331 + 7;
    for (int i = 0; i < 8; i++) pick(2);
    struct join join = {.parts = 2 + pick(5), .rank = 2 + pick(3)};
    join.axis = pick(join.rank);
    int dims[4], inputs[TEST_LIST], total = 0;
    for (int i = 0; i < join.rank; i++) dims[i] = 1 + pick(i + 1 == join.rank ? 11 : 4);
    bool slices = join.axis == join.rank - 1 && pick(2);
    for (int i = 0; i < join.parts; i++) {
        dims[join.axis] = slices ? 4 * (1 + pick(3)) : 1 + pick(9);
        inputs[i] = add_part(sketch, &join, dims);
        total += dims[join.axis];
        if (join.axis == join.rank - 1 && i + 1 < join.parts && dims[join.axis] % 4) join.meet = true;
    }
    dims[join.axis] = total;
    int y = sketch_tensor(sketch, TEST_FLOAT32, join.rank, dims);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinConcatenation, join.parts, inputs, y);
    node->settings[0] = (struct test_setting){.field = HL_ConcatenationOptions_axis, .value = join.axis};
    if (pick(2)) y = sketch_one(sketch, kTfLiteBuiltinTanh, y);
    sketch_output(sketch, y);
    return join;
}

enum { GRAPHS = 200 };

static void few_dispatches(void **state)
{
    (void)state;
    int inserted = 0, joined = 0;
    for (int number = 0; number < GRAPHS; number++) {
        struct sketch sketch;
        struct join join = random_join(&sketch, number);
        int inserts = sketch_count(&sketch, "insert", NULL), reshapes = sketch_count(&sketch, "reshape", NULL);
        if (join.meet) {
            if (inserts) fail_msg("graph %d: parts that meet within a slice are inserted", number);
            joined++;
        } else if (join.parts > 2 || inserts) {
            if (inserts != join.parts) fail_msg("graph %d: %d of %d parts are inserted", number, inserts, join.parts);
            if (reshapes > join.kept) fail_msg("graph %d: %d reshapes, %d wanted", number, reshapes, join.kept);
            inserted++;
        }
        sketch_free(&sketch);
    }
    assert_true(inserted > 50 && joined > 20);
}

static struct place {
    const char *device, *precision;
    int graphs;
} places[] = {
    {"opencl", "f32", 8}, {"vulkan", "f32", 60}, {"vulkan", "f16", 10}, {"gles", "f32", 8}, {"cuda", "f32", 4}};

// Inputs are small multiples of a power of two, so that halves hold them; TANH rounds.
static void results_are_those_of_the_cpu(void **state)
{
    const struct place *place = *state;
    if (!has_device(place->device)) skip();
    for (int number = 0; number < place->graphs; number++) {
        struct sketch sketch;
        char name[32];
        snprintf(name, sizeof name, "graph %d", number);
        random_join(&sketch, number);
        sketch_compare(&sketch, place->device, place->precision, 1, strcmp(place->precision, "f16") ? 2e-6f : 2e-3f,
                       name);
        sketch_free(&sketch);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(few_dispatches),
        {"results_are_those_of_the_cpu opencl", results_are_those_of_the_cpu, NULL, NULL, &places[0]},
        {"results_are_those_of_the_cpu vulkan", results_are_those_of_the_cpu, NULL, NULL, &places[1]},
        {"results_are_those_of_the_cpu vulkan, f16", results_are_those_of_the_cpu, NULL, NULL, &places[2]},
        {"results_are_those_of_the_cpu gles", results_are_those_of_the_cpu, NULL, NULL, &places[3]},
        {"results_are_those_of_the_cpu cuda", results_are_those_of_the_cpu, NULL, NULL, &places[4]},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
