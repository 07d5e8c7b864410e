// SPDX-License-Identifier: Apache-2.0
// Lists all kernels (gpu/lang/spirv/kernels.h): those of the plan, and those of the operators in the two
// ops.def.
#include "gpu/lang/spirv/kernels.h"

#include <stdio.h>
#include <string.h>

#include "gpu/ops/op.h"
#include "gpu/plan/kernels.h"

#define GPU_OP(name, builtin, symbol) extern const struct gpu_op gpu_op_##symbol;
#define GPU_CUSTOM(name, symbol) extern const struct gpu_op gpu_op_##symbol;
#include "gpu/ops/ops.def"
#undef GPU_OP
#undef GPU_CUSTOM

#define INTEGER_OP(name, suffix, symbol) extern const struct gpu_op gpu_integer_##symbol;
#define INTEGER_CUSTOM(name, symbol) extern const struct gpu_op gpu_integer_##symbol;
#include "gpu/integer/ops.def"
#undef INTEGER_OP
#undef INTEGER_CUSTOM

static const struct gpu_op *const all_ops[] = {
#define INTEGER_OP(name, suffix, symbol) &gpu_integer_##symbol,
#define INTEGER_CUSTOM(name, symbol) &gpu_integer_##symbol,
#include "gpu/integer/ops.def"
#undef INTEGER_OP
#undef INTEGER_CUSTOM
#define GPU_OP(name, builtin, symbol) &gpu_op_##symbol,
#define GPU_CUSTOM(name, symbol) &gpu_op_##symbol,
#include "gpu/ops/ops.def"
#undef GPU_OP
#undef GPU_CUSTOM
    NULL};

const int gpu_kernel_precisions = GPU_F16S + 1;

enum { MAX_KERNELS = 1024 };
struct seen {
    const struct gpu_kernel *kernels[MAX_KERNELS];
    int count;
};

// Returns 1 for a new kernel, 0 for one seen before, and -1 if another one has its name.
static int add(struct seen *seen, const struct gpu_kernel *kernel)
{
    for (int i = 0; i < seen->count; i++) {
        if (seen->kernels[i] == kernel) return 0;
        if (strcmp(seen->kernels[i]->name, kernel->name) == 0) {
            fprintf(stderr, "two kernels are named %s: rename one\n", kernel->name);
            return -1;
        }
    }
    if (seen->count == MAX_KERNELS) {
        fprintf(stderr, "more than %d kernels: raise MAX_KERNELS\n", MAX_KERNELS);
        return -1;
    }
    seen->kernels[seen->count++] = kernel;
    return 1;
}

bool gpu_each_kernel(bool (*visit)(const struct gpu_kernel *kernel, void *user), void *user)
{
    struct seen seen = {.count = 0};
    const struct gpu_kernel *const *list = gpu_plan_kernels;
    for (const struct gpu_op *const *op = all_ops;; op++) {
        for (; list && *list; list++) {
            int added = add(&seen, *list);
            if (added < 0 || (added && !visit(*list, user))) return false;
        }
        if (!*op) return true;
        list = (*op)->kernels;
    }
}
