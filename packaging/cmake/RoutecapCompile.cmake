# SPDX-License-Identifier: Apache-2.0
#
# How this project's own targets are compiled. Nothing here leaks into a project that embeds the library, except sanitizers and coverage,
# which only make sense for a whole process and are off unless asked for.

include_guard(GLOBAL)

# What is built names neither the folder of its source nor the one that it was built in, so that two builds in two folders give the same bytes: not in
# debug information (debuggers look from the source tree's root on) and not in __FILE__. What is looked into on the spot keeps the names: Debug builds,
# sanitizers' reports, coverage, and whatever an embedding project builds, whose flags are its own to choose.
set(ROUTECAP_PREFIX_MAP "")
if(PROJECT_IS_TOP_LEVEL
   AND NOT ROUTECAP_SANITIZE
   AND NOT ROUTECAP_COVERAGE
   AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  # The last one that fits is taken, and the build folder may lie in the source's.
  set(ROUTECAP_PREFIX_MAP "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=.")
endif()

# C++20 and C11 for the target, position independent, with this project's warnings.
function(routecap_compile target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               C_EXTENSIONS OFF
               POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE ${ROUTECAP_WARNINGS} ${ROUTECAP_PREFIX_MAP})
endfunction()

set(ROUTECAP_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(ROUTECAP_WARNINGS_AS_ERRORS)
  list(APPEND ROUTECAP_WARNINGS -Werror)
endif()

if(ROUTECAP_SANITIZE)
  list(JOIN ROUTECAP_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_sanitizers})
  if("undefined" IN_LIST ROUTECAP_SANITIZE)
    add_compile_options(-fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # These two need a runtime that clang links into C++ programs only, and the C programs here load the same library.
      add_compile_options(-fno-sanitize=vptr,function)
    endif()
  endif()
  if("thread" IN_LIST ROUTECAP_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc warns that it cannot model atomic_thread_fence; the fences here only strengthen orders that atomics already give.
    list(APPEND ROUTECAP_WARNINGS -Wno-tsan)
  endif()
endif()

if(ROUTECAP_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# Thrust comes from Debian's libthrust-dev (1.17) or from CCCL 3.x; both are header-only. Sequential policies only: no OpenMP, no TBB, no CUDA.
find_path(
  ROUTECAP_THRUST_INCLUDE_DIR thrust/version.h
  PATH_SUFFIXES cccl
  DOC "Folder that holds thrust/version.h")
if(NOT ROUTECAP_THRUST_INCLUDE_DIR)
  message(FATAL_ERROR "routecap: thrust/version.h not found; install libthrust-dev or set ROUTECAP_THRUST_INCLUDE_DIR")
endif()
mark_as_advanced(ROUTECAP_THRUST_INCLUDE_DIR)
add_library(routecap_thrust INTERFACE)
target_include_directories(routecap_thrust SYSTEM INTERFACE "${ROUTECAP_THRUST_INCLUDE_DIR}")
target_compile_definitions(
  routecap_thrust
  INTERFACE THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP
            # Thrust refuses what it calls outdated dialects and compilers through #pragma message; the noise would hide real warnings.
            THRUST_IGNORE_DEPRECATED_COMPILER CUB_IGNORE_DEPRECATED_COMPILER)

# xxHash is compiled in from its header; Zstandard is linked, by name so that an installed static library asks for it wherever it lies.
find_path(ROUTECAP_XXHASH_INCLUDE_DIR xxhash.h DOC "Folder that holds xxhash.h")
find_path(ROUTECAP_ZSTD_INCLUDE_DIR zstd.h DOC "Folder that holds zstd.h")
find_library(ROUTECAP_ZSTD_FOUND zstd DOC "The Zstandard library")
if(NOT ROUTECAP_XXHASH_INCLUDE_DIR OR NOT ROUTECAP_ZSTD_INCLUDE_DIR OR NOT ROUTECAP_ZSTD_FOUND)
  message(FATAL_ERROR "routecap: xxhash.h, zstd.h or libzstd not found; install libxxhash-dev and libzstd-dev")
endif()
mark_as_advanced(ROUTECAP_XXHASH_INCLUDE_DIR ROUTECAP_ZSTD_INCLUDE_DIR ROUTECAP_ZSTD_FOUND)
set(ROUTECAP_ZSTD_LIBRARY zstd)

# Loops over a frame's bytes are compiled once per instruction set and chosen at run time.
function(routecap_wire_instruction_sets target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(kernels "${PROJECT_SOURCE_DIR}/src/wire/frame_kernels_avx2.cpp")
    set_source_files_properties("${kernels}" TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "-mavx2")
  endif()
endfunction()

find_package(Threads REQUIRED)

# Where plugins lie, below the folder of the library: the ABI number is the header's.
file(STRINGS "${PROJECT_SOURCE_DIR}/capi/include/routecap/routecap.h" _abi REGEX "^#define RCAP_ABI_VERSION [0-9]+$")
string(REGEX REPLACE "^.* " "" _abi "${_abi}")
set(ROUTECAP_PLUGIN_FOLDER "routecap/backends-${_abi}")
