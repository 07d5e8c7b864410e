# SPDX-License-Identifier: Apache-2.0
"""The original's inner object, interpreter._interpreter, for scripts that look at graphs through it.

Its methods have names of their own, give arrays of int32, and no dictionaries. Nothing in this package uses it.
"""

from __future__ import annotations

from halite import _arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from halite._interpreter import Interpreter


class InterpreterWrapper:
    """See Interpreter, whose methods do the same under other names."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._owner = interpreter

    def _details(self, tensor_index: int, subgraph_index: int) -> dict[str, Any]:
        return self._owner._get_tensor_details(tensor_index, subgraph_index)

    def _node(self, index: int) -> tuple[Any, ...] | None:
        return next((row for row in self._owner._core.nodes() if row[0] == index), None)

    def AllocateTensors(self, subgraph_index: int = -1) -> None:
        self._owner.allocate_tensors()

    def Invoke(self, subgraph_index: int = 0) -> None:
        self._owner.invoke()

    def SetNumThreads(self, count: int) -> None:
        """Allocate tensors again afterwards."""
        self._owner._core.set_num_threads(count)

    def ResetVariableTensors(self) -> None:
        self._owner.reset_all_variables()

    def InputIndices(self) -> Any:
        return _arrays.int_array(self._owner._core.inputs())

    def OutputIndices(self) -> Any:
        return _arrays.int_array(self._owner._core.outputs())

    def ResizeInputTensor(self, i: int, value: Any, strict: bool, subgraph_index: int = 0) -> None:
        self._owner._core.resize(i, _arrays.shape_of(value), bool(strict), subgraph_index)

    def SetTensor(self, i: int, value: Any, subgraph_index: int = 0) -> None:
        self._owner.set_tensor(i, value)

    def GetTensor(self, tensor_index: int, subgraph_index: int = 0) -> Any:
        return self._owner.get_tensor(tensor_index, subgraph_index)

    def tensor(self, base_object: object, tensor_index: int, subgraph_index: int = 0) -> Any:
        return self._owner.tensor(tensor_index)()

    def NumSubgraphs(self) -> int:
        return self._owner.num_subgraphs()

    def NumTensors(self, subgraph_index: int) -> int:
        return int(self._owner._core.tensor_count(subgraph_index))

    def TensorName(self, tensor_index: int, subgraph_index: int) -> str:
        return str(self._details(tensor_index, subgraph_index)["name"])

    def TensorType(self, tensor_index: int, subgraph_index: int) -> Any:
        return self._details(tensor_index, subgraph_index)["dtype"]

    def TensorSize(self, tensor_index: int, subgraph_index: int) -> Any:
        return self._details(tensor_index, subgraph_index)["shape"]

    def TensorSizeSignature(self, tensor_index: int, subgraph_index: int) -> Any:
        return self._details(tensor_index, subgraph_index)["shape_signature"]

    def TensorQuantization(self, tensor_index: int, subgraph_index: int) -> Any:
        return self._details(tensor_index, subgraph_index)["quantization"]

    def TensorQuantizationParameters(self, tensor_index: int, subgraph_index: int) -> tuple[Any, ...]:
        """(scales, zero points, quantized dimension, block size)"""
        return tuple(self._details(tensor_index, subgraph_index)["quantization_parameters"].values())

    def TensorSparsityParameters(self, tensor_index: int, subgraph_index: int) -> Any:
        return self._details(tensor_index, subgraph_index)["sparsity_parameters"]

    def NumNodes(self) -> int:
        return len(self._owner._core.nodes())

    def NodeName(self, node_index: int) -> str:
        """The operator's name; "" where there is no such node."""
        row = self._node(node_index)
        return str(row[1]) if row else ""

    def NodeInputs(self, node_index: int) -> Any:
        return _arrays.int_array(self._existing(node_index)[2])

    def NodeOutputs(self, node_index: int) -> Any:
        return _arrays.int_array(self._existing(node_index)[3])

    def _existing(self, node_index: int) -> tuple[Any, ...]:
        row = self._node(node_index)
        if row is None:
            raise ValueError("Invalid node index")
        return row

    def GetSignatureDefs(self) -> dict[str, dict[str, dict[str, int]]]:
        return self._owner._get_full_signature_list()

    def GetSubgraphIndexFromSignature(self, signature_key: str) -> int:
        return self._owner.get_signature_runner(signature_key)._subgraph_index

    def interpreter(self) -> int:
        """Address of the TfLiteInterpreter."""
        return self._owner._native_handle()
