# SPDX-License-Identifier: Apache-2.0
# find_package(tensorflow-lite) gives tensorflow-lite::tensorflow-lite, under which projects in C++ link the original. The
# classes are in the headers, so that it is the C library, and C++17.
include(CMakeFindDependencyMacro)
find_dependency(tensorflowlite_c PATHS "${CMAKE_CURRENT_LIST_DIR}/../tensorflowlite_c" NO_DEFAULT_PATH)
if(NOT TARGET tensorflow-lite::tensorflow-lite)
    add_library(tensorflow-lite::tensorflow-lite INTERFACE IMPORTED)
    set_target_properties(tensorflow-lite::tensorflow-lite PROPERTIES
        INTERFACE_LINK_LIBRARIES tensorflowlite_c::tensorflowlite_c INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()
