#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# platform.sh linux-aarch64|linux-x86_64...: builds the JNI libraries for a platform by zig, for glibc 2.17 and later, into
# build/java/PLATFORM/lib, where package.sh takes them from. Needs zig (`pip install ziglang`) and a JDK's headers; ends with 77
# where they are missing.
set -eu
cd "$(dirname "$0")/../../.."
zig=${HALITE_ZIG:-}
for name in zig python-zig "$PWD/build/zig/bin/python-zig"; do
    [ -n "$zig" ] || zig=$(command -v "$name" || true)
done
[ -n "$zig" ] || { echo "platform: no zig (pip install ziglang, or ./dev build aarch64)"; exit 77; }
javac=$(command -v javac) || { echo "platform: no JDK (openjdk-17-jdk-headless)"; exit 77; }
headers=$(dirname "$(dirname "$(readlink -f "$javac")")")/include
[ -f "$headers/jni.h" ] || { echo "platform: no jni.h in $headers"; exit 77; }
for platform in "$@"; do
    cmake -S . -B "build/java/$platform" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/zig.cmake" \
        -DHALITE_ZIG="$zig" -DHALITE_TARGET="${platform#linux-}-linux-gnu.2.17" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_SHARED_LINKER_FLAGS=-s -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_PYTHON=OFF \
        -DHALITE_INSTALL=OFF -DHALITE_JAVA=ON \
        -DJNI_HEADERS="$headers" -DJNI_MACHINE_HEADERS="$headers/linux" >"build/java-$platform.log" 2>&1 ||
        { cat "build/java-$platform.log"; exit 1; }
    cmake --build "build/java/$platform" --target tensorflowlite_jni tensorflowlite_gpu_jni
done
