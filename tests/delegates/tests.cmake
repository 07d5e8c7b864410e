# SPDX-License-Identifier: Apache-2.0
# Tests of the delegates for other people's accelerators; tests/fakes stands for the systems.
foreach(name nnapi hexagon coreml)
    halite_test(api/exported_symbols_${name} COMMAND sh tests/api/exported_symbols.sh
        $<TARGET_FILE:tensorflowlite_${name}_delegate> ${name})
endforeach()

foreach(target test_nnapi test_nnapi_failures)
    add_dependencies(${target} tensorflowlite_nnapi_delegate neuralnetworks)
    target_compile_definitions(${target} PRIVATE
        NNAPI_DELEGATE="$<TARGET_FILE:tensorflowlite_nnapi_delegate>" FAKE_NNAPI="$<TARGET_FILE:neuralnetworks>")
endforeach()
set_tests_properties(delegates/test_nnapi_failures delegates/test_nnapi_ops PROPERTIES LABELS slow)
set_property(TEST delegates/test_nnapi_failures APPEND PROPERTY ENVIRONMENT HALITE_SHARED=${HALITE_SHARED})

set_property(TEST cpp/test_nnapi APPEND PROPERTY ENVIRONMENT HALITE_NNAPI_LIBRARY=$<TARGET_FILE:neuralnetworks>)

# Asks the delegate's tables, which its library does not export.
file(GLOB nnapi_files CONFIGURE_DEPENDS src/delegates/nnapi/*.c)
foreach(target test_nnapi_support test_nnapi_ops)
    target_sources(${target} PRIVATE ${nnapi_files} $<TARGET_OBJECTS:halite_delegate_common>)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} m)
endforeach()
add_dependencies(test_nnapi_ops neuralnetworks)
target_compile_definitions(test_nnapi_ops PRIVATE FAKE_NNAPI="$<TARGET_FILE:neuralnetworks>")

add_dependencies(test_hexagon tensorflowlite_hexagon_delegate hexagon_interface)
target_compile_definitions(test_hexagon PRIVATE
    HEXAGON_DELEGATE="$<TARGET_FILE:tensorflowlite_hexagon_delegate>" FAKE_HEXAGON="$<TARGET_FILE:hexagon_interface>")
file(GLOB hexagon_files CONFIGURE_DEPENDS src/delegates/hexagon/*.c)
foreach(target test_hexagon_support test_hexagon_ops)
    target_sources(${target} PRIVATE ${hexagon_files} $<TARGET_OBJECTS:halite_delegate_common>)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} m)
endforeach()
add_dependencies(test_hexagon_ops hexagon_interface)
target_compile_definitions(test_hexagon_ops PRIVATE FAKE_HEXAGON="$<TARGET_FILE:hexagon_interface>")

# ---- two libraries in one program ------------------------------------------------------------------------------------
if(TARGET tensorflowlite_gpu_delegate)
    function(two_libraries_test first second)
        set(target two_libraries_${first}_first)
        add_executable(${target} tests/delegates/two_libraries.c)
        target_link_libraries(${target} PRIVATE -Wl,--no-as-needed
            tensorflowlite_${first}_delegate tensorflowlite_${second}_delegate test_support tensorflowlite_c)
        add_dependencies(${target} neuralnetworks)
        halite_test(delegates/${target} COMMAND ${target} ENVIRONMENT
            HALITE_NNAPI_LIBRARY=$<TARGET_FILE:neuralnetworks>)
    endfunction()
    two_libraries_test(gpu nnapi)
    two_libraries_test(nnapi gpu)
endif()

if(TARGET fake_coreml)
    file(GLOB coreml_files CONFIGURE_DEPENDS src/delegates/coreml/*.c)
    list(FILTER coreml_files EXCLUDE REGEX "/without_protobuf\\.c$")
    target_sources(test_coreml_ops PRIVATE ${coreml_files} $<TARGET_OBJECTS:halite_delegate_common>)
    target_link_libraries(test_coreml_ops PRIVATE coreml_model ${CMAKE_DL_LIBS} m)
    foreach(target test_coreml test_coreml_ops)
        add_dependencies(${target} tensorflowlite_coreml_delegate fake_coreml)
        target_compile_definitions(${target} PRIVATE
            COREML_DELEGATE="$<TARGET_FILE:tensorflowlite_coreml_delegate>" FAKE_COREML="$<TARGET_FILE:fake_coreml>")
    endforeach()
    halite_test(delegates/test_coreml_ops.3 SLOW COMMAND test_coreml_ops 3)
    set(HALITE_COREMLTOOLS_VENV "" CACHE PATH "Python environment with coremltools; empty: that of python3")
    halite_test(delegates/coreml_tools SLOW ONCE COMMAND sh tests/delegates/coreml_tools.sh $<TARGET_FILE:test_coreml_ops>
        $<TARGET_FILE:golden_runner> $<TARGET_FILE:tensorflowlite_coreml_delegate> ${HALITE_SHARED}/golden
        ${HALITE_COREMLTOOLS_VENV} ENVIRONMENT HALITE_COREML_RUNNER=$<TARGET_FILE:fake_coreml>)
    if(HALITE_TOOLS)
        halite_test(delegates/coreml_placement COMMAND sh tests/delegates/coreml_placement.sh $<TARGET_FILE:halite>
            ${HALITE_SHARED}/models)
    endif()
endif()
halite_test(delegates/coreml_apple ONCE COMMAND sh tests/delegates/coreml_apple.sh)

# ---- golden cases through the delegates, before the fakes ------------------------------------------------------------
# delegate_golden_test(NAME DELEGATE [SLOW] TOLERANCES FILE OPTIONS ... ENVIRONMENT ... PATHS ...)
function(delegate_golden_test name delegate)
    cmake_parse_arguments(PARSE_ARGV 2 arg "SLOW" "TOLERANCES" "OPTIONS;ENVIRONMENT;PATHS")
    set(slow)
    if(arg_SLOW)
        set(slow SLOW)
    endif()
    list(TRANSFORM arg_PATHS PREPEND ${HALITE_SHARED}/golden/ OUTPUT_VARIABLE paths)
    halite_test(golden/${delegate}_${name} ${slow} COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/golden
        $<TARGET_FILE:golden_runner> --delegate $<TARGET_FILE:tensorflowlite_${delegate}_delegate> ${arg_OPTIONS}
        --differences tests/delegates/${arg_TOLERANCES} --differences docs/differences.md ${paths}
        ENVIRONMENT ${arg_ENVIRONMENT})
endfunction()

# nnapi_golden_test(NAME LEVEL ...): at this feature level; what follows is as above.
macro(nnapi_golden_test name level)
    delegate_golden_test(${name}.${level} nnapi TOLERANCES tolerances.md ${ARGN}
        OPTIONS --option max_delegated_partitions=0 --quantum 1 --tolerance 1e-5
        ENVIRONMENT HALITE_NNAPI_LIBRARY=$<TARGET_FILE:neuralnetworks> FAKE_NNAPI=level=${level})
endmacro()
if(NOT HALITE_THREAD_SANITIZE)
    foreach(level 27 28 29 30 1000007)
        nnapi_golden_test(ops ${level} PATHS ops)
    endforeach()
    nnapi_golden_test(graphs 1000007 PATHS graphs structure)
endif()

# coreml_golden_test(NAME VERSION ...): with this coreml_version, within the bounds of the CPU's own kernels.
macro(coreml_golden_test name version)
    delegate_golden_test(${name}.${version} coreml TOLERANCES tolerances.md ${ARGN}
        OPTIONS --option coreml_version=${version} --option min_nodes_per_partition=1
        ENVIRONMENT HALITE_COREML_RUNNER=$<TARGET_FILE:fake_coreml>)
endmacro()
if(TARGET fake_coreml AND NOT HALITE_THREAD_SANITIZE)
    foreach(version 2 3)
        coreml_golden_test(ops ${version} PATHS ops)
    endforeach()
    coreml_golden_test(graphs 2 PATHS graphs structure models/small_ops models/micro)
    coreml_golden_test(models 2 SLOW PATHS models/classification/mobilenet_v1_0.25_128_float
        models/classification/mobilenet_v1_1.0_224_fp16 models/classification/mobilenet_v1_1.0_224_int8
        models/segmentation/selfie_segmentation models/pose/posenet_mobilenet_v1_075_353_481_decoder_only)
endif()

macro(hexagon_golden_test name)
    delegate_golden_test(${name} hexagon TOLERANCES hexagon_tolerances.md ${ARGN}
        OPTIONS --option max_delegated_partitions=16 --option min_nodes_per_partition=1 --quantum 1
        ENVIRONMENT HALITE_HEXAGON_LIBRARY=$<TARGET_FILE:hexagon_interface>)
endmacro()
if(NOT HALITE_THREAD_SANITIZE)
    hexagon_golden_test(ops PATHS ops)
    hexagon_golden_test(graphs OPTIONS --spread 2 PATHS graphs structure)
    set(mobilenet models/classification/mobilenet_v1_1.0_224)
    hexagon_golden_test(models SLOW OPTIONS --spread 2 PATHS ${mobilenet}_quant ${mobilenet}_int8 ${mobilenet}_float
        models/detection/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29
        models/detection/ssd_mobilenet_v1_coco_quant_postprocess_head_layers)
endif()

# ---- whole models -----------------------------------------------------------------------------------------------------
if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    function(official_test name variable fake)
        halite_test(delegates/${name}_official SLOW COMMAND
            sh tests/support/official.sh tests/delegates/official_models.py
            $<TARGET_FILE:tensorflowlite_${name}_delegate> ${HALITE_SHARED} ${HALITE_LITERT_VENV}
            ENVIRONMENT ${variable}=$<TARGET_FILE:${fake}>)
    endfunction()
    official_test(nnapi HALITE_NNAPI_LIBRARY neuralnetworks)
    official_test(hexagon HALITE_HEXAGON_LIBRARY hexagon_interface)
    if(TARGET fake_coreml)
        official_test(coreml HALITE_COREML_RUNNER fake_coreml)
    endif()
endif()
if(HALITE_TOOLS)
    halite_test(delegates/nnapi_tools COMMAND sh tests/delegates/tools.sh $<TARGET_FILE:halite>
        $<TARGET_FILE:neuralnetworks>)
    halite_test(delegates/hexagon_tools COMMAND sh tests/delegates/hexagon_tools.sh $<TARGET_FILE:halite>
        $<TARGET_FILE:hexagon_interface>)
    if(TARGET fake_coreml)
        halite_test(delegates/coreml_flags COMMAND sh tests/delegates/coreml_flags.sh $<TARGET_FILE:halite>
            $<TARGET_FILE:fake_coreml>)
    endif()
    halite_test(delegates/hexagon_placement SLOW COMMAND sh tests/delegates/hexagon_placement.sh $<TARGET_FILE:halite>
        $<TARGET_FILE:hexagon_interface> ${HALITE_SHARED}/models)
    halite_test(delegates/nnapi_placement SLOW COMMAND sh tests/delegates/placement.sh $<TARGET_FILE:halite>
        $<TARGET_FILE:neuralnetworks> ${HALITE_SHARED}/models)
endif()
if(NOT HALITE_THREAD_SANITIZE)
    # Networks carry a step of rounding on, as the official runtime's own two engines do to each other.
    nnapi_golden_test(models 1000007 SLOW OPTIONS --spread 2 --twin-spread 2
        PATHS models/classification models/detection models/segmentation models/mlperf_tiny)
endif()

# ---- the table of docs/delegates.md -------------------------------------------------------------------------------------
if(TARGET tensorflowlite_gpu_delegate AND TARGET fake_coreml AND NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    add_executable(delegate_table tests/delegates/delegate_table.c)
    target_link_libraries(delegate_table PRIVATE halite_flags tensorflowlite_c_static Threads::Threads ${CMAKE_DL_LIBS} m)
    add_dependencies(delegate_table tensorflowlite_gpu_delegate tensorflowlite_nnapi_delegate neuralnetworks
        tensorflowlite_hexagon_delegate hexagon_interface tensorflowlite_coreml_delegate fake_coreml)
    target_compile_definitions(delegate_table PRIVATE
        GPU_DELEGATE="$<TARGET_FILE:tensorflowlite_gpu_delegate>"
        NNAPI_DELEGATE="$<TARGET_FILE:tensorflowlite_nnapi_delegate>" FAKE_NNAPI="$<TARGET_FILE:neuralnetworks>"
        HEXAGON_DELEGATE="$<TARGET_FILE:tensorflowlite_hexagon_delegate>"
        FAKE_HEXAGON="$<TARGET_FILE:hexagon_interface>"
        COREML_DELEGATE="$<TARGET_FILE:tensorflowlite_coreml_delegate>" FAKE_COREML="$<TARGET_FILE:fake_coreml>")
    halite_test(delegates/table SLOW ONCE COMMAND sh tests/delegates/table.sh $<TARGET_FILE:delegate_table>
        ${HALITE_SHARED}/models/classification)
endif()
