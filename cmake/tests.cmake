# SPDX-License-Identifier: Apache-2.0
# The list of tests. Names are FOLDER/TEST. Those with label "slow" are the second set (./dev test slow); those of them with
# label "devices" mostly wait for a device's compiler and are not repeated under the sanitizers; those of these with label
# "long" take too long on software devices for every change (./dev test devices runs them). What no compiler changes, texts and
# pages, has the label "once" and is left out where tests run again. All run in the repository's root.
# A test that cannot run here says why and ends with 77.
enable_testing()
find_program(CXX_COMPILER NAMES $ENV{CXX} c++ g++ clang++)
set(HALITE_SHARED ${PROJECT_SOURCE_DIR}/../shared CACHE PATH "Folder with golden/, models/, images/ (tests skip without it)")

function(halite_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW;DEVICES;LONG;ONCE" "" "COMMAND;ENVIRONMENT")
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(HALITE_SANITIZE)
        # The LeakSanitizer of gcc 12 dies of addresses that it takes for the thread-local memory of libraries. A test's own
        # options stand behind these, and are what counts.
        list(PREPEND arg_ENVIRONMENT ASAN_OPTIONS=intercept_tls_get_addr=0)
        list(APPEND arg_ENVIRONMENT LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/gpu/leaks.txt:print_suppressions=0)
    elseif(HALITE_THREAD_SANITIZE)
        list(APPEND arg_ENVIRONMENT TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/gpu/races.txt)
    endif()
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 ENVIRONMENT "${arg_ENVIRONMENT}")
    if(arg_LONG)
        set_tests_properties(${name} PROPERTIES LABELS "slow;devices;long")
    elseif(arg_DEVICES)
        set_tests_properties(${name} PROPERTIES LABELS "slow;devices")
    elseif(arg_SLOW AND arg_ONCE)
        set_tests_properties(${name} PROPERTIES LABELS "slow;once")
    elseif(arg_SLOW)
        set_tests_properties(${name} PROPERTIES LABELS slow)
    elseif(arg_ONCE)
        set_tests_properties(${name} PROPERTIES LABELS once)
    endif()
endfunction()

# ---- golden cases --------------------------------------------------------------------------------------------------
file(GLOB golden_files CONFIGURE_DEPENDS tests/golden/*.c)
set(other_isolate posix)
if(NOT WIN32 AND NOT EMSCRIPTEN)
    set(other_isolate none)
endif()
list(FILTER golden_files EXCLUDE REGEX "/isolate_${other_isolate}\\.c$")
add_executable(golden_runner ${golden_files})
target_include_directories(golden_runner PRIVATE tests/golden tools)
target_compile_definitions(golden_runner PRIVATE HALITE_DIFFERENCES="${PROJECT_SOURCE_DIR}/docs/differences.md")
target_link_libraries(golden_runner PRIVATE halite_flags tensorflowlite_c_static Threads::Threads m ${CMAKE_DL_LIBS})
function(golden_test path)
    set(folder ${HALITE_SHARED}/golden/${path})
    golden_folder_test(golden/${path} ${folder} ${ARGN})
endfunction()
# The cases of a folder with both sets of kernels. What the vectors of 32-bit Arm and the C library of Wine cannot do has lists
# of its own.
check_symbol_exists(__ARM_NEON stddef.h HALITE_ON_NEON)
set(differences)
set(fast_differences)
if(WIN32)
    set(differences --differences docs/differences.md --differences tests/golden/wine.md)
    set(fast_differences ${differences})
elseif(HALITE_ON_NEON AND NOT HALITE_ON_ARM64)
    set(fast_differences --differences docs/differences.md --differences tests/golden/armv7.md)
endif()
# Wine makes its folders when it first runs, where two that begin at once disturb each other. Its server stays until the last
# test has ended: one that goes when nobody needs it goes at times while a program connects.
if(WIN32 AND CMAKE_CROSSCOMPILING_EMULATOR)
    set(quietly sh -c "exec \"$@\" >/dev/null 2>&1" sh) # ctest waits for all that have its pipe, such as Wine's services
    halite_test(golden/wine COMMAND ${quietly} ${CMAKE_CROSSCOMPILING_EMULATOR} cmd /c exit)
    set_tests_properties(golden/wine PROPERTIES FIXTURES_SETUP wine)
    if(HALITE_WINESERVER)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/wine)
        halite_test(golden/wine_begins COMMAND sh -c "\"$@\" >/dev/null 2>&1 || [ $? -eq 2 ]" sh # 2: there is one already
            ${HALITE_IN_WINE} ${HALITE_WINESERVER} --persistent)
        halite_test(golden/wine_ends COMMAND ${HALITE_IN_WINE} ${HALITE_WINESERVER} --kill)
        set_tests_properties(golden/wine_begins PROPERTIES FIXTURES_SETUP wine_server)
        set_tests_properties(golden/wine PROPERTIES FIXTURES_REQUIRED wine_server)
        set_tests_properties(golden/wine_ends PROPERTIES FIXTURES_CLEANUP wine)
    endif()
endif()
function(golden_folder_test name folder)
    halite_test(${name} ${ARGN} COMMAND sh cmake/with_data.sh ${folder} ${CMAKE_CROSSCOMPILING_EMULATOR}
        $<TARGET_FILE:golden_runner> --kernels reference ${differences} ${folder})
    halite_test(${name}.fast ${ARGN} COMMAND sh cmake/with_data.sh ${folder} ${CMAKE_CROSSCOMPILING_EMULATOR}
        $<TARGET_FILE:golden_runner> --kernels fast ${fast_differences} ${folder})
    set_tests_properties(${name} ${name}.fast PROPERTIES FIXTURES_REQUIRED wine)
endfunction()
# Cases that once failed, here or on a GPU.
golden_folder_test(golden/once_failing ${HALITE_SHARED}/golden_failing/golden)
foreach(path ops graphs structure malformed models/micro models/mlperf_tiny models/odd models/small_ops)
    golden_test(${path})
endforeach()
# QEMU plays a processor with all CPU levels but those of another length of vectors, which it is told. The tests of fast
# kernels, which run each of them, are not built there.
if(HALITE_ON_ARM64 AND CMAKE_CROSSCOMPILING_EMULATOR)
    set(cpu_sve256 max,sve-max-vq=2)
    set(cpu_sve512 max,sve-max-vq=4)
    function(golden_level_test level path)
        set(folder ${HALITE_SHARED}/golden/${path})
        set(cpu max,sve-max-vq=1)
        if(DEFINED cpu_${level})
            set(cpu ${cpu_${level}})
        endif()
        halite_test(golden/${path}.${level} ${ARGN} COMMAND env QEMU_CPU=${cpu} HALITE_SIMD=${level}
            sh cmake/with_data.sh ${folder} ${CMAKE_CROSSCOMPILING_EMULATOR}
            $<TARGET_FILE:golden_runner> --kernels fast ${folder})
    endfunction()
    foreach(level IN LISTS halite_levels)
        foreach(path ops graphs models/mlperf_tiny)
            golden_level_test(${level} ${path})
        endforeach()
        foreach(path classification detection pose)
            golden_level_test(${level} models/${path} SLOW)
        endforeach()
    endforeach()
endif()
foreach(path audio classification detection litert_testdata mediapipe pose seanet segmentation style text)
    golden_test(models/${path} SLOW)
endforeach()

# ---- fuzz targets on what fuzzing starts from ---------------------------------------------------------------------------
set(seeds ${PROJECT_BINARY_DIR}/seeds)
if(TARGET fuzz_seeds)
    halite_test(fuzz/seeds COMMAND fuzz_seeds ${seeds})
    set_tests_properties(fuzz/seeds PROPERTIES FIXTURES_SETUP seeds)
endif()
foreach(target IN LISTS fuzz_targets)
    halite_test(fuzz/${target} COMMAND replay_${target} ${seeds}/fuzz_${target}.corpus)
    set_tests_properties(fuzz/${target} PROPERTIES FIXTURES_REQUIRED seeds)
endforeach()

# halite.exe in Wine: what is different on Windows, and tests of the command that ask for nothing else of the system.
if(WIN32 AND HALITE_TOOLS AND CMAKE_CROSSCOMPILING_EMULATOR)
    set(in_wine ${PROJECT_BINARY_DIR}/in_wine)
    file(MAKE_DIRECTORY ${in_wine})
    foreach(name halite ${programs})
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/tests/windows/in_wine.sh ${in_wine}/${name} SYMBOLIC)
    endforeach()
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    foreach(test windows/command tools/bench tools/cli tools/inspect tools/label_image tools/pictures tools/pose
            tools/run tools/segment)
        halite_test(${test} COMMAND sh tests/${test}.sh ENVIRONMENT HALITE=${in_wine}/halite HALITE_SHARED=${HALITE_SHARED}
            HALITE_LIBRARY=$<TARGET_FILE:tensorflowlite_c> HALITE_EMULATOR=${emulator}
            HALITE_PROGRAMS=${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
        set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED wine)
    endforeach()
endif()

# The page in headless Chromium.
if(TARGET page)
    find_program(HALITE_PYTHON3 python3 NO_CMAKE_FIND_ROOT_PATH)
    halite_test(web/page COMMAND ${HALITE_PYTHON3} tests/web/page.py ${page})
endif()

if(HALITE_TESTS STREQUAL "GOLDEN")
    return()
endif()

# ---- the C++ classes: tests/cpp/test_X.cc, and golden cases through them; the project itself needs no C++ ---------------
set(cxx_options)
if(HALITE_SANITIZE)
    set(cxx_options -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(HALITE_THREAD_SANITIZE)
    set(cxx_options -fsanitize=thread)
endif()
file(GLOB cpp_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} tests/cpp/test_*.cc)
foreach(file IN LISTS cpp_tests)
    get_filename_component(name ${file} NAME_WE)
    halite_test(cpp/${name} COMMAND
        sh tests/cpp/run.sh $<TARGET_FILE:tensorflowlite_c> "${CXX_COMPILER}" ${file} ${cxx_options})
endforeach()
halite_test(cpp/headers COMMAND sh tests/cpp/headers.sh "${CXX_COMPILER}")
halite_test(cpp/documents COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/seeds
    sh tests/cpp/documents.sh ${HALITE_SHARED}/seeds $<TARGET_FILE:tensorflowlite_c> "${CXX_COMPILER}" ${cxx_options})
if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    halite_test(cpp/package COMMAND sh tests/cpp/package.sh ${PROJECT_BINARY_DIR} "${CXX_COMPILER}" ${CMAKE_GENERATOR})
endif()
if(CXX_COMPILER)
    # golden_runner, whose calls go through the classes.
    set(classes ${PROJECT_BINARY_DIR}/golden_classes.o)
    add_custom_command(OUTPUT ${classes} VERBATIM DEPENDS tests/cpp/golden_classes.cc tests/cpp/golden_classes.h
        COMMAND ${CXX_COMPILER} -std=c++17 -O1 -Wall -Wextra -Werror ${cxx_options} -I${PROJECT_SOURCE_DIR}/include
            -MD -MF ${classes}.d -c ${PROJECT_SOURCE_DIR}/tests/cpp/golden_classes.cc -o ${classes} DEPFILE ${classes}.d)
    add_library(golden_through_classes OBJECT tests/golden/run_case.c)
    target_include_directories(golden_through_classes PRIVATE tests/golden tools)
    target_compile_options(golden_through_classes PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/cpp/golden_classes.h)
    target_link_libraries(golden_through_classes PRIVATE halite_flags)
    set(other_files ${golden_files})
    list(FILTER other_files EXCLUDE REGEX "run_case\\.c$")
    add_executable(golden_runner_cxx ${other_files} $<TARGET_OBJECTS:golden_through_classes> ${classes})
    target_include_directories(golden_runner_cxx PRIVATE tests/golden tools)
    target_compile_definitions(golden_runner_cxx PRIVATE HALITE_DIFFERENCES="${PROJECT_SOURCE_DIR}/docs/differences.md")
    target_link_libraries(golden_runner_cxx PRIVATE
        halite_flags tensorflowlite_c_static Threads::Threads stdc++ m ${CMAKE_DL_LIBS})
    function(golden_classes_test name)
        list(TRANSFORM ARGN PREPEND ${HALITE_SHARED}/golden/ OUTPUT_VARIABLE folders)
        list(FILTER folders EXCLUDE REGEX "/SLOW$")
        set(slow)
        if(SLOW IN_LIST ARGN)
            set(slow SLOW)
        endif()
        halite_test(cpp/golden_${name} ${slow} COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/golden
            sh tests/cpp/golden.sh $<TARGET_FILE:golden_runner> $<TARGET_FILE:golden_runner_cxx> ${folders})
    endfunction()
    golden_classes_test(small graphs structure models/micro models/odd models/small_ops)
    golden_classes_test(models SLOW models)
endif()

# ---- C tests: tests/FOLDER/test_X.c; those of tests/api see what users see, the others the inside as well -----------
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
file(GLOB support_files CONFIGURE_DEPENDS tests/support/*.c)
add_library(test_support STATIC ${support_files} src/model/schema.c)
target_include_directories(test_support PUBLIC tests)
target_link_libraries(test_support PUBLIC halite_flags ${CMOCKA_LIBRARY} m)
set(test_kernels_more tests/gpu/dialect_kernels.c)
set(test_dialect_more ${gpu_dialect_files})
set(test_average_precision_more tools/eval/average_precision.c)
set(test_statistics_more tools/bench/statistics.c)
file(GLOB test_energy_more CONFIGURE_DEPENDS tools/energy/*.c tools/periodic.c)
file(GLOB op_table_files CONFIGURE_DEPENDS tests/gpu/op_case.c tests/gpu/cases_*.c)
set(test_ops_more ${op_table_files} tests/gpu/op_target_gpu.c tests/gpu/check_plan.c)
set(test_facts_more ${test_ops_more})
set(test_plans_more tests/gpu/check_plan.c)
set(test_random_graphs_more tests/golden/accumulation.c tests/golden/compare.c)
set(test_random_devices_more ${test_random_graphs_more})
set(test_backend_more tests/gpu/backend_bench.c)
set(test_fake_cuda_more tests/gpu/backend_bench.c)
set(test_matrix_types_more src/gpu/lang/spirv/matrix_types.c)
set(test_nnapi_more tests/delegates/nnapi_fixture.c tests/delegates/session.c)
set(test_nnapi_failures_more ${test_nnapi_more})
set(test_coreml_more tests/delegates/session.c)
set(test_hexagon_more tests/delegates/session.c)
set(test_buffers_more tests/gpu/application/list.c tests/gpu/application/opencl.c tests/gpu/application/gles.c
    tests/gpu/application/cuda.c)
if(HALITE_METAL)
    list(APPEND test_buffers_more tests/gpu/application/metal.c)
    set(test_metal_more tests/gpu/application/metal.c)
endif()
if(VULKAN_HEADERS AND GLSLANG) # the application's shaders
    list(APPEND test_buffers_more tests/gpu/application/vulkan.c)
    foreach(shader fill inspect)
        set(header ${PROJECT_BINARY_DIR}/application/application_${shader}.h)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/application)
        add_custom_command(OUTPUT ${header}
            COMMAND ${GLSLANG} -V --target-env vulkan1.1 --vn application_${shader} -o ${header}
                ${PROJECT_SOURCE_DIR}/tests/gpu/application/${shader}.comp
            DEPENDS tests/gpu/application/${shader}.comp VERBATIM)
        list(APPEND test_buffers_more ${header})
    endforeach()
endif()
set(test_images_more ${test_buffers_more})
set(test_imported_more ${test_buffers_more})
set(test_cuda_buffers_more tests/gpu/application/cuda.c)
set(test_nnapi_ops_more ${op_table_files} tests/delegates/op_families.c)
set(test_coreml_ops_more ${test_nnapi_ops_more})
set(test_hexagon_ops_more ${test_nnapi_ops_more} tests/delegates/hexagon_cases.c)
set(test_async_more tests/api/async_delegate.c)
# The examples of pages, to be compiled: docs/PAGE.md becomes doc_PAGE.h.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
foreach(page async gpu_async gpu_custom_ops)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/docs/doc_${page}.h VERBATIM DEPENDS docs/${page}.md
        COMMAND sed -n [=[/^```c$/,/^```$/{/^```/!p}]=] ${PROJECT_SOURCE_DIR}/docs/${page}.md
            > ${PROJECT_BINARY_DIR}/docs/doc_${page}.h)
endforeach()
set(test_doc_async_more tests/api/async_delegate.c ${PROJECT_BINARY_DIR}/docs/doc_async.h)
set(test_gpu_async_more ${test_buffers_more} ${PROJECT_BINARY_DIR}/docs/doc_gpu_async.h)
set(test_custom_op_more ${PROJECT_BINARY_DIR}/docs/doc_gpu_custom_ops.h)
set(test_core_more tests/litert/core_fixture.c)
set(test_core_run_more tests/litert/core_fixture.c)
# The long ones among those that run in one thread, which the thread sanitizer would slow down to five minutes for nothing.
set(tests_of_one_thread test_hostile test_gemm test_dialect test_grid)
file(GLOB test_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} tests/*/test_*.c)
foreach(file IN LISTS test_files)
    get_filename_component(name ${file} NAME_WE)
    if(HALITE_THREAD_SANITIZE AND name IN_LIST tests_of_one_thread)
        continue()
    endif()
    string(REGEX REPLACE "^tests/([^/]*)/.*" "\\1" folder ${file})
    if(folder STREQUAL "api")
        set(library tensorflowlite_c)
    elseif(folder STREQUAL "gpu")
        if(NOT TARGET tensorflowlite_gpu_delegate_static OR (name STREQUAL "test_metal" AND NOT HALITE_METAL)
           OR (name STREQUAL "test_hardware_buffer" AND NOT VULKAN_HEADERS))
            continue()
        endif()
        set(library tensorflowlite_gpu_delegate_static tensorflowlite_c_static ${CMAKE_DL_LIBS} m)
    elseif(folder STREQUAL "litert")
        if(NOT TARGET halite_litert_accelerator)
            continue()
        endif()
        set(library $<TARGET_OBJECTS:halite_litert_accelerator> $<TARGET_OBJECTS:halite_litert_text>
            $<TARGET_OBJECTS:halite_litert_core>
            tensorflowlite_gpu_delegate_static tensorflowlite_c_static ${CMAKE_DL_LIBS} m)
    elseif((name MATCHES "^test_coreml" AND NOT HALITE_PROTOBUF_C) OR (name STREQUAL "test_grid" AND NOT CXX_COMPILER))
        continue()
    else()
        set(library tensorflowlite_c_static)
    endif()
    set(target ${name})
    if(TARGET ${target}) # two folders have a test of this name
        set(target ${folder}_${name})
    endif()
    add_executable(${target} ${file} ${${name}_more})
    target_link_libraries(${target} PRIVATE test_support ${library} Threads::Threads)
    # A test that defines __wrap_X stands in for X.
    set(wraps)
    foreach(part IN LISTS file ${name}_more)
        get_source_file_property(made ${part} GENERATED) # while building: not there yet
        if(made)
            continue()
        endif()
        file(STRINGS ${part} found REGEX "__wrap_[a-z_]+")
        list(APPEND wraps ${found})
    endforeach()
    string(REGEX MATCHALL "__wrap_[a-z_]+" wraps "${wraps}")
    list(REMOVE_DUPLICATES wraps)
    list(TRANSFORM wraps REPLACE "__wrap_" "-Wl,--wrap=")
    target_link_options(${target} PRIVATE ${wraps})
    if(name STREQUAL "test_ops") # takes a device: below
        continue()
    endif()
    halite_test(${folder}/${name} COMMAND ${target})
endforeach()

if(TEST gpu/test_matrix) # its kernels compile and run for half a minute
    set_tests_properties(gpu/test_matrix PROPERTIES LABELS slow)
endif()
target_include_directories(test_average_precision PRIVATE tools)
target_include_directories(test_statistics PRIVATE tools)
target_include_directories(test_doc_async PRIVATE ${PROJECT_BINARY_DIR}/docs)
if(TARGET test_custom_op)
    target_include_directories(test_custom_op PRIVATE ${PROJECT_BINARY_DIR}/docs)
endif()
if(TARGET test_buffers)
    target_include_directories(test_buffers PRIVATE ${PROJECT_BINARY_DIR}/application)
    target_include_directories(test_images PRIVATE ${PROJECT_BINARY_DIR}/application)
    target_include_directories(test_gpu_async PRIVATE ${PROJECT_BINARY_DIR}/application ${PROJECT_BINARY_DIR}/docs)
    # The delegate looks for the runtime's asynchronous functions in the program that has them linked in.
    set_target_properties(test_gpu_async PROPERTIES ENABLE_EXPORTS ON)
    target_include_directories(test_imported PRIVATE ${PROJECT_BINARY_DIR}/application)
endif()
target_include_directories(test_energy PRIVATE tools)

# What docs/accuracy.md is made with: no test, for what it prints is to be read.
if(TARGET tensorflowlite_gpu_delegate_static)
    add_executable(gpu_accuracy tests/gpu/gpu_accuracy.c tests/golden/manifest.c)
    target_link_libraries(gpu_accuracy PRIVATE test_support tensorflowlite_gpu_delegate_static tensorflowlite_c_static
        Threads::Threads ${CMAKE_DL_LIBS} m)
endif()
# The application of test_buffers, with a clock in place of checks.
if(TARGET test_buffers)
    add_executable(bench_gpu_buffers EXCLUDE_FROM_ALL bench/gpu_buffers.c ${test_buffers_more})
    target_include_directories(bench_gpu_buffers PRIVATE ${PROJECT_BINARY_DIR}/application)
    target_link_libraries(bench_gpu_buffers PRIVATE test_support tensorflowlite_gpu_delegate_static
        tensorflowlite_c_static Threads::Threads ${CMAKE_DL_LIBS} m)
endif()

# The threads of the queue's test once more, for a minute.
halite_test(api/test_queue.minute SLOW COMMAND test_queue ENVIRONMENT HALITE_TEST_SECONDS=60)
# More random graphs, for a minute.
halite_test(runtime/test_random_graphs.minute SLOW COMMAND test_random_graphs 1000 6000)
if(TARGET test_random_devices)
    halite_test(gpu/test_random_devices.minute DEVICES COMMAND test_random_devices 1000 150)
endif()

# A third party's delegate: nothing of the tree but the public headers, not even its flags. The second lacks a door.
foreach(library third_party third_party_half)
    add_library(${library} MODULE tests/api/third_party/delegate.c)
    target_include_directories(${library} PRIVATE include)
    add_dependencies(test_external ${library})
endforeach()
target_compile_definitions(third_party_half PRIVATE LACKS_DESTROY)
target_compile_definitions(test_external PRIVATE
    THIRD_PARTY="$<TARGET_FILE:third_party>" THIRD_PARTY_HALF="$<TARGET_FILE:third_party_half>")

# ---- the GPU delegate as other runtimes see it -----------------------------------------------------------------------
if(TARGET tensorflowlite_gpu_delegate AND NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    set(HALITE_LITERT_VENV "" CACHE PATH "Python environment with ai-edge-litert (the official runtime); empty: made anew")
    halite_test(gpu/interop_symbols COMMAND sh tests/gpu/interop/symbols.sh $<TARGET_FILE:tensorflowlite_gpu_delegate>)
    halite_test(gpu/interop_official DEVICES COMMAND sh tests/support/official.sh tests/gpu/interop/gpu_official.py
        $<TARGET_FILE:tensorflowlite_gpu_delegate> ${HALITE_SHARED} ${HALITE_LITERT_VENV})
endif()

# ---- the other delegates, before fakes of the systems that they are for ----------------------------------------------
add_subdirectory(tests/fakes)
if(TARGET fake_grid AND TARGET test_grid) # the thread sanitizer leaves it out
    target_link_libraries(test_grid PRIVATE fake_grid)
endif()
if(TARGET fake_cuda)
    set(with_fake_cuda HALITE_CUDA_LIBRARY=$<TARGET_FILE:fake_cuda> HALITE_NVRTC_LIBRARY=$<TARGET_FILE:fake_cuda>)
    foreach(target test_backend test_dialect test_fake_cuda test_matrix test_separable test_cuda_buffers test_norm
            test_instance_norm test_mirror test_attention test_gelu test_buffers test_images test_imported test_gpu_async
            test_custom_op test_delegate test_report test_detection test_formula test_channels test_whole test_dense_pair
            test_joins test_lend test_narrowed test_convolve_dense test_dense_outputs test_fewer_channels
            test_views)
        if(TARGET ${target}) # the thread sanitizer leaves test_dialect out
            add_dependencies(${target} fake_cuda)
            set_property(TEST gpu/${target} APPEND PROPERTY ENVIRONMENT ${with_fake_cuda})
        endif()
    endforeach()
    set_property(TEST gpu/test_fake_cuda APPEND PROPERTY ENVIRONMENT # the same card by Vulkan
        HALITE_VULKAN_LIBRARY=$<TARGET_FILE:fake_cuda> HALITE_VULKAN_VALIDATION=0)
endif()
if(TARGET test_lend)
    set_target_properties(test_lend PROPERTIES ENABLE_EXPORTS ON) # see test_gpu_async
    # As on a card whose memory the CPU does not see.
    halite_test(gpu/test_lend.staging COMMAND test_lend ENVIRONMENT HALITE_VULKAN_STAGING=1)
endif()
if(TARGET fake_android AND TARGET test_hardware_buffer)
    add_dependencies(test_hardware_buffer fake_android)
    target_include_directories(test_hardware_buffer PRIVATE tests/fakes)
    target_compile_definitions(test_hardware_buffer PRIVATE FAKE_ANDROID="$<TARGET_FILE:fake_android>")
    set_target_properties(test_hardware_buffer PROPERTIES ENABLE_EXPORTS ON) # see test_gpu_async
    add_dependencies(test_gpu_async fake_android)
    # Without the validation layer, which complains of itself where threads wait for one timeline as the fake's do.
    halite_test(gpu/test_gpu_async.sync_files COMMAND test_gpu_async
        ENVIRONMENT HALITE_VULKAN_LIBRARY=$<TARGET_FILE:fake_android> HALITE_VULKAN_VALIDATION=0)
endif()
add_dependencies(test_energy fake_nvml)
if(TARGET fake_metal AND HALITE_METAL AND TARGET tensorflowlite_gpu_delegate_static)
    foreach(test test_backend test_buffers test_images test_imported test_metal)
        add_dependencies(${test} fake_metal)
        target_compile_definitions(${test} PRIVATE FAKE_METAL="$<TARGET_FILE:fake_metal>")
    endforeach()
endif()
target_compile_definitions(test_energy PRIVATE FAKE_NVML="$<TARGET_FILE:fake_nvml>")
include(tests/delegates/tests.cmake)

# ---- LiteRT 2's official runtime with our accelerator --------------------------------------------------------------------
if(TARGET LiteRt AND NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    halite_test(litert/core_symbols COMMAND sh tests/litert/core_symbols.sh $<TARGET_FILE:LiteRt>)
    halite_test(litert/client COMMAND sh tests/litert/client.sh $<TARGET_FILE:LiteRt> ${CMAKE_C_COMPILER})
endif()
if(TARGET LiteRtGpuAccelerator AND NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    halite_test(litert/symbols COMMAND sh tests/litert/symbols.sh $<TARGET_FILE:LiteRtGpuAccelerator>)
    foreach(device opencl vulkan gles)
        set(slow DEVICES)
        if(NOT device STREQUAL "vulkan")
            set(slow LONG)
        endif()
        halite_test(litert/official.${device} ${slow} COMMAND sh tests/litert/official.sh $<TARGET_FILE:LiteRtGpuAccelerator>
            $<TARGET_FILE:tensorflowlite_gpu_delegate> ${HALITE_SHARED} ${device} ${HALITE_LITERT_VENV})
    endforeach()
endif()

# ---- golden cases through the GPU delegate -------------------------------------------------------------------------
# The same through the GPU delegate, on each device that is here: what is allowed there is in tests/gpu/tolerances.md.
# gpu_golden_test(NAME DEVICE OPTIONS PATHS...)
function(gpu_golden_test name device options)
    set(slow)
    # Whole models, a second and a third time all operators; on OpenCL every kernel is compiled anew: minutes.
    if(name MATCHES "models|^ops_" OR (name MATCHES "^(ops|exact)$" AND NOT device STREQUAL "gles" AND
            NOT "${name}.${device}" STREQUAL "ops.vulkan"))
        set(slow DEVICES)
    endif()
    if(name MATCHES "models|^ops_" AND NOT "${name}.${device}" MATCHES "^ops_f16s?.gles")
        set(slow LONG)
    endif()
    set(validation)
    set(verbose)
    if(name STREQUAL "graphs" AND device STREQUAL "vulkan") # under the Khronos layer; --verbose shows its messages
        set(validation ENVIRONMENT HALITE_VULKAN_VALIDATION=1)
        set(verbose --verbose)
    endif()
    list(TRANSFORM ARGN PREPEND ${HALITE_SHARED}/golden/ OUTPUT_VARIABLE paths)
    halite_test(golden/${name}.${device} ${slow} COMMAND sh cmake/with_device.sh ${device}
        ${HALITE_SHARED}/golden/ops/add/add_float32_broadcast_channel
        $<TARGET_FILE:golden_runner> --delegate $<TARGET_FILE:tensorflowlite_gpu_delegate> ${verbose}
        --option take_small_partitions=true --option max_delegated_partitions=1000 ${options}
        --differences tests/gpu/tolerances.md --differences docs/differences.md ${paths} ${validation})
    set_tests_properties(golden/${name}.${device} PROPERTIES FAIL_REGULAR_EXPRESSION "Vulkan validation:")
endfunction()
if(TARGET tensorflowlite_gpu_delegate AND NOT HALITE_THREAD_SANITIZE) # which does not survive fork beside a driver's threads
    # The golden cases of the operators in a file of rows KIND_OP(NAME, ...) and KIND_CUSTOM("name", ...), where there are
    # cases.
    function(golden_paths_of rows kind result)
        file(STRINGS ${rows} lines REGEX "^${kind}_(OP|CUSTOM)\\(")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${rows})
        set(paths)
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^[A-Z_]+\\( *\"?([A-Za-z0-9_.]+).*" "\\1" op "${line}")
            string(TOLOWER "${op}" op)
            if(EXISTS ${HALITE_SHARED}/golden/ops/${op})
                list(APPEND paths ops/${op})
            endif()
        endforeach()
        set(${result} ${paths} PARENT_SCOPE)
    endfunction()
    golden_paths_of(src/gpu/ops/ops.def GPU gpu_op_paths)
    # What the delegate computes in integers: the results are those of the cases, bit for bit.
    golden_paths_of(src/gpu/integer/ops.def INTEGER gpu_exact_paths)
    set(gpu_result_ops atan2 conv_2d div floor_div gather gather_nd sub transpose_conv lstm/lstm_full_hybrid_uint8)
    foreach(device opencl vulkan gles)
        gpu_golden_test(graphs ${device} "--quantum;2" graphs)
        gpu_golden_test(malformed ${device} "" malformed)
        if(EXISTS ${HALITE_SHARED}/golden_failing)
            # Special values, refusals while running, dynamic range.
            list(TRANSFORM gpu_result_ops PREPEND ../golden_failing/golden/ops/ OUTPUT_VARIABLE paths)
            gpu_golden_test(results ${device} "--quantum;1" ${paths})
        endif()
        gpu_golden_test(ops ${device} "--quantum;1" ${gpu_op_paths})
        gpu_golden_test(models ${device} "--quantum;2;--spread;2;--twin-spread;2" models/audio models/classification
            models/detection models/mediapipe models/micro models/mlperf_tiny models/odd models/pose models/segmentation
            models/small_ops models/style models/text)
        gpu_golden_test(exact ${device} "--option;quantized=exact" ${gpu_exact_paths})
        gpu_golden_test(exact_models ${device} "--option;quantized=exact;--twin-spread;2" models/classification
            models/detection models/mediapipe models/micro models/mlperf_tiny models/odd models/pose models/segmentation
            models/small_ops)
        foreach(precision f16s f16)
            # MIN_MEMORY_USAGE first: halves are kept even where they save little.
            set(half --quantum 1 --tolerance 8e-3 --option precision=${precision} --option inference_priority1=3
                --differences tests/gpu/tolerances_half.md)
            gpu_golden_test(ops_${precision} ${device} "${half}" ${gpu_op_paths})
        endforeach()
    endforeach()
    if(TARGET fake_cuda) # sums of bytes by CUDA's instruction
        gpu_golden_test(exact_some cuda "--option;quantized=exact" ops/conv_2d ops/fully_connected)
        set_property(TEST golden/exact_some.cuda APPEND PROPERTY ENVIRONMENT ${with_fake_cuda})
    endif()
endif()

# ---- the interface: headers, layout, symbols ---------------------------------------------------------------------
set(check_headers -Wall -Wextra -Werror -Iinclude -fsyntax-only)
halite_test(api/abi_layout_c COMMAND ${CMAKE_C_COMPILER} -std=c11 ${check_headers} tests/api/abi_layout.c)
if(CXX_COMPILER)
    halite_test(api/abi_layout_cxx COMMAND ${CXX_COMPILER} -std=c++17 ${check_headers} -x c++ tests/api/abi_layout.c)
endif()
halite_test(api/abi_releases_c COMMAND ${CMAKE_C_COMPILER} -std=c11 ${check_headers} tests/api/abi_releases.c)
if(CXX_COMPILER)
    halite_test(api/abi_releases_cxx
        COMMAND ${CXX_COMPILER} -std=c++17 ${check_headers} -x c++ tests/api/abi_releases.c)
endif()
halite_test(api/abi_releases_documented COMMAND sh tests/api/abi_releases.sh)
halite_test(api/headers_alone COMMAND sh tests/api/headers_alone.sh . ${CMAKE_C_COMPILER} ${CXX_COMPILER})
halite_test(api/exported_symbols COMMAND sh tests/api/exported_symbols.sh $<TARGET_FILE:tensorflowlite_c>)
set(abi_libraries $<TARGET_FILE:tensorflowlite_c>)
if(TARGET tensorflowlite_gpu_delegate)
    list(APPEND abi_libraries $<TARGET_FILE:tensorflowlite_gpu_delegate>)
endif()
# What is kept was read from gcc's debug information on x86-64.
set(abi_depth names)
string(TOUPPER "CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}" abi_flags)
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64
    AND "${CMAKE_C_FLAGS} ${${abi_flags}}" MATCHES " -g")
    set(abi_depth types)
endif()
halite_test(api/abi COMMAND sh tests/api/abi.sh ${abi_depth} ${abi_libraries})
halite_test(api/segments COMMAND sh tests/api/segments.sh ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${PROJECT_BINARY_DIR}/python/halite)
if(TARGET tensorflowlite_gpu_delegate)
    halite_test(api/exported_symbols_gpu COMMAND sh tests/api/exported_symbols.sh
        $<TARGET_FILE:tensorflowlite_gpu_delegate> gpu)
    halite_test(api/all_functions ONCE COMMAND sh tests/api/all_functions.sh ${HALITE_SHARED}/facts/c_abi.md
        $<TARGET_FILE:tensorflowlite_c> $<TARGET_FILE:tensorflowlite_gpu_delegate>
        $<TARGET_FILE:tensorflowlite_coreml_delegate>)
endif()
if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE) # they build programs without the sanitizers' flags
    halite_test(api/cxx_client COMMAND sh tests/api/cxx_client.sh $<TARGET_FILE:tensorflowlite_c> ${CXX_COMPILER})
    halite_test(api/install COMMAND sh tests/api/install.sh ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} ${CMAKE_GENERATOR})
    halite_test(api/configure ONCE COMMAND sh tests/api/configure.sh ${CMAKE_C_COMPILER} ${CMAKE_GENERATOR})
    halite_test(api/doc_example COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/seeds
        sh tests/api/doc_example.sh ${HALITE_SHARED}/seeds $<TARGET_FILE:tensorflowlite_c> ${CMAKE_C_COMPILER})
    if(TARGET tensorflowlite_gpu_delegate)
        foreach(device opencl vulkan gles)
            halite_test(api/doc_example.${device} ONCE COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/seeds
                sh tests/api/doc_example.sh ${HALITE_SHARED}/seeds $<TARGET_FILE:tensorflowlite_c> ${CMAKE_C_COMPILER}
                $<TARGET_FILE:tensorflowlite_gpu_delegate> ${device})
        endforeach()
    endif()
    halite_test(api/selective COMMAND sh tests/api/selective.sh $<TARGET_FILE:select_ops>
        $<TARGET_FILE:tensorflowlite_c_static> ${CMAKE_C_COMPILER} ${seeds}/fuzz_invoke.corpus/TANH_0_f32.tflite)
    set_tests_properties(api/selective PROPERTIES FIXTURES_REQUIRED seeds)
    halite_test(style/check ONCE COMMAND sh tests/style/check.sh)
    halite_test(style/houses COMMAND sh tests/style/houses.sh)
    halite_test(style/history COMMAND sh tests/style/history.sh)
    if(TARGET tensorflowlite_gpu_delegate_static)
        add_executable(op_types tests/style/op_types.c)
        target_link_libraries(op_types PRIVATE test_support tensorflowlite_gpu_delegate_static tensorflowlite_c_static
            Threads::Threads ${CMAKE_DL_LIBS} m)
        halite_test(style/ops_table COMMAND sh tests/style/ops_table.sh $<TARGET_FILE:op_types>)
        halite_test(golden/op_types COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/golden/ops
            find ${HALITE_SHARED}/golden/ops -name *.tflite -exec $<TARGET_FILE:op_types> {} +)
    endif()
endif()

# ---- the halite command: tests/tools/X.sh and the demo, with the command in $HALITE; X_slow.sh and X_devices.sh are slow ----
if(HALITE_TOOLS)
    add_executable(pixel_detector tests/tools/pixel_detector.c)
    target_link_libraries(pixel_detector PRIVATE test_support)
    add_executable(lint_models tests/tools/lint_models.c)
    target_link_libraries(lint_models PRIVATE test_support)
    add_library(test_custom_ops MODULE tests/tools/custom_ops.c)
    target_link_libraries(test_custom_ops PRIVATE halite_flags)
    file(GLOB tool_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} tests/tools/*.sh tests/demo/*.sh)
    foreach(file IN LISTS tool_tests)
        get_filename_component(name ${file} NAME_WE)
        string(REGEX REPLACE "^tests/([^/]*)/.*" "\\1" folder ${file})
        set(slow)
        if(name MATCHES "^report.*_slow$")
            set(slow SLOW ONCE)
        elseif(name MATCHES "_slow$")
            set(slow SLOW)
        elseif(name MATCHES "_devices$")
            set(slow DEVICES)
        elseif(folder STREQUAL "demo" OR name MATCHES "^(report|report_pair|serve_page)$")
            set(slow ONCE)
        endif()
        halite_test(${folder}/${name} ${slow} COMMAND sh ${file} ENVIRONMENT
            HALITE=$<TARGET_FILE:halite> HALITE_LIBRARY=$<TARGET_FILE:tensorflowlite_c> HALITE_SHARED=${HALITE_SHARED})
    endforeach()
endif()

# ---- language bindings ----------------------------------------------------------------------------------------------
if(TARGET python_core)
    # A delegate and operators of a program's own, linked with the package's library.
    add_library(python_plugin MODULE bindings/python/tests/plugin.c)
    target_link_libraries(python_plugin PRIVATE halite_flags tensorflowlite_c Threads::Threads)
    file(GLOB python_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} bindings/python/tests/test_*.py)
    foreach(file IN LISTS python_tests)
        get_filename_component(name ${file} NAME_WE)
        halite_test(python/${name} COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python
            sh bindings/python/tests/run.sh ${HALITE_PYTHON_EXECUTABLE} ${file} ENVIRONMENT HALITE_SHARED=${HALITE_SHARED}
            HALITE_PYTHON_PLUGIN=$<TARGET_FILE:python_plugin> HALITE_LITERT_VENV=${HALITE_LITERT_VENV})
    endforeach()
    set(python_golden ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python
        sh cmake/with_data.sh ${HALITE_SHARED}/golden
        sh bindings/python/tests/run.sh ${HALITE_PYTHON_EXECUTABLE} bindings/python/tests/golden.py)
    halite_test(python/golden COMMAND ${python_golden} ${HALITE_SHARED}/golden/graphs ${HALITE_SHARED}/golden/structure
        ${HALITE_SHARED}/golden/models/micro ${HALITE_SHARED}/golden/models/small_ops)
    halite_test(python/many SLOW COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python
        sh bindings/python/tests/run.sh ${HALITE_PYTHON_EXECUTABLE} bindings/python/tests/test_interpreter.py
        Construction.test_many_do_not_grow ENVIRONMENT HALITE_MANY=100000)
    halite_test(python/wheel SLOW COMMAND sh bindings/python/tests/wheel.sh)
    halite_test(python/wheel_elsewhere SLOW COMMAND sh bindings/python/tests/wheel_elsewhere.sh)
    halite_test(python/many_machines SLOW ONCE COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python
        sh bindings/python/tests/many_machines.sh ENVIRONMENT HALITE_SHARED=${HALITE_SHARED})
    halite_test(python/golden_models SLOW COMMAND ${python_golden} ${HALITE_SHARED}/golden/models)
endif()

# ---- packages -------------------------------------------------------------------------------------------------------
halite_test(packaging/deb SLOW ONCE COMMAND sh tests/packaging/deb.sh)
set_tests_properties(packaging/deb PROPERTIES TIMEOUT 3600) # it builds everything twice: packages and a wheel
set(classifiers ${HALITE_SHARED}/models/classification)
halite_test(packaging/selective SLOW ONCE COMMAND sh cmake/with_data.sh ${classifiers}
    sh tests/packaging/selective.sh $<TARGET_FILE:tensorflowlite_c> ${CMAKE_C_COMPILER}
    ${classifiers}/mobilenet_v1_1.0_224_float.tflite ${classifiers}/mobilenet_v1_1.0_224_int8.tflite)
if(NOT HALITE_SANITIZE AND NOT HALITE_THREAD_SANITIZE)
    halite_test(packaging/examples SLOW ONCE COMMAND
        sh tests/packaging/examples.sh ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} ${CMAKE_GENERATOR})
    foreach(first C=cc C++=c++ Python=python3 Java=java Swift=swift)
        string(REPLACE "=" ";" first ${first})
        list(GET first 0 language)
        halite_test(packaging/getting_started.${language} ONCE COMMAND
            sh tests/packaging/getting_started.sh ${PROJECT_BINARY_DIR} ${first})
    endforeach()
endif()
halite_test(packaging/reproducible SLOW ONCE COMMAND sh tests/packaging/reproducible.sh)
halite_test(packaging/site ONCE COMMAND sh tests/packaging/site.sh)
halite_test(packaging/single_file SLOW ONCE COMMAND sh tests/packaging/single_file.sh ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})

# ---- kernels before the compilers that are here; on devices, slowly ------------------------------------------------
if(TARGET tensorflowlite_gpu_delegate_static)
    halite_test(gpu/left_out SLOW ONCE COMMAND sh tests/gpu/left_out.sh $<TARGET_FILE:tensorflowlite_c> ${CMAKE_C_COMPILER})
    halite_test(gpu/kernels ONCE COMMAND sh tests/gpu/kernels.sh $<TARGET_FILE:test_kernels>)
    halite_test(gpu/kernels_on_devices LONG COMMAND test_kernels --build)
    foreach(device opencl vulkan gles)
        set(slow DEVICES)
        if(device STREQUAL "opencl") # nine minutes of PoCL's compiler; golden/ops.opencl has the operators, too
            set(slow LONG)
        endif()
        halite_test(gpu/ops.${device} ${slow} COMMAND test_ops ${device})
    endforeach()
    # The fake Metal compiles each kernel's text with the host's compiler: a few rows with barriers always, all when there is
    # time.
    if(TARGET fake_metal AND HALITE_METAL)
        set(with_fake ENVIRONMENT HALITE_METAL_LIBRARY=$<TARGET_FILE:fake_metal>)
        halite_test(gpu/ops_some.metal COMMAND test_ops metal reduce "of a wide image" ${with_fake})
        halite_test(gpu/ops.metal LONG COMMAND test_ops metal ${with_fake})
    endif()
endif()
