#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite bench --per-op of shapes that the file does not have: products count as they run, with one row of eight in the
# file or none, and are the same part of the peak.
. "$(dirname "$0")/lib"
find_numpy
"$python" - "$demo" "$work" <<'END' || failed "the models"
import pathlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from tflite_writer import Model
ADD, FULLY_CONNECTED, MUL, RESHAPE, CAST = 0, 9, 18, 22, 53
for name, rows in ("known", [8]), ("one", [1]), ("none", None):
    # The new shape of x is [-1, 2], and zeros that are computed of an input.
    model = Model(name)
    x, of = model.tensor("x", "float32", [4, 4]), model.tensor("of", "float32", [2])
    zeros, whole, shape = (model.tensor(*t, [2]) for t in (("zeros", "float32"), ("whole", "int32"), ("shape", "int32")))
    pairs, y = (model.tensor(n, "float32", rows + [c] if rows else []) for n, c in (("pairs", 2), ("y", 3)))
    model.op(MUL, 1, [of, model.tensor("zero", "float32", [1], np.zeros(1))], [zeros])
    model.op(CAST, 1, [zeros], [whole])
    model.op(ADD, 1, [whole, model.tensor("new", "int32", [2], np.array([-1, 2]))], [shape])
    model.op(RESHAPE, 1, [x, model.tensor("fixed", "int32", [2], np.array([-1, 2])) if rows == [8] else shape], [pairs])
    model.op(FULLY_CONNECTED, 1, [pairs, model.tensor("w", "float32", [3, 2], np.ones((3, 2))), -1], [y])
    file = pathlib.Path(sys.argv[2], name + ".tflite")
    file.write_bytes(model.write({"x": x, "of": of}, {"y": y}))
END
for name in known one none; do
    passes "$halite" bench "$work/$name.tflite" --per-op --runs 5 --format json
    cp "$work/out" "$work/$name.json"
    run "$python" - "$work/$name.json" <<'END'
import json, sys
row, = json.load(open(sys.argv[1]))["rows"]
counts = {o["operator"]: o["multiply_adds"] for o in row["operators"]}
assert counts == {"ADD": 0, "CAST": 0, "FULLY_CONNECTED": 8 * 2 * 3, "MUL": 0, "RESHAPE": 0}, counts
peak = row.get("peak_float_multiply_adds")
parts = [o["least_seconds"] * peak for o in row["operators"] if "least_seconds" in o]
assert [round(part) for part in parts] == ([48] if peak else []), parts
END
    [ $code -eq 0 ] || failed "what is multiplied, $name"
done
finish
