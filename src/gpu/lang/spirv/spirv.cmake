# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=… -DGLSLANG=… -DTOOL=… [-DSPIRV_VAL=…] -P spirv.cmake: each FOLDER/X.comp that FOLDER/list names becomes
# FOLDER/X.spv, where the text is newer, and is validated. TOOL is gpu_shaders. Validators before 2023.4 do not know
# cooperative matrices.
file(STRINGS ${FOLDER}/list names)
foreach(name IN LISTS names)
    set(text ${FOLDER}/${name}.comp)
    set(binary ${FOLDER}/${name}.spv)
    if(NOT ${text} IS_NEWER_THAN ${binary})
        continue()
    endif()
    file(REMOVE ${binary})
    execute_process(COMMAND ${GLSLANG} -V -g0 --target-env vulkan1.1 ${text} -o ${binary}
        RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    file(STRINGS ${text} cooperative REGEX SPV_KHR_cooperative_matrix LIMIT_COUNT 1)
    if(NOT failed AND cooperative)
        execute_process(COMMAND ${TOOL} types ${binary}
            RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    endif()
    if(NOT failed AND SPIRV_VAL)
        execute_process(COMMAND ${SPIRV_VAL} --target-env vulkan1.1 ${binary}
            RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
        if(cooperative AND said MATCHES "Invalid capability operand: 6022")
            set(failed 0)
        endif()
    endif()
    if(failed)
        file(REMOVE ${binary})
        message(FATAL_ERROR "kernel ${name} is not right in GLSL:\n${said}")
    endif()
endforeach()
