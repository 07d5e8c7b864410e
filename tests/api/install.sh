#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh BUILD CC GENERATOR: installs to an empty DESTDIR, then builds README's C program against it in four ways
# (pkg-config and CMake, shared and static), and runs each; where the GPU delegate was built, a program against that as well.
# Runs in the repository's root.
set -eu
build=$1
cc=$2
generator=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/root cmake --install "$build" >"$work/install.log"
root=$(dirname "$(dirname "$(find "$work/root" -path '*/include/halite/halite.h')")")
root=${root%/include}
library=$(find "$work/root" -name libtensorflowlite_c.so)
pc=$(find "$work/root" -name tensorflowlite_c.pc)
config=$(find "$work/root" -name tensorflowlite_cConfig.cmake)
[ -x "$root/bin/halite" ] || { echo "no $root/bin/halite"; exit 1; }
for file in bin/run_eval share/man/man1/run_eval.1 share/bash-completion/completions/run_eval \
    share/halite/coco_ground_truth.py share/doc/halite/LICENSE share/doc/halite/docs/platforms.md; do
    [ -e "$root/$file" ] || { echo "no $root/$file"; exit 1; }
done
if grep -rn "$PWD\|$build" "$work/root" --include='*.cmake' --include='*.pc'; then
    echo "installed files name the build tree"
    exit 1
fi

mkdir "$work/app"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >"$work/app/app.c"
[ "$(grep -c 'int main' "$work/app/app.c")" -eq 1 ] || { echo "README.md has no C program, or several"; exit 1; }

# run NAME PROGRAM: the program classifies the drawing in it.
run() {
    (root=$PWD && cd "$work" && LD_LIBRARY_PATH=$(dirname "$library") "$2" "$root/demo/digits.tflite" >"$work/out")
    grep -q '^2: *9[0-9]\.\|^2: *100' "$work/out" || {
        cat "$work/out"
        echo "$1: the drawing is not recognized"
        exit 1
    }
    echo "$1: works"
}

export PKG_CONFIG_PATH="${pc%/*}"
# shellcheck disable=SC2046  # flags are words
"$cc" -Wall -Wextra -Werror $(pkg-config --cflags tensorflowlite_c) "$work/app/app.c" -o "$work/shared" \
    $(pkg-config --libs tensorflowlite_c)
run 'pkg-config, shared' "$work/shared"
# LiteRT's paths of the headers
sed 's,<tensorflow/lite/,<tflite/,' "$work/app/app.c" >"$work/app/litert.c"
grep -q '<tflite/c/c_api.h>' "$work/app/litert.c" || { echo "README.md's program includes no header of ours"; exit 1; }
# shellcheck disable=SC2046
"$cc" -Wall -Wextra -Werror $(pkg-config --cflags tensorflowlite_c) "$work/app/litert.c" -o "$work/litert" \
    $(pkg-config --libs tensorflowlite_c)
run 'paths of LiteRT' "$work/litert"
# shellcheck disable=SC2046
"$cc" $(pkg-config --cflags tensorflowlite_c) "$work/app/app.c" -o "$work/static" \
    $(pkg-config --variable=static_libs tensorflowlite_c)
if ldd "$work/static" | grep tensorflowlite; then
    echo "the static program wants the shared library"
    exit 1
fi
run 'pkg-config, static' "$work/static"

# Other names of the library, which are asked for.
if [ -n "$(find "$work/root" -name 'libtensorflow-lite.so')" ]; then
    echo "link names are installed without being asked for"
    exit 1
fi
DESTDIR=$work/root cmake --install "$build" --component link_names >>"$work/install.log"
# shellcheck disable=SC2046
"$cc" $(pkg-config --cflags tensorflowlite_c) "$work/app/app.c" -o "$work/named" -L "$(dirname "$library")" \
    -Wl,--no-as-needed -ltensorflow-lite -ltensorflowlite -ltensorflowlite-delegate_xnnpack -lXNNPACK \
    -ltensorflowlite-delegate_external
run 'link names' "$work/named"

# docs/gpu.md's program, on the device that needs none.
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/gpu.md >"$work/app/gpu.c"
[ "$(grep -c 'int main' "$work/app/gpu.c")" -eq 1 ] || { echo "docs/gpu.md has no C program, or several"; exit 1; }

# run_gpu NAME PROGRAM
run_gpu() {
    LD_LIBRARY_PATH=$(dirname "$library") "$2" demo/digits.tflite null >"$work/out"
    [ "$(grep -c ' GPU$' "$work/out")" -eq 7 ] || {
        cat "$work/out"
        echo "$1: not all nodes are on the GPU"
        exit 1
    }
    echo "$1: works"
}

if [ -n "$(find "$work/root" -name libtensorflowlite_gpu_delegate.so)" ]; then
    gpu="tensorflowlite_gpu_delegate tensorflowlite_c"
    # shellcheck disable=SC2046,SC2086
    "$cc" -Wall -Wextra -Werror $(pkg-config --cflags $gpu) "$work/app/gpu.c" -o "$work/gpu" $(pkg-config --libs $gpu)
    run_gpu 'GPU delegate, pkg-config, shared' "$work/gpu"
    # shellcheck disable=SC2046,SC2086
    "$cc" $(pkg-config --cflags $gpu) "$work/app/gpu.c" -o "$work/gpu" $(pkg-config --variable=static_libs $gpu)
    run_gpu 'GPU delegate, pkg-config, static' "$work/gpu"
fi

cat >"$work/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(tensorflowlite_c 0.1 REQUIRED)
add_executable(shared app.c)
target_link_libraries(shared tensorflowlite_c::tensorflowlite_c)
add_executable(static app.c)
target_link_libraries(static tensorflowlite_c::static)
if(TARGET tensorflowlite_c::gpu_delegate)
    add_executable(gpu gpu.c)
    target_link_libraries(gpu tensorflowlite_c::gpu_delegate tensorflowlite_c::tensorflowlite_c)
    add_executable(gpu_static gpu.c)
    target_link_libraries(gpu_static tensorflowlite_c::gpu_delegate_static tensorflowlite_c::static)
endif()
END
{
    cmake -G "$generator" -S "$work/app" -B "$work/out-cmake" -DCMAKE_C_COMPILER="$cc" -Dtensorflowlite_c_DIR="${config%/*}"
    cmake --build "$work/out-cmake"
} >"$work/cmake.log" 2>&1 || {
    cat "$work/cmake.log"
    exit 1
}
run 'find_package, shared' "$work/out-cmake/shared"
run 'find_package, static' "$work/out-cmake/static"
if [ -n "${gpu:-}" ]; then
    run_gpu 'GPU delegate, find_package, shared' "$work/out-cmake/gpu"
    run_gpu 'GPU delegate, find_package, static' "$work/out-cmake/gpu_static"
fi
