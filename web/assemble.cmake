# SPDX-License-Identifier: Apache-2.0
# cmake -DPAGE=….html -DLIBRARY=….js -DOUTPUT=….html -P assemble.cmake: the page in one file, with the library and the files
# beside it where it has /*their name*/.
file(READ ${PAGE} html)
get_filename_component(folder ${PAGE} DIRECTORY)
foreach(part ${folder}/page.css ${folder}/page.js ${LIBRARY})
    get_filename_component(name ${part} NAME)
    file(READ ${part} text)
    string(REPLACE "/*${name}*/" "${text}" html "${html}")
endforeach()
file(WRITE ${OUTPUT} "${html}")
