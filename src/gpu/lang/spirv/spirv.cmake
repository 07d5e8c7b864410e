# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=… -DGLSLANG=… [-DSPIRV_VAL=…] -P spirv.cmake: each FOLDER/X.comp that FOLDER/list names becomes FOLDER/X.spv,
# where the text is newer, and is validated.
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
    if(NOT failed AND SPIRV_VAL)
        execute_process(COMMAND ${SPIRV_VAL} --target-env vulkan1.1 ${binary}
            RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    endif()
    if(failed)
        file(REMOVE ${binary})
        message(FATAL_ERROR "kernel ${name} is not right in GLSL:\n${said}")
    endif()
endforeach()
