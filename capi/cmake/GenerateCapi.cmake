# SPDX-License-Identifier: Apache-2.0
# Generates the C API's headers, version script, symbol list, description and table from annotated C.
#
#   cmake -DAPI_DIR=capi/api -DOUT_DIR=capi -DVERSION=0.1.0 -P capi/cmake/GenerateCapi.cmake
#
# OUT_DIR gets include/routecap/, abi/ and src/generated/. Files are written only when their content changes.

cmake_minimum_required(VERSION 3.25)

# Grows only when a released function, struct field or value is changed or removed.
set(CAPI_ABI_VERSION 1)

foreach(argument IN ITEMS API_DIR OUT_DIR VERSION)
  if(NOT DEFINED ${argument})
    message(FATAL_ERROR "GenerateCapi.cmake needs -D${argument}=...")
  endif()
endforeach()
if(NOT VERSION MATCHES "^([0-9]+)[.]([0-9]+)[.]([0-9]+)$")
  message(FATAL_ERROR "GenerateCapi.cmake: VERSION `${VERSION}` is not MAJOR.MINOR.PATCH")
endif()
set(CAPI_VERSION "${VERSION}")
set(CAPI_VERSION_MAJOR "${CMAKE_MATCH_1}")
set(CAPI_VERSION_MINOR "${CMAKE_MATCH_2}")
set(CAPI_VERSION_PATCH "${CMAKE_MATCH_3}")
set(CAPI_SONAME "libroutecap.so.${CAPI_VERSION_MAJOR}")
set(CAPI_TEMPLATES "${CMAKE_CURRENT_LIST_DIR}/templates")

include("${CMAKE_CURRENT_LIST_DIR}/CapiText.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiParse.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiRules.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiEmitHeaders.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiEmitAbi.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiEmitJson.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiEmitSwig.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiEmitSources.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/CapiEmitChecks.cmake")

capi_parse_folder("${API_DIR}")
capi_stop_on_errors()
capi_name_init_functions()
capi_check_api()
capi_stop_on_errors()

capi_emit_headers("${OUT_DIR}/include/routecap")
capi_emit_loader("${OUT_DIR}/include/routecap")
capi_emit_abi("${OUT_DIR}/abi")
capi_emit_json("${OUT_DIR}/abi")
capi_emit_swig("${OUT_DIR}/abi")
capi_emit_sources("${OUT_DIR}/src/generated")
capi_emit_checks("${OUT_DIR}/abi/checks")
