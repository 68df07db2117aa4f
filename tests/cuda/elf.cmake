# SPDX-License-Identifier: Apache-2.0
# What the built CUDA plugin gives and takes, read from the file itself, and where it is installed.
#
#   ROUTECAP_TEST_CUDA_PLUGIN=libroutecap_backend_cuda.so ROUTECAP_TEST_CUDA_BUILD=build/cuda cmake -DWORK=folder -P elf.cmake
cmake_minimum_required(VERSION 3.25)

set(plugin "$ENV{ROUTECAP_TEST_CUDA_PLUGIN}")
if(NOT EXISTS "${plugin}")
  message(FATAL_ERROR "ROUTECAP_TEST_CUDA_PLUGIN is \"${plugin}\", which is not there; packaging/run check cuda sets it")
endif()

function(read_elf out)
  execute_process(COMMAND ${ARGN} "${plugin}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "[" "<" output "${output}")
  string(REPLACE "]" ">" output "${output}")
  string(REPLACE ";" "," output "${output}")
  string(REPLACE "\n" ";" output "${output}")
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

# One function, and nothing of the runtime that is linked into it: another library's runtime must not meet it.
read_elf(lines nm --dynamic --defined-only)
set(exported "")
foreach(line IN LISTS lines)
  if(line MATCHES "^[0-9a-f]+ ([A-Za-z]) (.+)$")
    list(APPEND exported "${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
  endif()
endforeach()
if(NOT exported STREQUAL "T routecap_backend_entry_1")
  message(SEND_ERROR "the plugin exports \"${exported}\" instead of routecap_backend_entry_1 alone")
endif()

# No library of CUDA's: the driver is opened by the runtime when somebody asks for a device.
read_elf(lines readelf --dynamic --wide)
set(needed "")
foreach(line IN LISTS lines)
  if(line MATCHES "\\(NEEDED\\).*<(.*)>")
    list(APPEND needed "${CMAKE_MATCH_1}")
    if(NOT CMAKE_MATCH_1 MATCHES "^(libstdc\\+\\+|libgcc_s|libc|libm|libdl|librt|libpthread|ld-linux[-a-z0-9_]*)\\.so\\.[0-9]+$")
      message(SEND_ERROR "the plugin needs ${CMAKE_MATCH_1}")
    endif()
  elseif(line MATCHES "\\((RPATH|RUNPATH|TEXTREL)\\)")
    message(SEND_ERROR "the plugin has ${CMAKE_MATCH_1}: ${line}")
  elseif(line MATCHES "\\(FLAGS_1\\)" AND NOT line MATCHES "NOW.*NODELETE")
    message(SEND_ERROR "the plugin lacks NOW or NODELETE: ${line}")
  endif()
endforeach()
if(NOT "libc.so.6" IN_LIST needed)
  message(SEND_ERROR "readelf shows no needed library: ${needed}")
endif()
read_elf(lines nm --dynamic --undefined-only)
foreach(line IN LISTS lines)
  if(line MATCHES " U (cu[A-Z].*|cuda.*)$")
    message(SEND_ERROR "the plugin wants ${CMAKE_MATCH_1} from elsewhere")
  endif()
endforeach()

# Code for a device is there, and no stack is executable.
read_elf(lines readelf --sections --segments --wide)
string(JOIN "\n" text ${lines})
if(NOT text MATCHES "\\.nv_fatbin")
  message(SEND_ERROR "the plugin holds no code for a device")
endif()
if(NOT text MATCHES "GNU_STACK[ 0-9a-fx]+RW ")
  message(SEND_ERROR "the plugin's stack is executable, or readelf does not say")
endif()

# Its component installs it and nothing else.
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "$ENV{ROUTECAP_TEST_CUDA_BUILD}" --prefix "${WORK}" --component cuda OUTPUT_QUIET
                        COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE installed RELATIVE "${WORK}" "${WORK}/*")
if(NOT installed MATCHES "^lib[-/a-z0-9_]*/routecap/backends-[0-9]+/libroutecap_backend_cuda\\.so$")
  message(SEND_ERROR "the component cuda installs ${installed}")
endif()
