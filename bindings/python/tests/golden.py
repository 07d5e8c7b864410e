# SPDX-License-Identifier: Apache-2.0
"""golden.py FOLDER...: the golden cases below the folders through the Python package, with its reference kernels.

What is looked at is the way in and out: a case passes where golden_runner, which compares to the last bit, passes. So
integers, booleans and strings must be equal, and floats as near as a value that went astray would not be. Prints each
case that fails, and last "N passed, N failed". Cases that docs/differences.md lists may differ.
"""

import pathlib
import struct
import sys

import numpy

import halite

FLOATS = 1e-4  # of the largest value of an output


def strings_of(data):
    count = struct.unpack_from("<i", data)[0]
    ends = struct.unpack_from(f"<{count + 1}i", data, 4)
    return [data[a:b] for a, b in zip(ends, ends[1:])]


def parsed(line, data):
    """(index, dims, bytes or list of bytes) of an "in" or "out" line."""
    _, index, kind, dims, place, *_ = line.split(" ", 5)
    offset, size = (int(part) for part in place[1:].split("+"))
    raw = data[offset : offset + size]
    shape = () if dims == "-" else tuple(int(length) for length in dims.split(","))
    return int(index), shape, strings_of(raw) if kind == "string" else raw


def steps_of(text, data):
    """[(signature or None, reset, inputs, outputs)]"""
    steps, signature, reset = [], None, False
    for line in text.splitlines():
        word = line.split(" ", 1)[0]
        if word == "signature":
            signature = line.split(" ", 1)[1]
        elif word == "reset":
            reset = True
        elif word == "step":
            steps.append((signature, reset, [], []))
            reset = False
        elif word in ("in", "out"):
            steps[-1][2 if word == "in" else 3].append(parsed(line, data))
    return steps


def same(interpreter, index, subgraph, shape, expected):
    code, got_shape, _ = interpreter._core.kind(index, subgraph)
    if tuple(got_shape) != shape:
        return False
    if isinstance(expected, list):
        return interpreter._core.read_strings(index, subgraph) == expected
    raw = bytes(memoryview(interpreter._core.view(index, subgraph)).cast("B")) if expected else b""
    got = interpreter.get_tensor(index, subgraph)
    if raw == expected:
        return True
    if got.dtype.kind not in "fc" or len(raw) != len(expected):
        return False
    wanted = numpy.frombuffer(expected, got.dtype).reshape(got.shape)
    scale = max(1.0, float(numpy.max(numpy.abs(wanted[numpy.isfinite(wanted)]), initial=0)))
    return bool(numpy.allclose(got, wanted, rtol=0, atol=FLOATS * scale, equal_nan=True))


def run_step(interpreter, step):
    """The names of outputs that differ."""
    signature, reset, inputs, outputs = step
    core = interpreter._core
    subgraph, ins, outs = 0, core.inputs(), core.outputs()
    if signature is not None:
        subgraph, ins, outs = next(row[1:] for row in core.signatures() if row[0] == signature)
        ins, outs = [index for _, index in ins], [index for _, index in outs]
    if reset:
        core.reset_variables()
    changed = False
    for number, shape, _ in inputs:
        if tuple(core.kind(ins[number], subgraph)[1]) != shape:
            core.resize(ins[number], shape, False, subgraph)
            changed = True
    if signature is not None:
        core.allocate_signature(signature)
    elif changed:
        core.allocate()
    for number, _, value in inputs:
        core.write(ins[number], value, subgraph)
    core.invoke() if signature is None else core.invoke_signature(signature)
    return [number for number, shape, value in outputs if not same(interpreter, outs[number], subgraph, shape, value)]


def run_case(path, shared):
    """None where the case passes, "skipped", or what is wrong."""
    text = path.read_text()
    data = path.with_suffix(".bin").read_bytes() if path.with_suffix(".bin").exists() else b""
    model = path.with_suffix(".tflite")
    fails = None
    for line in text.splitlines():
        if line.startswith("model "):
            model = shared / line.split(" ", 1)[1]
        elif line.startswith("fails "):
            fails = line.split(" ", 2)[1]
    try:
        interpreter = halite.Interpreter(str(model), experimental_op_resolver_type=halite.OpResolverType.BUILTIN_REF)
        interpreter.allocate_tensors()
        wrong = [f"step {i} output {n}" for i, s in enumerate(steps_of(text, data)) for n in run_step(interpreter, s)]
    except (ValueError, RuntimeError) as error:
        return None if fails else f"{type(error).__name__}: {error}"
    if fails and fails != "any" and not wrong:
        return "skipped" if "custom" in text else f"was to fail in {fails}"
    return ", ".join(wrong) or None


def main():
    listed = (pathlib.Path(__file__).parents[3] / "docs" / "differences.md").read_text()
    passed, failed, skipped = 0, 0, 0
    for folder in sys.argv[1:]:
        root = pathlib.Path(folder).resolve()
        shared = next(parent for parent in (root, *root.parents) if (parent / "models").is_dir() and parent.name != "golden")
        for path in sorted(root.rglob("*.txt")):
            if not path.read_text().startswith("golden "):
                continue
            wrong = run_case(path, shared)
            if wrong and str(path.relative_to(shared / "golden").with_suffix("")) in listed:
                wrong = None
            passed += wrong is None
            skipped += wrong == "skipped"
            if wrong not in (None, "skipped"):
                failed += 1
                print(f"{path.stem}: {wrong}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
