#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite devices and halite inspect --placement: what a user learns about GPUs, with devices and without.
. "$(dirname "$0")/lib"
needs "$model" "$(dirname "$halite")/../lib/libtensorflowlite_gpu_delegate.so"
unset HALITE_DEVICE

# check FILE PROGRAM: PROGRAM, Python, about the JSON in FILE as m.
check() {
    if ! command -v python3 >/dev/null; then
        echo "left out: JSON (no python3)"
        return
    fi
    python3 -c "
import json, sys
m = json.load(open(sys.argv[1]))
$2" "$1" || failed "the JSON is not right"
}

# ---- without the delegate's library
cp "$halite" "$work/halite"
passes "$work/halite" devices
if grep -qF "no GPU delegate beside this program: " "$work/out"; then
    passes "$work/halite" devices --json
    check "$work/out" 'assert m["devices"] == [] and m["auto"] is None and "no GPU delegate" in m["reason"]'
    refuses 1 "no GPU delegate beside this program: " "$work/halite" bench --gpu -m "$model"
else
    echo "left out: no library (the system has one)"
fi

# ---- devices: none at all, whatever this machine has
export HALITE_OPENCL_LIBRARY=/nowhere/libOpenCL.so HALITE_VULKAN_LIBRARY=/nowhere/libvulkan.so
export HALITE_GLES_LIBRARY=/nowhere/libEGL.so HALITE_CUDA_LIBRARY=/nowhere/libcuda.so
passes "$halite" devices
says "auto takes none: there is no device"
says "OpenCL: the library that HALITE_OPENCL_LIBRARY names does not open"
says "Vulkan: "
says "OpenGL ES: the library that HALITE_GLES_LIBRARY names does not open"
says "CUDA: the library that HALITE_CUDA_LIBRARY names does not open"
passes "$halite" devices --json
check "$work/out" '
assert m["devices"] == [] and m["auto"] is None
assert [a["name"] for a in m["apis"]] == ["OpenCL", "Vulkan", "OpenGL ES", "CUDA"] and all(a["problem"] for a in m["apis"])
assert m["reason"].startswith("No GPU found by OpenCL, Vulkan, OpenGL ES or CUDA. OpenCL: ")
assert "the library that HALITE_OPENCL_LIBRARY names does not open" in m["reason"]'

# A program with rights that its user lacks takes no library of the user's choice. Only where such a program can be made.
mkdir "$work/secure" "$work/secure/bin"
chmod 755 "$work"
cp "$halite" "$work/secure/bin/halite"
cp "$(command -v id)" "$work/secure/id"
ln -s "$(cd "$bin/../lib" && pwd)" "$work/secure/lib"
if grep -q __asan_init "$halite"; then
    echo "left out: a setuid program (the address sanitizer does not run in one)"
elif chown 65534 "$work/secure/bin/halite" "$work/secure/id" 2>/dev/null &&
    chmod u+s "$work/secure/bin/halite" "$work/secure/id" && [ "$("$work/secure/id" -u)" = 65534 ]; then
    passes "$work/secure/bin/halite" devices
    ! grep -q ' names does not open' "$work/out" || failed "a setuid program opens what the environment names"
else
    echo "left out: a setuid program (needs root, and a folder where one works)"
fi
rm -r "$work/secure"

# Without a device placement shows what any would take; one that is named must be there.
passes "$halite" inspect --placement "$model"
says "placement on null:0: there is no GPU here, this is what any would take"
[ "$(tail -n 1 "$work/out")" = "7 of 7 operators on the GPU in 1 partition" ] || failed "the last line"
grep -qE '^ +0  CONV_2D +1  GPU +0$' "$work/out" || failed "the first node"
for device in opencl vulkan:1 gles gpu; do
    run "$halite" inspect --placement --device $device "$model"
    [ $code -eq 1 ] && grep -q "device $device: " "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ] || failed "$device"
done
run env HALITE_DEVICE=opencl "$halite" inspect --placement "$model"
[ $code -eq 1 ] && grep -q "HALITE_DEVICE=opencl: no OpenCL device" "$work/err" || failed "HALITE_DEVICE"
passes "$halite" inspect --json --placement "$model"
check "$work/out" '
p = m["placement"]
assert p["assumed"] and p["device"] == "null:0" and p["precision"] == "f32"
assert (p["operators"], p["on_gpu"], p["partitions"]) == (7, 7, 1)
nodes, = p["subgraphs"]
assert [n["operator"] for n in nodes] == [n["operator"] for n in m["subgraphs"][0]["nodes"]]
assert [n["node"] for n in nodes] == list(range(7))
assert all(n["where"] == "GPU" and n["reason"] == "OK" and n["partition"] == 0 for n in nodes)'
unset HALITE_OPENCL_LIBRARY HALITE_VULKAN_LIBRARY HALITE_GLES_LIBRARY HALITE_CUDA_LIBRARY

# ---- the devices of this machine: each can be named, and takes the demo model
passes "$halite" devices --json
check "$work/out" '
names = {"OpenCL": "opencl", "Vulkan": "vulkan", "OpenGL ES": "gles", "CUDA": "cuda"}
for d in m["devices"]:
    assert d["name"].split(":")[0] == names[d["api"]] and d["driver"] and d["description"]
    assert d["max_buffer"] > 0 and d["max_group_size"] > 0 and d["shared_memory"] > 0
    assert not d["half_arithmetic"] or d["half_storage"]
chosen = [d for d in m["devices"] if d["name"] == m["auto"]]
assert all(not d["software"] for d in chosen) and len(chosen) == (m["auto"] is not None)
assert m["auto"] or all(d["software"] for d in m["devices"])'
passes "$halite" devices
names=$(sed -n 's/^\([a-z]*:[0-9]*\)  device .*/\1/p' "$work/out")
[ -n "$names" ] || echo "left out: real devices (none here)"
for name in $names; do
    passes "$halite" inspect --placement --device "$name" "$model"
    says "placement on $name, "
    says "7 of 7 operators on the GPU in 1 partition"
done
passes env HALITE_DEVICE=null "$halite" devices
says "HALITE_DEVICE is set and comes before auto: null"

# ---- time of each kernel
for name in null:0 $names; do
    passes "$halite" bench --gpu --device "$name" --per-op --runs 2 --warmup 1 -m "$model"
    says "kernels on $name, "
    grep -qE '^  [a-z_0-9]+ +CONV_2D +[0-9]+ +[0-9.]+ [mu]?s +[0-9.]+ %( +[0-9.]+)?$' "$work/out" || failed "no row of CONV_2D"
    grep -qE '^  total +[0-9]+ +[0-9.]+ [mu]?s +[0-9.]+ %( +[0-9.]+)?$' "$work/out" || failed "no total"
    awk '/^kernels on/ { rows = 1 } !rows || !sub(/ %.*/, "") { next } $1 == "total" { total = $2; next } { sum += $(NF - 3) }
        END { exit !(sum == total && sum >= 6) }' "$work/out" || failed "the dispatches do not add up"
done

# Half a terabyte: what fails is told, not where nodes would have run.
refuses 1 "tensor image takes 512000000000 bytes" "$halite" run "$model" --shape image=2000000000,8,8,1 --device null

# ---- models with more to tell
if has "$shared/models/text/recommendation_cnn_i10o100.tflite" "a model in parts"; then
    passes "$halite" inspect --placement --device null "$shared/models/text/recommendation_cnn_i10o100.tflite"
    grep -qE "^ +[0-9]+ +[A-Z_0-9]+ +[0-9]+ +CPU +[A-Z_]+ +[^ ].*: tensor [0-9]+ '.*' [a-z0-9]+\[[0-9,]*\]$" "$work/out" ||
        failed "no tensor at fault"
    passes "$halite" inspect --json --placement --device null "$shared/models/text/recommendation_cnn_i10o100.tflite"
    check "$work/out" '
nodes = m["placement"]["subgraphs"][0]
tensors = m["subgraphs"][0]["tensors"]
assert not m["placement"]["assumed"]
assert sum(n["where"] == "GPU" for n in nodes) == m["placement"]["on_gpu"] < len(nodes)
at_fault = [n["tensor"] for n in nodes if "tensor" in n]
assert at_fault and all(n["where"] == "CPU" and n["reason"] != "OK" for n in nodes if "tensor" in n)
assert all(t["name"] == tensors[t["index"]]["name"] and t["type"] == tensors[t["index"]]["type"] for t in at_fault)'
fi
if has "$shared/models/text/recommendation_rnn_i10o100.tflite" "a model with two subgraphs"; then
    passes "$halite" inspect --placement --device null "$shared/models/text/recommendation_rnn_i10o100.tflite"
    says "  subgraph 1"
fi
if has "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite" "a model with shapes of the run"; then
    passes "$halite" inspect --placement "$shared/models/odd/whitespace_tokenizer_to_tensor.tflite"
    says "all on the CPU: the delegate was not asked"
    says "not applied: Attempting to use a delegate that only supports static-sized tensors"
    [ "$(tail -n 1 "$work/out")" = "0 of 1 operators on the GPU in 0 partitions" ] || failed "the last line"
fi
# A model with an operator that nothing here knows is looked at all the same.
other=$shared/models/odd/testconv1_edgetpu_compiled.tflite
if has "$other" "an unknown operator"; then
    passes "$halite" inspect --placement --device null "$other"
    matches 'edgetpu-custom-op +1 +CPU +NO_KERNEL'
    passes "$halite" compat "$other"
    says "0 of 1 operators have a GPU kernel"
fi
# A graph in several parts: how many more nodes there are, and the flag that takes them.
parts=$shared/models/pose/movenet_single_pose_lightning_ptq.tflite
if has "$parts" "a graph in several parts"; then
    passes "$halite" inspect --placement "$parts"
    matches '^[0-9]+ of [0-9]+ operators on the GPU in 1 partition'
    matches '^[0-9]+ more could run there in further partitions: --partitions [0-9]+$'
    one=$(sed -n 's/^\([0-9]*\) of .* on the GPU.*/\1/p' "$work/out")
    more=$(sed -n 's/^\([0-9]*\) more could run.*/\1/p' "$work/out")
    wanted=$(sed -n 's/.*--partitions //p' "$work/out")
    passes "$halite" inspect --placement --partitions "$wanted" "$parts"
    all=$(sed -n 's/^\([0-9]*\) of .* on the GPU in [0-9]* partitions$/\1/p' "$work/out")
    [ "$all" -gt "$one" ] && [ "$all" -le $((one + more)) ] || failed "$one, and $more more: $all"
fi
finish
