# SPDX-License-Identifier: Apache-2.0
# What the generator makes of the valid API: complete, compilable, the same every time, and written only when it changes.
#
#   cmake -DGENERATOR=... -DCOMPARE=... -DVALID_DIR=... -DWORK_DIR=... -DCC=... -DCXX=... -P accept.cmake

cmake_minimum_required(VERSION 3.25)

function(generate api out version)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DAPI_DIR=${api}" "-DOUT_DIR=${out}" "-DVERSION=${version}" -P "${GENERATOR}"
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0 OR NOT output STREQUAL "")
    message(SEND_ERROR "the valid API as ${version}: exit ${result}\n${output}")
  endif()
endfunction()

function(expect_text file text)
  file(READ "${WORK_DIR}/out/${file}" content)
  string(FIND "${content}" "${text}" place)
  if(place EQUAL -1)
    message(SEND_ERROR "${file} does not hold:\n${text}")
  endif()
endfunction()

function(expect_json expected)
  file(READ "${WORK_DIR}/out/abi/api.json" json)
  string(JSON value GET "${json}" ${ARGN})
  if(NOT value STREQUAL expected)
    message(SEND_ERROR "api.json: ${ARGN} is `${value}`, not `${expected}`")
  endif()
endfunction()

function(expect_compiles compiler)
  execute_process(COMMAND ${compiler} -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror "-I${WORK_DIR}/out/include" -fsyntax-only ${ARGN}
                  RESULT_VARIABLE result ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "${compiler} ${ARGN}\n${output}")
  endif()
endfunction()

function(expect_same left right)
  file(GLOB_RECURSE files RELATIVE "${left}" "${left}/*")
  file(GLOB_RECURSE others RELATIVE "${right}" "${right}/*")
  if(NOT files STREQUAL others)
    message(SEND_ERROR "${left} holds ${files}\n${right} holds ${others}")
  endif()
  foreach(file IN LISTS files)
    file(SHA256 "${left}/${file}" left_hash)
    file(SHA256 "${right}/${file}" right_hash)
    if(NOT left_hash STREQUAL right_hash)
      message(SEND_ERROR "${file} differs between ${left} and ${right}")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
generate("${VALID_DIR}" "${WORK_DIR}/out" 0.2.0)

# A symbol belongs to the release that brought it, and each release's node holds on to the one before.
expect_text(abi/routecap.map "RCAP_0.1 {
  global:
    rcap_error_init;
    rcap_get_api;
    rcap_shelf_count;
    rcap_shelf_destroy;
    rcap_shelf_fill;
    rcap_shelf_open;
  local:
    *;
};
RCAP_0.2 {
  global:
    rcap_color_name;
    rcap_shelf_options_init;
} RCAP_0.1;
")
expect_text(abi/symbols.txt "rcap_color_name@@RCAP_0.2\nrcap_error_init@@RCAP_0.1\nrcap_get_api@@RCAP_0.1\n")

# Documentation goes through untouched, whatever CMake would make of its characters.
set(prose [==[brackets [like these]; and a semicolon, a back\slash, "quotes", ${dollar} and @at@ stay as they are.]==])
expect_text(include/routecap/routecap.h "${prose}")
expect_text(include/routecap/routecap_flat.h "${prose}")

expect_text(include/routecap/routecap.h "#define RCAP_SHELF_OPTIONS_INIT {40, 3, -1, 2.5, {0}}")
expect_text(include/routecap/routecap.h "RCAP_API RCAP_DEPRECATED(\"use 'rcap_shelf_fill'\") int64_t rcap_shelf_count(")
expect_text(include/routecap/routecap.h "#define RCAP_VERSION_STRING \"0.2.0\"")
expect_text(include/routecap/routecap_loader.h "#define RCAP_LOADER_SONAME \"libroutecap.so.0\"")
expect_text(abi/swig_features.i "%apply (const int32_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int32_t* sizes, int64_t sizes_count) };")
expect_text(abi/swig_features.i "%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* image, int64_t image_bytes) };")
expect_text(abi/swig_features.i "%feature(\"rcap:owner\", \"shelf\") rcap_shelf_open;")
expect_text(abi/swig_features.i "%feature(\"rcap:borrowed\", \"rcap_shelf\") rcap_board;")

expect_json("What a board may be; ${prose}" enums 1 doc)
expect_json(ON enums 1 flags)
expect_json(rcap_shelf_open functions 0 name)
expect_json(INVALID_ARGUMENT functions 0 statuses 1)
expect_json("OK | INVALID_ARGUMENT (null, or no board)" functions 0 return_doc)
expect_json(ON functions 0 parameters 1 nullable)
expect_json(OFF functions 0 parameters 2 nullable)
expect_json(sizes_count functions 0 parameters 2 length)
expect_json(ON functions 0 parameters 4 owner)
expect_json(INVALID_ARGUMENT functions 2 statuses 1)
expect_json(capturer functions 2 thread)
expect_json("while it is open" functions 2 thread_note)
expect_json(24 structs 1 fields 4 offset)
expect_json(-1 structs 1 fields 2 default)

# Types stand before the functions that use them, although their file comes later.
expect_compiles("${CC};-std=c99" -include "${WORK_DIR}/out/include/routecap/routecap.h" -x c /dev/null)
expect_compiles("${CC};-std=c99" -include "${WORK_DIR}/out/include/routecap/routecap_flat.h" -x c /dev/null)
expect_compiles("${CC};-std=c99" -include "${WORK_DIR}/out/include/routecap/routecap_loader.h" -x c /dev/null)
expect_compiles("${CC};-std=c11" "${WORK_DIR}/out/abi/checks/layout_asserts.c")
expect_compiles("${CXX};-std=c++20" "${WORK_DIR}/out/src/generated/structs.cpp")
expect_compiles("${CXX};-std=c++20" "${WORK_DIR}/out/src/generated/table.cpp")

# The same input gives the same bytes, wherever and whenever.
generate("${VALID_DIR}" "${WORK_DIR}/again" 0.2.0)
expect_same("${WORK_DIR}/out" "${WORK_DIR}/again")

# A second run touches nothing; a changed text touches what holds it.
set(header "${WORK_DIR}/out/include/routecap/routecap.h")
set(table "${WORK_DIR}/out/include/routecap/routecap_table.h")
file(TOUCH "${WORK_DIR}/mark")
execute_process(COMMAND touch -d 2001-01-01T00:00:00 "${header}" "${table}")
generate("${VALID_DIR}" "${WORK_DIR}/out" 0.2.0)
if("${header}" IS_NEWER_THAN "${WORK_DIR}/mark")
  message(SEND_ERROR "an unchanged file was written")
endif()
file(COPY "${VALID_DIR}/" DESTINATION "${WORK_DIR}/changed")
file(READ "${WORK_DIR}/changed/20_types.h.in" text)
string(REPLACE "What a board may be;" "What a board can be;" text "${text}")
file(WRITE "${WORK_DIR}/changed/20_types.h.in" "${text}")
generate("${WORK_DIR}/changed" "${WORK_DIR}/out" 0.2.0)
if("${WORK_DIR}/mark" IS_NEWER_THAN "${header}" OR "${table}" IS_NEWER_THAN "${WORK_DIR}/mark")
  message(SEND_ERROR "a changed comment of an enum must touch routecap.h and leave routecap_table.h")
endif()

# The comparison with committed files finds a file that is old, one that is missing and one that is no longer generated.
function(expect_comparison folder message)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DAPI_DIR=${VALID_DIR}" "-DCAPI_DIR=${folder}" "-DWORK_DIR=${WORK_DIR}/compared" -DVERSION=0.2.0
                          -P "${COMPARE}" OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${message}" place)
  if(place EQUAL -1)
    message(SEND_ERROR "comparing ${folder} should say: ${message}\n${output}")
  endif()
endfunction()
expect_comparison("${WORK_DIR}/again" "generated files are up to date")
expect_comparison("${WORK_DIR}/out" "include/routecap/routecap.h: differs")
file(REMOVE "${WORK_DIR}/again/abi/symbols.txt")
expect_comparison("${WORK_DIR}/again" "abi/symbols.txt: differs")
file(COPY_FILE "${WORK_DIR}/again/include/routecap/routecap.h" "${WORK_DIR}/again/include/routecap/old.h")
expect_comparison("${WORK_DIR}/again" "include/routecap/old.h: says that it is generated and is not any more")

# Called wrongly.
foreach(arguments IN ITEMS "-DAPI_DIR=x;-DOUT_DIR=y" "-DAPI_DIR=x;-DOUT_DIR=y;-DVERSION=1.2" "-DAPI_DIR=${WORK_DIR}/none;-DOUT_DIR=${WORK_DIR}/none;-DVERSION=0.1.0")
  execute_process(COMMAND "${CMAKE_COMMAND}" ${arguments} -P "${GENERATOR}" RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
  if(result EQUAL 0 OR NOT output MATCHES "needs -DVERSION|is not MAJOR.MINOR.PATCH|no [*].h.in file in this folder")
    message(SEND_ERROR "${arguments}: exit ${result}\n${output}")
  endif()
endforeach()
