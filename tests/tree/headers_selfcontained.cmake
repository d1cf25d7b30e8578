# One translation unit per header without a source of its name, that includes nothing but it; a header
# that needs another one to be included first fails the build. The others are what their source
# includes first (own_header_first.py).
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
  "${CMAKE_SOURCE_DIR}/include/*.h" "${CMAKE_SOURCE_DIR}/base/*.h"
  "${CMAKE_SOURCE_DIR}/proto/*.h" "${CMAKE_SOURCE_DIR}/operator/*.h"
  "${CMAKE_SOURCE_DIR}/agent/*.h" "${CMAKE_SOURCE_DIR}/runtime/*.h"
  "${CMAKE_SOURCE_DIR}/library/*.h" "${CMAKE_SOURCE_DIR}/local/*.h" "${CMAKE_SOURCE_DIR}/cli/*.h")
# What needs libtorch, which is not there as a rule; its test includes it.
list(REMOVE_ITEM headers include/pstrain/torch.h)

set(units)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.h$" ".cc" source "${header}")
  if(EXISTS "${CMAKE_SOURCE_DIR}/${source}")
    continue()
  endif()
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cc")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND units "${unit}")
endforeach()

add_library(headers_selfcontained OBJECT ${units})
target_link_libraries(headers_selfcontained PRIVATE pstrain_flags)
find_package(Eigen3 CONFIG REQUIRED)
target_link_libraries(headers_selfcontained PRIVATE Eigen3::Eigen)
# For the include paths of generated and third-party headers, and so that the former exist.
foreach(target IN ITEMS pstrain_messages pstrain_grpc pstrain_input pstrain_model pstrain_rpc
        pstrain_shard)
  if(TARGET ${target})
    target_link_libraries(headers_selfcontained PRIVATE ${target})
  endif()
endforeach()
