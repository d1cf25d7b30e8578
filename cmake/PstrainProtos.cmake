# Generated code: own targets, without our warnings. Import root is the repository, output root GEN.
set(PSTRAIN_GEN "${CMAKE_BINARY_DIR}/gen")

# pstrain_generate(PROTO GENERATOR EXTENSION OUT_SOURCES [DEPENDS other.proto ...] [OPTIONS o ...])
# Runs protoc on PROTO (a path from the root) and appends what it writes to OUT_SOURCES.
function(pstrain_generate proto generator extension out_sources)
  cmake_parse_arguments(ARG "" "" "DEPENDS;OPTIONS" ${ARGN})
  string(REGEX REPLACE "\\.proto$" "" stem "${proto}")
  set(source "${PSTRAIN_GEN}/${stem}${extension}.cc")
  set(header "${PSTRAIN_GEN}/${stem}${extension}.h")
  list(TRANSFORM ARG_DEPENDS PREPEND "${CMAKE_SOURCE_DIR}/")
  add_custom_command(
    OUTPUT "${source}" "${header}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${PSTRAIN_GEN}"
    COMMAND protobuf::protoc -I "${CMAKE_SOURCE_DIR}" "--${generator}_out" "${PSTRAIN_GEN}"
            ${ARG_OPTIONS} "${proto}"
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    DEPENDS "${CMAKE_SOURCE_DIR}/${proto}" ${ARG_DEPENDS}
    COMMENT "protoc --${generator}_out ${proto}" VERBATIM)
  set(${out_sources} "${${out_sources}}" "${source}" "${header}" PARENT_SCOPE)
endfunction()

# pstrain_messages_library(NAME SOURCES generated ... [DEPS t ...])
function(pstrain_messages_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC pstrain_base_flags protobuf::libprotobuf ${ARG_DEPS})
  target_include_directories(${name} SYSTEM PUBLIC "${PSTRAIN_GEN}")
  string(REGEX REPLACE "^pstrain_" "" short ${name})
  add_library(pstrain::${short} ALIAS ${name})
  # All of them: what scripts/tidy.sh needs to read any source.
  if(NOT TARGET pstrain_generated)
    add_custom_target(pstrain_generated)
  endif()
  add_dependencies(pstrain_generated ${name})
endfunction()
