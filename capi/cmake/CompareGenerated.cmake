# SPDX-License-Identifier: Apache-2.0
# Generates into a folder of its own and compares every file with the committed one.
#
#   cmake -DAPI_DIR=... -DCAPI_DIR=... -DWORK_DIR=... -DVERSION=... -P CompareGenerated.cmake

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK_DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" "-DAPI_DIR=${API_DIR}" "-DOUT_DIR=${WORK_DIR}" "-DVERSION=${VERSION}"
                -P "${CMAKE_CURRENT_LIST_DIR}/GenerateCapi.cmake" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the generator refuses ${API_DIR}")
endif()
file(GLOB_RECURSE fresh RELATIVE "${WORK_DIR}" "${WORK_DIR}/*")
file(GLOB_RECURSE present RELATIVE "${CAPI_DIR}" "${CAPI_DIR}/include/*" "${CAPI_DIR}/abi/*" "${CAPI_DIR}/src/generated/*")
# A frozen release keeps what was generated for it.
list(FILTER present EXCLUDE REGEX "^abi/baseline/")
set(wrong "")
foreach(file IN LISTS fresh)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${WORK_DIR}/${file}" "${CAPI_DIR}/${file}" RESULT_VARIABLE differs ERROR_QUIET)
  if(differs)
    list(APPEND wrong "${file}: differs")
  endif()
endforeach()
foreach(file IN LISTS present)
  file(STRINGS "${CAPI_DIR}/${file}" head LIMIT_COUNT 3 REGEX "generated from capi/api|\"generated\": \"from capi/api")
  if(head AND NOT file IN_LIST fresh)
    list(APPEND wrong "${file}: says that it is generated and is not any more; delete it")
  endif()
endforeach()
list(LENGTH fresh count)
if(count LESS 12)
  list(APPEND wrong "only ${count} files were generated")
endif()
if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "generated files are not up to date; build the target `capi-update` and look at what changed:\n  ${wrong}")
endif()
message("${count} generated files are up to date")
