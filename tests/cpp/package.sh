#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package.sh BUILD CXX GENERATOR: a project in C++ finds the original's target tensorflow-lite::tensorflow-lite, both in an
# installed tree (find_package) and as a part of itself (add_subdirectory), compiles against the headers of TensorFlow Lite's
# and LiteRT's paths, and runs a model. Runs in the repository's root; ends with 77 (skipped) without a C++ compiler.
set -eu
[ -n "${2:-}" ] || { echo "skipped: no C++ compiler"; exit 77; }
build=$1
cxx=$2
generator=$3
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/app"
cat >"$work/app/main.cc" <<'END'
#include <cstdio>
#include <memory>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tflite/interpreter.h"
#include "tflite/kernels/register.h"
#include "tflite/model_builder.h"

int main(int, char **argv)
{
    auto model = tflite::FlatBufferModel::BuildFromFile(argv[1]);
    tflite::ops::builtin::BuiltinOpResolver resolver;
    std::unique_ptr<tflite::Interpreter> interpreter;
    if (!model || tflite::InterpreterBuilder(*model, resolver)(&interpreter) != kTfLiteOk) return 1;
    if (interpreter->AllocateTensors() != kTfLiteOk || interpreter->Invoke() != kTfLiteOk) return 1;
    std::printf("%zu outputs\n", interpreter->outputs().size());
    return 0;
}
END
# try NAME LINE: configures, builds and runs with this line of CMake.
try() {
    printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(app C CXX)' 'add_executable(app main.cc)' "$2" \
        'target_link_libraries(app tensorflow-lite::tensorflow-lite)' >"$work/app/CMakeLists.txt"
    {
        cmake -G "$generator" -S "$work/app" -B "$work/$1" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug
        ${3:-cmake --build "$work/$1" --target app}
    } >"$work/log" 2>&1 || {
        tail -40 "$work/log"
        exit 1
    }
}
DESTDIR=$work/tree cmake --install "$build" >"$work/install.log"
config=$(find "$work/tree" -name tensorflow-liteConfig.cmake)
library=$(find "$work/tree" -name libtensorflowlite_c.so)
try installed "set(tensorflow-lite_DIR ${config%/*})
find_package(tensorflow-lite REQUIRED)"
LD_LIBRARY_PATH=${library%/*} "$work/installed/app" demo/digits.tflite | grep -x '1 outputs'
# In a project of its own the library would be built once more: that the target is there is enough.
try in_tree "add_subdirectory($root halite)
get_target_property(linked tensorflow-lite::tensorflow-lite INTERFACE_LINK_LIBRARIES)
if(NOT linked STREQUAL tensorflowlite_c)
    message(FATAL_ERROR \"tensorflow-lite::tensorflow-lite links \${linked}\")
endif()" true
echo "tensorflow-lite::tensorflow-lite is found and links"
