#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD MODE [ARGUMENT]: builds the Swift package with the libraries of the build folder BUILD, and
#     unit          runs all tests on the CPU
#     gpu DEVICE    runs those of delegates, and the snippets of documents, with HALITE_DEVICE=DEVICE
#     asan          runs all tests under Swift's address sanitizer
#     package       installs the libraries and builds a program with the package by pkg-config alone
#     bench MODEL   says how much longer an invocation takes from Swift than from C
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

folder=$build/swift
mkdir -p "$folder"
configuration=debug
options="-Xswiftc -strict-concurrency=complete -Xswiftc -warnings-as-errors"
if [ "$mode" = asan ]; then
    configuration=asan
    options="$options --sanitize=address"
    if ! echo | swiftc -sanitize=address -o "$folder/asan-probe" - 2>/dev/null; then
        echo "skipped: this swift has no address sanitizer"
        exit 77
    fi
fi
if [ "$mode" = bench ]; then
    configuration=release
    options="-c release --product overhead"
else
    options="$options --build-tests"
fi
if [ "$mode" = package ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
    mkdir -p "$work/app/Sources/App"
    # As README.md says.
    cat >"$work/app/Package.swift" <<'MANIFEST'
// swift-tools-version:5.5
import PackageDescription

let package = Package(
    name: "App",
    dependencies: [.package(path: "../halite/bindings/swift")],
    targets: [.executableTarget(name: "App", dependencies: [.product(name: "TensorFlowLite", package: "swift")])]
)
MANIFEST
    cat >"$work/app/Sources/App/main.swift" <<'PROGRAM'
import TensorFlowLite

let interpreter = try Interpreter(modelPath: CommandLine.arguments[1])
try interpreter.allocateTensors()
try interpreter.invoke()
print(Runtime.version, try interpreter.output(at: 0).shape.dimensions)
PROGRAM
    ln -s "$repository" "$work/halite"
    config=$(dirname "$(find "$work/prefix" -name tensorflowlite_c.pc)")
    PKG_CONFIG_PATH=$config swift build --package-path "$work/app" --cache-path "$folder/cache" \
        --config-path "$folder/config" --security-path "$folder/security"
    LD_LIBRARY_PATH=$(dirname "$config") "$work/app/.build/debug/App" demo/digits.tflite | tee "$work/out"
    grep -q '\[1, 10\]$' "$work/out"
    exit 0
fi
export PKG_CONFIG_PATH="$build"
(
    command -v flock >/dev/null && flock 9
    # shellcheck disable=SC2086  # the options are words
    swift build --package-path "$repository/bindings/swift" --scratch-path "$folder/$configuration" \
        --cache-path "$folder/cache" --config-path "$folder/config" --security-path "$folder/security" \
        --disable-automatic-resolution $options -Xcc -I"$repository/include" -Xlinker -L"$build/lib" \
        >"$folder/$configuration.log" 2>&1 9>&-
) 9>"$folder/lock" || {
    grep -E 'error|warning' "$folder/$configuration.log" || cat "$folder/$configuration.log"
    exit 1
}

export HALITE_REPOSITORY="$repository"
export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
tests=$folder/$configuration/debug/TensorFlowLitePackageTests.xctest
case $mode in
unit)
    HALITE_DEVICE='' "$tests"
    "$folder/debug/debug/classify" | tee "$folder/classify.log"
    grep -q ' seven$' "$folder/classify.log"
    # Without the GPU delegate's library all but the delegate works.
    mkdir -p "$folder/cpu_only"
    ln -sf "$build/lib/libtensorflowlite_c.so" "$folder/cpu_only/libtensorflowlite_c.so"
    LD_LIBRARY_PATH=$folder/cpu_only "$tests" TensorFlowLiteTests.MetalDelegateTests,TensorFlowLiteTests.InterpreterTests \
        >"$folder/cpu_only.log" 2>&1 || {
        cat "$folder/cpu_only.log"
        exit 1
    }
    grep -m 1 'there is no GPU delegate: ' "$folder/cpu_only.log"
    # What the podspec's subspec Core leaves out is nothing that it needs.
    cd "$repository/bindings/swift"
    left_out=$(sed -n 's/.*%w\[\([A-Za-z ]*\)\].*%w\[\([A-Za-z ]*\)\].*/\1 \2/p' TensorFlowLiteSwift.podspec)
    [ -n "$left_out" ]
    core=$(ls Sources/TensorFlowLite/*.swift)
    for file in $left_out; do
        [ -f "Sources/TensorFlowLite/$file.swift" ]
        core=$(echo "$core" | grep -v "/$file\.swift\$")
    done
    # shellcheck disable=SC2086  # a list of files
    swiftc -typecheck -swift-version 5 -module-name TensorFlowLite -ISources/TensorFlowLiteC -Xcc \
        -I"$repository/include" $core
    echo "the subspec Core compiles by itself"
    if command -v swift-format >/dev/null; then
        swift-format lint --strict --recursive Package.swift Sources Tests bench example
    fi
    ;;
asan)
    # XCTest keeps its suites for ever, so that leaks are an error only where the library or the module is in the stack.
    HALITE_DEVICE='' ASAN_OPTIONS=detect_leaks=1 "$tests" >"$folder/asan.test.log" 2>&1 || true
    if ! grep -q 'Executed [0-9]* tests, .*with .*0 failures' "$folder/asan.test.log" ||
        grep -E 'ERROR: AddressSanitizer|error:|#[0-9]+ .*(/libtensorflowlite|/Sources/TensorFlowLite/)' \
            "$folder/asan.test.log"; then
        cat "$folder/asan.test.log"
        exit 1
    fi
    tail -1 "$folder/asan.test.log"
    ;;
gpu)
    status=0
    HALITE_DEVICE=$3 HALITE_COMPATIBILITY=software "$tests" \
        TensorFlowLiteTests.MetalDelegateTests,TensorFlowLiteTests.SnippetTests,TensorFlowLiteTests.ExampleTests \
        >"$folder/gpu.$3.log" 2>&1 || status=$?
    cat "$folder/gpu.$3.log"
    [ $status -eq 0 ] || exit $status
    ! grep -q 'Test skipped - no GPU' "$folder/gpu.$3.log" || exit 77
    ;;
bench) exec "$folder/release/release/overhead" "$3" ;;
*)
    echo "run.sh: unknown mode $mode"
    exit 2
    ;;
esac
