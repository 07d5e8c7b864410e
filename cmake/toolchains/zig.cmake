# SPDX-License-Identifier: Apache-2.0
# Cross-compiling with zig's C compiler, which has the C libraries of many processors in it (package ziglang of PyPI, or zig):
#   cmake -B build/riscv64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/zig.cmake -DHALITE_TARGET=riscv64-linux-musl
# HALITE_TARGET is zig's name of the processor, the system and the C library; `zig targets` lists all. docs/platforms.md says
# which of them are tried. Where QEMU's program for the processor is there, tests run in it.
set(HALITE_TARGET aarch64-linux-musl CACHE STRING "What to build for, as zig names it")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HALITE_TARGET HALITE_ZIG HALITE_PREFIX)
find_program(HALITE_ZIG NAMES $ENV{HALITE_ZIG} zig python-zig DOC "zig, or the script python-zig of its package for Python")
if(NOT HALITE_ZIG)
    message(FATAL_ERROR "No zig here: `pip install ziglang`, or name it with -DHALITE_ZIG=... or in the environment")
endif()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${HALITE_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
if(HALITE_TARGET MATCHES "-macos")
    set(CMAKE_SYSTEM_NAME Darwin)
    # zig has the interface of the system's own library in it. Libraries have their final name from the start, since there
    # is no install_name_tool to change it.
    set(CMAKE_OSX_SYSROOT "")
    set(CMAKE_INSTALL_NAME_TOOL ${CMAKE_COMMAND} -E true)
    set(CMAKE_INSTALL_NAME_DIR @rpath)
    set(CMAKE_BUILD_WITH_INSTALL_NAME_DIR ON)
endif()
set(CMAKE_C_COMPILER ${HALITE_ZIG} cc)
set(CMAKE_C_COMPILER_TARGET ${HALITE_TARGET})
# zig links programs for musl with a stand-in for libc.so in which all data lies at one address. A program that copies
# stdout from there, as programs do unless their code is position-independent, would take stdin and stderr for the same.
if(HALITE_TARGET MATCHES "musl")
    set(CMAKE_C_FLAGS_INIT -fPIC)
endif()
set(CMAKE_C_ARCHIVE_CREATE "${HALITE_ZIG} ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "${HALITE_ZIG} ranlib <TARGET>")
# Nothing of this machine's libraries and headers.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR} ${HALITE_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Programs for this machine's own processor need no emulator, whatever C library they have.
find_program(HALITE_QEMU qemu-${CMAKE_SYSTEM_PROCESSOR})
if(HALITE_QEMU AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${HALITE_QEMU})
endif()
