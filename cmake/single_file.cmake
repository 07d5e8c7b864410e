# SPDX-License-Identifier: Apache-2.0
# The target HALITE_SINGLE_FILE: single/halite.c and halite.h in the build folder, the CPU part for programs that would rather
# compile one file than link a library. HALITE_OPS and HALITE_MODELS choose its kernels, too.
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
    return()
endif()
# A file has one set of flags, and the microkernels are what they make of the baseline.
set(single ${PROJECT_BINARY_DIR}/single)
file(WRITE ${single}.levels.def "// SPDX-License-Identifier: Apache-2.0\n// The one CPU level of a single file.\n"
    "HL_LEVEL(ANY, baseline, 0, \"\")\n")
set(instead fast/simd/levels.def=${single}.levels.def)
if(TARGET selected_ops)
    list(APPEND instead src/ops/registry.c:abi/operators.def=${PROJECT_BINARY_DIR}/selected/abi/operators.def
        abi/selection.h=${PROJECT_BINARY_DIR}/selected/types/abi/selection.h)
    set(selected selected_ops)
endif()
set(single_files ${library_files})
# XNNPACK's interface exports a name that its header defines as a macro, for programs linked with older versions.
list(FILTER single_files EXCLUDE REGEX "src/fast/simd/level_|src/delegates/xnnpack")
list(TRANSFORM single_files REPLACE "^src/" "${PROJECT_SOURCE_DIR}/src/")
add_custom_target(HALITE_SINGLE_FILE DEPENDS ${selected} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/packaging/single_file.py
        ${single} ${PROJECT_VERSION} ${instead} ${PROJECT_SOURCE_DIR}/src/fast/simd/level_baseline.c ${single_files}
    COMMENT "Writing ${single}/halite.c and halite.h")
