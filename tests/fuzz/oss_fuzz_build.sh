#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# oss_fuzz_build.sh: what OSS-Fuzz runs in its container, with CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, OUT and WORK in
# the environment: each target with its seeds and its dictionary goes to $OUT. Needs cmake, ninja and zip. Fuzzing engines are
# C++, so the C++ compiler links.
set -eu
cd "$(dirname "$0")/../.."
cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" \
    -DCMAKE_C_LINK_EXECUTABLE="$CXX $CXXFLAGS <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>" \
    -DHALITE_FUZZ=ON -DHALITE_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_GPU=AUTO
cmake --build "$WORK/build" --target fuzz
"$WORK/build/bin/fuzz_seeds" "$WORK/seeds"
for target in "$WORK"/build/bin/fuzz_*; do
    name=${target##*/}
    [ "$name" != fuzz_seeds ] || continue
    cp "$target" "$WORK/seeds/$name.dict" "$OUT/"
    (cd "$WORK/seeds/$name.corpus" && zip -q -r - .) >"$OUT/${name}_seed_corpus.zip"
done
