// SPDX-License-Identifier: Apache-2.0
// Random graphs (support/random_graph.h) on the fast kernels of every CPU level, beside the reference kernels: what the
// planner and the chains make of nodes changes no integer. Usage: support/random_runs.h.
#include "support/random_runs.h"

#include "fast/simd/simd.h"

enum { GRAPHS = 400 };
static const double tolerance = 2e-6; // golden_runner's

static void check_levels(struct random_run *run, void *arg)
{
    (void)arg;
    const struct hl_simd *level;
    for (int i = 0; (level = hl_simd_level(i)); i++) {
        setenv("HALITE_SIMD", level->name, 1);
        TfLiteInterpreter *interpreter = random_run_interpreter(run, kHaliteKernelsFast, 1 + (int)(run->number % 3));
        random_run_invoke(run, interpreter);
        random_run_compare(run, interpreter, tolerance, level->name);
        TfLiteInterpreterDelete(interpreter);
    }
    unsetenv("HALITE_SIMD");
}

static void fast_kernels_agree(void **state)
{
    (void)state;
    random_runs_each(GRAPHS, check_levels, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_kernels_agree)};
    random_runs_read(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
