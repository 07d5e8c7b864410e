# SPDX-License-Identifier: Apache-2.0
# The GPU delegate: libtensorflowlite_gpu_delegate, shared and static, of src/gpu, src/delegates/common, src/base and src/abi
# and nothing else of src. OpenCL and Vulkan are opened at run time; their headers are needed here, and for Vulkan a GLSL
# compiler, which turns the kernels into SPIR-V. OpenGL ES and Metal need nothing here. What is missing is left out, with a
# word about it.
find_path(OPENCL_HEADERS CL/cl.h CMAKE_FIND_ROOT_PATH_BOTH)
find_path(VULKAN_HEADERS vulkan/vulkan.h CMAKE_FIND_ROOT_PATH_BOTH)
find_program(GLSLANG NAMES glslangValidator glslang)
find_program(SPIRV_VAL NAMES spirv-val)
set(HALITE_GPU AUTO CACHE STRING
    "Build the GPU delegate: ON, OFF, or AUTO: where the OpenCL headers are (its Vulkan part wants libvulkan-dev and glslang)")
# Every backend can be left out. OpenGL ES, Metal and CUDA need nothing here: what they call is declared in the tree.
option(HALITE_OPENCL "Build the GPU delegate's part for OpenCL (needs CL/cl.h)" ON)
option(HALITE_VULKAN "Build the GPU delegate's part for Vulkan, where vulkan/vulkan.h and glslang are" ON)
option(HALITE_GLES "Build the GPU delegate's part for OpenGL ES" ON)
option(HALITE_METAL "Build the GPU delegate's part for Metal" ON)
if(CMAKE_SYSTEM_NAME MATCHES "^(Linux|Windows)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8) # no 32-bit process can use it
    set(has_cuda ON)
else()
    set(has_cuda OFF)
endif()
option(HALITE_CUDA "Build the GPU delegate's part for CUDA" ${has_cuda})
if(NOT HALITE_GPU OR (HALITE_GPU STREQUAL "AUTO" AND HALITE_OPENCL AND NOT OPENCL_HEADERS))
    message(STATUS "No GPU delegate: HALITE_GPU is ${HALITE_GPU}, CL/cl.h (opencl-headers): ${OPENCL_HEADERS}")
    return()
endif()
if(HALITE_OPENCL AND NOT OPENCL_HEADERS)
    message(FATAL_ERROR "The GPU delegate's part for OpenCL needs CL/cl.h: install opencl-headers, or say -DHALITE_OPENCL=OFF "
        "or -DHALITE_GPU=OFF")
endif()
if(HALITE_TESTS STREQUAL "ON" AND NOT (HALITE_OPENCL AND HALITE_GLES))
    message(FATAL_ERROR "The GPU delegate's tests use OpenCL and OpenGL ES: without these say -DHALITE_TESTS=OFF")
endif()
if(HALITE_VULKAN AND NOT (VULKAN_HEADERS AND GLSLANG))
    message(STATUS "GPU delegate without Vulkan: needs vulkan/vulkan.h (libvulkan-dev) and glslangValidator (glslang-tools)")
    set(HALITE_VULKAN OFF)
endif()

# ---- the front: everything but the backends, and the delegate that chooses among them
file(GLOB gpu_front_files CONFIGURE_DEPENDS
    src/abi/*.c src/delegates/common/*.c src/gpu/graph/*.c src/gpu/integer/*.c
    src/gpu/lang/*.c src/gpu/ops/*.c src/gpu/plan/*.c)
add_library(halite_gpu_front OBJECT ${gpu_front_files} ${halite_base_files})
target_link_libraries(halite_gpu_front PRIVATE halite_flags)
# The only loops over inputs and outputs are those of convert.c.
target_compile_options(halite_gpu_front PRIVATE ${smaller})
set_source_files_properties(src/gpu/graph/convert.c PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)

# ---- kernels as SPIR-V
file(GLOB gpu_back_files CONFIGURE_DEPENDS src/gpu/backend/*.c src/gpu/delegate/*.c)
set(gpu_backends)
foreach(backend opencl vulkan gles metal cuda)
    string(TOUPPER ${backend} name)
    if(HALITE_${name})
        list(APPEND gpu_backends HALITE_GPU_${name}=1)
    else()
        list(FILTER gpu_back_files EXCLUDE REGEX "/${backend}[^/]*$")
    endif()
endforeach()
# halite_spirv(TOOL FILE.c SOURCE...): FILE.c holds the SPIR-V of the kernels that SOURCES list; the program TOOL makes it.
macro(halite_spirv tool file)
    if(CMAKE_CROSSCOMPILING)
        halite_host_tool(${tool})
    else()
        add_executable(${tool} src/gpu/lang/spirv/gpu_shaders.c src/gpu/lang/spirv/matrix_types.c
            src/gpu/lang/spirv/pack.c src/gpu/lang/spirv/unpack.c ${ARGN})
        target_include_directories(${tool} PRIVATE tests)
        target_link_libraries(${tool} PRIVATE halite_flags m ${CMAKE_DL_LIBS} Threads::Threads)
    endif()
    set(folder ${PROJECT_BINARY_DIR}/${tool}.out)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${file}
        COMMAND ${tool} write ${folder}
        COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DGLSLANG=${GLSLANG} -DSPIRV_VAL=${SPIRV_VAL}
            -DTOOL=$<TARGET_FILE:${tool}> -P ${PROJECT_SOURCE_DIR}/src/gpu/lang/spirv/spirv.cmake
        COMMAND ${tool} pack ${folder} ${file}
        DEPENDS ${tool} $<TARGET_FILE:${tool}> ${PROJECT_SOURCE_DIR}/src/gpu/lang/spirv/spirv.cmake
        COMMENT "Kernels to SPIR-V (${tool})" VERBATIM)
endmacro()
set(gpu_dialect_files tests/gpu/dialect_kernels.c) # of tests/gpu/test_dialect
if(HALITE_VULKAN)
    halite_spirv(gpu_shaders ${PROJECT_BINARY_DIR}/gpu_spirv.c
        $<TARGET_OBJECTS:halite_gpu_front>)
    list(APPEND gpu_back_files ${PROJECT_BINARY_DIR}/gpu_spirv.c src/gpu/lang/spirv/spirv.c src/gpu/lang/spirv/unpack.c)
    if(HALITE_HOST_BUILD OR (HALITE_TESTS AND NOT HALITE_TESTS STREQUAL "GOLDEN"))
        file(GLOB gpu_lang_files CONFIGURE_DEPENDS src/gpu/lang/*.c src/base/text.c)
        halite_spirv(gpu_dialect_shaders ${PROJECT_BINARY_DIR}/gpu_dialect_spirv.c
            ${gpu_dialect_files} tests/gpu/dialect_shaders.c ${gpu_lang_files})
        list(APPEND gpu_dialect_files ${PROJECT_BINARY_DIR}/gpu_dialect_spirv.c)
    endif()
endif()

# ---- the libraries
add_library(halite_gpu_back OBJECT ${gpu_back_files})
target_link_libraries(halite_gpu_back PRIVATE halite_flags)
target_compile_options(halite_gpu_back PRIVATE ${smaller})
set(gpu_headers)
foreach(folder ${OPENCL_HEADERS} ${VULKAN_HEADERS})
    if(folder)
        list(APPEND gpu_headers ${folder})
    endif()
endforeach()
if(CMAKE_CROSSCOMPILING)
    # These headers are the same for every processor, but in their folder, /usr/include, are this machine's libc's as well.
    set(gpu_headers ${PROJECT_BINARY_DIR}/gpu_headers)
    file(MAKE_DIRECTORY ${gpu_headers})
    foreach(header ${OPENCL_HEADERS}/CL ${VULKAN_HEADERS}/vulkan ${VULKAN_HEADERS}/vk_video)
        get_filename_component(name ${header} NAME)
        if(EXISTS ${header})
            file(CREATE_LINK ${header} ${gpu_headers}/${name} SYMBOLIC)
        endif()
    endforeach()
endif()
target_include_directories(halite_gpu_back SYSTEM PRIVATE ${gpu_headers})
target_compile_definitions(halite_gpu_back PRIVATE ${gpu_backends})
set(gpu_objects $<TARGET_OBJECTS:halite_gpu_front> $<TARGET_OBJECTS:halite_gpu_back>)
add_library(tensorflowlite_gpu_delegate SHARED ${gpu_objects})
add_library(tensorflowlite_gpu_delegate_static STATIC ${gpu_objects})
set_target_properties(tensorflowlite_gpu_delegate PROPERTIES EXPORT_NAME gpu_delegate)
set_target_properties(tensorflowlite_gpu_delegate_static PROPERTIES
    OUTPUT_NAME tensorflowlite_gpu_delegate EXPORT_NAME gpu_delegate_static)
foreach(library tensorflowlite_gpu_delegate tensorflowlite_gpu_delegate_static)
    target_link_libraries(${library} PRIVATE m ${CMAKE_DL_LIBS} Threads::Threads $<BUILD_INTERFACE:halite_flags>)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
    target_compile_definitions(${library} INTERFACE $<BUILD_INTERFACE:${gpu_backends}>)
endforeach()
add_library(tensorflowlite_c::gpu_delegate ALIAS tensorflowlite_gpu_delegate)
add_library(tensorflowlite_c::gpu_delegate_static ALIAS tensorflowlite_gpu_delegate_static)
target_link_options(tensorflowlite_gpu_delegate PRIVATE ${drop_unused})
if(NOT APPLE)
    set(gpu_exports ${PROJECT_SOURCE_DIR}/cmake/gpu_exports.map)
    target_link_options(tensorflowlite_gpu_delegate PRIVATE -Wl,--version-script=${gpu_exports})
    set_target_properties(tensorflowlite_gpu_delegate PROPERTIES LINK_DEPENDS ${gpu_exports})
    if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
        target_link_options(tensorflowlite_gpu_delegate PRIVATE -Wl,--no-undefined)
    endif()
endif()
