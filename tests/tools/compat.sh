#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite compat: what it says with and without devices, and what it measures.
. "$(dirname "$0")/lib"
needs "$model"
gpu_library=$(dirname "$halite")/../lib/libtensorflowlite_gpu_delegate.so
[ -e "$gpu_library" ] || { echo "skipped: no GPU delegate in this build"; exit 77; }

# No device at all.
HALITE_OPENCL_LIBRARY=/nowhere/a HALITE_VULKAN_LIBRARY=/nowhere/b HALITE_GLES_LIBRARY=/nowhere/c
export HALITE_OPENCL_LIBRARY HALITE_VULKAN_LIBRARY HALITE_GLES_LIBRARY
passes "$halite" compat "$model"
says "7 of 7 operators have a GPU kernel, in 1 part"
says "there is no device"
says "best: the CPU"
refuses 1 "there is no device 'opencl:7'" "$halite" compat "$model" --device opencl:7
passes "$halite" compat
says "No GPU found by OpenCL"
says "best: the CPU, --threads"
refuses 2 "--measure runs a model" "$halite" compat --measure
unset HALITE_OPENCL_LIBRARY HALITE_VULKAN_LIBRARY HALITE_GLES_LIBRARY

refuses 1 "no/such.tflite" "$halite" compat no/such.tflite
# A device that computes nothing counts as software, and as a GPU where that is allowed.
passes "$halite" compat --device null
says "null:0, Null: not worth it"
says "it is made of software"
passes env HALITE_COMPATIBILITY=none "$halite" compat --device null
says "HALITE_COMPATIBILITY is none"
if has_opencl; then
    passes "$halite" compat --device opencl:0 --allow-software --json
    if command -v python3 >/dev/null; then
        python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["gpu_is_worth_it"] and d["best_options"]["device"] == "opencl:0" and 1 <= d["threads"] <= 4
assert [(x["name"], x["worth_it"], x["against"]) for x in d["devices"]] == [("opencl:0", True, "")]
' "$work/out" || failed "the JSON without a model"
    fi
    passes env HALITE_COMPATIBILITY=software "$halite" compat --device opencl:0
    says "best: --gpu --device opencl:0 --precision"
    passes "$halite" compat "$model" --device opencl:0 --measure --runs 2 --json
    if command -v python3 >/dev/null; then
        python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["operators"] == d["on_gpu"] == 7 and [x["name"] for x in d["devices"]] == ["opencl:0"]
names = ["CPU", "opencl:0/f32", "opencl:0/f16s"]
assert [m["setting"] for m in d["measured"]] == names
times = {m["setting"]: m["seconds"] for m in d["measured"] if m["difference"] <= 0.02}
assert d["measured"][0]["difference"] == 0 and d["best"] == min(times, key=times.get)
' "$work/out" || failed "the JSON"
    fi
fi
finish
