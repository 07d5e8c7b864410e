// SPDX-License-Identifier: Apache-2.0
// Options of builtin operators: fields, schema defaults, zeros where the table is absent,
// conversions, and what is refused.
#include "small_model.h"

#include "tensorflow/lite/c/builtin_op_data.h"

// The small model with its first operator changed into another; inputs and outputs do not matter to
// the loader.
static struct small_model with_operator(int builtin, int subgraphs)
{
    struct small_model m = small_model_create(subgraphs);
    file_set(&m.file, m.codes[0], HL_OperatorCode_builtin_code, builtin);
    return m;
}

// Gives it an options table of that type, which still lacks every field.
static size_t add_options(struct small_model *m, enum hl_schema member)
{
    bool second = member > HL_BuiltinOptions2;
    file_set(&m->file, m->nodes[0], second ? HL_Operator_builtin_options_2_type : HL_Operator_builtin_options_type,
             hl_schema[member].id);
    return file_child(&m->file, m->nodes[0], second ? HL_Operator_builtin_options_2 : HL_Operator_builtin_options,
                      (enum hl_schema)hl_schema[member].of);
}

#define LOADED(model, m, variable, type)                                      \
    TfLiteModel *model = expect_loads(&(m));                                  \
    assert_int_equal(model->subgraphs[0].nodes[0].params_size, sizeof(type)); \
    const type *variable = model->subgraphs[0].nodes[0].params
#define FREE(model, m)           \
    do {                         \
        hl_model_release(model); \
        free((m).file.bytes);    \
    } while (0)

static void test_fields_and_defaults(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinConv2d, 1);
    size_t table = add_options(&m, HL_BuiltinOptions_Conv2DOptions);
    file_set(&m.file, table, HL_Conv2DOptions_padding, 1);
    file_set(&m.file, table, HL_Conv2DOptions_stride_w, 2);
    file_set(&m.file, table, HL_Conv2DOptions_stride_h, 3);
    file_set(&m.file, table, HL_Conv2DOptions_fused_activation_function, 3);
    file_set(&m.file, table, HL_Conv2DOptions_quantized_bias_type, 4);
    LOADED(model, m, params, TfLiteConvParams);
    assert_int_equal(params->padding, kTfLitePaddingValid);
    assert_int_equal(params->stride_width, 2);
    assert_int_equal(params->stride_height, 3);
    assert_int_equal(params->activation, kTfLiteActRelu6);
    assert_int_equal(params->dilation_width_factor, 1);
    assert_int_equal(params->dilation_height_factor, 1);
    assert_int_equal(params->quantized_bias_type, kTfLiteInt64);
    FREE(model, m);
}

static void test_empty_table_means_schema_defaults(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinAdd, 1);
    add_options(&m, HL_BuiltinOptions_AddOptions);
    LOADED(model, m, add, TfLiteAddParams);
    assert_true(add->pot_scale_int16);
    FREE(model, m);
    m = with_operator(kTfLiteBuiltinDepthwiseConv2d, 1);
    add_options(&m, HL_BuiltinOptions_DepthwiseConv2DOptions);
    LOADED(model2, m, conv, TfLiteDepthwiseConvParams);
    assert_int_equal(conv->padding, kTfLitePaddingSame);
    assert_int_equal(conv->dilation_width_factor, 1);
    FREE(model2, m);
    m = with_operator(kTfLiteBuiltinBidirectionalSequenceLstm, 1);
    add_options(&m, HL_BuiltinOptions_BidirectionalSequenceLSTMOptions);
    LOADED(model3, m, lstm, TfLiteBidirectionalSequenceLSTMParams);
    assert_true(lstm->time_major);
    FREE(model3, m);
    m = with_operator(kTfLiteBuiltinUnique, 1);
    add_options(&m, HL_BuiltinOptions_UniqueOptions);
    LOADED(model4, m, unique, TfLiteUniqueParams);
    assert_int_equal(unique->index_out_type, kTfLiteInt32);
    FREE(model4, m);
}

static void test_absent_table_means_zeros(void **state)
{
    (void)state;
    static const int codes[] = {kTfLiteBuiltinConv2d, kTfLiteBuiltinAdd,  kTfLiteBuiltinSoftmax,  kTfLiteBuiltinSqueeze,
                                kTfLiteBuiltinShape,  kTfLiteBuiltinCast, kTfLiteBuiltinLeakyRelu};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct small_model m = with_operator(codes[i], 1);
        TfLiteModel *model = expect_loads(&m);
        const struct hl_model_node *node = &model->subgraphs[0].nodes[0];
        assert_non_null(node->params);
        for (size_t b = 0; b < node->params_size; b++) assert_int_equal(((const char *)node->params)[b], 0);
        FREE(model, m);
    }
    // Operators without parameters, with or without a table of some type.
    struct small_model m = with_operator(kTfLiteBuiltinRelu, 1);
    add_options(&m, HL_BuiltinOptions_PadOptions);
    TfLiteModel *model = expect_loads(&m);
    assert_null(model->subgraphs[0].nodes[0].params);
    assert_int_equal(model->subgraphs[0].nodes[0].params_size, 0);
    FREE(model, m);
}

static void test_every_operator_without_options(void **state)
{
    (void)state;
    static const struct {
        int code;
        bool takes_options;
    } operators[] = {
#define OP(name, code, first, last, table, symbol, file) {code, sizeof #table != sizeof "NONE"},
#define GAP(name, code, first, last, table) {code, sizeof #table != sizeof "NONE"},
#define CUSTOM(name, symbol, file)
#include "abi/operators.def"
#undef OP
#undef GAP
#undef CUSTOM
    };
    int with = 0;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].code == kTfLiteBuiltinCustom) continue;
        struct small_model m = with_operator(operators[i].code, 1);
        struct messages messages;
        uint8_t *copy;
        TfLiteModel *model = load_at(&m.file, m.file.size, 0, &messages, &copy);
        if (!model) {
            // These need their options, or call a subgraph: the one they are in.
            assert_true(strstr(messages.text, "Options are missing") || strstr(messages.text, "still running"));
            assert_true(operators[i].takes_options);
        } else {
            assert_int_equal(model->subgraphs[0].nodes[0].params != NULL, operators[i].takes_options);
        }
        with += operators[i].takes_options;
        hl_model_release(model);
        free(copy);
        free(m.file.bytes);
    }
    assert_true(with > 70);
}

static void test_unknown_values(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinConv2d, 1);
    size_t table = add_options(&m, HL_BuiltinOptions_Conv2DOptions);
    file_set(&m.file, table, HL_Conv2DOptions_padding, 77);
    expect_refusal(&m, "subgraph 0, node 0 (CONV_2D): option padding has the value 77, which the "
                       "format does not define");
    m = with_operator(kTfLiteBuiltinConv2d, 1);
    table = add_options(&m, HL_BuiltinOptions_Conv2DOptions);
    file_set(&m.file, table, HL_Conv2DOptions_fused_activation_function, -1);
    expect_refusal(&m, "option fused_activation_function has the value -1");
    m = with_operator(kTfLiteBuiltinCast, 1);
    table = add_options(&m, HL_BuiltinOptions_CastOptions);
    file_set(&m.file, table, HL_CastOptions_out_data_type, 23);
    expect_refusal(&m, "option out_data_type has the value 23");
    m = with_operator(kTfLiteBuiltinReduceWindow, 1);
    add_options(&m, HL_BuiltinOptions2_ReduceWindowOptions);
    expect_refusal(&m, "option reduce_function has the value 0");
}

// They count as none: zeros where options may be absent, an error where they may not.
static void test_options_of_another_operator(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinSub, 1);
    size_t table = add_options(&m, HL_BuiltinOptions_MulOptions);
    file_set(&m.file, table, HL_MulOptions_fused_activation_function, 1);
    LOADED(model, m, sub, TfLiteSubParams);
    assert_int_equal(sub->activation, kTfLiteActNone);
    assert_false(sub->pot_scale_int16);
    FREE(model, m);
    m = with_operator(kTfLiteBuiltinStablehloConcatenate, 1);
    add_options(&m, HL_BuiltinOptions2_ReduceWindowOptions);
    expect_refusal(&m, "its StablehloConcatenateOptions are missing");
}

static void test_lists(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinReshape, 1);
    size_t table = add_options(&m, HL_BuiltinOptions_ReshapeOptions);
    FILE_INTS(&m.file, table, HL_ReshapeOptions_new_shape, 1, -1, 3, 4, 5, 6, 7, 8);
    LOADED(model, m, reshape, TfLiteReshapeParams);
    assert_int_equal(reshape->num_dimensions, 8);
    assert_int_equal(reshape->shape[1], -1);
    assert_int_equal(reshape->shape[7], 8);
    hl_model_release(model);
    file_set_vector(&m.file, table, HL_ReshapeOptions_new_shape, NULL, 9);
    expect_refusal(&m, "node 0 (RESHAPE): option new_shape has 9 elements; at most 8 are allowed");

    m = with_operator(kTfLiteBuiltinSqueeze, 1);
    table = add_options(&m, HL_BuiltinOptions_SqueezeOptions);
    FILE_INTS(&m.file, table, HL_SqueezeOptions_squeeze_dims, 2, 0);
    LOADED(model2, m, squeeze, TfLiteSqueezeParams);
    assert_int_equal(squeeze->num_squeeze_dims, 2);
    assert_int_equal(squeeze->squeeze_dims[0], 2);
    FREE(model2, m);

    m = with_operator(kTfLiteBuiltinBucketize, 1);
    table = add_options(&m, HL_BuiltinOptions_BucketizeOptions);
    file_set_vector(&m.file, table, HL_BucketizeOptions_boundaries, (const float[]){1, 2.5f}, 2);
    LOADED(model3, m, bucketize, TfLiteBucketizeParams);
    assert_int_equal(bucketize->num_boundaries, 2);
    assert_true(bucketize->boundaries[1] == 2.5f);
    hl_model_release(model3);
    file_drop(&m.file, table, HL_BucketizeOptions_boundaries);
    expect_refusal(&m, "node 0 (BUCKETIZE): option boundaries is missing");
}

static void test_names_and_seeds(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinVarHandle, 1);
    size_t table = add_options(&m, HL_BuiltinOptions_VarHandleOptions);
    file_set_string(&m.file, table, HL_VarHandleOptions_shared_name, "counter");
    LOADED(model, m, handle, TfLiteVarHandleParams);
    assert_null(handle->container);
    assert_string_equal(handle->shared_name, "counter");
    FREE(model, m);
    m = with_operator(kTfLiteBuiltinRandomUniform, 1);
    table = add_options(&m, HL_BuiltinOptions_RandomOptions);
    file_set(&m.file, table, HL_RandomOptions_seed, INT64_C(0x100000007));
    file_set(&m.file, table, HL_RandomOptions_seed2, -2);
    LOADED(model2, m, random, TfLiteRandomParams);
    assert_int_equal(random->seed, 7);
    assert_int_equal(random->seed2, -2);
    FREE(model2, m);
}

static void test_stablehlo(void **state)
{
    (void)state;
    struct small_model m = with_operator(kTfLiteBuiltinStablehloGather, 1);
    size_t table = add_options(&m, HL_BuiltinOptions2_StablehloGatherOptions);
    file_set_vector(&m.file, table, HL_StablehloGatherOptions_slice_sizes, (const int64_t[]){1, INT64_MAX}, 2);
    file_set(&m.file, table, HL_StablehloGatherOptions_indices_are_sorted, 1);
    LOADED(model, m, gather, TfLiteStablehloGatherParams);
    assert_int_equal(gather->num_slice_sizes, 2);
    assert_true(gather->slice_sizes[1] == INT64_MAX);
    assert_int_equal(gather->num_offset_dims, 0);
    assert_true(gather->indices_are_sorted);
    FREE(model, m);

    m = with_operator(kTfLiteBuiltinStablehloReduceWindow, 2);
    table = add_options(&m, HL_BuiltinOptions2_StablehloReduceWindowOptions);
    file_set_vector(&m.file, table, HL_StablehloReduceWindowOptions_window_dimensions, (const int64_t[]){3, 5}, 2);
    file_set_vector(&m.file, table, HL_StablehloReduceWindowOptions_padding, (const int64_t[]){1, 2, 3, 4}, 4);
    file_set(&m.file, table, HL_StablehloReduceWindowOptions_body_subgraph_index, 1);
    LOADED(model2, m, window, TfLiteStablehloReduceWindowParams);
    assert_int_equal(window->window_dimensions[1], 5);
    assert_int_equal(window->window_strides[0], 1);
    assert_int_equal(window->base_dilations[7], 1);
    assert_int_equal(window->padding[3], 4);
    assert_int_equal(window->padding[4], 0);
    assert_int_equal(window->body_subgraph_index, 1);
    hl_model_release(model2);
    file_set_vector(&m.file, table, HL_StablehloReduceWindowOptions_window_strides, NULL, 3);
    expect_refusal(&m, "option window_strides has 3 elements, but window_dimensions has 2");

    m = with_operator(kTfLiteBuiltinStablehloPad, 1);
    table = add_options(&m, HL_BuiltinOptions2_StablehloPadOptions);
    file_set_vector(&m.file, table, HL_StablehloPadOptions_edge_padding_low, NULL, 2);
    expect_refusal(&m, "node 0 (STABLEHLO_PAD): option edge_padding_high is missing");
    m = with_operator(kTfLiteBuiltinStablehloPad, 1);
    expect_refusal(&m, "node 0 (STABLEHLO_PAD): its StablehloPadOptions are missing");

    m = with_operator(kTfLiteBuiltinStablehloComposite, 2);
    table = add_options(&m, HL_BuiltinOptions2_StableHLOCompositeOptions);
    file_set_string(&m.file, table, HL_StableHLOCompositeOptions_name, "odml.test");
    file_set_vector(&m.file, table, HL_StableHLOCompositeOptions_composite_attributes, "abc", 3);
    file_set(&m.file, table, HL_StableHLOCompositeOptions_decomposition_subgraph_index, 1);
    file_set(&m.file, table, HL_StableHLOCompositeOptions_version, 4);
    LOADED(model3, m, composite, TfLiteStablehloCompositeParams);
    assert_string_equal(composite->name, "odml.test");
    assert_int_equal(composite->subgraph_index, 1);
    assert_int_equal(composite->version, 4);
    assert_int_equal(composite->attributes_size, 3);
    assert_memory_equal(composite->attributes, "abc", 3);
    hl_model_release(model3);
    file_drop(&m.file, table, HL_StableHLOCompositeOptions_composite_attributes);
    expect_refusal(&m, "option composite_attributes is missing");

    m = with_operator(kTfLiteBuiltinStablehloCase, 3);
    table = add_options(&m, HL_BuiltinOptions2_StablehloCaseOptions);
    FILE_INTS(&m.file, table, HL_StablehloCaseOptions_branch_subgraph_indices, 1, 2, 1);
    LOADED(model4, m, branches, TfLiteStablehloCaseParams);
    assert_int_equal(branches->num_branches, 3);
    assert_int_equal(branches->branch_subgraph_indices[1], 2);
    hl_model_release(model4);
    FILE_INTS(&m.file, table, HL_StablehloCaseOptions_branch_subgraph_indices, 1, 3);
    expect_refusal(&m, "option branch_subgraph_indices is 3, but the model has 3 subgraphs");
    m = with_operator(kTfLiteBuiltinStablehloCase, 3);
    table = add_options(&m, HL_BuiltinOptions2_StablehloCaseOptions);
    FILE_INTS(&m.file, table, HL_StablehloCaseOptions_branch_subgraph_indices, 1, 2, 0);
    expect_refusal(&m, "it calls subgraph 0, which is still running");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_and_defaults),
        cmocka_unit_test(test_empty_table_means_schema_defaults),
        cmocka_unit_test(test_absent_table_means_zeros),
        cmocka_unit_test(test_every_operator_without_options),
        cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_options_of_another_operator),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_names_and_seeds),
        cmocka_unit_test(test_stablehlo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
