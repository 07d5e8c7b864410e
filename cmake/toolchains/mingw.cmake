# SPDX-License-Identifier: Apache-2.0
# Cross-compiling for Windows on x86-64 with mingw-w64's gcc, Debian's package gcc-mingw-w64-x86-64-win32:
#   cmake -B build/windows -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/mingw.cmake
# Where Wine is there, tests run in it. HALITE_PREFIX is a folder with libraries that were built for Windows.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HALITE_PREFIX)
find_program(CMAKE_C_COMPILER NAMES x86_64-w64-mingw32-gcc-win32 x86_64-w64-mingw32-gcc)
find_program(CMAKE_RC_COMPILER NAMES x86_64-w64-mingw32-windres)
# The libraries need KERNEL32.dll and msvcrt.dll alone.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static-libgcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static-libgcc)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${HALITE_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(HALITE_WINE NAMES wine wine64)
if(HALITE_WINE)
    # In a folder for Wine's registry and drives that belongs to this build.
    set(HALITE_IN_WINE ${CMAKE_COMMAND} -E env WINEDEBUG=-all WINEPREFIX=${CMAKE_BINARY_DIR}/wine)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${HALITE_IN_WINE} ${HALITE_WINE})
    find_program(HALITE_WINESERVER NAMES wineserver)
endif()
