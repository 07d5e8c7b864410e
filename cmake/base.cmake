# SPDX-License-Identifier: Apache-2.0
# Sets halite_base_files, the files of src/base for the system that is built for. What systems do differently is in files of
# their own, X_posix.c and X_windows.c, of which every build takes one kind.
file(GLOB halite_base_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/base/*.c)
if(WIN32)
    list(FILTER halite_base_files EXCLUDE REGEX "_posix\\.c$")
else()
    list(FILTER halite_base_files EXCLUDE REGEX "_windows\\.c$")
endif()
