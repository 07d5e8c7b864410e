#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libraries.sh PREFIX CMAKE-OPTION...: what the halite command is linked with, for another system or processor, which
# Debian has no packages for: libjpeg-turbo and cJSON, static, built from Debian's sources by the compiler that the options
# say (CMAKE_TOOLCHAIN_FILE and what that file takes). In: these sources, fetched by apt-get unless HALITE_LIBRARY_SOURCES
# names a folder with their archives; stb's headers of this machine. Out: lib, include and licenses in PREFIX, for the
# toolchain file's HALITE_PREFIX. Ends with 77 where the sources cannot be had.
set -eu
prefix=$1
shift
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
cd "$(dirname "$0")/.."
work=$PWD/build/libraries
[ ! -f "$prefix/licenses/stb.txt" ] || exit 0 # written last

# cannot WORD...: this machine lacks something; the status that ctest reads as skipped.
cannot() {
    echo "libraries: $*" >&2
    exit 77
}

# Debian's package lists with sources among them, kept apart from those of the system.
fetch_sources() {
    command -v apt-get >/dev/null || cannot "no sources of libjpeg-turbo and cJSON; see HALITE_LIBRARY_SOURCES"
    apt=$work/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$sources"
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
    ) || cannot "apt-get has no sources of libjpeg-turbo and cJSON (build/libraries/apt/log); see HALITE_LIBRARY_SOURCES"
}

stb=
for folder in ${STB_HEADERS:-} /usr/include /usr/local/include; do
    if [ -f "$folder/stb/stb_image.h" ]; then stb=$folder/stb; fi
done
[ -n "$stb" ] || cannot "no stb/stb_image.h (libstb-dev)"

sources=${HALITE_LIBRARY_SOURCES:-$work/sources}
ls "$sources"/libjpeg-turbo*.tar.gz >/dev/null 2>&1 && ls "$sources"/cjson*.tar.gz >/dev/null 2>&1 || fetch_sources
mkdir -p "$prefix/include/stb" "$prefix/include/cjson" "$prefix/lib" "$prefix/licenses"
for name in libjpeg-turbo cjson; do
    rm -rf "$prefix/build/$name" "$prefix/sources/$name"
    mkdir -p "$prefix/sources/$name"
    archive=$(ls "$sources/$name"*orig.tar.gz "$sources/$name"*.tar.gz 2>/dev/null | head -1)
    tar -C "$prefix/sources/$name" --strip-components=1 -xf "$archive"
done

cmake -S "$prefix/sources/libjpeg-turbo" -B "$prefix/build/libjpeg-turbo" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DENABLE_SHARED=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF
cmake --build "$prefix/build/libjpeg-turbo" --target jpeg-static
cp "$prefix/build/libjpeg-turbo/libjpeg.a" "$prefix/lib/"
cmake -S "$prefix/sources/cjson" -B "$prefix/build/cjson" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@" -DCMAKE_C_FLAGS=-fPIC \
    -DBUILD_SHARED_LIBS=OFF -DENABLE_CJSON_TEST=OFF -DENABLE_CUSTOM_COMPILER_FLAGS=OFF
cmake --build "$prefix/build/cjson" --target cjson
cp "$prefix/build/cjson/libcjson.a" "$prefix/lib/"

for header in jpeglib jmorecfg jerror; do cp "$prefix/sources/libjpeg-turbo/$header.h" "$prefix/include/"; done
cp "$prefix/build/libjpeg-turbo/jconfig.h" "$prefix/include/"
cp "$prefix/sources/cjson/cJSON.h" "$prefix/include/cjson/"
cp "$stb"/*.h "$prefix/include/stb/"
cp "$prefix/sources/libjpeg-turbo/LICENSE.md" "$prefix/licenses/libjpeg-turbo.md"
cp "$prefix/sources/libjpeg-turbo/README.ijg" "$prefix/licenses/libjpeg-ijg.txt"
cp "$prefix/sources/cjson/LICENSE" "$prefix/licenses/cJSON.txt"
sed -n '/^This software is available under 2 licenses/,/^\*\/$/p' "$stb/stb_image.h" >"$prefix/licenses/stb.txt"
