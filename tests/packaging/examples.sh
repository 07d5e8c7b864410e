#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples.sh BUILD CC GENERATOR: each project of examples/ is built as its page says, and reads README's digit: those for an
# installed library against what BUILD installs, the others from a repository with this tree.
set -eu
build=$1
CC=$2
CMAKE_GENERATOR=$3
export CC CMAKE_GENERATOR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
left_out=

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >"$work/app.c"
sed '1,2d' examples/app.c | diff "$work/app.c" - || { echo "examples/app.c is not README's program"; exit 1; }

mkdir "$work/tree"
git ls-files -co --exclude-standard | tar -c --ignore-failed-read -T - 2>/dev/null | tar -x -C "$work/tree"
git init -q "$work/tree"
git -C "$work/tree" add -A
git -C "$work/tree" -c user.name=test -c user.email=test@localhost commit -qm 'all: a tree for the examples'
DESTDIR=$work/root cmake --install "$build" >"$work/log"
config=$(find "$work/root" -name tensorflowlite_cConfig.cmake)
pc=$(find "$work/root" -name tensorflowlite_c.pc)
LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name libtensorflowlite_c.so)")
export LD_LIBRARY_PATH
digits=$PWD/demo/digits.tflite
cd "$work/tree/examples"

# works NAME PROGRAM
works() {
    "$2" "$digits" >"$work/log" || { cat "$work/log"; echo "$1: does not run"; exit 1; }
    grep -q '^2: *9[0-9]\.\|^2: *100' "$work/log" || { cat "$work/log"; echo "$1: the drawing is not recognized"; exit 1; }
    echo "$1: works"
}

# builds NAME COMMAND...
builds() {
    name=$1
    shift
    "$@" >"$work/log" 2>&1 || { tail -40 "$work/log"; echo "$name: not built"; exit 1; }
}

# linked NAME PROGRAM: the library is in the program.
linked() {
    if ldd "$2" | grep tensorflowlite; then
        echo "$1: wants the shared library"
        exit 1
    fi
}

if command -v make >/dev/null; then
    builds pkg_config env PKG_CONFIG_PATH="${pc%/*}" make -C pkg_config
    works pkg_config pkg_config/app
    rm pkg_config/app
    builds 'pkg_config, static' env PKG_CONFIG_PATH="${pc%/*}" make -C pkg_config LINK=static_libs
    linked 'pkg_config, static' pkg_config/app
    works 'pkg_config, static' pkg_config/app
else
    left_out="$left_out make"
fi

builds find_package cmake -S find_package -B "$work/found" -Dtensorflowlite_c_DIR="${config%/*}"
builds find_package cmake --build "$work/found"
works find_package "$work/found/app"

builds fetch_content cmake -S fetch_content -B "$work/fetched"
builds fetch_content cmake --build "$work/fetched" --target app
linked fetch_content "$work/fetched/app"
works fetch_content "$work/fetched/app"

if command -v meson >/dev/null; then
    # Where no library is found, the wrap is taken; its kernels are few to save time here.
    builds 'meson, wrap' env PKG_CONFIG_LIBDIR="$work/nothing" meson setup "$work/wrapped" meson \
        "-Dhalite:cmake_options=-DHALITE_MODELS=$digits"
    builds 'meson, wrap' meson compile -C "$work/wrapped"
    linked 'meson, wrap' "$work/wrapped/app"
    works 'meson, wrap' "$work/wrapped/app"
    builds 'meson, installed' env PKG_CONFIG_PATH="${pc%/*}" meson setup "$work/installed" meson
    [ ! -e "$work/installed/subprojects" ] || { echo "meson: the installed library is not taken"; exit 1; }
    builds 'meson, installed' meson compile -C "$work/installed"
    works 'meson, installed' "$work/installed/app"
else
    left_out="$left_out meson"
fi
[ -z "$left_out" ] || echo "left out, since they are not here:$left_out"
