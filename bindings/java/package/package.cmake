# SPDX-License-Identifier: Apache-2.0
# Packages of the Java binding: the target java_packages writes a Maven repository into maven/ of the build folder
# (packages.md), java_aarch64 builds the libraries for it that 64-bit Arm takes, by zig.
set(HALITE_ANDROID_LIBRARIES "" CACHE PATH "Folder with lib/ABI/lib*.so for the AAR, see bindings/java/android.md")
set(package ${CMAKE_CURRENT_LIST_DIR})
file(STRINGS ${PROJECT_SOURCE_DIR}/src/runtime/c_api.c interface_version REGEX "^#define INTERFACE_VERSION")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" interface_version "${interface_version}")
set(java_repository ${PROJECT_BINARY_DIR}/maven)
add_custom_target(java_packages DEPENDS java_package VERBATIM
    COMMAND ${CMAKE_COMMAND} -E env JAR=${Java_JAR_EXECUTABLE} JAVADOC=${Java_JAVADOC_EXECUTABLE}
        sh ${package}/package.sh ${PROJECT_BINARY_DIR} ${java_repository} ${interface_version} ${HALITE_ANDROID_LIBRARIES})
add_custom_target(java_aarch64 COMMAND sh ${package}/platform.sh linux-aarch64 VERBATIM)

if(COMMAND halite_test AND NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    halite_test(java/packages SLOW COMMAND sh -c "${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target java_packages && \
sh ${package}/test.sh ${java_repository}")
    set(jni_files)
    foreach(library IN LISTS jni_libraries)
        list(APPEND jni_files $<TARGET_FILE:${library}>)
    endforeach()
    halite_test(java/android ONCE COMMAND sh ${package}/android.sh ${jni_files} ENVIRONMENT CC=${CMAKE_C_COMPILER})
endif()
