// SPDX-License-Identifier: Apache-2.0
// Random concatenations of values that were reshaped before, as the heads of detectors have them: the reshapes are gone
// where only the concatenation reads them; where no two parts meet within a slice, a part is computed in its place if
// that begins where buffers may, and else inserted by itself; and each device that is here gives the CPU's elements.
// The parts of an output that a transposed convolution computes do not wait for each other either.
#include "gpu/backend/null.h"
#include "gpu/sketch.h"

struct shape {
    int b, h, w, c;
};

static struct shape shape_of(int rank, const int *dims)
{
    return (struct shape){dims[0], rank == 4 ? dims[1] : 1, rank >= 3 ? dims[rank - 2] : 1, dims[rank - 1]};
}

struct join {
    int parts, rank, axis, kept;          // kept: reshapes that somebody else reads as well
    bool meet;                            // two parts meet within a slice
    bool twice[8];                        // the part is joined twice
    bool stage;                           // a function is applied to the elements
    int begins[8];                        // of the parts
    struct shape whole, read[8], part[8]; // read: as the device has them
};

// A part of the given shape, computed in another shape of its own or in this one.
static int add_part(struct sketch *sketch, struct join *join, const int *dims, int number)
{
    join->read[number] = join->part[number] = shape_of(join->rank, dims);
    int count = 1, own[4] = {1, 1, 1, 1};
    for (int i = 0; i < join->rank; i++) count *= dims[i];
    bool reshaped = pick(3) != 0;
    if (!reshaped) {
        int y = sketch_one(sketch, kTfLiteBuiltinNeg, sketch_input(sketch, join->rank, dims));
        if (pick(4) == 0) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinAbs, y));
        return y;
    }
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
    bool kept = !same && pick(5) == 0;
    if (kept) sketch_output(sketch, sketch_one(sketch, kTfLiteBuiltinAbs, y));
    if (!kept) join->read[number] = shape_of(4, own);
    join->kept += kept;
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
    bool slices = join.axis == join.rank - 1 && pick(4) != 0;
    if (slices && join.rank > 2 && pick(2)) { // parts then begin where buffers may
        dims[0] = 1;
        dims[1] = join.rank == 4 ? 2 : 16;
        if (join.rank == 4) dims[2] = 8;
    }
    for (int i = 0; i < join.parts; i++) {
        dims[join.axis] = slices ? 4 * (1 + pick(3)) : 1 + pick(9);
        bool again = i > 0 && pick(5) == 0 && sketch->nodes[sketch->node_count - 1].builtin == kTfLiteBuiltinNeg;
        if (again) { // the part before this one, which was not reshaped
            inputs[i] = inputs[i - 1];
            dims[join.axis] = sketch->tensors[inputs[i]].dims[join.axis];
            join.read[i] = join.part[i] = join.part[i - 1];
            join.twice[i - 1] = join.twice[i] = true;
        } else {
            inputs[i] = add_part(sketch, &join, dims, i);
        }
        join.begins[i] = total;
        total += dims[join.axis];
        if (join.axis == join.rank - 1 && i + 1 < join.parts && dims[join.axis] % 4) join.meet = true;
    }
    dims[join.axis] = total;
    int y = sketch_tensor(sketch, TEST_FLOAT32, join.rank, dims);
    struct test_node *node = sketch_node(sketch, kTfLiteBuiltinConcatenation, join.parts, inputs, y);
    node->settings[0] = (struct test_setting){.field = HL_ConcatenationOptions_axis, .value = join.axis};
    join.whole = shape_of(join.rank, dims);
    join.stage = pick(2);
    sketch_output(sketch, join.stage ? sketch_one(sketch, kTfLiteBuiltinTanh, y) : y);
    return join;
}

static int slices_of(struct shape s)
{
    return (s.c + 3) / 4;
}

// Whether the memory of part i is the same by itself.
static bool is_seen_as(const struct join *join, int i)
{
    struct shape own = join->read[i], part = join->part[i];
    return own.c == part.c && (own.b == part.b || slices_of(own) == 1);
}

// Whether part i lies in one piece of the whole, from a multiple of 256 bytes on. A result that the caller gets as it
// is has no such places.
static bool has_place(const struct join *join, int i)
{
    struct shape s = join->whole;
    int axis = join->axis == 0 ? 0 : join->axis + 4 - join->rank, slices = slices_of(s), begin = join->begins[i];
    bool dense = s.c == 4 || (s.h * s.w == 1 && (s.c % 4 == 0 || s.b == 1));
    bool one_piece = axis == 0 || (s.b == 1 && (axis == 3 || (slices == 1 && (axis == 1 || s.h == 1))));
    int vectors = axis == 0   ? begin * slices * s.h * s.w
                  : axis == 1 ? begin * s.w
                  : axis == 2 ? begin
                              : begin / 4 * s.h * s.w;
    return !join->stage && !join->twice[i] && !dense && one_piece && is_seen_as(join, i) && vectors % 16 == 0;
}

// Whether the caller gets the whole, in whose memory the parts follow each other, so that each is written there.
static bool are_pieces(const struct join *join)
{
    const struct shape s = join->whole;
    const int axis = join->axis == 0 ? 0 : join->axis + 4 - join->rank, before[] = {1, s.b, s.b * s.h, s.b * s.h * s.w};
    const bool dense = s.c == 4 || (s.h * s.w == 1 && (s.c % 4 == 0 || s.b == 1));
    return !join->stage && !dense && before[axis] == 1;
}

enum { GRAPHS = 200 };

static void few_dispatches(void **state)
{
    (void)state;
    int inserted = 0, joined = 0, placed = 0, written = 0;
    for (int number = 0; number < GRAPHS; number++) {
        struct sketch sketch;
        struct join join = random_join(&sketch, number);
        int inserts = sketch_count(&sketch, "insert", NULL), reshapes = sketch_count(&sketch, "reshape", NULL);
        if (are_pieces(&join)) {
            assert_in_range(sketch_count(&sketch, "to_dense", NULL), join.parts, join.parts + sketch.output_count - 1);
            assert_int_equal(inserts + sketch_count(&sketch, "concatenate", NULL), 0);
            assert_true(reshapes <= join.kept);
            written += join.parts;
            sketch_free(&sketch);
            continue;
        }
        int wanted = join.parts;
        bool fewer = join.parts > 2;
        for (int i = 0; i < join.parts; i++) {
            wanted -= has_place(&join, i);
            fewer = fewer || has_place(&join, i) || !is_seen_as(&join, i);
        }
        if (join.meet || !fewer) wanted = 0;
        if (inserts != wanted)
            fail_msg("graph %d: %d of %d parts are inserted, expected %d", number, inserts, join.parts, wanted);
        if (!join.meet && reshapes > join.kept)
            fail_msg("graph %d: %d reshapes, expected %d", number, reshapes, join.kept);
        inserted += inserts;
        joined += join.meet || !fewer;
        placed += !join.meet && fewer ? join.parts - wanted : 0;
        sketch_free(&sketch);
    }
    print_message("%d inserted, %d joined, %d placed, %d written\n", inserted, joined, placed, written);
    assert_true(inserted > 100 && joined > 20 && placed > 40 && written > 40);
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

static void phases_do_not_wait(void **state)
{
    (void)state;
    struct sketch sketch = {.tensor_count = 0};
    const int size[] = {1, 12, 12, 6};
    const int x = sketch_input(&sketch, 4, (int[]){1, 6, 6, 5}), y = sketch_tensor(&sketch, TEST_FLOAT32, 4, size);
    const int weights = sketch_constant(&sketch, 4, (int[]){6, 4, 4, 5}, -1, 1);
    struct test_node *node =
        sketch_node(&sketch, kTfLiteBuiltinTransposeConv, 3, (int[]){sketch_ints(&sketch, 4, size), weights, x}, y);
    node->settings[0] = (struct test_setting){.field = HL_TransposeConvOptions_stride_w, .value = 2};
    node->settings[1] = (struct test_setting){.field = HL_TransposeConvOptions_stride_h, .value = 2};
    sketch_output(&sketch, sketch_one(&sketch, kTfLiteBuiltinTanh, y));
    struct session session;
    sketch_begin(&sketch, &session);
    TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    sketch_run(&session, 1);
    char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device), *last = NULL;
    assert_non_null(text);
    assert_int_equal(sketch_dispatches(text, "convolve"), 4);
    char *first = strstr(text, ": convolve");
    for (char *at = first; (at = strstr(at, ": convolve")); at++) last = at;
    *last = 0;
    assert_null(strstr(first, "barrier"));
    free(text);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
    if (has_device("vulkan")) sketch_compare(&sketch, "vulkan", "f32", 1, 1e-5f, "phases");
    sketch_free(&sketch);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(few_dispatches),
        cmocka_unit_test(phases_do_not_wait),
        {"results_are_those_of_the_cpu opencl", results_are_those_of_the_cpu, NULL, NULL, &places[0]},
        {"results_are_those_of_the_cpu vulkan", results_are_those_of_the_cpu, NULL, NULL, &places[1]},
        {"results_are_those_of_the_cpu vulkan, f16", results_are_those_of_the_cpu, NULL, NULL, &places[2]},
        {"results_are_those_of_the_cpu gles", results_are_those_of_the_cpu, NULL, NULL, &places[3]},
        {"results_are_those_of_the_cpu cuda", results_are_those_of_the_cpu, NULL, NULL, &places[4]},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
