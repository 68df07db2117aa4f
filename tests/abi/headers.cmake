# SPDX-License-Identifier: Apache-2.0
# The public headers with one compiler: each alone and twice in a translation unit, as every dialect the library promises, without a warning; all of
# them in two translation units of one program that links no library; and the layout asserts.
#
#   cmake -DCOMPILER=gcc -DCOMPILER_CXX=g++ -DINCLUDE_DIR=... -DCHECKS_DIR=... -DWORK_DIR=... -P headers.cmake

cmake_minimum_required(VERSION 3.25)

find_program(cc "${COMPILER}")
find_program(cxx "${COMPILER_CXX}")
if(NOT cc OR NOT cxx)
  message("skipped: ${COMPILER} or ${COMPILER_CXX} is not installed")
  return()
endif()

set(warnings -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror "-I${INCLUDE_DIR}")
file(REMOVE_RECURSE "${WORK_DIR}")
set(compiled 0)

function(compile)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(SEND_ERROR "${command}\n${output}")
  endif()
  math(EXPR compiled "${compiled} + 1")
  set(compiled ${compiled} PARENT_SCOPE)
endfunction()

foreach(header IN ITEMS routecap.h routecap_flat.h routecap_table.h routecap_loader.h backend.h)
  file(WRITE "${WORK_DIR}/once.c" "#include <routecap/${header}>\n")
  file(WRITE "${WORK_DIR}/twice.c" "#include <routecap/${header}>\n#include <routecap/${header}>\n")
  foreach(source IN ITEMS once.c twice.c)
    foreach(dialect IN ITEMS c99 c11)
      compile("${cc}" -std=${dialect} -Wstrict-prototypes -Wmissing-prototypes ${warnings} -fsyntax-only "${WORK_DIR}/${source}")
    endforeach()
    foreach(dialect IN ITEMS c++17 c++20)
      compile("${cxx}" -std=${dialect} ${warnings} -fsyntax-only -x c++ "${WORK_DIR}/${source}")
    endforeach()
  endforeach()
endforeach()

# What they define is static or inline.
set(all "#include <routecap/routecap_loader.h>\n#include <routecap/routecap.h>\n#include <routecap/routecap_table.h>\n")
file(WRITE "${WORK_DIR}/first.c" "${all}int first(const rcap_api** api) { return rcap_load(\"/\", api, 0, 0); }\n")
file(WRITE "${WORK_DIR}/second.c"
     "${all}int first(const rcap_api** api);\nint main(void) {\n  const rcap_api* api;\n  rcap_error error = RCAP_ERROR_INIT;\n"
     "  return first(&api) == RCAP_STATUS_NOT_FOUND && rcap_load(\"\", &api, 0, 0) == RCAP_STATUS_INVALID_ARGUMENT && error.code == 0 ? 0 : 1;\n}\n")
foreach(command IN ITEMS "${cc};-std=c99" "${cxx};-std=c++17;-x;c++")
  compile(${command} ${warnings} "${WORK_DIR}/first.c" "${WORK_DIR}/second.c" -o "${WORK_DIR}/program" -ldl)
  execute_process(COMMAND "${WORK_DIR}/program" RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "a program of two translation units answers ${result}")
  endif()
endforeach()

compile("${cc}" -std=c11 ${warnings} -fsyntax-only "${CHECKS_DIR}/layout_asserts.c")

# Both headers in one translation unit would declare everything twice; they say so.
file(WRITE "${WORK_DIR}/both.c" "#include <routecap/routecap_flat.h>\n#include <routecap/routecap.h>\n")
execute_process(COMMAND "${cc}" -std=c99 "-I${INCLUDE_DIR}" -fsyntax-only "${WORK_DIR}/both.c" RESULT_VARIABLE result ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "include routecap.h or routecap_flat.h, not both")
  message(SEND_ERROR "routecap.h behind routecap_flat.h: exit ${result}\n${output}")
endif()

# A status that is ignored is a warning in C++.
file(WRITE "${WORK_DIR}/ignored.cpp" "#include <routecap/routecap.h>\nvoid ignore() { rcap_capturer_seal(nullptr, nullptr); }\n")
execute_process(COMMAND "${cxx}" -std=c++17 ${warnings} -fsyntax-only "${WORK_DIR}/ignored.cpp" RESULT_VARIABLE result ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "nodiscard|unused-result")
  message(SEND_ERROR "an ignored status: exit ${result}\n${output}")
endif()
message("${compiled} compilations without a warning")
