// SPDX-License-Identifier: Apache-2.0
// Runs the passes in order until none changes the graph, and writes the graph as text.
#include "gpu/graph/passes.h"

#include "base/text.h"
#include "gpu/graph/op.h"

static const struct {
    const char *name;
    gpu_pass_function run;
} passes[] = {
    // What is one kernel of its own comes first, before its operators become stages of others.
    {"fuse_norm", gpu_pass_fuse_norm},
    {"fuse_gelu", gpu_pass_fuse_gelu},
    {"fuse_prelu", gpu_pass_fuse_prelu},
    {"fuse_attention", gpu_pass_fuse_attention},
    {"move_transposes", gpu_pass_move_transposes},
    {"remove_identity", gpu_pass_remove_identity},
    {"merge_padding", gpu_pass_merge_padding},
    {"fold_after", gpu_pass_fold_after},
    {"fold_before", gpu_pass_fold_before},
    {"fuse_swish", gpu_pass_fuse_swish},
    {"fuse_stages", gpu_pass_fuse_stages},
    {"fuse_residual", gpu_pass_fuse_residual},
};

void gpu_run_passes(struct gpu_graph *graph)
{
    // The loop ends because each change removes a node or moves a transposition towards the outputs.
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) changed = passes[i].run(graph) || changed;
    }
    gpu_pass_join_formulas(graph);
    gpu_pass_drop_reshapes(graph);
}

// ---- as text ------------------------------------------------------------------------------------

static void add_value(struct hl_text *text, const struct gpu_value *value)
{
    if (!value) {
        hl_text_append(text, " -");
        return;
    }
    struct gpu_shape s = value->shape;
    hl_text_append(text, " %s%d[%d,%d,%d,%d]",
                   value->data        ? "const"
                   : value->is_input  ? "in"
                   : value->is_output ? "out"
                                      : "v",
                   value->id, s.b, s.h, s.w, s.c);
}

static const char *stage_name(enum gpu_epilogue_op op)
{
    static const char *const names[] = {
#define STAGE(NAME, name, takes_value, text) [GPU_EPI_##NAME] = name,
#include "gpu/lang/epilogue.def"
#undef STAGE
    };
    return names[op];
}

// In a formula's text a step is followed by what it reads, and by what is kept before it.
static void add_formula(struct hl_text *text, const struct gpu_formula *formula)
{
    static const char *const others[] = {"", " of x", " of first", " of second", " of kept"};
    for (int s = 0; s < formula->count; s++) {
        const struct gpu_formula_step *step = &formula->steps[s];
        hl_text_append(text, "%s + %s%s", step->keeps ? " (kept)" : "", stage_name(step->op), others[step->other]);
    }
}

char *gpu_graph_text(const struct gpu_graph *graph)
{
    struct hl_text text = {0};
    hl_text_append(&text, "%s", "");
    for (int n = 0; n < graph->node_count; n++) {
        const struct gpu_node *node = graph->nodes[n];
        if (node->dead) continue;
        hl_text_append(&text, "%s", node->op->name);
        const struct gpu_formula *formula = node->op == &gpu_op_formula ? node->params : NULL;
        for (int i = 0; i < node->input_count; i++) {
            add_value(&text, node->inputs[i]);
            if (formula && formula->channel[i]) hl_text_append(&text, " from %d", formula->channel[i]);
        }
        hl_text_append(&text, " ->");
        for (int i = 0; i < node->output_count; i++) add_value(&text, node->outputs[i]);
        for (int s = 0; s < node->epilogue.count; s++)
            hl_text_append(&text, node->epilogue.stages[s].channels ? " + %s by channel" : " + %s",
                           stage_name(node->epilogue.stages[s].op));
        if (node->epilogue.residual) add_value(&text, node->epilogue.residual);
        if (formula) add_formula(&text, formula);
        hl_text_append(&text, "\n");
    }
    return hl_text_take(&text);
}
