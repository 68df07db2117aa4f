# SPDX-License-Identifier: Apache-2.0
# Takes a documentation block apart: prose first, then tags. A tag's text may go on in the lines below it.

#
#   @since 0.1            release that brought it; names the symbol's version node                    all; members only where they came later
#   @slot 17              place in the function table                                                 functions
#   @init_slot 12         place of the generated init function                                        structs
#   @param name  text     meaning, shape, unit, range; `null` in it says that null is legal           functions, once a parameter
#   @return text          statuses separated by `|`, or what a number means                           functions that return something
#   @thread any  text     any, handle or capturer, and a restriction                                  functions
#   @owner name           receives a handle that the caller destroys                                  functions
#   @frees self           ends the handle                                                             destroy functions
#   @retains name         the library keeps the pointer                                               functions
#   @capture ok           may be called while a graph is being captured                               functions
#   @deprecated text      what to use instead                                                         functions
#   @destroy function     ends it                                                                     handles
#   @borrowed handle      lives as long as that one                                                   handles
#   @flags                enumerators are bits                                                        enums
#   @default 5            value that initializers give, else 0                                        fields

# Which tags a kind of declaration knows. @param, @owner and @retains name a parameter and may stand once for each.
set(CAPI_TAGS_function "param return thread since slot owner frees retains capture deprecated")
set(CAPI_TAGS_enum "since flags")
set(CAPI_TAGS_struct "since init_slot")
set(CAPI_TAGS_handle "since destroy borrowed")
set(CAPI_TAGS_enumerator "since")
set(CAPI_TAGS_field "since default")

function(capi_parse_doc id kind file first_line doc)
  capi_put("${id}" doc "${doc}")
  string(REGEX REPLACE "\n$" "" doc "${doc}")
  set(lines_per_line 1)
  # A member's block is often one line: `/** Text. @default 2 */`.
  if(kind MATCHES "^(enumerator|field)$" AND NOT doc MATCHES "\n")
    string(REGEX REPLACE " @([a-z])" "\n@\\1" doc "${doc}")
    set(lines_per_line 0)
  endif()
  string(REPLACE "\n" ";|" lines "|${doc}")
  set(known "${CAPI_TAGS_${kind}}")
  set(prose "")
  set(tag "")
  math(EXPR line "${first_line} - ${lines_per_line}")
  foreach(text IN LISTS lines)
    math(EXPR line "${line} + ${lines_per_line}")
    string(SUBSTRING "${text}" 1 -1 text)
    if(text MATCHES "^@([A-Za-z_]*) *(.*)$")
      set(tag "${CMAKE_MATCH_1}")
      set(value "${CMAKE_MATCH_2}")
      if(NOT " ${known} " MATCHES " ${tag} ")
        string(REPLACE " " ", @" listed "${known}")
        capi_error("${file}" "${line}" "unknown tag @${tag} on a ${kind}; it may have @${listed}")
        set(tag ignored)
      elseif(tag MATCHES "^(param|owner|retains)$")
        if(NOT value MATCHES "^([A-Za-z0-9_]+) *(.*)$")
          capi_error("${file}" "${line}" "@${tag} needs the name of a parameter")
          set(tag ignored)
          continue()
        endif()
        set(name "${CMAKE_MATCH_1}")
        set(value "${CMAKE_MATCH_2}")
        capi_append("${id}" "tags:${tag}" "${name}")
        if(tag STREQUAL "param" AND value STREQUAL "")
          capi_error("${file}" "${line}" "@param ${name} says nothing")
        endif()
        set(tag "${tag}:${name}")
      endif()
      capi_get(present "${id}" "tagline:${tag}")
      if(NOT present STREQUAL "" AND NOT tag STREQUAL "ignored")
        capi_error("${file}" "${line}" "@${tag} stands twice (first in line ${present})")
      endif()
      capi_put("${id}" "tagline:${tag}" "${line}")
      capi_put("${id}" "tag:${tag}" "${value}")
    elseif(NOT tag STREQUAL "")
      string(STRIP "${text}" text)
      if(NOT text STREQUAL "")
        capi_get(value "${id}" "tag:${tag}")
        string(STRIP "${value} ${text}" value)
        capi_put("${id}" "tag:${tag}" "${value}")
      endif()
    else()
      string(APPEND prose "${text}\n")
    endif()
  endforeach()
  string(STRIP "${prose}" prose)
  if(prose STREQUAL "")
    capi_error("${file}" "${first_line}" "the documentation block says nothing before its tags")
  endif()
  capi_put("${id}" prose "${prose}")
endfunction()

# Whether a tag is there, be it empty.
function(capi_has_tag out id tag)
  capi_get(line "${id}" "tagline:${tag}")
  if(line STREQUAL "")
    set(${out} FALSE PARENT_SCOPE)
  else()
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()
