# SPDX-License-Identifier: Apache-2.0
#
# Install rules: libraries, headers, pkg-config file and CMake package. Components, as distributions split them: `runtime` is what a program
# needs to run, `development` what it needs to be built, `documentation` what its author reads, `cli` (in src/cli) the command. Each plugin is a
# component of its own, since it needs libraries that the others do without: `tbb` and, where it was built, `cuda` (in src/backend).

include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(_targets routecap routecap_loader)
if(TARGET routecap_static)
  list(APPEND _targets routecap_static)
endif()
install(
  TARGETS ${_targets}
  EXPORT routecap-targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)

if(TARGET routecap_backend_tbb)
  install(TARGETS routecap_backend_tbb LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${ROUTECAP_PLUGIN_FOLDER}" COMPONENT tbb)
endif()

install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/capi/include/routecap"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
  FILES_MATCHING
  PATTERN "*.h")

set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/routecap")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/packaging/cmake/routecap-config.cmake.in" "${PROJECT_BINARY_DIR}/routecap-config.cmake"
  INSTALL_DESTINATION "${_package_dir}"
  NO_SET_AND_CHECK_MACRO)
# Within 0.x the ABI only grows, so any newer 0.x serves a program that asked for an older one.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/routecap-config-version.cmake" COMPATIBILITY SameMajorVersion)
install(
  EXPORT routecap-targets
  NAMESPACE routecap::
  DESTINATION "${_package_dir}"
  COMPONENT development)
install(
  FILES "${PROJECT_BINARY_DIR}/routecap-config.cmake" "${PROJECT_BINARY_DIR}/routecap-config-version.cmake"
  DESTINATION "${_package_dir}"
  COMPONENT development)

# Folders below the prefix are named from the place of routecap.pc itself, so that an install tree works wherever it is moved to.
foreach(kind IN ITEMS LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(ROUTECAP_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  else()
    set(ROUTECAP_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(ROUTECAP_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH _up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" ROUTECAP_PC_PREFIX "\${pcfiledir}/${_up}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/packaging/cmake/routecap.pc.in" "${PROJECT_BINARY_DIR}/routecap.pc" @ONLY)
install(
  FILES "${PROJECT_BINARY_DIR}/routecap.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)

# An embedding project's folder of documents is not ours.
if(PROJECT_IS_TOP_LEVEL)
  # The documents lie side by side there, so README's links to them are shortened. What stays in the source tree is named and no link.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/README.md")
  file(READ "${PROJECT_SOURCE_DIR}/README.md" _readme)
  string(REPLACE "](capi/docs/" "](" _readme "${_readme}")
  string(REPLACE "](capi/examples/quickstart.c)" "](examples/quickstart.c)" _readme "${_readme}")
  string(REGEX REPLACE "\\[([^]]*)\\]\\((bindings|capi|packaging|src|tests)/[^)]*\\)" "\\1" _readme "${_readme}")
  string(REGEX REPLACE "\\[([^]]*)\\]\\((CONTRIBUTING|SECURITY)[.]md\\)" "\\1" _readme "${_readme}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/documentation/README.md" CONTENT "${_readme}" @ONLY)
  install(
    FILES "${PROJECT_BINARY_DIR}/documentation/README.md"
          "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
          "${PROJECT_SOURCE_DIR}/LICENSE"
          "${PROJECT_SOURCE_DIR}/capi/docs/contract.md"
          "${PROJECT_SOURCE_DIR}/capi/docs/embedding.md"
          "${PROJECT_SOURCE_DIR}/capi/docs/frame.md"
          "${PROJECT_SOURCE_DIR}/capi/docs/plugins.md"
          "${PROJECT_SOURCE_DIR}/capi/docs/statuses.md"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    COMPONENT documentation)
  install(
    FILES "${PROJECT_SOURCE_DIR}/capi/examples/quickstart.c"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
    COMPONENT documentation)
  install(
    FILES "${PROJECT_SOURCE_DIR}/capi/examples/backend_plugin/plugin.c"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples/backend_plugin"
    COMPONENT documentation)
endif()
