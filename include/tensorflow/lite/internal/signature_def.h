// SPDX-License-Identifier: Apache-2.0
// A signature of a model: names for inputs and outputs of one of its subgraphs.
#ifndef TENSORFLOW_LITE_INTERNAL_SIGNATURE_DEF_H_
#define TENSORFLOW_LITE_INTERNAL_SIGNATURE_DEF_H_

#include "halite/cxx.h"

#include <cstdint>
#include <map>
#include <string>

namespace tflite
{
namespace internal
{

struct SignatureDef {
    // Indices of tensors in the subgraph, by name.
    std::map<std::string, uint32_t> inputs, outputs;
    std::string signature_key;
    uint32_t subgraph_index = 0;
};

} // namespace internal
} // namespace tflite

#endif
