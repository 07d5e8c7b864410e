#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# left_out.sh LIBTENSORFLOWLITE_C.so CC: the GPU delegate is built without each of its backends in turn, and without all. What
# is left out is not in the library; who asks for it is told which option puts it in; the others are still known.
set -eu
runtime=$1
cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$work/build/lib/libtensorflowlite_gpu_delegate.so

fail() {
    echo "left_out.sh: $*"
    exit 1
}

# Each backend, and a text that only its own files have.
backends='OPENCL:clEnqueueNDRangeKernel VULKAN:vkQueueSubmit GLES:eglMakeCurrent METAL:MTLCreateSystemDefaultDevice
    CUDA:cuLaunchKernel'
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' docs/gpu.md >"$work/client.c"

# check NAME...: builds without these.
check() {
    set -- " $* "
    options=
    for row in $backends; do
        case $1 in *" ${row%:*} "*) value=OFF ;; *) value=ON ;; esac
        options="$options -DHALITE_${row%:*}=$value"
    done
    # shellcheck disable=SC2086  # the list is words
    cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cc" -DHALITE_WERROR=ON \
        -DHALITE_GPU=ON -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_PYTHON=OFF -DHALITE_JAVA=OFF -DHALITE_OBJC=OFF \
        $options >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake cannot configure it without$1"; }
    cmake --build "$work/build" --target tensorflowlite_gpu_delegate >"$work/log" 2>&1 ||
        { grep 'error\|undefined' "$work/log"; fail "it cannot be built without$1"; }
    strip -o "$work/stripped" "$library"
    "$cc" -std=c11 -Iinclude "$work/client.c" "$library" "$runtime" -o "$work/client"
    for row in $backends; do
        name=${row%:*}
        LD_LIBRARY_PATH=$work/build/lib:${runtime%/*} "$work/client" demo/digits.tflite \
            "$(echo "$name" | tr '[:upper:]' '[:lower:]')" >"$work/out" 2>&1 || true
        case $1 in
            *" $name "*)
                ! grep -q "${row#*:}" "$work/stripped" || fail "$name was left out, and ${row#*:} is in the library"
                grep -q "not in this build of the library; CMake's -DHALITE_$name=ON puts it in" "$work/out" ||
                    fail "no word of HALITE_$name: $(cat "$work/out")"
                ;;
            *)
                grep -q "${row#*:}" "$work/stripped" || fail "$name is not in the library without$1"
                ! grep -q 'not in this build' "$work/out" || fail "without$1: $(cat "$work/out")"
                ;;
        esac
    done
    [ "$(LD_LIBRARY_PATH=$work/build/lib:${runtime%/*} "$work/client" demo/digits.tflite null | grep -c ' GPU$')" -eq 7 ] ||
        fail "the delegate without$1 takes no nodes"
    echo "$(wc -c <"$work/stripped") bytes without$1"
}

for row in $backends; do check "${row%:*}"; done
check OPENCL VULKAN GLES METAL CUDA
