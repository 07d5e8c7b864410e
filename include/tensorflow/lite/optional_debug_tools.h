// SPDX-License-Identifier: Apache-2.0
// What an interpreter consists of, as text: its subgraphs, tensors and nodes, for a person who looks for a fault.
#ifndef TENSORFLOW_LITE_OPTIONAL_DEBUG_TOOLS_H_
#define TENSORFLOW_LITE_OPTIONAL_DEBUG_TOOLS_H_

#include "halite/cxx.h"

#include <cstdio>
#include <string>

#include "tensorflow/lite/core/interpreter.h"

namespace tflite
{

namespace debug_internal
{

inline const char *allocation_name(TfLiteAllocationType type)
{
    switch (type) {
    case kTfLiteMmapRo: return "constant";
    case kTfLiteArenaRw: return "arena";
    case kTfLiteArenaRwPersistent: return "persistent";
    case kTfLiteDynamic: return "dynamic";
    case kTfLitePersistentRo: return "persistent constant";
    case kTfLiteCustom: return "custom";
    default: return "none";
    }
}

inline std::string list_text(const int *values, size_t count)
{
    std::string text = "[";
    for (size_t i = 0; i < count; i++) text += (i ? "," : "") + std::to_string(values[i]);
    return text + "]";
}

inline std::string list_text(const TfLiteIntArray *array)
{
    return array ? list_text(array->data, static_cast<size_t>(array->size)) : "[]";
}

inline void print_subgraph(const Subgraph &subgraph, int name_length, std::FILE *out)
{
    const char *name = subgraph.GetName();
    std::fprintf(out, "Subgraph %d \"%s\": %zu tensors, %zu nodes\n", subgraph.GetSubgraphIndex(), name ? name : "",
                 subgraph.tensors_size(), subgraph.nodes_size());
    std::fprintf(out, "  inputs  %s\n", list_text(subgraph.inputs().data(), subgraph.inputs().size()).c_str());
    std::fprintf(out, "  outputs %s\n", list_text(subgraph.outputs().data(), subgraph.outputs().size()).c_str());
    std::fprintf(out, "  tensor  %-*s %-10s %-19s %12s  shape\n", name_length, "name", "type", "memory", "bytes");
    for (int i = 0; i < static_cast<int>(subgraph.tensors_size()); i++) {
        const TfLiteTensor *tensor = subgraph.tensor(i);
        std::fprintf(out, "  %6d  %-*.*s %-10s %-19s %12zu  %s\n", i, name_length, name_length,
                     tensor->name ? tensor->name : "", TfLiteTypeGetName(tensor->type),
                     allocation_name(tensor->allocation_type), tensor->bytes, list_text(tensor->dims).c_str());
    }
    std::fprintf(out, "  nodes in the order in which they run\n");
    for (int index : subgraph.execution_plan()) {
        const auto *node = subgraph.node_and_registration(index);
        if (!node) continue;
        const TfLiteRegistration &registration = node->second;
        const char *op = HaliteGetOperatorName(registration.builtin_code);
        if (registration.custom_name) op = registration.custom_name;
        std::fprintf(out, "  %6d  %s%s, inputs %s, outputs %s\n", index, op ? op : "?",
                     node->first.delegate ? " (delegate)" : "", list_text(node->first.inputs).c_str(),
                     list_text(node->first.outputs).c_str());
    }
}

} // namespace debug_internal

// Names of tensors are cut after tensor_name_display_length characters. The other lengths are accepted and have no
// effect: those columns are as wide as what stands in them.
inline void PrintInterpreterState(const Interpreter *interpreter, int32_t tensor_name_display_length = 25,
                                  int32_t tensor_type_display_length = 15, int32_t alloc_type_display_length = 18)
{
    (void)tensor_type_display_length;
    (void)alloc_type_display_length;
    std::printf("Interpreter with %zu subgraphs\n", interpreter->subgraphs_size());
    for (size_t i = 0; i < interpreter->subgraphs_size(); i++)
        debug_internal::print_subgraph(*interpreter->subgraph(static_cast<int>(i)), tensor_name_display_length, stdout);
}

} // namespace tflite

#endif
