# SPDX-License-Identifier: Apache-2.0
"""Signatures: a model's functions, called by the names of their inputs and outputs."""

from __future__ import annotations

from halite import _arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from halite._interpreter import Interpreter


class SignatureRunner:
    """One signature of an interpreter; Interpreter.get_signature_runner makes it.

    Calling it with every input by name resizes what differs, runs, and returns {output name: array}.
    """

    def __init__(self, interpreter: Interpreter | None = None, signature_key: str | None = None) -> None:
        if not interpreter:
            raise ValueError("None interpreter provided.")
        if not signature_key:
            raise ValueError("None signature_key provided.")
        for key, subgraph, inputs, outputs in interpreter._core.signatures():
            if key == signature_key:
                break
        else:
            raise ValueError(f'Invalid signature_key provided: "{signature_key}".')
        self._interpreter = interpreter
        self._signature_key = key
        self._subgraph_index = subgraph
        self._inputs = dict(inputs)
        self._outputs = dict(outputs)

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        """Runs the signature. Raises ValueError where an input is missing, unknown or of another type."""
        if len(inputs) != len(self._inputs):
            raise ValueError(
                "Invalid number of inputs provided for running a SignatureDef, "
                f"expected {len(self._inputs)} vs provided {len(inputs)}"
            )
        core, subgraph = self._interpreter._core, self._subgraph_index
        ready = []
        for name, value in inputs.items():
            if name not in self._inputs:
                raise ValueError(f"Invalid Input name ({name}) for SignatureDef")
            index = self._inputs[name]
            code, shape, label = core.kind(index, subgraph)
            data, got = _arrays.prepared(value, code, shape, index, label or "")
            if tuple(got) != shape:
                core.resize(index, tuple(int(length) for length in got), False, subgraph)
            ready.append((index, data))
        core.allocate_signature(self._signature_key)
        for index, data in ready:
            core.write(index, data, subgraph)
        core.invoke_signature(self._signature_key)
        return {name: self._interpreter.get_tensor(index, subgraph) for name, index in self._outputs.items()}

    def get_input_details(self) -> dict[str, dict[str, Any]]:
        """{input name: details as from Interpreter.get_input_details}"""
        return {
            name: self._interpreter._get_tensor_details(index, self._subgraph_index)
            for name, index in self._inputs.items()
        }

    def get_output_details(self) -> dict[str, dict[str, Any]]:
        """{output name: details as from Interpreter.get_output_details}"""
        return {
            name: self._interpreter._get_tensor_details(index, self._subgraph_index)
            for name, index in self._outputs.items()
        }

    def __repr__(self) -> str:
        return f"<halite.SignatureRunner {self._signature_key!r}: {', '.join(self._inputs)} -> {', '.join(self._outputs)}>"
