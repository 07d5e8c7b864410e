# SPDX-License-Identifier: Apache-2.0
# Builds the static library in FOLDER, and lays it where Meson looks: OUTPUT.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} --target tensorflowlite_c_static --parallel
    COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${FOLDER}/lib/libtensorflowlite_c.a ${OUTPUT} ONLY_IF_DIFFERENT)
