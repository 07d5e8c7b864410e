# SPDX-License-Identifier: Apache-2.0
# Cross-compiling: the programs that write sources while Halite is built (kernels as SPIR-V, the table of selected operators)
# run on the build machine and so are built for it. By default a second, small build of this tree does that, below
# host_tools/ in the build folder; HALITE_HOST_TOOLS names a folder that has them already.
# halite_host_tool(NAME) makes NAME a target that stands for such a program; halite_build_host_tools() comes after the last.
set(HALITE_HOST_TOOLS "" CACHE PATH
    "Cross-compiling: a folder with gpu_shaders and select_ops for the build machine (empty: they are built)")
find_program(HALITE_HOST_CC NAMES cc gcc clang NO_CMAKE_FIND_ROOT_PATH
    DOC "Cross-compiling: the build machine's own C compiler, for the programs that it runs while building")
mark_as_advanced(HALITE_HOST_CC)
set(halite_host_build ${PROJECT_BINARY_DIR}/host_tools)
set(halite_host_tools)

macro(halite_host_tool name)
    add_executable(${name} IMPORTED)
    if(HALITE_HOST_TOOLS)
        find_program(HALITE_HOST_${name} ${name} PATHS ${HALITE_HOST_TOOLS} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
        if(NOT HALITE_HOST_${name})
            message(FATAL_ERROR "HALITE_HOST_TOOLS: no program ${name} in ${HALITE_HOST_TOOLS}. Build it there without a "
                "toolchain file, with the same options (its programs are in that build's bin), or leave HALITE_HOST_TOOLS out")
        endif()
        set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${HALITE_HOST_${name}})
    else()
        list(APPEND halite_host_tools ${name})
        set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${halite_host_build}/bin/${name})
        add_dependencies(${name} halite_host_tools)
    endif()
endmacro()

function(halite_build_host_tools)
    if(NOT halite_host_tools)
        return()
    endif()
    if(NOT HALITE_HOST_CC)
        message(FATAL_ERROR "Cross-compiling needs a C compiler for this machine as well: none of cc, gcc and clang is in "
            "PATH. Name it with -DHALITE_HOST_CC=..., or a folder of ready programs with -DHALITE_HOST_TOOLS=...")
    endif()
    # The environment may hold the other processor's compiler and flags.
    set(clean ${CMAKE_COMMAND} -E env --unset=CC --unset=CFLAGS --unset=LDFLAGS --unset=CMAKE_TOOLCHAIN_FILE)
    list(TRANSFORM halite_host_tools PREPEND ${halite_host_build}/bin/ OUTPUT_VARIABLE programs)
    include(ExternalProject)
    ExternalProject_Add(halite_host_tools
        SOURCE_DIR ${PROJECT_SOURCE_DIR} BINARY_DIR ${halite_host_build} PREFIX ${halite_host_build}/state
        CONFIGURE_COMMAND ${clean} ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${halite_host_build} -G ${CMAKE_GENERATOR}
            -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_C_COMPILER=${HALITE_HOST_CC} -DHALITE_HOST_BUILD=ON
            -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_GPU=${HALITE_GPU} -DOPENCL_HEADERS=${OPENCL_HEADERS}
            -DVULKAN_HEADERS=${VULKAN_HEADERS} -DGLSLANG=${GLSLANG}
        BUILD_COMMAND ${clean} ${CMAKE_COMMAND} --build ${halite_host_build} --target ${halite_host_tools}
        BUILD_ALWAYS ON BUILD_BYPRODUCTS ${programs} INSTALL_COMMAND "")
endfunction()
