# SPDX-License-Identifier: Apache-2.0
# Delegates for other people's accelerators, a shared library each, of src/delegates/NAME, src/delegates/common, src/base and
# src/abi and nothing else of src. The system's library is opened at run time and nothing is needed here.
file(GLOB delegate_common_files CONFIGURE_DEPENDS src/base/*.c src/abi/*.c src/delegates/common/*.c)
add_library(halite_delegate_common OBJECT ${delegate_common_files})
target_link_libraries(halite_delegate_common PRIVATE halite_flags)
target_compile_options(halite_delegate_common PRIVATE ${smaller})

foreach(name nnapi hexagon coreml)
    set(library tensorflowlite_${name}_delegate)
    file(GLOB delegate_files CONFIGURE_DEPENDS src/delegates/${name}/*.c)
    add_library(${library} SHARED ${delegate_files} $<TARGET_OBJECTS:halite_delegate_common>)
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name}_delegate)
    target_link_libraries(${library} PRIVATE m ${CMAKE_DL_LIBS} Threads::Threads $<BUILD_INTERFACE:halite_flags>)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
    add_library(tensorflowlite_c::${name}_delegate ALIAS ${library})
    target_compile_options(${library} PRIVATE ${smaller})
    target_link_options(${library} PRIVATE ${drop_unused})
    if(NOT APPLE)
        set(exports ${PROJECT_SOURCE_DIR}/cmake/delegate_exports.map)
        if(name STREQUAL "coreml") # without a report: its functions would hide the GPU delegate's in programs with both
            set(exports ${PROJECT_SOURCE_DIR}/cmake/coreml_exports.map)
        endif()
        target_link_options(${library} PRIVATE -Wl,--version-script=${exports})
        set_target_properties(${library} PROPERTIES LINK_DEPENDS ${exports})
        if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
            target_link_options(${library} PRIVATE -Wl,--no-undefined)
        endif()
    endif()
endforeach()
