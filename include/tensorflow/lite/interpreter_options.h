// SPDX-License-Identifier: Apache-2.0
// What an interpreter may be told when it is built. Options that change nothing in this library are kept and given
// back.
#ifndef TENSORFLOW_LITE_INTERPRETER_OPTIONS_H_
#define TENSORFLOW_LITE_INTERPRETER_OPTIONS_H_

#include "halite/cxx.h"

namespace tflite
{

class InterpreterOptions
{
  public:
    // Keeps the value of every tensor until the next Invoke, so that all can be read. Costs memory.
    void SetPreserveAllTensors(bool value = true) { preserve_all_tensors_ = value; }
    bool GetPreserveAllTensors() const { return preserve_all_tensors_; }

    // Frees what Invoke wrote into dynamic tensors for other nodes, once it has run.
    void SetEnsureDynamicTensorsAreReleased(bool value = true) { release_dynamic_tensors_ = value; }
    bool GetEnsureDynamicTensorsAreReleased() const { return release_dynamic_tensors_; }

    // Tensors above so many bytes; 0 turns it off. The planner here needs no hint.
    void OptimizeMemoryForLargeTensors(int bytes = 1 << 20)
    {
        if (bytes > 0) {
            large_tensor_bytes_ = bytes;
            release_dynamic_tensors_ = true;
        }
    }
    int GetDynamicAllocationForLargeTensors() const { return large_tensor_bytes_; }

    void SetDynamicAllocationForLargeTensors(int bytes = 1 << 20) { OptimizeMemoryForLargeTensors(bytes); }

    void SetDisableDelegateClustering(bool value = true) { disable_delegate_clustering_ = value; }
    bool GetDisableDelegateClustering() const { return disable_delegate_clustering_; }

    void SetCacheConstantCastOp(bool value) { cache_constant_cast_ = value; }
    bool GetCacheConstantCastOp() const { return cache_constant_cast_; }

    void SetShloCompositeInlining(bool value) { inline_composites_ = value; }
    bool GetShloCompositeInlining() const { return inline_composites_; }

    void SetUseSignatureTensorNames(bool value) { signature_tensor_names_ = value; }
    bool GetUseSignatureTensorNames() const { return signature_tensor_names_; }

    void SetCompressQuantizationZeroPoints(bool value) { compress_zero_points_ = value; }
    bool GetCompressQuantizationZeroPoints() const { return compress_zero_points_; }

    void SetDisableDelegateNodeFusion(bool value = true) { disable_node_fusion_ = value; }
    bool GetDisableDelegateNodeFusion() const { return disable_node_fusion_; }

    void SetForceDelegateNodeProfiling(bool value = true) { force_node_profiling_ = value; }
    bool GetForceDelegateNodeProfiling() const { return force_node_profiling_; }

  private:
    int large_tensor_bytes_ = 0;
    bool preserve_all_tensors_ = false;
    bool release_dynamic_tensors_ = false;
    bool disable_delegate_clustering_ = false;
    bool cache_constant_cast_ = false;
    bool inline_composites_ = false;
    bool signature_tensor_names_ = false;
    bool compress_zero_points_ = false;
    bool disable_node_fusion_ = false;
    bool force_node_profiling_ = false;
};

} // namespace tflite

#endif
