# SPDX-License-Identifier: Apache-2.0
# The sample in a runtime that only loads the library prints what README says.
#
#   cmake -DLIBRARY=... -DAPI=api.json -DPROGRAM=consumer.py|consumer.js -DRUNTIME=python3|node [-DNPM=npm -DKOFFI=version] -DWORK=... -P run.cmake
cmake_minimum_required(VERSION 3.25)

set(arguments "${LIBRARY}" "${API}")
if(NPM)
  # From npm, once.
  if(NOT EXISTS "${WORK}/node_modules/koffi/package.json")
    file(MAKE_DIRECTORY "${WORK}")
    execute_process(COMMAND "${NPM}" install --no-audit --no-fund --no-save --silent "koffi@${KOFFI}" WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE result
                    OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT result EQUAL 0)
      message("skipped: koffi ${KOFFI} could not be fetched through npm")
      return()
    endif()
  endif()
  list(PREPEND arguments "${WORK}/node_modules/koffi")
endif()
execute_process(COMMAND "${RUNTIME}" "${PROGRAM}" ${arguments} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
set(expected [[
token 0: layer 3 -> 17 4, layer 4 -> 1 2
token 1: layer 3 -> 255 0, layer 4 -> 3 4
token 2: layer 3 -> 9 30, layer 4 -> 5 6
]])
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed\n${output}instead of\n${expected}")
endif()
