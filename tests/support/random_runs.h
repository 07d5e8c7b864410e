// SPDX-License-Identifier: Apache-2.0
// Random graphs beside their reference: what the tests of them share. In: numbers of graphs, from the command line, and
// an interpreter that a test makes for each. Out: its outputs compared with those of the reference kernels, integers
// bit for bit and floats within the golden cases' bound; each failure with the words that repeat it.
//
//     test_random_graphs [FIRST [COUNT [FILE]]]   FILE: the last graph is written there, for halite diff and its kin
#ifndef HALITE_TESTS_SUPPORT_RANDOM_RUNS_H
#define HALITE_TESTS_SUPPORT_RANDOM_RUNS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "golden/accumulation.h"
#include "golden/compare.h"
#include "halite/halite.h"
#include "support/random_graph.h"
#include "tensorflow/lite/c/c_api.h"

static struct random_runs {
    const char *program, *file;
    unsigned first, count;
    char message[1024]; // the last one of a library
} random_runs = {.first = 1};

static inline void random_runs_read(int argc, char **argv)
{
    random_runs.program = argv[0];
    if (argc > 1) random_runs.first = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2) random_runs.count = (unsigned)strtoul(argv[2], NULL, 10);
    if (argc > 3) random_runs.file = argv[3];
}

struct random_run {
    unsigned number, failures;
    enum test_type type;
    unsigned char *bytes;
    TfLiteModel *model;
    TfLiteInterpreter *reference; // it has run
};

// Shown where a call fails: that nodes stay on the CPU is no news here.
static inline void random_runs_keep(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    vsnprintf(random_runs.message, sizeof random_runs.message, format, args);
}

static inline void random_run_expect(const struct random_run *run, bool ok)
{
    if (!ok) fail_msg("graph %u: %s", run->number, random_runs.message);
}

// Numbers that halves hold exactly, or any codes; the same for all interpreters of a graph.
static inline void random_run_invoke(const struct random_run *run, TfLiteInterpreter *interpreter)
{
    unsigned state = run->number;
    for (int n = 0; n < TfLiteInterpreterGetInputTensorCount(interpreter); n++) {
        TfLiteTensor *x = TfLiteInterpreterGetInputTensor(interpreter, n);
        const bool floats = TfLiteTensorType(x) == kTfLiteFloat32;
        for (size_t i = 0; i < TfLiteTensorByteSize(x) / (floats ? sizeof(float) : 1); i++) {
            state = state * 1664525u + 1013904223u;
            if (floats)
                ((float *)TfLiteTensorData(x))[i] = (float)(state >> 22) / 128 - 4;
            else
                ((unsigned char *)TfLiteTensorData(x))[i] = (unsigned char)(state >> 24);
        }
    }
    random_run_expect(run, TfLiteInterpreterInvoke(interpreter) == kTfLiteOk);
}

static inline TfLiteInterpreter *random_run_interpreter(const struct random_run *run, HaliteKernels kernels,
                                                        int threads)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kernels);
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    TfLiteInterpreterOptionsSetErrorReporter(options, random_runs_keep, NULL);
    // The reference computes every node on its own.
    HaliteInterpreterOptionsSetPreserveTensors(options, kernels == kHaliteKernelsReference);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(run->model, options);
    TfLiteInterpreterOptionsDelete(options);
    random_run_expect(run, interpreter && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
    return interpreter;
}

// The largest float that a node wrote or read.
static inline double random_run_largest(const struct random_run *run)
{
    double largest = 1;
    for (int i = 0; i < run->model->subgraphs[0].tensor_count; i++) {
        const TfLiteTensor *t = TfLiteInterpreterGetTensor(run->reference, i);
        const size_t count = TfLiteTensorByteSize(t) / sizeof(float);
        largest = fmax(largest, golden_largest(TfLiteTensorType(t), (int64_t)count, TfLiteTensorData(t)));
    }
    return largest;
}

// Compares an interpreter that has run. `tolerance`: of floats, before the factor for long sums.
static inline void random_run_compare(struct random_run *run, const TfLiteInterpreter *interpreter, double tolerance,
                                      const char *what)
{
    const double relative = tolerance * sqrt(golden_longest_accumulation(run->model, NULL));
    // What a large value lost by rounding goes through functions that leave less of it, and sums that leave nothing.
    const struct golden_bound bound = {relative, relative * random_run_largest(run), 0};
    for (int o = 0; o < TfLiteInterpreterGetOutputTensorCount(interpreter); o++) {
        const TfLiteTensor *expected = TfLiteInterpreterGetOutputTensor(run->reference, o);
        const TfLiteTensor *got = TfLiteInterpreterGetOutputTensor(interpreter, o);
        const TfLiteType type = TfLiteTensorType(expected);
        const void *data = TfLiteTensorData(expected);
        const size_t bytes = TfLiteTensorByteSize(expected);
        const int64_t count = (int64_t)(bytes / (type == kTfLiteFloat32 ? sizeof(float) : 1));
        struct golden_difference difference;
        if (!golden_compare(type, count, data, bytes, TfLiteTensorData(got), TfLiteTensorByteSize(got), &bound,
                            &difference) ||
            difference.wrong > 0) {
            run->failures++;
            print_error("%s, output %d, element %lld: expected %s, got %s; %lld of %lld differ, by %g at most\n", what,
                        o, (long long)difference.first, hl_text_string(&difference.expected),
                        hl_text_string(&difference.got), (long long)difference.wrong, (long long)count,
                        difference.largest);
            print_error("again, and as a file: %s %u 1 graph.tflite\n", random_runs.program, run->number);
        }
        golden_difference_free(&difference);
    }
}

// Calls `check` for each graph, `usual` many where the command line does not say; the test fails behind the last one.
static inline void random_runs_each(unsigned usual, void (*check)(struct random_run *run, void *arg), void *arg)
{
    const unsigned count = random_runs.count > 0 ? random_runs.count : usual;
    unsigned failures = 0;
    for (unsigned i = 0; i < count; i++) {
        struct random_graph *graph = random_graph_create(random_runs.first + i);
        size_t size;
        struct random_run run = {.number = random_runs.first + i, .type = graph->type};
        run.bytes = test_model_write(&graph->model, &size);
        random_graph_destroy(graph);
        FILE *file = random_runs.file ? fopen(random_runs.file, "wb") : NULL;
        if (file) {
            assert_int_equal(fwrite(run.bytes, 1, size, file), size);
            assert_int_equal(fclose(file), 0);
        }
        run.model = TfLiteModelCreate(run.bytes, size);
        random_run_expect(&run, run.model);
        run.reference = random_run_interpreter(&run, kHaliteKernelsReference, 1);
        random_run_invoke(&run, run.reference);
        check(&run, arg);
        failures += run.failures;
        TfLiteInterpreterDelete(run.reference);
        TfLiteModelDelete(run.model);
        free(run.bytes);
    }
    assert_int_equal(failures, 0);
}

#endif
