# Every test without the label "process" or "long", and what those need: what the sanitizers build.
add_custom_target(unit_tests)
add_custom_target(fuzzers)

# pstrain_library(NAME SOURCES a.cc ... [DEPS t ...] [PRIVATE_DEPS t ...])
# One static library per folder; alias pstrain::NAME (the prefix pstrain_ removed).
function(pstrain_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC pstrain_base_flags ${ARG_DEPS}
                        PRIVATE pstrain_flags ${ARG_PRIVATE_DEPS})
  string(REGEX REPLACE "^pstrain_" "" short ${name})
  add_library(pstrain::${short} ALIAS ${name})
endfunction()

# pstrain_program(NAME SOURCES main.cc [DEPS t ...])   built to <build>/bin/NAME
function(pstrain_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE pstrain_flags ${ARG_DEPS})
endfunction()

# pstrain_test(NAME SOURCES a_test.cc ... [DEPS t ...] [LABELS l ...] [TIMEOUT s])
# A GoogleTest program, one ctest entry for the whole program. The limit is for programs that hang,
# also under a sanitizer on a machine with much else to do.
function(pstrain_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${name} PRIVATE pstrain_flags ${ARG_DEPS} GTest::gtest GTest::gmock
                        GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE PSTRAIN_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             PSTRAIN_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  if(NOT ARG_LABELS MATCHES "process|long")
    add_dependencies(unit_tests ${name})
  endif()
endfunction()

# pstrain_fuzzer(NAME SOURCES x_fuzz.cc [DEPS t ...])   only in the fuzz preset
function(pstrain_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT PSTRAIN_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
  target_link_libraries(${name} PRIVATE pstrain_flags ${ARG_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()
