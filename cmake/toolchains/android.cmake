# SPDX-License-Identifier: Apache-2.0
# Cross-compiling for Android with its NDK, whose own toolchain file this one calls with what Halite wants:
#   ANDROID_NDK_HOME=... cmake -B build/android/arm64-v8a -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/android.cmake
# HALITE_ANDROID_ABI is another ABI: armeabi-v7a, x86, x86_64. bindings/java/android.md says what was tried.
set(HALITE_ANDROID_ABI arm64-v8a CACHE STRING "The ABI to build for, as the NDK names it")
set(HALITE_NDK $ENV{ANDROID_NDK_HOME} CACHE PATH "The folder of the NDK")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HALITE_ANDROID_ABI HALITE_NDK)
if(NOT EXISTS ${HALITE_NDK}/build/cmake/android.toolchain.cmake)
    message(FATAL_ERROR "No NDK in '${HALITE_NDK}': set ANDROID_NDK_HOME, or -DHALITE_NDK=...")
endif()
set(ANDROID_ABI ${HALITE_ANDROID_ABI})
set(ANDROID_PLATFORM android-21)
set(ANDROID_STL none) # there is no C++ in the libraries
include(${HALITE_NDK}/build/cmake/android.toolchain.cmake)
