# SPDX-License-Identifier: Apache-2.0
# LiteRT 2, two libraries: libLiteRt, a core of its C interface over libtensorflowlite_c, and libLiteRtGpuAccelerator, the GPU
# delegate as LiteRT's CompiledModel takes it, one file that needs no other.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
endif()

# ---- libLiteRt
file(GLOB litert_core_files CONFIGURE_DEPENDS src/litert/core/*.c)
add_library(halite_litert_text OBJECT src/litert/options_text.c) # of both
add_library(halite_litert_core OBJECT ${litert_core_files})
add_library(halite_litert_base OBJECT ${halite_base_files})
foreach(objects halite_litert_text halite_litert_core halite_litert_base)
    target_link_libraries(${objects} PRIVATE halite_flags)
    target_compile_options(${objects} PRIVATE ${smaller})
endforeach()
add_library(LiteRt SHARED
    $<TARGET_OBJECTS:halite_litert_text> $<TARGET_OBJECTS:halite_litert_core> $<TARGET_OBJECTS:halite_litert_base>)
set(litert_exports ${PROJECT_SOURCE_DIR}/cmake/litert_exports.map)
target_link_options(LiteRt PRIVATE ${drop_unused} -Wl,--version-script=${litert_exports})
set_target_properties(LiteRt PROPERTIES LINK_DEPENDS ${litert_exports})
target_link_libraries(LiteRt PRIVATE $<BUILD_INTERFACE:halite_flags> tensorflowlite_c m ${CMAKE_DL_LIBS} Threads::Threads)
target_include_directories(LiteRt INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
add_library(tensorflowlite_c::LiteRt ALIAS LiteRt)

# ---- libLiteRtGpuAccelerator
if(NOT TARGET tensorflowlite_gpu_delegate_static)
    return()
endif()
file(GLOB litert_accelerator_files CONFIGURE_DEPENDS src/litert/accelerator/*.c)
add_library(halite_litert_accelerator OBJECT ${litert_accelerator_files})
target_link_libraries(halite_litert_accelerator PRIVATE halite_flags)
target_compile_options(halite_litert_accelerator PRIVATE ${smaller})
add_library(LiteRtGpuAccelerator SHARED
    $<TARGET_OBJECTS:halite_litert_accelerator> $<TARGET_OBJECTS:halite_litert_text>)
# LiteRT closes the library with its environment, while drivers that it opened may have threads and exit handlers that
# call back: nodelete keeps it in memory until the process ends.
set(accelerator_exports ${PROJECT_SOURCE_DIR}/cmake/litert_accelerator.map)
target_link_options(LiteRtGpuAccelerator PRIVATE ${drop_unused} -Wl,-z,nodelete -Wl,--version-script=${accelerator_exports})
set_target_properties(LiteRtGpuAccelerator PROPERTIES LINK_DEPENDS ${accelerator_exports})
target_link_libraries(LiteRtGpuAccelerator PRIVATE
    halite_flags tensorflowlite_gpu_delegate_static m ${CMAKE_DL_LIBS} Threads::Threads)
if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    target_link_options(LiteRtGpuAccelerator PRIVATE -Wl,--no-undefined)
    target_link_options(LiteRt PRIVATE -Wl,--no-undefined)
endif()
