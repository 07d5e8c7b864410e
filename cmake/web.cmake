# SPDX-License-Identifier: Apache-2.0
# The page that classifies a picture in the browser: bin/halite.html, one file with the library as WebAssembly, a model of the
# demo and a picture, that fetches nothing.
set(own ${PROJECT_SOURCE_DIR}/demo/handwriting_int8.tflite ${PROJECT_SOURCE_DIR}/demo/pictures/3.png
    ${PROJECT_SOURCE_DIR}/demo/digits.txt)
list(GET own 0 model)
list(GET own 1 picture)
list(GET own 2 labels)
set(folder ${PROJECT_BINARY_DIR}/web)
add_custom_command(OUTPUT ${folder}/own.c VERBATIM DEPENDS ${own} web/own.cmake
    COMMAND ${CMAKE_COMMAND} -DMODEL=${model} -DPICTURE=${picture} -DLABELS=${labels} -DOUTPUT=${folder}/own.c
        -P ${PROJECT_SOURCE_DIR}/web/own.cmake)
add_executable(halite_page web/page.c tools/preprocess.c tools/metadata.c ${folder}/own.c)
target_include_directories(halite_page PRIVATE web tools)
target_link_libraries(halite_page PRIVATE halite_flags tensorflowlite_c_static Threads::Threads m)
set(functions _page_memory _page_release _page_own_model _page_own_model_bytes _page_own_picture _page_own_picture_bytes
    _page_own_labels _page_open _page_prepare _page_run _page_scores _page_message)
list(JOIN functions "," functions)
# In a browser there are no files; the library is in the script, since a page that is opened from a disk may fetch nothing.
target_link_options(halite_page PRIVATE --no-entry -sENVIRONMENT=web -sNODERAWFS=0 -sFILESYSTEM=0 -sEXIT_RUNTIME=0
    -sSINGLE_FILE=1 -sMODULARIZE=1 -sEXPORT_NAME=halite -sEXPORTED_FUNCTIONS=${functions}
    -sEXPORTED_RUNTIME_METHODS=UTF8ToString ${drop_unused})
set_target_properties(halite_page PROPERTIES OUTPUT_NAME halite SUFFIX .js RUNTIME_OUTPUT_DIRECTORY ${folder})
set(parts web/page.html web/page.css web/page.js web/assemble.cmake)
list(TRANSFORM parts PREPEND ${PROJECT_SOURCE_DIR}/)
set(page ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/halite.html)
add_custom_command(OUTPUT ${page} VERBATIM DEPENDS halite_page ${parts}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${PROJECT_SOURCE_DIR}/web/page.html -DLIBRARY=${folder}/halite.js -DOUTPUT=${page}
        -P ${PROJECT_SOURCE_DIR}/web/assemble.cmake)
add_custom_target(page ALL DEPENDS ${page})
