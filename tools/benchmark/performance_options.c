// SPDX-License-Identifier: Apache-2.0
// benchmark_model_performance_options: which way to run a model is the fastest? In: the flags of benchmark_model and a
// list of ways. Out: the lines of benchmark_model for each, in random order, and a line for each at the end, the
// fastest first.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "base/clock.h"
#include "benchmark/benchmark.h"
#include "commands.h"
#include "message.h"

struct options {
    struct hl_benchmark_options benchmark;
    const char *perf_options_list;
    double option_benchmark_run_delay;
    bool random_shuffle_benchmark_runs;
};

static const struct options defaults = {
    .benchmark = HL_BENCHMARK_DEFAULTS,
    .perf_options_list = "all",
    .option_benchmark_run_delay = -1.0,
    .random_shuffle_benchmark_runs = true,
};

// clang-format off
static const struct hl_flag flags[] = {
    HL_TFLITE_FLAG(STRING, options, perf_options_list,
                   "ways to run: all (cpu and gpu), cpu, gpu, nnapi, dsp, coreml, or none: as the other flags say; a,b"),
    HL_TFLITE_FLAG(NUMBER, options, option_benchmark_run_delay, "pause before each, in seconds"),
    HL_TFLITE_FLAG(BOOL, options, random_shuffle_benchmark_runs, "in random order"),
    HL_BENCHMARK_FLAGS
};
// clang-format on

// ---- the ways to run ----------------------------------------------------------------------------

enum accelerator { CPU, GPU_HALF, GPU_FLOAT, NNAPI, HEXAGON, COREML };

static const struct way {
    const char *option, *name;
    int threads;
    enum accelerator accelerator;
    bool named_only; // there are systems without it: it is none of "all"
} ways[] = {
    {"cpu", "cpu w/ 1 threads", 1, CPU, false},  {"cpu", "cpu w/ 2 threads", 2, CPU, false},
    {"cpu", "cpu w/ 4 threads", 4, CPU, false},  {"gpu", "gpu-fp16", 1, GPU_HALF, false},
    {"gpu", "gpu-default", 1, GPU_FLOAT, false}, {"nnapi", "nnapi", 1, NNAPI, true},
    {"dsp", "dsp w/ hexagon", 1, HEXAGON, true}, {"coreml", "coreml", 1, COREML, true},
};
enum { WAYS = sizeof ways / sizeof *ways };

// As the flags of benchmark_model say.
static const struct way none = {.option = "none", .name = "as given"};

static const char *const known[] = {"all", "cpu", "gpu", "nnapi", "coreml", "dsp", "none"};
enum { KNOWN = sizeof known / sizeof *known };

// Is this word in the list?
static bool has_option(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

// False after a message where the list holds something else.
static bool check_list(const char *list)
{
    struct hl_text valid = {0};
    int words = 1, found = 0;
    for (const char *at = list; *at != '\0'; at++) words += *at == ',';
    for (int i = 0; i < KNOWN; i++) {
        hl_text_add(&valid, "%s%s", i > 0 ? ", " : "", known[i]);
        found += has_option(list, known[i]);
    }
    bool all_known = found == words, alone = words == 1 || !has_option(list, "none");
    if (!all_known)
        hl_error(HL_TFLITE, NULL,
                 "There are invalid perf options in --perf_options_list: '%s'. Valid perf options "
                 "are: [%s]",
                 list, valid.data);
    else if (!alone)
        hl_error(HL_TFLITE, NULL,
                 "The 'none' option can not be used together with other perf options in "
                 "--perf_options_list!");
    hl_text_free(&valid);
    return all_known && alone;
}

static int choose_ways(const struct options *options, const struct way **chosen)
{
    const char *list = options->perf_options_list;
    int count = 0;
    if (has_option(list, "none")) chosen[count++] = &none;
    for (int i = 0; i < WAYS; i++)
        if ((has_option(list, "all") && !ways[i].named_only) || has_option(list, ways[i].option))
            chosen[count++] = &ways[i];
    srand((unsigned)time(NULL));
    for (int i = count - 1; options->random_shuffle_benchmark_runs && i > 0; i--) {
        int other = rand() % (i + 1);
        const struct way *way = chosen[i];
        chosen[i] = chosen[other];
        chosen[other] = way;
    }
    return count;
}

// ---- results ------------------------------------------------------------------------------------

struct result {
    const struct way *way;
    bool ok;
    struct hl_benchmark_figures figures;
};

static int by_speed(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    if (x->ok != y->ok) return x->ok ? -1 : 1;
    double first = hl_series_average(&x->figures.run_us), second = hl_series_average(&y->figures.run_us);
    return (first > second) - (first < second);
}

static void print_results(struct result *results, int count)
{
    qsort(results, (size_t)count, sizeof *results, by_speed);
    printf("INFO: \n==============Summary of All Runs w/ Different Performance "
           "Options==============\n");
    for (int i = 0; i < count; i++) {
        struct hl_text text = {0};
        if (results[i].ok)
            hl_series_print(&results[i].figures.run_us, true, &text);
        else
            hl_text_add(&text, " failed!");
        hl_info(HL_TFLITE, NULL, "%26s: %s", results[i].way->name, text.data);
        hl_text_free(&text);
    }
}

// ---- the tool -----------------------------------------------------------------------------------

static bool run_way(const struct options *options, struct result *result)
{
    const struct way *way = result->way;
    struct hl_benchmark_options benchmark = options->benchmark;
    if (way != &none) {
        struct hl_delegate_flags *chosen = &benchmark.delegates;
        chosen->num_threads = way->threads;
        chosen->use_gpu = way->accelerator == GPU_HALF || way->accelerator == GPU_FLOAT;
        chosen->gpu_precision_loss_allowed = way->accelerator == GPU_HALF;
        chosen->use_nnapi = way->accelerator == NNAPI;
        chosen->use_hexagon = way->accelerator == HEXAGON;
        chosen->use_coreml = way->accelerator == COREML;
    }
    hl_info(HL_TFLITE, NULL, "Performance option: %s", way->name);
    hl_sleep(options->option_benchmark_run_delay);
    return hl_benchmark_run(&hl_command_benchmark_model_performance_options, &benchmark, &result->figures);
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    const struct options *options = given;
    const struct way *chosen[WAYS + 1];
    struct result results[WAYS + 1] = {{0}};
    bool ok = true;
    if (!check_list(options->perf_options_list)) return HL_EXIT_FAILED;
    int count = choose_ways(options, chosen);
    hl_info(HL_TFLITE, NULL, "The list of TFLite runtime options to be benchmarked: [%s]", options->perf_options_list);
    for (int i = 0; i < count; i++) {
        results[i].way = chosen[i];
        results[i].ok = run_way(options, &results[i]);
        ok = ok && results[i].ok;
    }
    print_results(results, count);
    for (int i = 0; i < count; i++) hl_benchmark_figures_free(&results[i].figures);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

const struct hl_command hl_command_benchmark_model_performance_options = {
    .name = "benchmark_model_performance_options",
    .summary =
        "Time a model on the CPU, with 1 to 4 threads, on the GPU and other accelerators, and list the fastest first.",
    HL_TFLITE_TABLES(flags, defaults, struct options, benchmark.positions),
    .environment = HL_ENVIRONMENT_RUNS | HL_ENVIRONMENT_ENERGY,
    .run = run,
};
