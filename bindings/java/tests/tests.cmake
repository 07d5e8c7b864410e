# SPDX-License-Identifier: Apache-2.0
# The tests of the Java binding: JUnit 4 on the classes in tests/, one JVM for each test of ctest.
find_file(JUNIT_JAR junit4.jar PATHS /usr/share/java)
find_file(HAMCREST_JAR NAMES hamcrest-all.jar hamcrest-core.jar hamcrest.jar PATHS /usr/share/java)
if(NOT JUNIT_JAR OR NOT HAMCREST_JAR)
    halite_test(java COMMAND sh -c "echo 'skipped: no junit4.jar and hamcrest-all.jar (junit4)'; exit 77")
    return()
endif()
set(java_tests_jar ${java_out}/tests.jar)
halite_java(${java_tests_jar} "${java_jar};${JUNIT_JAR};${HAMCREST_JAR}" ${CMAKE_CURRENT_SOURCE_DIR}/tests)
add_custom_target(java_tests ALL DEPENDS ${java_tests_jar})
set(java_classpath ${java_jar}:${java_tests_jar}:${JUNIT_JAR}:${HAMCREST_JAR})

# halite_java_test(NAME CLASS [SLOW|DEVICES] [JVM option...] [ENVIRONMENT VARIABLE=VALUE...])
function(halite_java_test name class)
    cmake_parse_arguments(PARSE_ARGV 2 arg "SLOW;DEVICES" "" "JVM;ENVIRONMENT")
    set(set)
    if(arg_SLOW)
        set(set SLOW)
    elseif(arg_DEVICES)
        set(set DEVICES)
    endif()
    halite_test(java/${name} ${set} ENVIRONMENT HALITE_SHARED=${HALITE_SHARED} ${arg_ENVIRONMENT}
        COMMAND sh bindings/java/tests/run.sh ${Java_JAVA_EXECUTABLE} -Xmx512m
            -Djava.library.path=${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${arg_JVM} -cp ${java_classpath}
            org.tensorflow.lite.RunTests org.tensorflow.lite.${class})
endfunction()
if(HALITE_THREAD_SANITIZE)
    return() # the JVM itself would have to be built with it
endif()
if(HALITE_SANITIZE)
    # The JVM loads the sanitizer before all else and keeps its own handlers of signals, which it needs for null pointers.
    # Leaks are java/stress_many's: the leak checker ends when it stops the JVM's threads.
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
        OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_ABSOLUTE "${asan}")
        foreach(class Interpreter Tensor Library Cases)
            string(TOLOWER ${class} name)
            halite_java_test(${name} ${class}Test ENVIRONMENT HALITE_PRELOAD=${asan}
                ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=0)
        endforeach()
    endif()
    return()
endif()
set(checked JVM -Xcheck:jni)
halite_java_test(interpreter InterpreterTest ${checked})
halite_java_test(tensor TensorTest ${checked})
halite_java_test(library LibraryTest ${checked})
if(TARGET tensorflowlite_nnapi_delegate)
    halite_java_test(nnapi NnApiTest ${checked} -Dnnapi=fake ENVIRONMENT HALITE_NNAPI_LIBRARY=$<TARGET_FILE:neuralnetworks>)
    halite_java_test(no_nnapi NnApiTest ${checked} -Dnnapi=none ENVIRONMENT HALITE_NNAPI_LIBRARY=/nowhere)
endif()
halite_java_test(missing_library MissingLibraryTest JVM -Djava.library.path=/nowhere)
# A heap that does not grow, since the tests look at the memory of the whole process.
set(fixed -Xms64m -Xmx64m -XX:+AlwaysPreTouch)
halite_java_test(stress StressTest ${checked} ${fixed})
halite_java_test(stress_many StressTest SLOW JVM -Dmany=100000 ${fixed})
if(TARGET tensorflowlite_gpu_jni)
    # The compilers in software drivers set signal handlers, which the JVM needs for its own work; libjsig keeps both.
    find_library(JSIG jsig PATHS ${java_home}/../lib ${java_home}/../lib/amd64 PATH_SUFFIXES server NO_DEFAULT_PATH)
    set(jsig)
    if(JSIG)
        set(jsig HALITE_PRELOAD=${JSIG})
    endif()
    halite_java_test(gpu GpuDelegateTest ${checked})
    foreach(device opencl vulkan gles)
        halite_java_test(gpu.${device} GpuDelegateTest SLOW ENVIRONMENT HALITE_DEVICE=${device} HALITE_COMPATIBILITY=software
            ${jsig} ${checked})
    endforeach()
    foreach(device cpu gles opencl vulkan)
        set(compatibility software)
        set(set)
        if(device STREQUAL cpu)
            set(compatibility none)
        elseif(NOT device STREQUAL gles) # whose compilers take longer
            set(set SLOW)
        endif()
        halite_test(java/documents.${device} ${set} ENVIRONMENT HALITE_COMPATIBILITY=${compatibility} ${jsig}
            COMMAND sh cmake/with_data.sh ${HALITE_SHARED}/seeds sh bindings/java/tests/documents.sh ${HALITE_SHARED}/seeds
                ${Java_JAVAC_EXECUTABLE} ${Java_JAVA_EXECUTABLE} ${java_classpath} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
                ${device})
    endforeach()
endif()
halite_java_test(cases CasesTest) # which reads what the target bindings_cases makes

# Every public member says what it takes, gives and throws.
find_program(JAVADOC javadoc HINTS ${java_home})
if(JAVADOC)
    file(GLOB_RECURSE java_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.java)
    halite_test(java/docs COMMAND ${JAVADOC} -quiet -Xdoclint:all -Werror -d ${java_out}/docs ${java_sources})
endif()
halite_test(java/examples COMMAND sh bindings/java/tests/examples.sh ${HALITE_SHARED} ${Java_JAVA_EXECUTABLE}
    -Djava.library.path=${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -cp ${java_jar}:${java_out}/example.jar)
