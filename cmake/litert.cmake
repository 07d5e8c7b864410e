# SPDX-License-Identifier: Apache-2.0
# LiteRT 2: libLiteRtGpuAccelerator, the GPU delegate as LiteRT's CompiledModel takes it, one file that needs no other.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT TARGET tensorflowlite_gpu_delegate_static)
    return()
endif()
file(GLOB litert_accelerator_files CONFIGURE_DEPENDS src/litert/*.c src/litert/accelerator/*.c)
add_library(halite_litert_accelerator OBJECT ${litert_accelerator_files})
target_link_libraries(halite_litert_accelerator PRIVATE halite_flags)
target_compile_options(halite_litert_accelerator PRIVATE ${smaller})
add_library(LiteRtGpuAccelerator SHARED $<TARGET_OBJECTS:halite_litert_accelerator>)
# LiteRT closes the library with its environment, while drivers that it opened may have threads and exit handlers that
# call back: nodelete keeps it in memory until the process ends.
set(litert_exports ${PROJECT_SOURCE_DIR}/cmake/litert_accelerator.map)
target_link_options(LiteRtGpuAccelerator PRIVATE ${drop_unused} -Wl,-z,nodelete -Wl,--version-script=${litert_exports})
set_target_properties(LiteRtGpuAccelerator PROPERTIES LINK_DEPENDS ${litert_exports})
target_link_libraries(LiteRtGpuAccelerator PRIVATE
    halite_flags tensorflowlite_gpu_delegate_static m ${CMAKE_DL_LIBS} Threads::Threads)
if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    target_link_options(LiteRtGpuAccelerator PRIVATE -Wl,--no-undefined)
endif()
