#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel_elsewhere.sh: what of the wheels of `./dev wheel` this machine cannot install: those for aarch64 in QEMU, and those
# for musl by its loader. glibc's runs the package's tests in a Python for aarch64, with numpy; of musl's the halite command
# names a digit, for Debian has no Python on musl. Loader, C library, Python and numpy are Debian's packages, unpacked into
# a folder; the system's list of packages is not touched. Skipped without the wheels, apt-get, or QEMU (qemu-user).
set -eu
root=$PWD
dist=$root/build/wheel/dist
tests=$root/bindings/python/tests
unset PYTHONPATH HALITE_COMMAND HALITE_LIBRARY_PATH LD_LIBRARY_PATH || true

cannot() {
    echo "skipped: $*"
    exit 77
}
ls "$dist"/halite-*aarch64.whl >/dev/null 2>&1 || cannot "no wheels in build/wheel/dist; ./dev wheel builds them"
for tool in apt-get dpkg-deb qemu-aarch64 unzip; do
    command -v $tool >/dev/null || cannot "no $tool"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# unpack_debian ARCHITECTURE FOLDER PACKAGE...: with all that the packages depend on.
unpack_debian() {
    architecture=$1
    folder=$2
    shift 2
    apt=$work/apt-$architecture
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$folder"
    : >"$apt/none.list"
    : >"$apt/status"
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ ! -f "$file" ] || cp "$file" "$apt/parts/"
    done
    options="-o Dir::State::lists=$apt/lists -o Dir::State::status=$apt/status -o Dir::Cache=$apt/cache
        -o Dir::Etc::sourcelist=$apt/none.list -o Dir::Etc::sourceparts=$apt/parts -o APT::Sandbox::User=root
        -o APT::Architecture=$architecture -o APT::Architectures=$architecture"
    # shellcheck disable=SC2086  # the options are words
    {
        apt-get $options update && apt-get $options install --download-only --no-install-recommends -y "$@"
    } >"$apt/log" 2>&1 || cannot "apt-get has no $* for $architecture"
    for package in "$apt/cache/archives"/*.deb; do dpkg-deb -x "$package" "$folder"; done
}

# install TAG: the wheel of that tag, as pip would unpack it, in $work/TAG.
install() {
    unzip -q "$(ls "$dist"/halite-*"$1".whl)" -d "$work/$1"
    chmod +x "$work/$1/halite/bin/halite"
}

# names_a_digit WORD...: the halite command, started by these words.
names_a_digit() {
    "$@" label demo/digits.tflite --labels demo/digits.txt demo/seven.png >"$work/said"
    grep -q ' seven ' "$work/said" || {
        cat "$work/said"
        exit 1
    }
}

unpack_debian arm64 "$work/arm64" python3 python3-numpy musl
libraries=$work/arm64/usr/lib/aarch64-linux-gnu
install manylinux_2_17_aarch64
PYTHONPATH=$work/manylinux_2_17_aarch64:$work/arm64/usr/lib/python3/dist-packages
export PYTHONPATH
for tests_of in "test_without_numpy.py" "test_interpreter.py Tensors Views Construction.test_wrong_arguments"; do
    # shellcheck disable=SC2086  # words
    qemu-aarch64 -L "$work/arm64" -E LD_LIBRARY_PATH="$libraries/blas:$libraries/lapack" \
        "$(ls "$work/arm64/usr/bin"/python3.* | head -1)" "$tests"/$tests_of
done
unset PYTHONPATH
names_a_digit qemu-aarch64 -L "$work/arm64" "$work/manylinux_2_17_aarch64/halite/bin/halite"
echo "  aarch64, glibc: works"
install musllinux_1_2_aarch64
names_a_digit qemu-aarch64 -L "$work/arm64" "$work/musllinux_1_2_aarch64/halite/bin/halite"
echo "  aarch64, musl: works"
if [ "$(uname -m)" = x86_64 ] && ls "$dist"/halite-*musllinux*x86_64.whl >/dev/null 2>&1; then
    unpack_debian amd64 "$work/amd64" musl
    install musllinux_1_2_x86_64
    names_a_digit "$work/amd64/lib/ld-musl-x86_64.so.1" "$work/musllinux_1_2_x86_64/halite/bin/halite"
    echo "  x86-64, musl: works"
fi
