// SPDX-License-Identifier: Apache-2.0
// See core_fixture.h.
#include "core_fixture.h"

#include "support/model_writer.h"

enum { ADD = 0, MUL = 18 }; // schema codes

const LiteRtRankedTensorType pair = {kLiteRtElementTypeFloat32, {.rank = 1, .dimensions = {2}}};

static const struct test_tensor add_tensors[] = {
    {.name = "add_x", .rank = 2, .dims = {1, 2}, .has_signature = true, .signature = {-1, 2}},
    {.name = "add_y", .rank = 2, .dims = {1, 2}, .has_signature = true, .signature = {-1, 2}},
    {.name = "add_z", .rank = 2, .dims = {1, 2}},
};
static const struct test_tensor mul_tensors[] = {
    {.name = "mul_x", .rank = 1, .dims = {2}},
    {.name = "mul_y", .rank = 1, .dims = {2}},
    {.name = "mul_z", .rank = 1, .dims = {2}},
};
static const struct test_node add_nodes[] = {
    {.builtin = ADD, .input_count = 2, .inputs = {0, 1}, .output_count = 1, .outputs = {2}}};
static const struct test_node mul_nodes[] = {
    {.builtin = MUL, .input_count = 2, .inputs = {0, 1}, .output_count = 1, .outputs = {2}}};
static const struct test_model mul_graph = {.tensor_count = 3,
                                            .tensors = mul_tensors,
                                            .node_count = 1,
                                            .nodes = mul_nodes,
                                            .input_count = 2,
                                            .inputs = {0, 1},
                                            .output_count = 1,
                                            .outputs = {2}};
static const struct test_signature signatures[] = {
    {"add", 0, 2, 1, {{"x", 0}, {"y", 1}}, {{"z", 2}}},
    {"mul", 1, 2, 1, {{"x", 0}, {"y", 1}}, {{"z", 2}}},
};
static const struct test_metadata metadata[] = {{"author", "us", 2}};

unsigned char *write_model(bool with_signatures, size_t *size)
{
    struct test_model model = {.tensor_count = 3,
                               .tensors = add_tensors,
                               .node_count = 1,
                               .nodes = add_nodes,
                               .input_count = 2,
                               .inputs = {0, 1},
                               .output_count = 1,
                               .outputs = {2},
                               .metadata_count = 1,
                               .metadata = metadata};
    if (with_signatures) {
        model.more_count = 1;
        model.more = &mul_graph;
        model.signature_count = 2;
        model.signatures = signatures;
    }
    return test_model_write(&model, size);
}

int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->bytes = write_model(true, &f->size);
    LiteRtEnvOption gpu = {kLiteRtEnvOptionTagSystemGpuAcceleratorHandle,
                           {.type = kLiteRtAnyTypeVoidPtr, .ptr_value = &LiteRtAcceleratorImpl}};
    assert_ok(LiteRtCreateEnvironment(1, &gpu, &f->environment));
    assert_ok(LiteRtCreateModelFromBuffer(f->environment, f->bytes, f->size, &f->model));
    *state = f;
    return 0;
}

int tear_down(void **state)
{
    struct fixture *f = *state;
    LiteRtDestroyModel(f->model);
    LiteRtDestroyEnvironment(f->environment);
    free(f->bytes);
    free(f);
    return 0;
}
