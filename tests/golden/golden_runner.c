// SPDX-License-Identifier: Apache-2.0
// golden_runner PATH...: runs golden cases and says which ones disagree with the official runtime.
// In: manifests, or folders of them. Out: a line per failing case, a closing line "N passed, N failed, N skipped"; exit
// code
// 0 when nothing failed, 1 when something did, 2 for a wrong command line.
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/alloc.h"
#include "../../tools/files.h"
#include "fast/simd/simd.h"
#include "isolate.h"
#include "manifest.h"
#include "run_case.h"

static const char help[] =
    "usage: golden_runner [OPTION...] PATH...\n"
    "Runs golden cases: a PATH is a manifest (NAME.txt, or NAME alone) or a folder of them.\n"
    "\n"
    "  -l, --list             list the cases, run nothing\n"
    "  -k, --kernels WHICH    reference or fast; default: what HALITE_KERNELS says, else fast\n"
    "  -d, --delegate PATH    give the graph to the external delegate in this library first; a\n"
    "                         graph whose shapes are known only while running goes without\n"
    "  -o, --option KEY=VALUE for the delegate; may be given several times\n"
    "  -t, --threads N        threads of an interpreter; default 1\n"
    "      --tolerance F      allowed relative float error before the factor for long sums,\n"
    "                         in place of 2e-6 (for delegates of lower precision)\n"
    "      --quantum N        quantized outputs of a graph on a delegate may differ by N steps\n"
    "                         (a delegate that computes with floats rounds otherwise); default 0\n"
    "      --spread N         outputs of a graph on a delegate may differ by N times as much as the\n"
    "                         official runtime's own kernels and delegate differ; default 0\n"
    "      --twin-spread N    floats of a dynamic-range model may differ from its float twin's by N\n"
    "                         times as much as the twin's own kernels differ; default 0\n"
    "      --differences FILE count a case as passed, whatever it computes, where FILE names it\n"
    "                         in backquotes by its path below golden/ (a Markdown list of cases\n"
    "                         in which the official runtime is at fault); where \"within N\" follows,\n"
    "                         its floats may be off by N, its integers by N steps; default:\n"
    "                         Halite's own docs/differences.md, where it was built from; several\n"
    "                         may be given\n"
    "  -i, --isolate          run every case in a child process; else only \"fails any\" cases\n"
    "      --no-isolate       run all cases in this process (for debuggers)\n"
    "  -v, --verbose          a line for every case, and all messages of the library\n"
    "  -h, --help             this text\n"
    "\n"
    "Floats may differ by 2e-6 * max(1, |expected|) * sqrt(L), L being the longest sum that one\n"
    "node of the model computes, or by as much as the official runtime's own kernels do (fast\n"
    "kernels: by twice as much, or twice XNNPACK's).\n"
    "Cases whose model has an operator that is not built here are skipped, not passed.\n"
    "With --delegate two more closing lines say how many cases and nodes it had. Only these get\n"
    "the tolerance and the quantum. Broken models (\"fails any\") go without it, unless isolated.\n";

struct skipped {
    char *name;
    int count;
};

struct runner {
    struct golden_options options;
    struct golden_delegate delegate;
    bool list, isolate, no_isolate, verbose;
    struct hl_text differences; // the file's text
    int passed, failed, skipped, differing;
    // With a delegate: cases with all nodes on it, with some, with none, with shapes that it does not take; and all
    // nodes.
    int cases_all, cases_some, cases_none, cases_without;
    long nodes, delegated;
    struct skipped *missing; // operators without kernels, and how many cases want them
    int missing_count;
};

static void print_messages(const struct hl_text *messages)
{
    const char *line = hl_text_string(messages);
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        struct hl_text shown = {0};
        hl_text_add_escaped(&shown, line, length);
        printf("    %s\n", hl_text_string(&shown));
        hl_text_free(&shown);
        line += length + (line[length] == '\n');
    }
}

static void count_missing(struct runner *runner, const char *name)
{
    for (int i = 0; i < runner->missing_count; i++) {
        if (strcmp(runner->missing[i].name, name) != 0) continue;
        runner->missing[i].count++;
        return;
    }
    runner->missing = hl_alloc_grow(runner->missing, (size_t)runner->missing_count + 1, sizeof *runner->missing);
    runner->missing[runner->missing_count++] = (struct skipped){hl_alloc_string(name), 1};
}

// How far `CASE` may be off by the lists of differences, CASE being a name from below the folder golden: the most that
// any of them allows. 0: it is nowhere.
static double may_differ(const struct runner *runner, const char *name)
{
    struct hl_text quoted = {0};
    double slack = 0;
    for (const char *from = name; from != NULL; from = strchr(from, '/')) {
        if (*from == '/') from++;
        hl_text_clear(&quoted);
        hl_text_add(&quoted, "`%s`", from);
        // Only the whole path below golden/: a case's bare name is not enough.
        bool below = from >= name + 7 && strncmp(from - 7, "golden/", 7) == 0;
        const char *entry = below ? strstr(hl_text_string(&runner->differences), quoted.data) : NULL;
        for (; entry != NULL; entry = strstr(entry + 1, quoted.data)) {
            double within;
            bool bounded = sscanf(entry + quoted.length, " within %lf", &within) == 1 && within > 0;
            slack = fmax(slack, bounded ? within : INFINITY);
        }
    }
    hl_text_free(&quoted);
    return slack;
}

static void count_nodes(struct runner *runner, const struct golden_result *result)
{
    runner->nodes += result->nodes;
    runner->delegated += result->delegated;
    if (result->undelegated) runner->cases_without++;
    if (result->nodes == 0) return;
    if (result->delegated == result->nodes)
        runner->cases_all++;
    else if (result->delegated > 0)
        runner->cases_some++;
    else
        runner->cases_none++;
}

static void report(struct runner *runner, const struct golden_case *c, const struct golden_result *result)
{
    const char *what = hl_text_string(&result->what);
    switch (result->outcome) {
    case GOLDEN_PASSED:
        runner->passed++;
        if (runner->verbose) printf("pass %s%s%s\n", c->name, *what ? ": " : "", what);
        break;
    case GOLDEN_FAILED:
        runner->failed++;
        printf("FAIL %s: %s\n", c->name, what);
        break;
    case GOLDEN_SKIPPED:
        runner->skipped++;
        count_missing(runner, hl_text_string(&result->missing));
        if (runner->verbose) printf("skip %s: no kernel for %s\n", c->name, hl_text_string(&result->missing));
        break;
    }
    if (runner->verbose || result->outcome == GOLDEN_FAILED) print_messages(&result->messages);
    fflush(stdout);
}

static void run_manifest(struct runner *runner, const char *path)
{
    struct hl_text message = {0};
    struct golden_case *c = golden_read_manifest(path, &message);
    if (c == NULL) {
        runner->failed++;
        printf("FAIL %s: %s\n", path, hl_text_string(&message));
    } else if (runner->list) {
        printf("%s%s%s\n", c->name, c->fails != GOLDEN_RUNS ? " fails " : "",
               c->fails != GOLDEN_RUNS ? golden_stage_name(c->fails) : "");
    } else {
        struct golden_result result = {0};
        bool isolate = !runner->no_isolate && (runner->isolate || c->fails == GOLDEN_ANY);
        struct golden_options options = runner->options;
        struct golden_delegate none = {.made = NULL};
        if (c->fails == GOLDEN_ANY && !runner->isolate) options.delegate = &none;
        double slack = may_differ(runner, c->name);
        if (isfinite(slack)) options.slack = slack;
        options.drivers = runner->delegate.made != NULL;
        if (isolate)
            golden_run_isolated(c, &options, &result);
        else
            golden_run_case(c, &options, &result);
        if (result.outcome == GOLDEN_FAILED && !result.crashed && isinf(slack)) {
            result.outcome = GOLDEN_PASSED;
            runner->differing++;
        }
        count_nodes(runner, &result);
        report(runner, c, &result);
        golden_result_free(&result);
    }
    golden_free_case(c);
    hl_text_free(&message);
}

// Folders hold other text files as well, reports for people.
static void visit(void *user_data, const char *path)
{
    if (golden_is_manifest(path)) run_manifest(user_data, path);
}

static bool run_path(struct runner *runner, const char *path)
{
    struct hl_text other = {0};
    bool ok = true;
    if (hl_path_is_folder(path)) {
        ok = hl_files_each(path, ".txt", visit, runner, &other);
        if (!ok) fprintf(stderr, "golden_runner: %s: cannot be read: %s\n", other.data, strerror(errno));
    } else {
        hl_text_add(&other, "%s", path);
        if (!hl_files_ends_with(path, ".txt")) hl_text_add(&other, ".txt");
        ok = hl_path_may_read(other.data);
        if (!ok)
            fprintf(stderr, "golden_runner: %s: cannot be read: %s; give a manifest or a folder\n", other.data,
                    strerror(errno));
        else
            run_manifest(runner, other.data);
    }
    hl_text_free(&other);
    return ok;
}

static int compare_missing(const void *a, const void *b)
{
    const struct skipped *x = a, *y = b;
    return x->count != y->count ? y->count - x->count : strcmp(x->name, y->name);
}

static void print_missing(struct runner *runner)
{
    if (runner->missing_count == 0) return;
    qsort(runner->missing, (size_t)runner->missing_count, sizeof *runner->missing, compare_missing);
    printf("skipped for want of a kernel:");
    for (int i = 0; i < runner->missing_count; i++)
        printf("%s %s %d", i > 0 ? "," : "", runner->missing[i].name, runner->missing[i].count);
    printf("\n");
}

static void print_delegated(const struct runner *runner)
{
    if (runner->delegate.how.lib_path == NULL || runner->list) return;
    printf("delegate: %d cases wholly on it, %d in part, %d not at all; %d went without it, for their shapes are known "
           "only "
           "while running\n",
           runner->cases_all, runner->cases_some, runner->cases_none, runner->cases_without);
    printf("delegate: %ld of %ld nodes on it\n", runner->delegated, runner->nodes);
}

// KEY=VALUE, which becomes two words.
static bool add_option(struct golden_delegate *delegate, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL) return false;
    *equals = '\0';
    return TfLiteExternalDelegateOptionsInsert(&delegate->how, text, equals + 1) == kTfLiteOk;
}

static bool usage_error(const char *what, const char *value)
{
    fprintf(stderr, "golden_runner: %s '%s'; see golden_runner --help\n", what, value);
    return false;
}

static bool parse_options(struct runner *runner, int argc, char **argv)
{
    enum { TOLERANCE = 256, QUANTUM, SPREAD, TWIN_SPREAD, NO_ISOLATE, DIFFERENCES };
    // clang-format off
    static const struct option known[] = {
        {"list", no_argument, NULL, 'l'},          {"kernels", required_argument, NULL, 'k'},
        {"delegate", required_argument, NULL, 'd'}, {"threads", required_argument, NULL, 't'},
        {"option", required_argument, NULL, 'o'},  {"quantum", required_argument, NULL, QUANTUM},
        {"tolerance", required_argument, NULL, TOLERANCE}, {"isolate", no_argument, NULL, 'i'},
        {"no-isolate", no_argument, NULL, NO_ISOLATE}, {"spread", required_argument, NULL, SPREAD},
        {"twin-spread", required_argument, NULL, TWIN_SPREAD},
        {"differences", required_argument, NULL, DIFFERENCES}, {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    // clang-format on
    struct hl_text error = {0};
    char *end;
    int option;
    bool own_list = false;
    // The tree may be gone from where it was built: then nothing is known to differ.
    if (!hl_files_read(HALITE_DIFFERENCES, (size_t)1 << 24, &runner->differences, &error)) hl_text_clear(&error);
    hl_text_free(&error);
    while ((option = getopt_long(argc, argv, "lk:d:o:t:ivh", known, NULL)) != -1) {
        switch (option) {
        case 'l': runner->list = true; break;
        case 'i': runner->isolate = true; break;
        case NO_ISOLATE: runner->no_isolate = true; break;
        case 'v': runner->verbose = true; break;
        case 'd': runner->delegate.how.lib_path = optarg; break;
        case 'o':
            if (!add_option(&runner->delegate, optarg)) return usage_error("--option takes KEY=VALUE, not", optarg);
            break;
        case 'k':
            if (strcmp(optarg, "reference") == 0)
                runner->options.kernels = kHaliteKernelsReference;
            else if (strcmp(optarg, "fast") == 0)
                runner->options.kernels = kHaliteKernelsFast;
            else
                return usage_error("--kernels takes reference or fast, not", optarg);
            break;
        case 't':
            runner->options.threads = (int)strtol(optarg, &end, 10);
            if (end == optarg || *end != '\0' || runner->options.threads < 1 || runner->options.threads > 1024)
                return usage_error("--threads takes a number from 1 to 1024, not", optarg);
            break;
        case TOLERANCE:
            runner->options.tolerance = strtod(optarg, &end);
            if (end == optarg || *end != '\0' || !(runner->options.tolerance > 0))
                return usage_error("--tolerance takes a number above 0, not", optarg);
            break;
        case QUANTUM:
            runner->options.quantum = (double)strtol(optarg, &end, 10);
            if (end == optarg || *end != '\0' || runner->options.quantum < 0)
                return usage_error("--quantum takes a number of steps, not", optarg);
            break;
        case SPREAD:
            runner->options.spread = strtod(optarg, &end);
            if (end == optarg || *end != '\0' || !(runner->options.spread >= 0))
                return usage_error("--spread takes a number, not", optarg);
            break;
        case TWIN_SPREAD:
            runner->options.twin_spread = strtod(optarg, &end);
            if (end == optarg || *end != '\0' || !(runner->options.twin_spread >= 0))
                return usage_error("--twin-spread takes a number, not", optarg);
            break;
        case DIFFERENCES:
            if (!own_list) hl_text_clear(&runner->differences);
            own_list = true;
            if (!hl_files_read(optarg, (size_t)1 << 24, &runner->differences, &error)) {
                fprintf(stderr, "golden_runner: %s: %s\n", optarg, error.data);
                hl_text_free(&error);
                return false;
            }
            break;
        case 'h':
            fputs(help, stdout);
            hl_text_free(&runner->differences);
            exit(0);
        default: fputs("golden_runner: see golden_runner --help\n", stderr); return false;
        }
    }
    if (optind < argc) return true;
    fputs("golden_runner: no PATH given; see golden_runner --help\n", stderr);
    return false;
}

static void free_missing(struct runner *runner)
{
    for (int i = 0; i < runner->missing_count; i++) free(runner->missing[i].name);
    free(runner->missing);
}

static void refuse_level(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    // Whoever names a CPU level wants to see that one pass.
    hl_simd_check(&(struct hl_reporter){refuse_level, NULL});
    // As the library chooses, so that what is allowed fits what runs.
    const char *wanted = getenv("HALITE_KERNELS");
    HaliteKernels kernels = wanted && strcmp(wanted, "reference") == 0 ? kHaliteKernelsReference : kHaliteKernelsFast;
    struct runner runner = {.options = {.kernels = kernels, .threads = 1}};
    runner.options.delegate = &runner.delegate;
    runner.delegate.how = TfLiteExternalDelegateOptionsDefault(NULL);
    if (!parse_options(&runner, argc, argv)) {
        hl_text_free(&runner.differences);
        return 2;
    }
    bool readable = true;
    for (int i = optind; i < argc; i++)
        if (!run_path(&runner, argv[i])) readable = false;
    print_missing(&runner);
    free_missing(&runner);
    hl_text_free(&runner.differences);
    TfLiteExternalDelegateDelete(runner.delegate.made);
    print_delegated(&runner);
    if (runner.differing > 0)
        printf("%d of the passed cases differ, as the list of differences says\n", runner.differing);
    if (!runner.list) printf("%d passed, %d failed, %d skipped\n", runner.passed, runner.failed, runner.skipped);
    return readable && runner.failed == 0 ? 0 : 1;
}
