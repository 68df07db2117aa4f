# SPDX-License-Identifier: Apache-2.0
# What the plugin's file gives and takes, and that the library itself takes nothing of oneTBB.
#
#   cmake -DPLUGIN=libroutecap_backend_tbb.so -DLIBRARY=libroutecap.so -P plugin_elf.cmake

cmake_minimum_required(VERSION 3.25)

foreach(tool IN ITEMS nm readelf)
  find_program(${tool}_program ${tool})
  if(NOT ${tool}_program)
    message("skipped: ${tool} is not installed")
    return()
  endif()
endforeach()

# read_elf(OUT FILE COMMAND...): the lines of a command's output on a file.
function(read_elf out file)
  execute_process(COMMAND ${ARGN} "${file}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "[" "<" output "${output}")
  string(REPLACE "]" ">" output "${output}")
  string(REPLACE "\n" ";" output "${output}")
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

# needed_of(OUT FILE): the libraries that a file needs.
function(needed_of out file)
  read_elf(lines "${file}" "${readelf_program}" --dynamic --wide)
  set(needed "")
  foreach(line IN LISTS lines)
    if(line MATCHES "[(]NEEDED[)].*<(.*)>")
      list(APPEND needed "${CMAKE_MATCH_1}")
    elseif(line MATCHES "[(](RPATH|RUNPATH|TEXTREL|SYMBOLIC)[)]")
      message(SEND_ERROR "${file} has a ${CMAKE_MATCH_1}: ${line}")
    elseif(line MATCHES "[(]FLAGS[)].*STATIC_TLS")
      message(SEND_ERROR "${file} has the flag STATIC_TLS: a dlopen may fail for it")
    endif()
  endforeach()
  set(${out} "${needed}" PARENT_SCOPE)
endfunction()

# The entry alone. A unique symbol (`u`) would be shared by two plugins of one process.
read_elf(lines "${PLUGIN}" "${nm_program}" --dynamic --defined-only)
set(exported "")
foreach(line IN LISTS lines)
  if(line MATCHES "^[0-9a-f]+ ([A-Za-z]) (.+)$")
    list(APPEND exported "${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
  endif()
endforeach()
if(NOT exported STREQUAL "T routecap_backend_entry_1")
  message(SEND_ERROR "${PLUGIN} exports `${exported}` instead of its entry alone")
endif()

needed_of(needed "${PLUGIN}")
if(NOT "libtbb.so.12" IN_LIST needed)
  message(SEND_ERROR "${PLUGIN} does not need libtbb.so.12; it needs ${needed}")
endif()
foreach(library IN LISTS needed)
  if(NOT library MATCHES "^(libtbb[.]so[.]12|libc[.]so[.]6|libm[.]so[.]6|libstdc[+][+][.]so[.]6|libgcc_s[.]so[.]1|ld-linux-(x86-64|aarch64)[.]so[.][12])$")
    message(SEND_ERROR "${PLUGIN} needs ${library}; only oneTBB, libc, libm, libstdc++, libgcc_s and the dynamic linker are allowed")
  endif()
endforeach()

needed_of(needed "${LIBRARY}")
if(needed MATCHES "tbb" OR needed STREQUAL "")
  message(SEND_ERROR "${LIBRARY} needs ${needed}: oneTBB is the plugin's alone")
endif()
read_elf(lines "${LIBRARY}" "${nm_program}" --dynamic --undefined-only)
if(lines MATCHES "tbb")
  message(SEND_ERROR "${LIBRARY} takes symbols of oneTBB")
endif()
