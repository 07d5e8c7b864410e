# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: headers, libraries, the command, and how others find them. DESTDIR is honored.
include(GNUInstallDirs)
if(CMAKE_INSTALL_DOCDIR STREQUAL "${CMAKE_INSTALL_DATAROOTDIR}/doc/${CMAKE_PROJECT_NAME}")
    set(CMAKE_INSTALL_DOCDIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/halite)
endif()
include(CMakePackageConfigHelpers)

# include/tflite is a link to tensorflow/lite: LiteRT has the same headers there.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set(installed_libraries tensorflowlite_c tensorflowlite_c_static)
if(TARGET tensorflowlite_gpu_delegate)
    list(APPEND installed_libraries tensorflowlite_gpu_delegate tensorflowlite_gpu_delegate_static)
endif()
list(APPEND installed_libraries tensorflowlite_nnapi_delegate tensorflowlite_hexagon_delegate
    tensorflowlite_coreml_delegate)
if(TARGET LiteRt)
    list(APPEND installed_libraries LiteRt)
endif()
if(TARGET LiteRtGpuAccelerator) # LiteRT opens it by its name: nobody links it
    install(TARGETS LiteRtGpuAccelerator LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS ${installed_libraries} EXPORT tensorflowlite_c
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
option(HALITE_INSTALL_PROGRAMS
    "Install TensorFlow Lite's own tools under their own names too (run_eval, minimal, ...); `halite run_eval` works anyway" ON)
if(HALITE_TOOLS)
    install(TARGETS halite RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    set(leave_out)
    if(HALITE_INSTALL_PROGRAMS)
        list(TRANSFORM programs PREPEND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ OUTPUT_VARIABLE program_links)
        install(PROGRAMS ${program_links} DESTINATION ${CMAKE_INSTALL_BINDIR}) # as links
    else()
        list(JOIN programs "|" leave_out)
        set(leave_out REGEX "/(${leave_out})(.1|.fish)?$" EXCLUDE) # manual pages, and completion
    endif()
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} OPTIONAL ${leave_out})
    install(PROGRAMS tools/eval/coco_ground_truth.py DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/halite)
endif()

# Names that other builds of the original have for these libraries: go-tflite links the delegates by names of their own, the
# original's CMake build makes libtensorflow-lite. `cmake --install BUILD --component link_names` installs them alone.
option(HALITE_LINK_NAMES "Install links under other names that programs link (libtensorflow-lite, ...)" OFF)
set(link_names_part COMPONENT link_names)
if(NOT HALITE_LINK_NAMES)
    list(APPEND link_names_part EXCLUDE_FROM_ALL)
endif()
file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
function(halite_link_names library)
    if(WIN32) # where links need rights
        return()
    endif()
    foreach(name IN LISTS ARGN)
        set(link ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}${CMAKE_SHARED_LIBRARY_SUFFIX})
        file(CREATE_LINK lib${library}${CMAKE_SHARED_LIBRARY_SUFFIX} ${link} SYMBOLIC)
        install(FILES ${link} DESTINATION ${CMAKE_INSTALL_LIBDIR} ${link_names_part})
    endforeach()
endfunction()
halite_link_names(tensorflowlite_c
    tensorflow-lite tensorflowlite tensorflowlite-delegate_xnnpack tensorflowlite-delegate_external XNNPACK)
if(TARGET tensorflowlite_gpu_delegate)
    halite_link_names(tensorflowlite_gpu_delegate tensorflowlite_c_delegate_gpu)
endif()

# find_package(tensorflowlite_c)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tensorflowlite_c)
install(EXPORT tensorflowlite_c NAMESPACE tensorflowlite_c:: FILE tensorflowlite_cTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/tensorflowlite_cConfig.cmake.in ${PROJECT_BINARY_DIR}/tensorflowlite_cConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tensorflowlite_cConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tensorflowlite_cConfig.cmake ${PROJECT_BINARY_DIR}/tensorflowlite_cConfigVersion.cmake
    DESTINATION ${package_dir})

# find_package(tensorflow-lite), the original's name
install(FILES cmake/tensorflow-liteConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tensorflow-lite)

# pkg-config
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH HALITE_PC_PREFIX ${pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" HALITE_PC_PREFIX "${HALITE_PC_PREFIX}")
file(RELATIVE_PATH HALITE_PC_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH HALITE_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(HALITE_PC_PRIVATE "-lm -ldl -pthread")
function(halite_pkg_config HALITE_PC_NAME HALITE_PC_DESCRIPTION)
    configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${HALITE_PC_NAME}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${HALITE_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
halite_pkg_config(tensorflowlite_c "Runs TensorFlow Lite models (Halite)")
if(TARGET tensorflowlite_gpu_delegate)
    halite_pkg_config(tensorflowlite_gpu_delegate "GPU delegate for TensorFlow Lite runtimes (Halite)")
endif()
