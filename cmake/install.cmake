# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: headers, libraries, the command, and how others find them. DESTDIR is honored. Each part is
# a component that can be had alone (`cmake --install BUILD --component NAME`) and a Debian package of its own:
#     runtime     libtensorflowlite_c                 gpu      libtensorflowlite_gpu_delegate
#     delegates   those for NNAPI, Hexagon, Core ML   litert   LiteRT 2's two libraries
#     dev         headers, static libraries, CMake and pkg-config
#     tools       the halite command with manual pages and completion
#     doc         README and docs                     python   the Python package, where HALITE_PYTHON_FOLDER says
#     link_names  further names of the libraries
include(GNUInstallDirs)
if(CMAKE_INSTALL_DOCDIR STREQUAL "${CMAKE_INSTALL_DATAROOTDIR}/doc/${CMAKE_PROJECT_NAME}")
    set(CMAKE_INSTALL_DOCDIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/halite)
endif()
include(CMakePackageConfigHelpers)

# include/tflite is a link to tensorflow/lite: LiteRT has the same headers there.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
# halite_install_library COMPONENT TARGET...: shared ones go to COMPONENT, static ones to dev.
function(halite_install_library component)
    foreach(library IN LISTS ARGN)
        if(TARGET ${library})
            install(TARGETS ${library} EXPORT tensorflowlite_c
                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
                ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
                RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
        endif()
    endforeach()
endfunction()
halite_install_library(runtime tensorflowlite_c tensorflowlite_c_static)
halite_install_library(gpu tensorflowlite_gpu_delegate tensorflowlite_gpu_delegate_static)
halite_install_library(delegates
    tensorflowlite_nnapi_delegate tensorflowlite_hexagon_delegate tensorflowlite_coreml_delegate)
halite_install_library(litert LiteRt)
if(TARGET LiteRtGpuAccelerator) # LiteRT opens it by its name: nobody links it
    install(TARGETS LiteRtGpuAccelerator LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT litert)
endif()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc FILES_MATCHING PATTERN "*.md")
set(install_programs ON)
if(WIN32) # each would be a copy of the whole command
    set(install_programs OFF)
endif()
option(HALITE_INSTALL_PROGRAMS
    "Install TensorFlow Lite's own tools under their own names too (run_eval, minimal, ...); `halite run_eval` works anyway"
    ${install_programs})
set(HALITE_PROGRAM_PREFIX "" CACHE STRING
    "Install TensorFlow Lite's own tools under names that begin so: halite- gives halite-run_eval, halite-minimal, ...")
if(HALITE_TOOLS)
    install(TARGETS halite RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    set(leave_out)
    if(NOT HALITE_INSTALL_PROGRAMS OR HALITE_PROGRAM_PREFIX)
        list(JOIN programs "|" leave_out)
        set(leave_out REGEX "/(${leave_out})(.1|.fish)?$" EXCLUDE) # manual pages, and completion
    endif()
    if(HALITE_INSTALL_PROGRAMS)
        foreach(program IN LISTS programs) # as links
            install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program}${CMAKE_EXECUTABLE_SUFFIX}
                DESTINATION ${CMAKE_INSTALL_BINDIR}
                RENAME ${HALITE_PROGRAM_PREFIX}${program}${CMAKE_EXECUTABLE_SUFFIX} COMPONENT tools)
            if(HALITE_PROGRAM_PREFIX)
                install(FILES ${PROJECT_BINARY_DIR}/share/man/man1/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
                    RENAME ${HALITE_PROGRAM_PREFIX}${program}.1 COMPONENT tools OPTIONAL)
            endif()
        endforeach()
    endif()
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT tools OPTIONAL
        ${leave_out})
    install(PROGRAMS tools/eval/coco_ground_truth.py DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/halite COMPONENT tools)
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
install(EXPORT tensorflowlite_c NAMESPACE tensorflowlite_c:: FILE tensorflowlite_cTargets.cmake DESTINATION ${package_dir}
    COMPONENT dev)
configure_package_config_file(cmake/tensorflowlite_cConfig.cmake.in ${PROJECT_BINARY_DIR}/tensorflowlite_cConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tensorflowlite_cConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tensorflowlite_cConfig.cmake ${PROJECT_BINARY_DIR}/tensorflowlite_cConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT dev)

# find_package(tensorflow-lite), the original's name
install(FILES cmake/tensorflow-liteConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tensorflow-lite COMPONENT dev)

# pkg-config
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH HALITE_PC_PREFIX ${pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" HALITE_PC_PREFIX "${HALITE_PC_PREFIX}")
file(RELATIVE_PATH HALITE_PC_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH HALITE_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(HALITE_PC_PRIVATE "-lm -ldl -pthread")
function(halite_pkg_config HALITE_PC_NAME HALITE_PC_DESCRIPTION)
    configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${HALITE_PC_NAME}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${HALITE_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT dev)
endfunction()
halite_pkg_config(tensorflowlite_c "Runs TensorFlow Lite models (Halite)")
if(TARGET tensorflowlite_gpu_delegate)
    halite_pkg_config(tensorflowlite_gpu_delegate "GPU delegate for TensorFlow Lite runtimes (Halite)")
endif()
