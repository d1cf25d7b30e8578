# Every test without the label "process" or "long", and what those need: what the sanitizers build.
add_custom_target(unit_tests)

# What most files include. It speaks for nobody's own includes: the preset that ships has no
# precompiled headers, and dev only those of tests. Nothing of ours is in it: its names would meet
# those of a source that does not include it.
option(PSTRAIN_PCH "Precompile what most tests include" ON)
option(PSTRAIN_LIBRARY_PCH "Precompile what most libraries include" OFF)
set(PSTRAIN_COMMON_HEADERS
  <algorithm> <array> <atomic> <chrono> <cstdint> <deque> <filesystem> <functional> <map> <memory>
  <mutex> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <thread>
  <unordered_map> <utility> <variant> <vector>
  <google/protobuf/arena.h> <google/protobuf/generated_message_reflection.h>
  <google/protobuf/generated_message_util.h> <google/protobuf/io/coded_stream.h>
  <google/protobuf/map.h> <google/protobuf/map_entry.h> <google/protobuf/map_field_inl.h>
  <google/protobuf/message.h> <google/protobuf/repeated_field.h>
  <google/protobuf/unknown_field_set.h>)
# ccache takes a precompiled header by its content, which must not have the time in it then. What
# links gRPC is compiled with -pthread, so what shares headers with it is too.
add_library(pstrain_pch_flags INTERFACE)
target_compile_options(pstrain_pch_flags INTERFACE -pthread
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# pstrain_library_headers(NAME): has the library share the precompiled headers of all libraries. A
# source with compile options of its own leaves them out by SKIP_PRECOMPILE_HEADERS.
function(pstrain_library_headers name)
  if(NOT TARGET pstrain_library_pch)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/library_pch.cc" CONTENT "\n" @ONLY)
    add_library(pstrain_library_pch STATIC EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/library_pch.cc")
    target_link_libraries(pstrain_library_pch PRIVATE pstrain_flags pstrain_pch_flags
                          protobuf::libprotobuf)
    target_precompile_headers(pstrain_library_pch PRIVATE ${PSTRAIN_COMMON_HEADERS})
  endif()
  target_link_libraries(${name} PRIVATE pstrain_pch_flags)
  target_precompile_headers(${name} REUSE_FROM pstrain_library_pch)
endfunction()

# pstrain_library(NAME SOURCES a.cc ... [DEPS t ...] [PRIVATE_DEPS t ...])
# A static library, of one folder or of the part of it that a program or a test needs alone; alias
# pstrain::NAME (the prefix pstrain_ removed).
function(pstrain_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC pstrain_base_flags ${ARG_DEPS}
                        PRIVATE pstrain_flags ${ARG_PRIVATE_DEPS})
  if(PSTRAIN_LIBRARY_PCH)
    pstrain_library_headers(${name})
  endif()
  string(REGEX REPLACE "^pstrain_" "" short ${name})
  add_library(pstrain::${short} ALIAS ${name})
endfunction()

# pstrain_program(NAME SOURCES main.cc [DEPS t ...])   built to <build>/bin/NAME
function(pstrain_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE pstrain_flags ${ARG_DEPS})
endfunction()

# What tests are compiled with, after the preset's own options: without optimisation, since a test's
# code runs once, and half of a compiler's time went into it.
add_library(pstrain_test_flags INTERFACE)
target_link_libraries(pstrain_test_flags INTERFACE pstrain_flags pstrain_pch_flags GTest::gtest
                      GTest::gmock)
target_compile_options(pstrain_test_flags INTERFACE -O0)

# pstrain_test_headers(NAME): has the program share the precompiled headers of all tests.
function(pstrain_test_headers name)
  if(NOT TARGET pstrain_test_pch)
    # A program, as those that share them: a library is compiled with -fPIC where these have -fPIE.
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_pch.cc" CONTENT "int main() {}\n" @ONLY)
    add_executable(pstrain_test_pch EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/test_pch.cc")
    target_link_libraries(pstrain_test_pch PRIVATE pstrain_test_flags protobuf::libprotobuf)
    target_precompile_headers(pstrain_test_pch PRIVATE ${PSTRAIN_COMMON_HEADERS}
                              <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM pstrain_test_pch)
endfunction()

# pstrain_test(NAME SOURCES a_test.cc ... [DEPS t ...] [LABELS l ...] [TIMEOUT s] [OPTIMIZED])
# A GoogleTest program, one ctest entry for the whole program. The limit is for programs that hang,
# also under a sanitizer on a machine with much else to do. OPTIMIZED is for tests that compute, as
# simulations do: they are compiled as the preset says.
function(pstrain_test name)
  cmake_parse_arguments(ARG "OPTIMIZED" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  if(NOT ARG_OPTIMIZED)
    target_link_libraries(${name} PRIVATE pstrain_test_flags)
    if(PSTRAIN_PCH)
      pstrain_test_headers(${name})
    endif()
  endif()
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

# pstrain_fuzzer(NAME SOURCES x_fuzz.cc [DEPS t ...])   only in the asan preset
# A libFuzzer program. As a test it reads its corpus, tests/fuzz/corpus/NAME, and no other inputs.
function(pstrain_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT PSTRAIN_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
  target_link_libraries(${name} PRIVATE pstrain_flags ${ARG_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(unit_tests ${name})
  add_test(NAME ${name} COMMAND ${name} -runs=0 "${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS fuzz)
endfunction()
