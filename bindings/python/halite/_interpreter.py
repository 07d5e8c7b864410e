# SPDX-License-Identifier: Apache-2.0
"""The interpreter, with the methods, arguments, dictionaries and errors that programs for TensorFlow Lite know.

In: a model as a path or as bytes. Out: its tensors, by index, as arrays. The work is done by the extension halite._core;
this file turns arguments into what it takes. What Halite adds stands at the end of the class.
"""

from __future__ import annotations

import enum
import os

from halite import _arrays, _core
from halite._signature import SignatureRunner

TYPE_CHECKING = False
if TYPE_CHECKING:  # what only the notes of types need; each of these takes milliseconds to import
    import concurrent.futures
    from typing import Any, Callable, Iterable

    from halite import _gpu
    from halite._delegate import Delegate
    from halite._wrapper import InterpreterWrapper


@enum.unique
class OpResolverType(enum.Enum):
    """Which kernels an interpreter takes. BUILTIN_REF: the plain, exact ones; all others: the fastest."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


_KERNELS = {OpResolverType.BUILTIN_REF: 1}  # HaliteKernels; 0: the default


def _thread_count(num_threads: int | None) -> int:
    if num_threads is None:
        return 1
    if not isinstance(num_threads, int):
        raise ValueError("type of num_threads should be int")
    if num_threads < 1:
        raise ValueError("num_threads should >= 1")
    return num_threads


class Interpreter:
    """Runs one model.

    model_path: path of a .tflite file; model_content: the file's bytes; one of the two. experimental_delegates: a list of
    load_delegate(...). num_threads: for each run, the caller's thread among them. experimental_preserve_all_tensors: every
    tensor, not only the outputs, keeps its value until the next run.

    Halite's own: device, a name from halite.devices(), or "auto", "opencl", "vulkan", "gles": nodes that it has kernels
    for run there. precision: "f32", "f16s" (halves in memory) or "f16". quantized: "float", or "exact" for the CPU's integers
    bit for bit from 8-bit models. weights_cache: a file for packed weights, which is mapped: processes share its memory.

    The other arguments of the original's constructor are taken and change nothing. A tensor's index is that of
    get_tensor_details. Several threads may use several interpreters; while one runs, Python's lock is free.
    """

    def __init__(
        self,
        model_path: str | bytes | os.PathLike[str] | None = None,
        model_content: bytes | None = None,
        experimental_delegates: list[Delegate] | None = None,
        num_threads: int | None = None,
        experimental_op_resolver_type: OpResolverType = OpResolverType.AUTO,
        experimental_preserve_all_tensors: bool = False,
        experimental_disable_delegate_clustering: bool = False,
        experimental_default_delegate_latest_features: bool = False,
        experimental_compress_quantization_zero_points: bool = False,
        experimental_disable_delegate_node_fusion: bool = False,
        experimental_force_delegate_node_profiling: bool = False,
        *,
        device: str | None = None,
        precision: str | None = None,
        quantized: str | None = None,
        weights_cache: str | os.PathLike[str] | None = None,
    ) -> None:
        kernels = _KERNELS.get(_resolver_type(experimental_op_resolver_type), 0)
        threads = _thread_count(num_threads)
        if not model_path and not model_content:
            raise ValueError("`model_path` or `model_content` must be specified.")
        if model_path and model_content:
            raise ValueError("Can't both provide `model_path` and `model_content`")
        for name, value in (("precision", precision), ("quantized", quantized)):
            if value and not device:
                raise ValueError(f"{name} is the GPU's: name a device as well")
        path = os.fsdecode(model_path) if model_path else None
        content = None if model_content is None else bytes(model_content)
        self._experimental_compress_quantization_zero_points = experimental_compress_quantization_zero_points
        self._delegates = list(experimental_delegates or [])
        self._device = device
        self._gpu: Delegate | None = None
        if device:
            from halite import _gpu

            self._gpu = _gpu.delegate_for(device, precision, quantized)
            self._delegates.append(self._gpu)
        self.model_path = path
        delegates = [(delegate._get_native_delegate_pointer(), delegate) for delegate in self._delegates]
        preserve = bool(experimental_preserve_all_tensors)
        registerers = self._registerers()
        if weights_cache:
            from halite import _weights

            registerers.append(_weights.registerer(weights_cache))
        self._core = _core.interpreter(path, content, threads, kernels, delegates, registerers, preserve)

    def _registerers(self) -> list[Callable[[int], Any]]:
        return []

    # ---- running ----

    def allocate_tensors(self) -> None:
        """Gives every tensor memory. Once before the first run, and after each resize."""
        self._core.allocate()

    def invoke(self) -> None:
        """Runs the model; other threads of Python run meanwhile.

        Raises RuntimeError with the runtime's words where a node fails, and where an array from tensor() is still alive.
        """
        self._core.invoke()

    def reset_all_variables(self) -> None:
        """Sets the variables of the model to zero."""
        self._core.reset_variables()

    # ---- tensors ----

    def get_input_details(self) -> list[dict[str, Any]]:
        """Details of the inputs, in the model's order; see get_tensor_details."""
        return [self._get_tensor_details(index, 0) for index in self._core.inputs()]

    def get_output_details(self) -> list[dict[str, Any]]:
        """Details of the outputs, in the model's order; see get_tensor_details."""
        return [self._get_tensor_details(index, 0) for index in self._core.outputs()]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        """A dictionary for each tensor: name, index, shape, shape_signature (-1: any length), dtype, quantization (scale,
        zero point), quantization_parameters (by channel) and sparsity_parameters."""
        self._check_subgraph(subgraph_index)
        return [
            self._get_tensor_details(index, subgraph_index) for index in range(self._core.tensor_count(subgraph_index))
        ]

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Copies a value into a tensor.

        value: an array of the tensor's element type and shape, next to each other or not. For tensors of strings: an
        array of bytes or str. Raises ValueError where type or shape differ, and before allocate_tensors.
        """
        code, shape, name = self._core.kind(tensor_index)
        data, got = _arrays.prepared(value, code, shape, tensor_index, name or "")
        _arrays.check_shape(got, shape, tensor_index)
        self._core.write(tensor_index, data)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> Any:
        """A copy of a tensor's value, of the tensor's shape; a numpy scalar where the tensor has no dimensions.

        Raises ValueError before allocate_tensors, and where there is no such tensor.
        """
        code, shape, _ = self._core.kind(tensor_index, subgraph_index)
        if code == _arrays.STRING:
            return _arrays.strings(self._core.read_strings(tensor_index, subgraph_index), shape)
        return _arrays.copied(self._core.view(tensor_index, subgraph_index), code, shape)

    def tensor(self, tensor_index: int) -> Callable[[], Any]:
        """A function that returns an array over the tensor's own memory: nothing is copied. Keep the function, not the
        array: while an array is alive, the interpreter refuses to run or to move tensors."""

        def view() -> Any:
            return _arrays.live(self._core.view(tensor_index), self._core.kind(tensor_index)[0])

        return view

    def resize_tensor_input(self, input_index: int, tensor_size: Iterable[int], strict: bool = False) -> None:
        """Gives an input another shape; allocate_tensors afterwards. strict: only lengths that the model leaves open (-1 in
        shape_signature) may change."""
        self._core.resize(input_index, _arrays.shape_of(tensor_size), bool(strict))

    # ---- signatures and subgraphs ----

    def num_subgraphs(self) -> int:
        """How many subgraphs the model has."""
        return int(self._core.subgraph_count())

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """{signature: {"inputs": names, "outputs": names}}"""
        return {
            key: {"inputs": [name for name, _ in inputs], "outputs": [name for name, _ in outputs]}
            for key, _, inputs, outputs in self._core.signatures()
        }

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """A callable for one signature; without a key for the only one."""
        if signature_key is None:
            keys = [row[0] for row in self._core.signatures()]
            if len(keys) != 1:
                raise ValueError(
                    f"SignatureDef signature_key is None and model has {len(keys)} Signatures. "
                    "None is only allowed when the model has 1 SignatureDef"
                )
            signature_key = keys[0]
        return SignatureRunner(self, str(signature_key))

    # ---- what programs use though its name begins with a line ----

    def _native_handle(self) -> int:
        """Address of the TfLiteInterpreter."""
        return int(self._core.handle())

    def _safe_to_run(self) -> bool:
        return int(self._core.views()) == 0

    def _ensure_safe(self) -> None:
        if not self._safe_to_run():
            raise RuntimeError(
                "There is at least 1 reference to internal data of this interpreter: an array or a slice of what a "
                "function from tensor() returned is alive."
            )

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int = 0) -> dict[str, Any]:
        name, code, shape, signature, quantization, by_channel, sparsity = self._core.describe(
            tensor_index, subgraph_index
        )
        scales, zero_points, dimension, block_size = by_channel
        if isinstance(scales, int):  # of blocks: a tensor has them
            scales = _arrays.flat(self.get_tensor(scales, subgraph_index))
        else:
            scales = _arrays.float_array(scales)
        return {
            "name": name,
            "index": tensor_index,
            "shape": _arrays.int_array(shape),
            "shape_signature": _arrays.int_array(signature),
            "dtype": _arrays.dtype(code),
            "quantization": quantization,
            "quantization_parameters": {
                "scales": scales,
                "zero_points": _arrays.int_array(zero_points),
                "quantized_dimension": dimension,
                "block_size": block_size,
            },
            "sparsity_parameters": _sparsity(sparsity),
        }

    def _get_op_details(self, op_index: int) -> dict[str, Any]:
        for row in self._get_ops_details():
            if row["index"] == op_index:
                return row
        raise ValueError(f"Invalid node index {op_index}; the model has {len(self._core.nodes())} nodes")

    def _get_ops_details(self) -> list[dict[str, Any]]:
        rows = []
        for index, name, inputs, outputs in self._core.nodes():
            rows.append(
                {
                    "index": index,
                    "op_name": name,
                    "inputs": _arrays.int_array(inputs),
                    "outputs": _arrays.int_array(outputs),
                    "operand_types": [_arrays.dtype(self._core.kind(i)[0]) for i in inputs if i >= 0],
                    "result_types": [_arrays.dtype(self._core.kind(i)[0]) for i in outputs if i >= 0],
                }
            )
        return rows

    @property
    def _interpreter(self) -> InterpreterWrapper:
        from halite._wrapper import InterpreterWrapper

        return InterpreterWrapper(self)

    @property
    def _signature_defs(self) -> dict[str, dict[str, list[str]]]:
        return self.get_signature_list()

    def _get_full_signature_list(self) -> dict[str, dict[str, dict[str, int]]]:
        return {
            key: {"inputs": dict(inputs), "outputs": dict(outputs)}
            for key, _, inputs, outputs in self._core.signatures()
        }

    def _check_subgraph(self, index: int) -> None:
        count = self._core.subgraph_count()
        if not 0 <= index < count:
            raise ValueError(f"subgraph_index is out of range: {index} for the model, which has {count} subgraphs.")

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        """As the constructor was told; zero points take the same memory either way."""
        return self._experimental_compress_quantization_zero_points

    # ---- what Halite adds ----

    def bind_tensor(self, tensor_index: int, array: Any) -> None:
        """Makes an input or output use an array's memory from the next allocate_tensors on, so that nothing is copied:
        any writable, contiguous array with the buffer protocol or __dlpack__ (numpy, torch, jax) of the tensor's size. The
        interpreter keeps the array. Memory at a multiple of 64 is fastest."""
        self._core.bind(tensor_index, array)

    def invoke_async(self, executor: concurrent.futures.Executor | None = None) -> "concurrent.futures.Future[None]":
        """Starts a run in another thread. The interpreter is the run's until the future is done; cancel() ends it early."""
        if executor is not None:
            return executor.submit(self.invoke)
        import concurrent.futures

        own = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="halite")
        future = own.submit(self.invoke)
        own.shutdown(wait=False)
        return future

    def cancel(self) -> None:
        """Ends a run that another thread is in, after the node under way: that thread's invoke raises RuntimeError."""
        self._core.cancel()

    def set_profiling(self, enable: bool = True) -> None:
        """Starts (from zero) or stops timing each node of each run."""
        self._core.set_profiling(enable)

    def profile(self) -> list[dict[str, Any]]:
        """For each node as it runs: node, op, version, where, replaced_nodes, runs, nanoseconds (of all runs together), and
        run_by: the node that computes its result and has its time, itself unless a neighbor does so."""
        names = ("node", "op", "version", "where", "replaced_nodes", "runs", "nanoseconds", "run_by")
        return [dict(zip(names, row)) for row in self._core.node_reports()]

    def memory(self) -> dict[str, int]:
        """Bytes by kind: arena, arena_unshared, persistent, dynamic, constants."""
        return self._core.memory_report()

    def placement(self) -> list[_gpu.Placement]:
        """Where each node of the model runs, and why there."""
        from halite import _gpu

        if self._gpu:
            return _gpu.placements(self._gpu)
        return [_gpu.Placement(row[0], row[1], "CPU", "", "", -1) for row in self._core.nodes()]

    def report(self, path: str | os.PathLike[str]) -> str:
        """Writes one page about the model, for a browser: the graph, each node's place, reason and time. Returns its path.
        Of a model that came from a file."""
        from halite import _tools

        return _tools.report(self, os.fspath(path))

    def __repr__(self) -> str:
        name = os.path.basename(self.model_path) if self.model_path else "a model from memory"

        def side(indices: list[int]) -> str:
            kinds = [self._core.kind(i) for i in indices]
            return ", ".join(f"{_arrays.type_name(code).lower()}{list(shape)}" for code, shape, _ in kinds)

        nodes = len(self._core.nodes())
        return f"<halite.Interpreter {name}: {side(self._core.inputs())} -> {side(self._core.outputs())}, {nodes} nodes>"

    def _repr_html_(self) -> str:
        from halite import _notebook

        return _notebook.table(self)


class InterpreterWithCustomOps(Interpreter):
    """An interpreter with custom operators.

    custom_op_registerers: functions that add them, each called once with the address of a TfLiteInterpreterOptions, or
    names of such functions, void name(TfLiteInterpreterOptions *), in a library that the program has loaded. (The
    original hands a C++ object over, which does not exist here.)
    """

    def __init__(self, custom_op_registerers: list[str | Callable[[int], Any]] | None = None, **arguments: Any) -> None:
        self._custom_op_registerers = list(custom_op_registerers or [])
        super().__init__(**arguments)

    def _registerers(self) -> list[Callable[[int], Any]]:
        return [_registerer(given) for given in self._custom_op_registerers]


def _registerer(given: str | Callable[[int], Any]) -> Callable[[int], Any]:
    if callable(given):
        return given
    if not isinstance(given, str):
        raise TypeError(f"custom_op_registerers takes names and functions, not {type(given).__name__}")
    import ctypes

    try:
        function = getattr(ctypes.CDLL(None), given)
    except AttributeError:
        raise ValueError(f"Looking up symbol '{given}' failed: no library that is loaded has it") from None
    return lambda address: function(ctypes.c_void_p(address))


def _resolver_type(value: Any) -> OpResolverType:
    if isinstance(value, OpResolverType):
        return value
    # The same enumeration of another package is welcome.
    if isinstance(value, enum.Enum) and type(value).__name__ == "OpResolverType":
        return OpResolverType[value.name]
    raise ValueError(f"Unrecognized passed in op resolver type: {value}")


def _sparsity(sparsity: Any) -> dict[str, Any]:
    if sparsity is None:
        return {}
    order, block_map, dimensions = sparsity
    rows: list[dict[str, Any]] = []
    for is_sparse, size, segments, indices in dimensions:
        if is_sparse:
            rows.append(
                {
                    "format": 1,
                    "array_segments": _arrays.int_array(segments),
                    "array_indices": _arrays.int_array(indices),
                }
            )
        else:
            rows.append({"format": 0, "dense_size": size})
    found: dict[str, Any] = {"traversal_order": _arrays.int_array(order)}
    if block_map:
        found["block_map"] = _arrays.int_array(block_map)
    found["dim_metadata"] = rows
    return found
