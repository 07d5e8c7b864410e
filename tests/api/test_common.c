// SPDX-License-Identifier: Apache-2.0
// The helpers of common.h as delegates and custom operators use them: arrays, names of types, a tensor's memory, and
// what is known of a tensor.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/c/common.h"

// ---- arrays -------------------------------------------------------------------------------------

static TfLiteIntArray *ints(int size, const int *values)
{
    TfLiteIntArray *array = TfLiteIntArrayCreate(size);
    assert_non_null(array);
    assert_int_equal(array->size, size);
    if (size) memcpy(array->data, values, (size_t)size * sizeof *values);
    return array;
}

static void int_arrays(void **state)
{
    (void)state;
    TfLiteIntArray *none = ints(0, NULL), *one = ints(1, (const int[]){1}), *two = ints(2, (const int[]){5, 6});
    TfLiteIntArray *same = TfLiteIntArrayCopy(two), *other = ints(2, (const int[]){6, 6});
    assert_ptr_not_equal(same, two);
    assert_true(TfLiteIntArrayEqual(two, same) && TfLiteIntArrayEqual(two, two));
    assert_false(TfLiteIntArrayEqual(one, two) || TfLiteIntArrayEqual(same, other));
    assert_false(TfLiteIntArrayEqual(NULL, one) || TfLiteIntArrayEqual(one, NULL));
    assert_true(TfLiteIntArrayEqual(NULL, NULL));
    assert_true(TfLiteIntArrayEqualsArray(two, 2, (const int[]){5, 6}));
    assert_false(TfLiteIntArrayEqualsArray(two, 1, (const int[]){5}));
    assert_true(TfLiteIntArrayEqualsArray(none, 0, NULL) && TfLiteIntArrayEqualsArray(NULL, 0, NULL));
    assert_null(TfLiteIntArrayCopy(NULL));
    assert_int_equal(TfLiteIntArrayGetSizeInBytes(3), 4 * sizeof(int));
    free(none); // of the C library, as bindings rely on
    TfLiteIntArrayFree(one);
    TfLiteIntArrayFree(two);
    TfLiteIntArrayFree(same);
    TfLiteIntArrayFree(other);
    TfLiteIntArrayFree(NULL);
}

static void float_arrays(void **state)
{
    (void)state;
    TfLiteFloatArray *a = TfLiteFloatArrayCreate(2);
    a->data[0] = 22;
    a->data[1] = -0.5f;
    TfLiteFloatArray *b = TfLiteFloatArrayCopy(a);
    assert_ptr_not_equal(a, b);
    assert_int_equal(b->size, 2);
    assert_true(b->data[0] == 22 && b->data[1] == -0.5f);
    assert_null(TfLiteFloatArrayCopy(NULL));
    assert_int_equal(TfLiteFloatArrayGetSizeInBytes(2), sizeof(int) + 2 * sizeof(float));
    TfLiteFloatArrayFree(a);
    TfLiteFloatArrayFree(b);
    TfLiteFloatArrayFree(NULL);
}

static void type_names(void **state)
{
    (void)state;
    static const struct {
        TfLiteType type;
        const char *name;
    } names[] = {
        {kTfLiteNoType, "NOTYPE"},         {kTfLiteFloat64, "FLOAT64"},   {kTfLiteFloat32, "FLOAT32"},
        {kTfLiteFloat16, "FLOAT16"},       {kTfLiteBFloat16, "BFLOAT16"}, {kTfLiteInt16, "INT16"},
        {kTfLiteUInt16, "UINT16"},         {kTfLiteInt32, "INT32"},       {kTfLiteUInt32, "UINT32"},
        {kTfLiteUInt8, "UINT8"},           {kTfLiteInt8, "INT8"},         {kTfLiteInt64, "INT64"},
        {kTfLiteUInt64, "UINT64"},         {kTfLiteBool, "BOOL"},         {kTfLiteComplex64, "COMPLEX64"},
        {kTfLiteComplex128, "COMPLEX128"}, {kTfLiteString, "STRING"},     {kTfLiteResource, "RESOURCE"},
        {kTfLiteVariant, "VARIANT"},       {kTfLiteInt4, "INT4"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(TfLiteTypeGetName(names[i].type), names[i].name);
    assert_non_null(TfLiteTypeGetName((TfLiteType)-1));
    assert_non_null(TfLiteTypeGetName((TfLiteType)1000));
}

// ---- what a tensor owns -------------------------------------------------------------------------

static void quantization_is_freed(void **state)
{
    (void)state;
    TfLiteTensor tensor = {.allocation_type = kTfLiteArenaRw};
    TfLiteAffineQuantization *affine = malloc(sizeof *affine);
    affine->scale = TfLiteFloatArrayCreate(3);
    affine->zero_point = TfLiteIntArrayCreate(3);
    tensor.quantization = (TfLiteQuantization){kTfLiteAffineQuantization, affine};
    TfLiteTensorFree(&tensor);
    assert_int_equal(tensor.quantization.type, kTfLiteNoQuantization);
    assert_null(tensor.quantization.params);

    affine = malloc(sizeof *affine); // without arrays
    memset(affine, 0, sizeof *affine);
    TfLiteQuantization quantization = {kTfLiteAffineQuantization, affine};
    TfLiteQuantizationFree(&quantization);
    assert_null(quantization.params);
    TfLiteQuantizationFree(&quantization);
    TfLiteQuantizationFree(NULL);
}

// Programs set nothing but the type in a tensor from malloc.
static void params_without_quantization_are_not_looked_at(void **state)
{
    (void)state;
    static int not_from_malloc;
    TfLiteTensor tensor = {.quantization = {kTfLiteNoQuantization, &not_from_malloc}};
    TfLiteTensorFree(&tensor);
    assert_null(tensor.quantization.params);
    tensor.quantization.params = &not_from_malloc;
    TfLiteTensorReset(kTfLiteInt8, "", NULL, (TfLiteQuantizationParams){0}, NULL, 0, kTfLiteDynamic, NULL, false,
                      &tensor);
    assert_null(tensor.quantization.params);
}

// Programs fill the arrays of compressed dimensions only: those of dense ones are whatever malloc gave.
static void sparsity_is_freed(void **state)
{
    (void)state;
    TfLiteSparsity *sparsity = malloc(sizeof *sparsity);
    sparsity->traversal_order = TfLiteIntArrayCreate(2);
    sparsity->block_map = NULL;
    sparsity->dim_metadata = malloc(2 * sizeof *sparsity->dim_metadata);
    memset(sparsity->dim_metadata, 0xa5, 2 * sizeof *sparsity->dim_metadata);
    sparsity->dim_metadata_size = 2;
    sparsity->dim_metadata[0].format = kTfLiteDimDense;
    sparsity->dim_metadata[0].dense_size = 4;
    sparsity->dim_metadata[1].format = kTfLiteDimSparseCSR;
    sparsity->dim_metadata[1].array_segments = TfLiteIntArrayCreate(2);
    sparsity->dim_metadata[1].array_indices = TfLiteIntArrayCreate(3);
    TfLiteTensor tensor = {.allocation_type = kTfLiteArenaRw, .sparsity = sparsity};
    TfLiteTensorFree(&tensor);
    assert_null(tensor.sparsity);
    TfLiteSparsityFree(NULL);
    TfLiteTensorFree(NULL);
}

static void tensors_are_copied(void **state)
{
    (void)state;
    float from[4] = {0, 1, 2, 3}, to[4] = {9, 9, 9, 9};
    TfLiteDelegate delegate = TfLiteDelegateCreate();
    TfLiteTensor src = {
        .type = kTfLiteFloat32,
        .data.f = from,
        .bytes = sizeof from,
        .dims = ints(1, (const int[]){4}),
        .delegate = &delegate,
        .buffer_handle = 5,
        .data_is_stale = true,
    };
    TfLiteTensor dst = {.data.f = to, .bytes = sizeof to};
    assert_int_equal(TfLiteTensorCopy(&src, &dst), kTfLiteOk);
    assert_int_equal(dst.type, kTfLiteFloat32);
    assert_true(TfLiteIntArrayEqual(dst.dims, src.dims));
    assert_ptr_not_equal(dst.dims, src.dims);
    assert_ptr_equal(dst.data.f, to); // the copy keeps its own memory
    assert_memory_equal(to, from, sizeof to);
    assert_ptr_equal(dst.delegate, &delegate);
    assert_int_equal(dst.buffer_handle, 5);
    assert_true(dst.data_is_stale);

    assert_int_equal(TfLiteTensorCopy(&src, NULL), kTfLiteOk);
    assert_int_equal(TfLiteTensorCopy(NULL, &dst), kTfLiteOk);
    assert_int_equal(TfLiteTensorCopy(&src, &src), kTfLiteOk);
    src.bytes--;
    assert_int_equal(TfLiteTensorCopy(&src, &dst), kTfLiteError);
    TfLiteTensorFree(&src);
    TfLiteTensorFree(&dst);
}

static TfLiteTensor dynamic_floats(size_t count)
{
    return (TfLiteTensor){
        .type = kTfLiteFloat32,
        .allocation_type = kTfLiteDynamic,
        .bytes = count * sizeof(float),
        .data.raw = calloc(count, sizeof(float)),
        .dims = ints(1, (const int[]){(int)count}),
        .dims_signature = ints(1, (const int[]){-1}),
    };
}

static void memory_grows_and_shrinks(void **state)
{
    (void)state;
    TfLiteTensor tensor = dynamic_floats(4);
    tensor.data.f[3] = 7;
    assert_int_equal(TfLiteTensorRealloc(6 * sizeof(float), &tensor), kTfLiteOk);
    assert_int_equal(tensor.bytes, 6 * sizeof(float));
    assert_true(tensor.data.f[3] == 7);
    void *same = tensor.data.raw;
    assert_int_equal(TfLiteTensorRealloc(tensor.bytes, &tensor), kTfLiteOk);
    assert_ptr_equal(tensor.data.raw, same);
    assert_int_equal(TfLiteTensorRealloc(2 * sizeof(float), &tensor), kTfLiteOk);
    assert_int_equal(tensor.bytes, 2 * sizeof(float));
    assert_true(tensor.data.f[0] == 0 && tensor.data.f[1] == 0);
    assert_int_equal(TfLiteTensorResizeMaybeCopy(100, &tensor, false), kTfLiteOk);
    assert_int_equal(tensor.bytes, 100);
    assert_int_equal(TfLiteTensorRealloc(0, &tensor), kTfLiteOk);
    assert_int_equal(tensor.bytes, 0);
    assert_non_null(tensor.data.raw);
    assert_int_equal(TfLiteTensorRealloc(8, &tensor), kTfLiteOk);
    memset(tensor.data.raw, 1, 8);
    TfLiteTensorFree(&tensor);
    assert_null(tensor.data.raw);
    assert_null(tensor.dims);

    char mine[16];
    tensor = (TfLiteTensor){.allocation_type = kTfLiteArenaRw, .data.raw = mine, .bytes = sizeof mine};
    assert_int_equal(TfLiteTensorRealloc(32, &tensor), kTfLiteOk); // not the tensor's own: nothing happens
    assert_int_equal(tensor.bytes, sizeof mine);
    assert_ptr_equal(tensor.data.raw, mine);
    TfLiteTensorFree(&tensor);
}

// A tensor that cannot grow stays as it was.
static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    TfLiteTensor tensor = dynamic_floats(4);
    void *before = tensor.data.raw;
    assert_int_equal(TfLiteTensorRealloc(SIZE_MAX - 16, &tensor), kTfLiteError);
    assert_ptr_equal(tensor.data.raw, before);
    assert_int_equal(tensor.bytes, 4 * sizeof(float));
    TfLiteTensorFree(&tensor);

    TfLiteTensor empty = {.allocation_type = kTfLiteDynamic};
    assert_int_equal(TfLiteTensorResizeMaybeCopy(SIZE_MAX - 7, &empty, false), kTfLiteError);
    assert_null(empty.data.raw);
    assert_int_equal(TfLiteTensorResizeMaybeCopy(16, NULL, false), kTfLiteError);
    assert_int_equal(TfLiteTensorRealloc(16, NULL), kTfLiteError);
}

// What a program reads and writes at the address from before is still the tensor's, and so are 16 bytes after it.
static void a_tensor_that_shrinks_stays_where_it_is(void **state)
{
    (void)state;
    TfLiteTensor tensor = {.allocation_type = kTfLiteDynamic};
    assert_int_equal(TfLiteTensorRealloc(200000, &tensor), kTfLiteOk);
    memset(tensor.data.raw, 1, 200000 + 16);
    void *before = tensor.data.raw;
    assert_int_equal(TfLiteTensorRealloc(100, &tensor), kTfLiteOk);
    assert_ptr_equal(tensor.data.raw, before);
    assert_int_equal(tensor.bytes, 100);
    assert_int_equal(TfLiteTensorResizeMaybeCopy(50, &tensor, false), kTfLiteOk);
    assert_ptr_equal(tensor.data.raw, before);
    TfLiteTensorFree(&tensor);
}

// ---- an allocator of the caller's ---------------------------------------------------------------

struct heap {
    size_t taken; // bytes of all blocks
    bool full;
};

static void *allocate(void *data, size_t bytes, size_t alignment)
{
    struct heap *heap = data;
    if (heap->full) return NULL;
    heap->taken += bytes;
    assert_int_equal(alignment, 64);
    return malloc(bytes);
}

static void *reallocate(void *data, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment)
{
    struct heap *heap = data;
    if (heap->full) return NULL;
    heap->taken += new_bytes - old_bytes;
    assert_int_equal(alignment, 64);
    return realloc(ptr, new_bytes);
}

static void deallocate(void *data, void *ptr, size_t bytes, size_t alignment)
{
    struct heap *heap = data;
    heap->taken -= bytes;
    assert_int_equal(alignment, 64);
    free(ptr);
}

static void memory_comes_from_the_callers_allocator(void **state)
{
    (void)state;
    struct heap heap = {0};
    TfLiteAllocator allocator = {&heap, allocate, reallocate, deallocate};
    TfLiteTensor tensor = {.allocation_type = kTfLitePersistentRo};
    assert_int_equal(TfLiteTensorResizeMaybeCopyWithAllocator(8, &tensor, false, &allocator), kTfLiteOk);
    assert_true(heap.taken >= 8);
    memset(tensor.data.raw, 7, 8);
    assert_int_equal(TfLiteTensorReallocWithAllocator(100, &tensor, &allocator), kTfLiteOk);
    assert_true(heap.taken >= 100);
    assert_int_equal(tensor.data.raw[7], 7);
    assert_int_equal(TfLiteTensorReallocWithAllocator(4, &tensor, &allocator), kTfLiteOk);
    assert_int_equal(tensor.bytes, 4);

    heap.full = true;
    void *before = tensor.data.raw;
    assert_int_equal(TfLiteTensorReallocWithAllocator(50, &tensor, &allocator), kTfLiteError);
    assert_ptr_equal(tensor.data.raw, before);
    assert_int_equal(tensor.bytes, 4);
    assert_int_equal(TfLiteTensorResizeMaybeCopyWithAllocator(50, &tensor, false, &allocator), kTfLiteError);
    assert_null(tensor.data.raw);
    assert_int_equal(tensor.bytes, 0);
    assert_int_equal(heap.taken, 0); // no block is lost, and each was given back with the size it had

    heap.full = false;
    assert_int_equal(TfLiteTensorReallocWithAllocator(0, &tensor, &allocator), kTfLiteOk);
    assert_non_null(tensor.data.raw);
    TfLiteTensorDataFreeWithAllocator(&tensor, &allocator);
    assert_null(tensor.data.raw);
    assert_int_equal(heap.taken, 0);
    TfLiteTensorDataFreeWithAllocator(&tensor, &allocator);
    TfLiteTensorDataFreeWithAllocator(NULL, &allocator);
    assert_int_equal(TfLiteTensorReallocWithAllocator(24, &tensor, NULL), kTfLiteOk); // of malloc
    TfLiteTensorFree(&tensor);
}

static void tensors_are_reset(void **state)
{
    (void)state;
    TfLiteTensor tensor = dynamic_floats(4);
    static char bytes[8];
    TfLiteTensorReset(kTfLiteInt8, "again", ints(1, (const int[]){8}), (TfLiteQuantizationParams){0.5f, 3}, bytes,
                      sizeof bytes, kTfLiteMmapRo, NULL, true, &tensor);
    assert_int_equal(tensor.type, kTfLiteInt8);
    assert_string_equal(tensor.name, "again");
    assert_int_equal(tensor.dims->data[0], 8);
    assert_true(tensor.params.scale == 0.5f && tensor.params.zero_point == 3);
    assert_ptr_equal(tensor.data.raw, bytes);
    assert_int_equal(tensor.bytes, sizeof bytes);
    assert_int_equal(tensor.allocation_type, kTfLiteMmapRo);
    assert_true(tensor.is_variable);
    assert_int_equal(tensor.quantization.type, kTfLiteNoQuantization);
    assert_null(tensor.delegate);
    TfLiteTensorFree(&tensor);
}

// ---- what is known of a tensor ------------------------------------------------------------------

static void knowledge_follows_from_the_allocation(void **state)
{
    (void)state;
    enum {
        NEVER = kTfLiteRunStabilityUnstable,
        RUN = kTfLiteRunStabilitySingleRun,
        RUNS = kTfLiteRunStabilityAcrossRuns
    };
    enum { INIT = kTfLiteRunStepInit, PREPARE = kTfLiteRunStepPrepare, EVAL = kTfLiteRunStepEval };
    static const struct {
        TfLiteAllocationType type;
        int strategy, address, data, data_step, shape_step;
    } rows[] = {
        {kTfLiteMemNone, kTfLiteAllocationStrategyNone, RUNS, RUNS, INIT, INIT},
        {kTfLiteMmapRo, kTfLiteAllocationStrategyMMap, RUNS, RUNS, INIT, INIT},
        {kTfLiteArenaRw, kTfLiteAllocationStrategyArena, NEVER, RUN, EVAL, PREPARE},
        {kTfLiteArenaRwPersistent, kTfLiteAllocationStrategyArena, NEVER, RUNS, EVAL, PREPARE},
        {kTfLiteDynamic, kTfLiteAllocationStrategyMalloc, RUN, RUN, EVAL, EVAL},
        {kTfLitePersistentRo, kTfLiteAllocationStrategyMalloc, RUN, RUN, PREPARE, PREPARE},
        {kTfLiteCustom, 0, 0, 0, 0, 0},
        {kTfLiteVariantObject, kTfLiteAllocationStrategyNew, RUNS, RUN, EVAL, EVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const TfLiteTensor tensor = {.allocation_type = rows[i].type};
        const TfLiteOpaqueTensor *opaque = (const TfLiteOpaqueTensor *)&tensor;
        assert_int_equal(TfLiteTensorGetAllocationStrategy(&tensor), rows[i].strategy);
        assert_int_equal(TfLiteTensorGetBufferAddressStability(&tensor), rows[i].address);
        assert_int_equal(TfLiteTensorGetDataStability(&tensor), rows[i].data);
        assert_int_equal(TfLiteTensorGetDataKnownStep(&tensor), rows[i].data_step);
        assert_int_equal(TfLiteTensorGetShapeKnownStep(&tensor), rows[i].shape_step);
        assert_int_equal(TfLiteOpaqueTensorGetAllocationStrategy(opaque), rows[i].strategy);
        assert_int_equal(TfLiteOpaqueTensorGetBufferAddressStability(opaque), rows[i].address);
        assert_int_equal(TfLiteOpaqueTensorGetDataStability(opaque), rows[i].data);
        assert_int_equal(TfLiteOpaqueTensorGetDataKnownStep(opaque), rows[i].data_step);
        assert_int_equal(TfLiteOpaqueTensorGetShapeKnownStep(opaque), rows[i].shape_step);
    }
}

// ---- delegates ----------------------------------------------------------------------------------

static void delegates_are_made(void **state)
{
    (void)state;
    int data = 42;
    TfLiteDelegate plain = TfLiteDelegateCreate();
    assert_true(!plain.data_ && !plain.Prepare && !plain.CopyFromBufferHandle && !plain.CopyToBufferHandle);
    assert_true(!plain.FreeBufferHandle && !plain.flags && !plain.opaque_delegate_builder);
    plain.data_ = &data;
    assert_ptr_equal(TfLiteOpaqueDelegateGetData(&plain), &data);

    TfLiteOpaqueDelegateBuilder builder = {.data = &data};
    TfLiteOpaqueDelegate *delegate = TfLiteOpaqueDelegateCreate(&builder);
    builder.data = NULL; // the builder was copied
    assert_ptr_equal(TfLiteOpaqueDelegateGetData(delegate), &data);
    TfLiteOpaqueDelegateDelete(delegate);
    delegate = TfLiteOpaqueDelegateCreate(&builder);
    assert_null(TfLiteOpaqueDelegateGetData(delegate));
    TfLiteOpaqueDelegateDelete(delegate);
    assert_null(TfLiteOpaqueDelegateCreate(NULL));
    assert_null(TfLiteOpaqueDelegateGetData(NULL));
    TfLiteOpaqueDelegateDelete(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int_arrays),
        cmocka_unit_test(float_arrays),
        cmocka_unit_test(type_names),
        cmocka_unit_test(quantization_is_freed),
        cmocka_unit_test(params_without_quantization_are_not_looked_at),
        cmocka_unit_test(sparsity_is_freed),
        cmocka_unit_test(tensors_are_copied),
        cmocka_unit_test(memory_grows_and_shrinks),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(a_tensor_that_shrinks_stays_where_it_is),
        cmocka_unit_test(memory_comes_from_the_callers_allocator),
        cmocka_unit_test(tensors_are_reset),
        cmocka_unit_test(knowledge_follows_from_the_allocation),
        cmocka_unit_test(delegates_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
