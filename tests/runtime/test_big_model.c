// SPDX-License-Identifier: Apache-2.0
// A model of more than 4 GiB, whose file is one hole with a few bytes in it: its constants lie behind the flatbuffer
// and are found by offset; a kernel reads a row beyond the second, the third and the fourth GiB of the file.
#define _XOPEN_SOURCE 700 // mkstemp
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/model_file.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"

// The table: int8 [4 Mi, 1024], 4 GiB, behind the first 64 MiB of the file.
enum { ROWS = 1 << 22, COLUMNS = 1024 };
static const uint64_t table_offset = UINT64_C(1) << 26, table_bytes = (uint64_t)ROWS * COLUMNS;

static void report(void *user_data, const char *format, va_list args)
{
    vsnprintf(user_data, 1000, format, args);
}

static void describe(struct model_file *file, size_t table, const char *name, int type, int rank, const int32_t *dims)
{
    file_set_string(file, table, HL_Tensor_name, name);
    file_set(file, table, HL_Tensor_type, type);
    file_set_vector(file, table, HL_Tensor_shape, dims, (size_t)rank);
}

// y = GATHER(table, row)
static struct model_file make_model(uint64_t offset, uint64_t bytes)
{
    struct model_file file = {0};
    size_t code, buffers[2], graph, tensors[3], node, root = file_begin(&file);
    file_children(&file, root, HL_Model_operator_codes, 1, &code);
    file_set(&file, code, HL_OperatorCode_builtin_code, kTfLiteBuiltinGather);
    file_children(&file, root, HL_Model_buffers, 2, buffers);
    file_set(&file, buffers[1], HL_Buffer_offset, (int64_t)offset);
    file_set(&file, buffers[1], HL_Buffer_size, (int64_t)bytes);
    file_children(&file, root, HL_Model_subgraphs, 1, &graph);
    file_children(&file, graph, HL_SubGraph_tensors, 3, tensors);
    describe(&file, tensors[0], "table", 9, 2, (const int32_t[]){ROWS, COLUMNS});
    file_set(&file, tensors[0], HL_Tensor_buffer, 1);
    describe(&file, tensors[1], "row", 2, 1, (const int32_t[]){1});
    describe(&file, tensors[2], "y", 9, 2, (const int32_t[]){1, COLUMNS});
    file_children(&file, graph, HL_SubGraph_operators, 1, &node);
    FILE_INTS(&file, node, HL_Operator_inputs, 0, 1);
    FILE_INTS(&file, node, HL_Operator_outputs, 2);
    FILE_INTS(&file, graph, HL_SubGraph_inputs, 1);
    FILE_INTS(&file, graph, HL_SubGraph_outputs, 2);
    return file;
}

static const int32_t rows[] = {0, 1 << 21, 3 << 20, ROWS - 1};

// Value of a row's column in the file, where it is one of `rows`.
static int8_t value_of(int i, int column)
{
    return (int8_t)(i * 7 + column % 50 + 1);
}

static bool write_at(int descriptor, uint64_t offset, const void *bytes, size_t size)
{
    return lseek(descriptor, (off_t)offset, SEEK_SET) == (off_t)offset &&
           write(descriptor, bytes, size) == (ssize_t)size;
}

// The file, without a name. -1, after a word, where this machine cannot have it.
static int make_file(const struct model_file *model, char *path)
{
    struct stat status;
    int descriptor = mkstemp(path);
    bool made = descriptor >= 0 && ftruncate(descriptor, (off_t)(table_offset + table_bytes)) == 0 &&
                write_at(descriptor, 0, model->bytes, model->size);
    for (int i = 0; made && i < 4; i++) {
        int8_t row[COLUMNS];
        for (int c = 0; c < COLUMNS; c++) row[c] = value_of(i, c);
        made = write_at(descriptor, table_offset + (uint64_t)rows[i] * COLUMNS, row, sizeof row);
    }
    if (made && fstat(descriptor, &status) == 0 && status.st_blocks < 1 << 14) return descriptor;
    print_message("skipped: no file of 4 GiB with holes in %s\n", path);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(path);
    }
    return -1;
}

static TfLiteModel *load(const struct model_file *model, char *message)
{
    char path[] = "/tmp/halite_big_XXXXXX";
    int descriptor = make_file(model, path);
    if (descriptor < 0) skip();
    TfLiteModel *loaded = TfLiteModelCreateFromFileWithErrorReporter(path, report, message);
    close(descriptor);
    unlink(path); // it is mapped
    return loaded;
}

static void test_rows_beyond_gigabytes(void **state)
{
    (void)state;
    char message[1000] = "";
    struct model_file file = make_model(table_offset, table_bytes);
    TfLiteModel *model = load(&file, message);
    free(file.bytes);
    if (!model && strstr(message, "cannot map")) skip(); // a limit of memory
    if (!model) fail_msg("%s", message);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, report, message);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) fail_msg("%s", message);
    for (int i = 0; i < 4; i++) {
        int8_t y[COLUMNS];
        TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), &rows[i], sizeof rows[i]);
        assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
        assert_int_equal(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), y, sizeof y),
                         kTfLiteOk);
        for (int c = 0; c < COLUMNS; c++) assert_int_equal(y[c], value_of(i, c));
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
}

// Sums of offset and size that wrap, or that end behind the file, in 32 bits and in 64.
static void test_offsets_beyond_the_end(void **state)
{
    (void)state;
    const struct {
        uint64_t offset, bytes;
    } wrong[] = {{table_offset + 1, table_bytes},
                 {table_offset, table_bytes + 1},
                 {table_offset + table_bytes + 1, 0},
                 {UINT64_MAX, table_bytes},
                 {UINT64_MAX - table_bytes + 2, table_bytes},
                 {table_offset, UINT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[1000] = "";
        struct model_file file = make_model(wrong[i].offset, wrong[i].bytes);
        TfLiteModel *model = load(&file, message);
        free(file.bytes);
        assert_null(model);
        if (strstr(message, "cannot map")) skip();
        assert_non_null(strstr(message, "but the file ends at 4362076160"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_beyond_gigabytes),
        cmocka_unit_test(test_offsets_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
