# Language level, own warnings, sanitizers. Everything hangs on one interface target, so that
# generated code (which links pstrain_base_flags only) is compiled without our warnings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(PSTRAIN_SANITIZE "" CACHE STRING "Sanitizers for all code, e.g. address,undefined or thread")
option(PSTRAIN_FUZZ "Build the fuzz targets (clang only)" OFF)
option(PSTRAIN_TSAN_NO_GRPC "Leave out what links gRPC (its packages are not instrumented)" OFF)

add_library(pstrain_base_flags INTERFACE)
# include/ has what programs of our users include, as <pstrain/NAME.h>.
target_include_directories(pstrain_base_flags INTERFACE "${CMAKE_SOURCE_DIR}"
                           "${CMAKE_SOURCE_DIR}/include")
if(PSTRAIN_SANITIZE)
  target_compile_options(pstrain_base_flags INTERFACE
    -fsanitize=${PSTRAIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(pstrain_base_flags INTERFACE -fsanitize=${PSTRAIN_SANITIZE})
endif()
if(PSTRAIN_FUZZ)
  target_compile_options(pstrain_base_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(pstrain_flags INTERFACE)
target_link_libraries(pstrain_flags INTERFACE pstrain_base_flags)
target_compile_options(pstrain_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(pstrain_flags INTERFACE -Wthread-safety -Wreserved-identifier)
endif()
