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
        COMMAND sh bindings/java/tests/run.sh ${Java_JAVA_EXECUTABLE} -Xmx512m ${arg_JVM}
            -Djava.library.path=${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -cp ${java_classpath}
            org.tensorflow.lite.RunTests org.tensorflow.lite.${class})
endfunction()
if(HALITE_SANITIZE OR HALITE_THREAD_SANITIZE)
    return() # the JVM itself would have to be built with them
endif()
set(checked JVM -Xcheck:jni)
halite_java_test(interpreter InterpreterTest ${checked})
halite_java_test(tensor TensorTest ${checked})
