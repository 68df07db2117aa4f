# SPDX-License-Identifier: Apache-2.0
# C++ that belongs to the library: the init functions and the function table.

function(capi_source_head out)
  string(CONCAT text
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// generated from capi/api by capi/cmake/GenerateCapi.cmake${CAPI_SEMICOLON} change those and run the target `capi-update`\n\n")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(capi_emit_sources folder)
  set(CAPI_INIT_FUNCTIONS "")
  capi_get(structs api structs)
  foreach(name IN LISTS structs)
    capi_upper(upper "${name}")
    string(APPEND CAPI_INIT_FUNCTIONS
      "\nextern \"C\" void ${name}_init(${name}* value, std::int64_t struct_size) noexcept {\n"
      "  init<${name}>(value, struct_size, ${upper}_INIT)${CAPI_SEMICOLON}\n}\n")
  endforeach()
  capi_template(text structs.cpp.in)
  capi_write("${folder}/structs.cpp" "${text}")

  set(CAPI_TABLE_ENTRIES "")
  capi_get(slots api slots)
  foreach(slot IN LISTS slots)
    capi_get(symbol api "slot:${slot}")
    string(APPEND CAPI_TABLE_ENTRIES "    ${symbol},\n")
  endforeach()
  capi_template(text table.cpp.in)
  capi_write("${folder}/table.cpp" "${text}")
endfunction()
