// SPDX-License-Identifier: Apache-2.0
// The fake's modules, kernels and graphs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fake.h"

enum { MAX_ARGUMENTS = 16, MAX_NODES = 4096 };

struct cuda_module {
    struct fake_object object;
    struct grid_module *grid;
};

struct cuda_function {
    struct fake_object object;
    struct cuda_module *module;
    grid_kernel kernel;
    const char *kinds; // of the arguments, see grid_kernel.h
    int (*waits)(void);
    char name[64];
    unsigned shared_bytes; // that a launch may give
};

// A kernel with its arguments, as a node of a graph or alone.
struct cuda_graph_node {
    struct fake_object object;
    struct cuda_function *function;
    unsigned grid[3], block[3];
    int count;
    union {
        cuda_pointer pointer;
        _Alignas(16) unsigned char bytes[256];
    } arguments[MAX_ARGUMENTS];
    struct cuda_graph_node **after;
    size_t after_count;
    bool overlaps; // may start before those that it depends on have ended
    bool done;
};

struct cuda_graph {
    struct fake_object object;
    struct cuda_graph_node *nodes[MAX_NODES];
    int count;
};

struct cuda_graph_exec {
    struct fake_object object;
    struct cuda_graph *graph; // a copy
};

// ---- modules --------------------------------------------------------------------------------------------------------

cuda_result cuModuleLoadData(struct cuda_module **module, const void *image)
{
    static const char magic[] = "fake cubin ";
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    if (fake.refuse_binaries > 0 && fake.refuse_binaries--) return CUDA_NO_BINARY_FOR_GPU;
    if (memcmp(image, magic, sizeof magic - 1) != 0) return FAKE_INVALID_IMAGE;
    struct grid_module *grid = grid_open((const char *)image + sizeof magic - 1);
    if (!grid) return FAKE_INVALID_IMAGE;
    *module = fake_create(sizeof **module, FAKE_MODULE);
    (*module)->grid = grid;
    return CUDA_OK;
}

cuda_result cuModuleUnload(struct cuda_module *module)
{
    fake_drain();
    if (!fake_end(module, FAKE_MODULE, __func__)) return FAKE_INVALID_HANDLE;
    grid_close(module->grid);
    return CUDA_OK;
}

cuda_result cuModuleGetFunction(struct cuda_function **function, struct cuda_module *module, const char *name)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(module, FAKE_MODULE, __func__), FAKE_INVALID_HANDLE);
    grid_kernel kernel = grid_find(module->grid, name);
    if (!kernel) return FAKE_NOT_FOUND;
    *function = fake_create(sizeof **function, FAKE_FUNCTION);
    fake.live--; // it goes with its module
    (*function)->module = module;
    (*function)->kernel = kernel;
    (*function)->kinds = grid_arguments(module->grid, name);
    grid_symbol(module->grid, "fake_cuda_has_waited", &(*function)->waits, sizeof(*function)->waits);
    snprintf((*function)->name, sizeof(*function)->name, "%s", name);
    return CUDA_OK;
}

cuda_result cuFuncGetAttribute(int *value, int attribute, struct cuda_function *function)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(function, FAKE_FUNCTION, __func__), FAKE_INVALID_HANDLE);
    if (attribute != CUDA_FUNCTION_MAX_THREADS && attribute != CUDA_FUNCTION_STATIC_SHARED) return FAKE_INVALID_VALUE;
    *value = attribute == CUDA_FUNCTION_MAX_THREADS ? GRID_MAX_GROUP : FAKE_STATIC_SHARED;
    return CUDA_OK;
}

cuda_result cuFuncSetAttribute(struct cuda_function *function, int attribute, int value)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(function, FAKE_FUNCTION, __func__), FAKE_INVALID_HANDLE);
    if (attribute != CUDA_FUNCTION_SHARED_BYTES || value < 0 || value + FAKE_STATIC_SHARED > FAKE_GROUP_SHARED)
        return FAKE_INVALID_VALUE;
    function->shared_bytes = (unsigned)value;
    return CUDA_OK;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

static struct cuda_graph_node *copy_kernel(struct cuda_function *function, const unsigned grid[3],
                                           const unsigned block[3], void **params, enum fake_kind kind)
{
    struct cuda_graph_node *node = fake_create(sizeof *node, kind);
    fake.live--; // it goes with its graph, or once it has run
    node->function = function;
    memcpy(node->grid, grid, sizeof node->grid);
    memcpy(node->block, block, sizeof node->block);
    const char *kinds = function->kinds;
    for (; *kinds && node->count < MAX_ARGUMENTS; node->count++) {
        size_t bytes = strtoul(kinds + 1, (char **)(uintptr_t)&kinds, 10);
        memcpy(&node->arguments[node->count], params[node->count],
               bytes < sizeof *node->arguments ? bytes : sizeof *node->arguments);
    }
    return node;
}

// Whether a kernel may be launched so. False after a complaint.
static bool is_launchable(struct cuda_function *function, const unsigned grid[3], const unsigned block[3],
                          unsigned shared_bytes, const char *name)
{
    if (!fake_is(function, FAKE_FUNCTION, name) || !fake_is(function->module, FAKE_MODULE, name)) return false;
    if (shared_bytes > function->shared_bytes) {
        fake_complain(name, 0, "kernel %s with %u bytes of shared memory, %u asked for", function->name, shared_bytes,
                      function->shared_bytes);
        return false;
    }
    if (grid[0] && grid[1] && grid[2] && grid[1] <= 65535 && grid[2] <= 65535 && block[0] * block[1] * block[2] > 0 &&
        block[0] * block[1] * block[2] <= GRID_MAX_GROUP)
        return true;
    fake_complain(name, 0, "kernel %s with a grid or a block that no device has", function->name);
    return false;
}

void fake_run_kernel(struct cuda_graph_node *kernel)
{
    struct cuda_function *function = kernel->function;
    void *arguments[MAX_ARGUMENTS];
    if (!fake_is(function->module, FAKE_MODULE, function->name)) return;
    const char *kinds = function->kinds;
    for (int i = 0; i < kernel->count; i++) {
        bool is_value = *kinds == 'v';
        strtoul(kinds + 1, (char **)(uintptr_t)&kinds, 10);
        if (!is_value && !fake_is_memory(kernel->arguments[i].pointer, 0, function->name)) return;
        arguments[i] = &kernel->arguments[i];
    }
    const char *wrong = grid_run(function->module->grid, function->kernel, kernel->grid, kernel->block, arguments);
    if (wrong) fake_complain(function->name, 0, "%s", wrong);
    if (!function->waits() && kernel->overlaps)
        fake_complain(function->name, 0, "may start before those before it end, and does not wait for them");
    fake.launches++;
}

cuda_result cuLaunchKernel(struct cuda_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                           struct cuda_stream *stream, void **params, void **extra)
{
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    FAKE_BEGIN();
    if (extra || !is_launchable(function, grid, block, shared_bytes, __func__)) return FAKE_INVALID_VALUE;
    struct cuda_graph_node *kernel = copy_kernel(function, grid, block, params, FAKE_NODE);
    return fake_enqueue(stream, &(struct fake_work){FAKE_LAUNCH, .kernel = kernel}, __func__);
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

cuda_result cuGraphCreate(struct cuda_graph **graph, unsigned flags)
{
    FAKE_BEGIN();
    if (flags) return FAKE_INVALID_VALUE;
    *graph = fake_create(sizeof **graph, FAKE_GRAPH);
    return CUDA_OK;
}

cuda_result cuGraphDestroy(struct cuda_graph *graph)
{
    return fake_end(graph, FAKE_GRAPH, __func__) ? CUDA_OK : FAKE_INVALID_HANDLE;
}

static cuda_result add_dependency(struct cuda_graph_node *node, struct cuda_graph_node *before, bool overlaps)
{
    FAKE_NEED(fake_is(before, FAKE_NODE, "dependency"), FAKE_INVALID_HANDLE);
    node->after = realloc(node->after, (node->after_count + 1) * sizeof(struct cuda_graph_node *));
    if (!node->after) abort();
    node->after[node->after_count++] = before;
    node->overlaps = node->overlaps || overlaps;
    fake.edges++;
    fake.overlapping += overlaps;
    return CUDA_OK;
}

cuda_result cuGraphAddKernelNode(struct cuda_graph_node **node, struct cuda_graph *graph,
                                 struct cuda_graph_node *const *after, size_t after_count,
                                 const struct cuda_kernel_node *kernel)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(graph, FAKE_GRAPH, __func__), FAKE_INVALID_HANDLE);
    if (!is_launchable(kernel->function, kernel->grid, kernel->block, kernel->shared_bytes, __func__) ||
        graph->count == MAX_NODES)
        return FAKE_INVALID_VALUE;
    *node = copy_kernel(kernel->function, kernel->grid, kernel->block, kernel->params, FAKE_NODE);
    graph->nodes[graph->count++] = *node;
    fake.lone += 2 * (kernel->shared_bytes + FAKE_STATIC_SHARED + FAKE_RESERVED_SHARED) > FAKE_UNIT_SHARED;
    cuda_result code = CUDA_OK;
    for (size_t i = 0; i < after_count && code == CUDA_OK; i++) code = add_dependency(*node, after[i], false);
    return code;
}

cuda_result cuGraphAddDependencies_v2(struct cuda_graph *graph, struct cuda_graph_node *const *from,
                                      struct cuda_graph_node *const *to, const struct cuda_edge *edges, size_t count)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(graph, FAKE_GRAPH, __func__), FAKE_INVALID_HANDLE);
    cuda_result code = CUDA_OK;
    for (size_t i = 0; i < count && code == CUDA_OK; i++)
        code = add_dependency(to[i], from[i], edges[i].type == CUDA_DEPENDS_PROGRAMMATIC);
    return code;
}

cuda_result cuGraphInstantiateWithFlags(struct cuda_graph_exec **exec, struct cuda_graph *graph,
                                        unsigned long long flags)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(graph, FAKE_GRAPH, __func__), FAKE_INVALID_HANDLE);
    if (flags) return FAKE_INVALID_VALUE;
    *exec = fake_create(sizeof **exec, FAKE_EXEC);
    (*exec)->graph = malloc(sizeof *graph);
    if (!(*exec)->graph) abort();
    memcpy((*exec)->graph, graph, sizeof *graph);
    return CUDA_OK;
}

cuda_result cuGraphExecDestroy(struct cuda_graph_exec *exec)
{
    fake_drain();
    if (!fake_end(exec, FAKE_EXEC, __func__)) return FAKE_INVALID_HANDLE;
    free(exec->graph);
    return CUDA_OK;
}

cuda_result cuGraphLaunch(struct cuda_graph_exec *exec, struct cuda_stream *stream)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(exec, FAKE_EXEC, __func__), FAKE_INVALID_HANDLE);
    return fake_enqueue(stream, &(struct fake_work){FAKE_RUN_GRAPH, .exec = exec}, __func__);
}

static bool is_ready(const struct cuda_graph_node *node)
{
    for (size_t i = 0; i < node->after_count; i++)
        if (!node->after[i]->done) return false;
    return !node->done;
}

void fake_run_graph(struct cuda_graph_exec *exec)
{
    struct cuda_graph *graph = exec->graph;
    for (int i = 0; i < graph->count; i++) graph->nodes[i]->done = false;
    for (int left = graph->count; left > 0; left--) {
        int i = graph->count - 1;
        while (i >= 0 && !is_ready(graph->nodes[i])) i--;
        if (i < 0) {
            fake_complain(__func__, 0, "the dependencies of a graph go in a circle");
            return;
        }
        fake_run_kernel(graph->nodes[i]);
        graph->nodes[i]->done = true;
    }
}
