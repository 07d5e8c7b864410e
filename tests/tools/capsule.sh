#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halite capsule: made, looked into with other programs, replayed in other ways; a run that fails; damaged capsules.
. "$(dirname "$0")/lib"
find_numpy
"$python" "$here/capsule_models.py" "$demo" "$work" || failed "the models"
capsule() { "$halite" capsule "$@"; }

# ---- what is in one ------------------------------------------------------------------------------------------------------
passes capsule make "$model" -i image=random:7 --threads 2 -o "$work/digits.capsule" --nodes
says "digits.capsule: "
says ", 1 input, 1 output, 7 tensors of nodes"
passes "$halite" run "$model" -i image=random:7 --threads 2 -o 0="$work/scores.npy" --dump-all "$work/dump"
passes "$python" "$here/capsule_models.py" check "$work/digits.capsule" "$model" "$work/scores.npy" "$work/dump"
passes capsule show "$work/digits.capsule"
matches '^ +sha256 +[0-9a-f]{64}$'
matches '^ +options +threads 2$'
says "float32[1,10]  probabilities"
says "7 nodes on the CPU: "
passes capsule show "$work/digits.capsule" --json
matches '"placement":.*7 nodes on the CPU'
run env HALITE_SIMD=baseline "$halite" capsule make "$model" -o "$work/baseline.capsule"
passes capsule show "$work/baseline.capsule"
says "HALITE_SIMD=baseline"
passes capsule make "$model" -o - --without-model
mv "$work/out" "$work/bare.capsule"
passes capsule show "$work/bare.capsule"
says "11380 bytes, not in the capsule"

# ---- replayed ------------------------------------------------------------------------------------------------------------
passes capsule replay "$work/digits.capsule" --fail
says "all within the bound"
passes capsule replay "$work/digits.capsule" --fail --nodes --kernels reference --bound 1e-5
says "all within the bound"
passes capsule replay "$work/bare.capsule" --model "$model" --fail --nodes
says "reference"
says "all within the bound"
run capsule replay "$work/digits.capsule" --device nonsense --fail
[ $code -eq 1 ] && grep -q '^then: it ran$' "$work/out" || failed "a flag in the place of what was recorded"
# Something else was recorded: by how much, and from which node on.
passes "$python" "$here/capsule_models.py" change "$work/digits.capsule" "$work/changed.capsule"
passes capsule replay "$work/changed.capsule"
matches '^ +6  SOFTMAX +[0-9]+  float32 +0\.25 '
says "1 of 1 beyond the bound, first node 6, SOFTMAX"
run capsule replay "$work/changed.capsule" --fail
[ $code -eq 1 ] || failed "--fail"
passes capsule replay "$work/changed.capsule" --nodes
says "1 of 7 beyond the bound, first node 2, "
passes capsule replay "$work/changed.capsule" --json
matches '"beyond":.*true'
# Strings, bytes of four bits, a shape that was given; nothing at random is needed.
passes capsule make "$work/strings.tflite" -i 0=text:hello -o "$work/strings.capsule"
passes capsule replay "$work/strings.capsule" --fail
passes capsule make "$work/open.tflite" -s 0=5 -i 0=zeros -o "$work/open.capsule"
passes capsule show "$work/open.capsule"
says "float32[5]"
passes capsule replay "$work/open.capsule" --fail
says "all within the bound"

# ---- a run that fails ----------------------------------------------------------------------------------------------------
run capsule make "$work/index.tflite" -i 0="$work/outside.npy" -o "$work/failing.capsule"
[ $code -eq 0 ] && grep -q '^halite capsule: ' "$work/err" || failed "a run that fails is kept"
passes capsule show "$work/failing.capsule"
matches '^ +failure +.+GATHER'
run capsule replay "$work/failing.capsule" --fail
[ $code -eq 0 ] || failed "the same failure here"
matches '^then: .*GATHER'
matches '^here: .*GATHER'
passes "$python" "$here/capsule_models.py" heal "$work/failing.capsule" "$work/healed.capsule"
run capsule replay "$work/healed.capsule" --fail
[ $code -eq 1 ] || failed "a failure here alone"
matches '^then: it ran$'

# ---- a device ------------------------------------------------------------------------------------------------------------
if has_opencl; then
    passes capsule make "$model" --device opencl -o "$work/gpu.capsule"
    passes capsule show "$work/gpu.capsule"
    matches '^ +device +opencl:'
    matches '^ +driver '
    says "7 nodes on "
    passes capsule replay "$work/gpu.capsule" --fail
    matches '^here: .*opencl:'
    passes capsule replay "$work/gpu.capsule" --cpu --fail --nodes
    says "7 nodes on the CPU"
else
    echo "left out: a GPU (no OpenCL device)"
fi

# ---- what is refused -----------------------------------------------------------------------------------------------------
refuses 2 "'brew' is no part of it" "$halite" capsule brew "$model"
refuses 1 "where does the capsule go?" "$halite" capsule make "$model"
refuses 1 "nowhere.tflite: cannot be opened" "$halite" capsule make nowhere.tflite -o "$work/x.capsule"
refuses 1 "is no capsule, which is a ZIP archive" "$halite" capsule show "$model"
refuses 1 "nowhere.capsule: cannot be opened" "$halite" capsule replay nowhere.capsule
refuses 1 "has no model in it; give digits.tflite" "$halite" capsule replay "$work/bare.capsule"
refuses 1 "is another model than the capsule's" "$halite" capsule replay "$work/bare.capsule" --model "$work/open.tflite"
[ ! -e "$work/x.capsule" ] || failed "a capsule was written after an error"
"$python" "$here/capsule_models.py" damage "$work/digits.capsule" "$work" || failed "damaged capsules"
damaged() { refuses 1 "$work/$1.capsule: $2" "$halite" capsule replay "$work/$1.capsule"; }
damaged version "is a capsule of version 2; 1 is read here"
damaged json "is no capsule: it has no capsule.json, or none that makes sense"
damaged model "is a damaged capsule: its model is not the one that capsule.json tells of"
damaged checksum "is a damaged capsule: its file 'outputs/0.npy' is not there, or not what capsule.json says"
damaged lost "is a damaged capsule: its file 'outputs/0.npy' is not there"
damaged shape "is a damaged capsule: its file 'inputs/0.npy' is not there, or not what capsule.json says"
damaged type "is a damaged capsule: its file 'inputs/0.npy' is not there, or not what capsule.json says"
damaged many "is a damaged capsule: its file 'inputs/0.npy' is not there, or not what capsule.json says"
damaged inputs "is a damaged capsule: its inputs are not those of the model"
damaged outputs "is a damaged capsule: it has 2 outputs, and its model 1"
refuses 1 "its nodes are not those of the model" "$halite" capsule replay "$work/nodes.capsule" --nodes
# A library that a stranger names is not loaded.
damaged delegate "was made with --delegate ./evil.so, which is code of a library"
damaged operators "was made with --custom-ops ./evil.so, which is code of a library"
passes capsule replay "$work/delegate.capsule" --cpu --fail
finish
