#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# configure.sh CC GENERATOR: what CMake makes of a user's options: libraries that are missing, operators and models that are
# not there, a project that Halite is a part of, a build for another processor. Runs in the repository's root.
set -eu
cc=$1
generator=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CMAKE_TOOLCHAIN_FILE || true

fail() {
    cat "$work/log"
    echo "configure.sh: $*"
    exit 1
}

# configure SOURCE OPTION...: leaves what CMake says in $work/log.
configure() {
    rm -rf "$work/build"
    from=$1
    shift
    cmake -G "$generator" -S "$from" -B "$work/build" -DCMAKE_C_COMPILER="$cc" "$@" >"$work/log" 2>&1
}

# refuses TEXT OPTION...
refuses() {
    text=$1
    shift
    if configure . "$@"; then fail "accepted: $*"; fi
    tr -s '\n ' '  ' <"$work/log" | grep -qF -- "$text" || fail "$*: CMake does not say '$text'"
}

if configure . -DHALITE_TESTS=OFF -DHALITE_GPU=OFF; then
    [ "$(grep -c 'bin/run_eval"' "$work/build/cmake_install.cmake")" -ge 1 ] || fail "run_eval is not installed"
    configure . -DHALITE_TESTS=OFF -DHALITE_GPU=OFF -DHALITE_INSTALL_PROGRAMS=OFF || fail "HALITE_INSTALL_PROGRAMS=OFF"
    ! grep 'bin/run_eval"' "$work/build/cmake_install.cmake" || fail "run_eval is installed in spite of the option"
    grep -q 'REGEX "[^"]*run_eval.*EXCLUDE' "$work/build/cmake_install.cmake" || fail "its manual page is installed"
fi

bare="-DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_GPU=OFF"
refuses '-DHALITE_TOOLS=OFF' -DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON
# shellcheck disable=SC2086  # options are words
{
    refuses "no operator 'CONV_99'" $bare '-DHALITE_OPS=conv_2d;CONV_99'
    refuses "no .tflite file below" $bare "-DHALITE_MODELS=$work"
    refuses "no file or folder" $bare "-DHALITE_MODELS=$work/nothing.tflite"
    refuses "no program select_ops in $work" $bare -DCMAKE_SYSTEM_NAME=Linux -DHALITE_OPS=CONV_2D "-DHALITE_HOST_TOOLS=$work"
    refuses "Cross-compiling needs a C compiler for this machine" $bare -DCMAKE_SYSTEM_NAME=Linux -DHALITE_OPS=CONV_2D \
        -DHALITE_HOST_CC=HALITE_HOST_CC-NOTFOUND -DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF \
        -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DCMAKE_MAKE_PROGRAM="$(command -v ninja || command -v make)"

    # To say the system is to cross-compile, if only to the same machine: the operators are selected by a program for this
    # one, made by this one's compiler; then by the program that the first build has left.
    rows='OP(  CONV_2D TFLite_Detection_PostProcess'
    configure . $bare -DCMAKE_SYSTEM_NAME=Linux '-DHALITE_OPS=conv_2d;tflite_detection_postprocess' || fail "cross-compiling"
    CC=false CFLAGS=-no-such-flag cmake --build "$work/build" --target selected_ops >"$work/log" 2>&1 ||
        fail "the host's programs are not built"
    made=$work/build/selected/abi/operators.def
    [ "$(grep -c '^OP(\|^CUSTOM(' "$made")" -eq 2 ] && grep -q 'OP(  CONV_2D,' "$made" || fail "not the rows of: $rows"
    mv "$work/build/host_tools/bin" "$work/ready"
    configure . $bare -DCMAKE_SYSTEM_NAME=Linux -DHALITE_OPS=SOFTMAX "-DHALITE_HOST_TOOLS=$work/ready" || fail "ready programs"
    cmake --build "$work/build" --target selected_ops >"$work/log" 2>&1 || fail "ready programs do not run"
    [ ! -e "$work/build/host_tools" ] || fail "the host's programs are built again"
    grep -q 'OP(  SOFTMAX,' "$made" || fail "a ready program selects nothing"
}

# A part of another project, in both ways that there are: nothing but libraries, under the names that find_package gives.
mkdir "$work/app"
echo 'int main(void) { return 0; }' >"$work/app/app.c"
cat >"$work/app/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(app C)
if(FETCH)
    include(FetchContent)
    FetchContent_Declare(halite SOURCE_DIR ${HALITE_FOLDER})
    FetchContent_MakeAvailable(halite)
else()
    add_subdirectory(${HALITE_FOLDER} halite)
endif()
add_executable(app app.c)
target_link_libraries(app tensorflowlite_c::tensorflowlite_c)
add_executable(app_static app.c)
target_link_libraries(app_static tensorflowlite_c::static)
if(TARGET tensorflowlite_gpu_delegate)
    target_link_libraries(app tensorflowlite_c::gpu_delegate)
    target_link_libraries(app_static tensorflowlite_c::gpu_delegate_static)
endif()
foreach(target halite golden_runner test_load select_ops)
    if(TARGET ${target})
        message(FATAL_ERROR "a project that has Halite in it builds ${target} as well")
    endif()
endforeach()
CMAKE
for fetch in OFF ON; do
    configure "$work/app" -DFETCH=$fetch "-DHALITE_FOLDER=$PWD" || fail "as a part of another project (FetchContent: $fetch)"
    for file in bin lib selected messages share tensorflowlite_c.pc CTestTestfile.cmake; do
        [ ! -e "$work/build/$file" ] || fail "as a part of another project: $file is in that project's build folder"
    done
done
# Its program runs, with the README's lines of C.
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >"$work/app/app.c"
configure "$work/app" -DFETCH=ON "-DHALITE_FOLDER=$PWD" -DHALITE_GPU=OFF -DCMAKE_BUILD_TYPE=Debug || fail "configuring to build"
cmake --build "$work/build" --target app >"$work/log" 2>&1 || fail "a program of another project does not link"
"$work/build/app" demo/digits.tflite >"$work/log" || fail "a program of another project does not run"
grep -q '^2: *9[0-9]\.\|^2: *100' "$work/log" || fail "a program of another project: the drawing is not recognized"
echo "works"
