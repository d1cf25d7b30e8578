# libpstrain.so and what `cmake --install` writes: the library, its headers, a package for
# find_package and one for pkg-config. Included last, when the libraries of all folders are there.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The folders whose objects are all in the library, called from inside it or not. What they need of
# others is linked in as far as it is needed.
set(parts pstrain_program_cluster pstrain_program_data pstrain_program_values)
if(TARGET pstrain_program)
  list(APPEND parts pstrain_program)
endif()

file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/libpstrain.cc" CONTENT "\n" @ONLY)
add_library(pstrain_shared SHARED "${CMAKE_BINARY_DIR}/libpstrain.cc")
set(map "${CMAKE_SOURCE_DIR}/cmake/package/libpstrain.map")
set_target_properties(pstrain_shared PROPERTIES
  OUTPUT_NAME pstrain EXPORT_NAME pstrain
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS "${map}")
foreach(part IN LISTS parts)
  target_sources(pstrain_shared PRIVATE "$<TARGET_OBJECTS:${part}>")
endforeach()
# For what they need; of the parts themselves nothing is missing any more.
target_link_libraries(pstrain_shared PRIVATE ${parts})
target_link_options(pstrain_shared PRIVATE "LINKER:--version-script=${map}")
if(NOT PSTRAIN_SANITIZE)  # whose runtime is in the program, not in a library
  target_link_options(pstrain_shared PRIVATE LINKER:--no-undefined)
endif()
target_compile_features(pstrain_shared INTERFACE cxx_std_20)
target_include_directories(pstrain_shared INTERFACE "$<INSTALL_INTERFACE:include>")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/pstrain")
install(TARGETS pstrain_shared EXPORT pstrain
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" INCLUDES DESTINATION include)
install(DIRECTORY include/pstrain DESTINATION include FILES_MATCHING PATTERN "*.h")
install(EXPORT pstrain NAMESPACE pstrain:: DESTINATION "${package}"
        FILE pstrainConfig.cmake)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/pstrainConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/pstrainConfigVersion.cmake" DESTINATION "${package}")
# From where the file lies, so that what is installed can be moved.
file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/package/pstrain.pc.in "${CMAKE_BINARY_DIR}/pstrain.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/pstrain.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
