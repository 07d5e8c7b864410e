# SPDX-License-Identifier: Apache-2.0
# cmake -DPAGE=….html -DOUTPUT=….c -DHEADER=….h -DNAME=… -P page.cmake: the page, with the files beside it where it has
# /*their name*/, as a C array of that name, which the header declares.
file(READ ${PAGE} html)
get_filename_component(folder ${PAGE} DIRECTORY)
file(GLOB parts RELATIVE ${folder} ${folder}/*.css ${folder}/*.js)
foreach(part IN LISTS parts)
    file(READ ${folder}/${part} text)
    string(REPLACE "/*${part}*/" "${text}" html "${html}")
endforeach()
file(WRITE ${OUTPUT}.html "${html}")
file(READ ${OUTPUT}.html bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}")
string(REGEX REPLACE "((0x.., ){20})" "\\1\n    " bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made by page.cmake.\n#include \"${HEADER}\"\n
const char ${NAME}[] = {\n    ${bytes}0x00,\n};\n")
