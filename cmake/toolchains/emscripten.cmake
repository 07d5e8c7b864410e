# SPDX-License-Identifier: Apache-2.0
# Cross-compiling to WebAssembly with SIMD by Emscripten (Debian's package emscripten), whose own toolchain file this one calls:
#   cmake -B build/wasm -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/emscripten.cmake
# Programs run in node, see the machine's files there, and have one thread.
find_program(HALITE_EMCC emcc)
if(NOT HALITE_EMCC)
    message(FATAL_ERROR "No emcc here: install Emscripten (emscripten)")
endif()
get_filename_component(emscripten ${HALITE_EMCC} REALPATH)
get_filename_component(emscripten ${emscripten} DIRECTORY)
include(${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_C_FLAGS_INIT -msimd128)
# -O1: the code is optimized already, and the glue in JavaScript need not be.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-O1 -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=1048576")
# Emscripten 3.1 takes a node that has fetch for a browser.
find_program(HALITE_NODE NAMES node nodejs)
if(HALITE_NODE)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${HALITE_NODE} --no-experimental-fetch)
endif()
