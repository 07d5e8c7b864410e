#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD MODE [ARGUMENT]: builds the Swift package with the libraries of the build folder BUILD, and
#     unit          runs all tests on the CPU
#     gpu DEVICE    runs those of delegates with HALITE_DEVICE=DEVICE
#     asan          runs all tests under Swift's address sanitizer
# Everything that is built lies in BUILD/swift. Ends with 77 where there is no Swift, no XCTest or no such device.
set -eu
build=$1
mode=$2
repository=$(cd "$(dirname "$0")/../../.." && pwd)
if ! command -v swift >/dev/null 2>&1; then
    echo "skipped: no swift here; toolchains are at swift.org"
    exit 77
fi
if ! echo 'import XCTest' | swiftc -typecheck - 2>/dev/null; then
    echo "skipped: this swift has no XCTest"
    exit 77
fi

configuration=debug
options="-Xswiftc -strict-concurrency=complete -Xswiftc -warnings-as-errors"
if [ "$mode" = asan ]; then
    configuration=asan
    options="$options --sanitize=address"
    if ! echo | swiftc -sanitize=address -o "$build/swift-asan-probe" - 2>/dev/null; then
        echo "skipped: this swift has no address sanitizer"
        exit 77
    fi
fi
folder=$build/swift
mkdir -p "$folder"
export PKG_CONFIG_PATH="$build"
(
    command -v flock >/dev/null && flock 9
    # shellcheck disable=SC2086  # the options are words
    swift build --package-path "$repository/bindings/swift" --scratch-path "$folder/$configuration" \
        --cache-path "$folder/cache" --config-path "$folder/config" --security-path "$folder/security" \
        --disable-automatic-resolution --build-tests $options -Xcc -I"$repository/include" -Xlinker -L"$build/lib" \
        -Xlinker -rpath -Xlinker "$build/lib" >"$folder/$configuration.log" 2>&1 9>&-
) 9>"$folder/lock" || {
    grep -E 'error|warning' "$folder/$configuration.log" || cat "$folder/$configuration.log"
    exit 1
}

export HALITE_REPOSITORY="$repository"
tests=$folder/$configuration/debug/TensorFlowLitePackageTests.xctest
case $mode in
unit) HALITE_DEVICE='' exec "$tests" ;;
asan) HALITE_DEVICE='' exec env ASAN_OPTIONS=detect_leaks=0 "$tests" ;;
gpu)
    status=0
    HALITE_DEVICE=$3 "$tests" TensorFlowLiteTests.MetalDelegateTests >"$folder/gpu.$3.log" 2>&1 || status=$?
    cat "$folder/gpu.$3.log"
    [ $status -eq 0 ] || exit $status
    ! grep -q 'Test skipped - no GPU' "$folder/gpu.$3.log" || exit 77
    ;;
*)
    echo "run.sh: unknown mode $mode"
    exit 2
    ;;
esac
