# SPDX-License-Identifier: Apache-2.0
#
# The parts of the install tests, one per run (PART). Every part starts from an empty folder of its own.
cmake_minimum_required(VERSION 3.25)

# What README's sample prints, whoever built it.
set(QUICKSTART_OUTPUT [[
token 0: layer 3 -> 17 4, layer 4 -> 1 2
token 1: layer 3 -> 255 0, layer 4 -> 3 4
token 2: layer 3 -> 9 30, layer 4 -> 5 6
]])

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

# run(COMMAND...): must succeed; its stdout is left in OUTPUT.
macro(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE OUTPUT ECHO_OUTPUT_VARIABLE COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endmacro()

function(expect_quickstart program)
  run(${ARGN} "${program}")
  if(NOT OUTPUT STREQUAL QUICKSTART_OUTPUT)
    message(FATAL_ERROR "${program} printed\n${OUTPUT}instead of\n${QUICKSTART_OUTPUT}")
  endif()
endfunction()

# Both are sorted lists of files below `folder`.
function(expect_files folder)
  file(GLOB_RECURSE found LIST_DIRECTORIES false RELATIVE "${folder}" "${folder}/*")
  set(expected ${ARGN})
  list(SORT found)
  list(SORT expected)
  if(NOT "${found}" STREQUAL "${expected}")
    list(JOIN found "\n  " found)
    list(JOIN expected "\n  " expected)
    message(FATAL_ERROR "${folder} holds\n  ${found}\ninstead of\n  ${expected}")
  endif()
endfunction()

set(runtime_files "${LIBDIR}/libroutecap.so.0" "${LIBDIR}/libroutecap.so.${VERSION}")
set(development_files
    "${LIBDIR}/libroutecap.so"
    "${LIBDIR}/libroutecap.a"
    "${LIBDIR}/pkgconfig/routecap.pc"
    "${LIBDIR}/cmake/routecap/routecap-config.cmake"
    "${LIBDIR}/cmake/routecap/routecap-config-version.cmake"
    "${LIBDIR}/cmake/routecap/routecap-targets.cmake"
    "${LIBDIR}/cmake/routecap/routecap-targets-release.cmake"
    "${INCLUDEDIR}/routecap/routecap.h"
    "${INCLUDEDIR}/routecap/routecap_flat.h"
    "${INCLUDEDIR}/routecap/routecap_table.h"
    "${INCLUDEDIR}/routecap/routecap_loader.h"
    "${INCLUDEDIR}/routecap/backend.h")
set(documentation_files
    "${DOCDIR}/README.md"
    "${DOCDIR}/CHANGELOG.md"
    "${DOCDIR}/LICENSE"
    "${DOCDIR}/contract.md"
    "${DOCDIR}/embedding.md"
    "${DOCDIR}/frame.md"
    "${DOCDIR}/plugins.md"
    "${DOCDIR}/statuses.md"
    "${DOCDIR}/examples/quickstart.c"
    "${DOCDIR}/examples/backend_plugin/plugin.c")

# expect_documents(FOLDER): each is the source's, and README's links to those that are installed lead there.
function(expect_documents folder)
  foreach(pair IN ITEMS CHANGELOG.md LICENSE capi/docs/contract.md capi/docs/embedding.md capi/docs/frame.md capi/docs/plugins.md capi/docs/statuses.md)
    cmake_path(GET pair FILENAME name)
    run(${CMAKE_COMMAND} -E compare_files "${SOURCE}/${pair}" "${folder}/${name}")
  endforeach()
  # A reader of these has no source tree: a page that names one of its files says whose it is.
  foreach(page IN ITEMS contract.md embedding.md frame.md plugins.md statuses.md)
    file(READ "${folder}/${page}" text)
    if(text MATCHES "`(src|tests|capi|bindings|packaging)/" AND NOT text MATCHES "source[ \n]tree")
      message(FATAL_ERROR "the installed ${page} names a file of the source tree and does not say so: ${CMAKE_MATCH_0}...")
    endif()
  endforeach()
  run(${CMAKE_COMMAND} -E compare_files "${QUICKSTART}" "${folder}/examples/quickstart.c")
  file(READ "${folder}/README.md" readme)
  # Brackets would hold a list together.
  string(REPLACE "](" "@(" links "${readme}")
  string(REGEX REPLACE "[][;]" " " links "${links}")
  string(REGEX MATCHALL "@\\([^)]*\\)" links "${links}")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^@\\(([^)#]*).*" "\\1" target "${link}")
    if(NOT target MATCHES "^(https?:|$)" AND NOT EXISTS "${folder}/${target}")
      message(FATAL_ERROR "the installed README.md links to ${target}, which is not there")
    endif()
  endforeach()
  foreach(target IN ITEMS contract.md embedding.md frame.md plugins.md statuses.md CHANGELOG.md LICENSE examples/quickstart.c)
    string(FIND "${readme}" "](${target})" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "the installed README.md does not link to ${target}")
    endif()
  endforeach()
endfunction()

set(tbb_files "")
if(WITH_TBB)
  set(tbb_files "${LIBDIR}/${PLUGIN_FOLDER}/libroutecap_backend_tbb.so")
endif()

set(cli_files "")
if(WITH_CLI)
  set(cli_files
      "${BINDIR}/routecap"
      "${MANDIR}/man1/routecap.1"
      "${DATADIR}/bash-completion/completions/routecap"
      "${DATADIR}/zsh/site-functions/_routecap"
      "${DATADIR}/fish/vendor_completions.d/routecap.fish")
endif()

set(cuda_files "")
if(WITH_CUDA)
  set(cuda_files "${LIBDIR}/${PLUGIN_FOLDER}/libroutecap_backend_cuda.so")
endif()

if(PART STREQUAL "stage")
  file(REMOVE_RECURSE "${STAGE}")
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${STAGE}")
  expect_files("${STAGE}" ${runtime_files} ${development_files} ${documentation_files} ${tbb_files} ${cli_files} ${cuda_files})
  expect_documents("${STAGE}/${DOCDIR}")

elseif(PART STREQUAL "components")
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/runtime" --component runtime)
  expect_files("${WORK}/runtime" ${runtime_files})
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/development" --component development)
  expect_files("${WORK}/development" ${development_files})
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/documentation" --component documentation)
  expect_files("${WORK}/documentation" ${documentation_files})
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/tbb" --component tbb)
  expect_files("${WORK}/tbb" ${tbb_files})
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/cli" --component cli)
  expect_files("${WORK}/cli" ${cli_files})
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/cuda" --component cuda)
  expect_files("${WORK}/cuda" ${cuda_files})

elseif(PART MATCHES "^(package|relocated)$")
  set(prefix "${STAGE}")
  if(PART STREQUAL "relocated")
    # The install tree names none of its own folders: it works where it is moved to.
    file(COPY "${STAGE}/" DESTINATION "${WORK}/moved")
    set(prefix "${WORK}/moved")
  endif()
  run(${CMAKE_COMMAND}
      -G
      "${GENERATOR}"
      -S
      "${SOURCE}/tests/install/package"
      -B
      "${WORK}/build"
      "-DCMAKE_PREFIX_PATH=${prefix}"
      "-DCMAKE_C_COMPILER=${C_COMPILER}"
      "-DQUICKSTART=${QUICKSTART}"
      "-DLOADER_PROGRAM=${LOADER_PROGRAM}"
      "-DPLUGIN_EXAMPLE=${SOURCE}/capi/examples/backend_plugin")
  file(STRINGS "${WORK}/build/CMakeCache.txt" found REGEX "^routecap_DIR:PATH=${prefix}/")
  if(NOT found)
    message(FATAL_ERROR "find_package took another routecap than the one under ${prefix}")
  endif()
  run(${CMAKE_COMMAND} --build "${WORK}/build")
  expect_quickstart("${WORK}/build/with_shared")
  expect_quickstart("${WORK}/build/with_static")
  run(${CMAKE_COMMAND} -E env "ROUTECAP_LIBRARY=${prefix}/${LIBDIR}/libroutecap.so.0" "${WORK}/build/with_loader")
  if(NOT OUTPUT STREQUAL "${VERSION}\n")
    message(FATAL_ERROR "with_loader printed '${OUTPUT}' instead of '${VERSION}'")
  endif()
  if(WITH_CLI)
    if(WITH_TBB)
      # And the library its plugin.
      run("${prefix}/${BINDIR}/routecap" doctor)
      if(NOT OUTPUT MATCHES "\nok     backend tbb +oneTBB ")
        message(FATAL_ERROR "routecap doctor does not find the TBB plugin beside the library:\n${OUTPUT}")
      endif()
    endif()
    # It finds its library from its own place.
    run("${prefix}/${BINDIR}/routecap" --version)
    if(NOT OUTPUT MATCHES "^routecap ${VERSION} \\(library ${VERSION}, ABI [0-9]+\\)\n$")
      message(FATAL_ERROR "routecap --version printed '${OUTPUT}'")
    endif()
  endif()

elseif(PART STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} "${STAGE}/${LIBDIR}/pkgconfig")
  run(pkg-config --modversion routecap)
  if(NOT OUTPUT STREQUAL "${VERSION}\n")
    message(FATAL_ERROR "routecap.pc says version '${OUTPUT}' instead of '${VERSION}'")
  endif()
  run(pkg-config --cflags --libs routecap)
  separate_arguments(flags UNIX_COMMAND "${OUTPUT}")
  run("${C_COMPILER}" -std=c99 "${QUICKSTART}" -o "${WORK}/with_shared" ${flags})
  expect_quickstart("${WORK}/with_shared" ${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=${STAGE}/${LIBDIR}")
  # Without the shared library the linker takes the static one, and what pkg-config adds must be all that it needs.
  file(COPY "${STAGE}/" DESTINATION "${WORK}/static" PATTERN "libroutecap.so*" EXCLUDE)
  set(ENV{PKG_CONFIG_PATH} "${WORK}/static/${LIBDIR}/pkgconfig")
  run(pkg-config --static --cflags --libs routecap)
  separate_arguments(flags UNIX_COMMAND "${OUTPUT}")
  run("${C_COMPILER}" -std=c99 "${QUICKSTART}" -o "${WORK}/with_static" ${flags})
  expect_quickstart("${WORK}/with_static")

elseif(PART STREQUAL "embedded")
  # host_runs(COMMAND...): must succeed. A host's log is the host's: neither its CMake nor its compiler has a warning to give of us.
  function(host_runs)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE log ERROR_VARIABLE log ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE COMMAND_ECHO STDOUT RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "it ended with ${status}")
    endif()
    if(log MATCHES "[Ww]arning")
      message(FATAL_ERROR "a warning in an embedding project's log")
    endif()
    if(log STREQUAL "")
      message(FATAL_ERROR "the embedding project's log is empty")
    endif()
  endfunction()
  set(configure
      ${CMAKE_COMMAND}
      -G
      "${GENERATOR}"
      -S
      "${SOURCE}/tests/install/embedded"
      -B
      "${WORK}/build"
      "-DCMAKE_C_COMPILER=${C_COMPILER}"
      "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
      "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
      "-DQUICKSTART=${QUICKSTART}"
      "-DROUTECAP_SOURCE=${SOURCE}")
  # Without a build type first: that it has none is the host's to say. Then as hosts are built, with the warnings that compilers give of what they
  # optimize.
  host_runs(${configure})
  host_runs(${configure} -DCMAKE_BUILD_TYPE=Release -DHOST_BUILD_TYPE=Release)
  string(TIMESTAMP began "%s")
  host_runs(${CMAKE_COMMAND} --build "${WORK}/build" --parallel 2)
  string(TIMESTAMP ended "%s")
  math(EXPR seconds "${ended} - ${began}")
  # No bound here: a compiler's cache makes it less, other work on the machine more. package.reproducible builds without the one and prints its seconds.
  message("the libraries alone were built in ${seconds} s")
  expect_quickstart("${WORK}/build/with_shared")
  expect_quickstart("${WORK}/build/with_static")
  file(GLOB_RECURSE tests "${WORK}/build/*CTestTestfile.cmake")
  foreach(file IN LISTS tests)
    file(READ "${file}" text)
    if(text MATCHES "add_test")
      message(FATAL_ERROR "routecap registered tests in an embedding project: ${file}")
    endif()
  endforeach()
  # What a host installs is the host's to say, too.
  file(READ "${WORK}/build/routecap/cmake_install.cmake" rules)
  if(rules MATCHES "development|runtime")
    message(FATAL_ERROR "an embedding project that did not ask for it installs routecap")
  endif()
  host_runs(${configure} -DROUTECAP_INSTALL=ON)
  file(READ "${WORK}/build/routecap/cmake_install.cmake" rules)
  if(rules MATCHES "documentation" OR NOT rules MATCHES "development")
    message(FATAL_ERROR "routecap's install rules in an embedding project hold its documents, or are not where this test looks for them")
  endif()

else()
  message(FATAL_ERROR "no part '${PART}'")
endif()
