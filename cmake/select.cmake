# SPDX-License-Identifier: Apache-2.0
# Selective builds: the library's table of kernels (src/ops/registry.c) is made from the rows of src/abi/operators.def that
# HALITE_OPS and HALITE_MODELS ask for, and the linker drops what it does not name. Messages still know all names.
set(HALITE_OPS "" CACHE STRING "Build only these operators' kernels: names as in docs/ops.md, with ; between (empty: all)")
set(HALITE_MODELS "" CACHE STRING "Build only the kernels that these .tflite files, or those below these folders, need")
if(NOT HALITE_OPS AND NOT HALITE_MODELS AND NOT HALITE_TESTS)
    return()
endif()
file(GLOB select_files CONFIGURE_DEPENDS src/base/*.c src/abi/*.c src/model/*.c) # the library waits for what this writes
add_executable(select_ops cmake/select_ops.c ${select_files})
target_include_directories(select_ops PRIVATE tools)
target_link_libraries(select_ops PRIVATE halite_flags m)
if(NOT HALITE_OPS AND NOT HALITE_MODELS)
    return()
elseif(HALITE_TESTS)
    message(FATAL_ERROR "The tests want all operators: with HALITE_OPS or HALITE_MODELS say -DHALITE_TESTS=OFF")
endif()
set(selected ${CMAKE_BINARY_DIR}/selected)
file(MAKE_DIRECTORY ${selected}/abi)
add_custom_command(OUTPUT ${selected}/abi/operators.def VERBATIM
    COMMAND select_ops src/abi/operators.def ${selected}/abi/operators.def ${HALITE_OPS} ${HALITE_MODELS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS select_ops src/abi/operators.def
    COMMENT "Selecting operators")
add_custom_target(selected_ops DEPENDS ${selected}/abi/operators.def)
add_dependencies(halite_objects selected_ops)
set_source_files_properties(src/ops/registry.c PROPERTIES
    INCLUDE_DIRECTORIES ${selected} OBJECT_DEPENDS ${selected}/abi/operators.def)
if(HALITE_TOOLS)
    target_include_directories(halite BEFORE PRIVATE ${selected})
endif()
