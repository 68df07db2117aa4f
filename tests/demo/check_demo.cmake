# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PART=... -D ENGINE=... -D SOURCE=... -D WORK=... -P check_demo.cmake: one run, or a few, of the reference engine.
cmake_minimum_required(VERSION 3.25)

# run(PREFIX ARGUMENT...): sets PREFIX_status, PREFIX_out and PREFIX_err.
function(run prefix)
  execute_process(
    COMMAND "${ENGINE}" ${ARGN}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE out
    ERROR_VARIABLE err)
  set(${prefix}_status "${status}" PARENT_SCOPE)
  set(${prefix}_out "${out}" PARENT_SCOPE)
  set(${prefix}_err "${err}" PARENT_SCOPE)
endfunction()

function(demand_equal what is wanted)
  if(NOT "${is}" STREQUAL "${wanted}")
    message(FATAL_ERROR "${what} is '${is}', expected '${wanted}'")
  endif()
endfunction()

# keys(OUT JSON [PATH...]): the sorted keys of an object, as a list.
function(keys out json)
  string(JSON length LENGTH "${json}" ${ARGN})
  set(found "")
  math(EXPR last "${length} - 1")
  foreach(index RANGE ${last})
    string(JSON key MEMBER "${json}" ${ARGN} ${index})
    list(APPEND found "${key}")
  endforeach()
  list(SORT found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(demand_keys json)
  keys(found "${json}")
  demand_equal(
    "the list of keys" "${found}"
    "bytes_per_slot;capture_share;draft_captures_suppressed;naive;outputs_out_of_order;prefix_rows_reused;rejected_rows_dropped;requests;rows_checked;rows_missing;rows_wrong"
  )
  keys(found "${json}" naive)
  demand_equal("the list of keys of naive" "${found}" "rows_overflowed;rows_stale;rows_wrong;rows_zero")
endfunction()

# demand_numbers(JSON LOW HIGH KEY...): each key's number lies in [LOW, HIGH].
function(demand_numbers json low high)
  foreach(key IN LISTS ARGN)
    string(REPLACE "." ";" path "${key}")
    string(JSON value GET "${json}" ${path})
    if(NOT value GREATER_EQUAL low OR NOT value LESS_EQUAL high)
      message(FATAL_ERROR "${key} is ${value}, expected ${low} to ${high}")
    endif()
  endforeach()
endfunction()

# run_json(PREFIX ARGUMENT...): a run with --json that served everything and read no wrong row; sets PREFIX to the object.
function(run_json prefix)
  run(run --json ${ARGN})
  if(NOT run_status STREQUAL "0")
    message(FATAL_ERROR "exit ${run_status}: ${run_err}${run_out}")
  endif()
  demand_equal("stderr of ${ARGN}" "${run_err}" "")
  demand_keys("${run_out}")
  demand_numbers("${run_out}" 0 0 rows_wrong)
  demand_numbers("${run_out}" 0 1 capture_share)
  set(${prefix} "${run_out}" PARENT_SCOPE)
endfunction()

# The schedule has everything in it that a capturer gets wrong, and the naive one gets it wrong.
function(demand_everything_happened json)
  demand_numbers(
    "${json}"
    1
    1000000000
    rows_checked
    rows_missing
    draft_captures_suppressed
    rejected_rows_dropped
    prefix_rows_reused
    outputs_out_of_order
    naive.rows_wrong
    naive.rows_stale
    naive.rows_overflowed
    naive.rows_zero)
endfunction()

function(part_seed)
  run_json(json --seed ${SEED} --finalize ${MODE} --requests 32)
  demand_everything_happened("${json}")
  demand_numbers("${json}" 32 32 requests)
  demand_numbers("${json}" 464 511 bytes_per_slot)  # 58 * 8 ids of one byte, and a stamp
endfunction()

# DP 1 has no gathered batch and nothing that overflows; depth 1 waits for every output before the next forward ends.
function(part_geometries)
  foreach(arguments IN ITEMS "--dp 1" "--dp 2 --depth 1" "--dp 3 --depth 8 --finalize thread" "--dp 8 --depth 2" "--depth 1 --finalize=thread")
    separate_arguments(list UNIX_COMMAND "${arguments}")
    run_json(json ${list} --requests 20 --seed 7)
    demand_numbers("${json}" 1 1000000000 rows_checked draft_captures_suppressed)
  endforeach()
endfunction()

function(part_weights)
  run_json(json --weights --requests 20)
  demand_numbers("${json}" 1392 1439 bytes_per_slot)  # 464 ids of one byte, 464 weights of two
  demand_everything_happened("${json}")
endfunction()

# One seed, one run: but for the time it took.
function(part_repeatable)
  run_json(first --requests 24 --seed 11)
  run_json(second --requests 24 --seed 11)
  run_json(other --requests 24 --seed 12)
  foreach(run IN ITEMS first second other)
    string(JSON ${run} SET "${${run}}" capture_share 0)
  endforeach()
  demand_equal("the second run" "${second}" "${first}")
  if(other STREQUAL first)
    message(FATAL_ERROR "two seeds gave the same run")
  endif()
endfunction()

function(part_finds_a_wrong_row)
  run(run --json --requests 20 --inject wrong-row)
  demand_equal("the exit status" "${run_status}" 1)
  demand_keys("${run_out}")
  demand_numbers("${run_out}" 1 1 rows_wrong)
  if(NOT run_err MATCHES "^reference_engine: request [0-9]+, token 0: layer 3 holds other experts\n$")
    message(FATAL_ERROR "stderr is '${run_err}'")
  endif()
  run(run --requests 20 --inject wrong-row)
  demand_equal("the exit status" "${run_status}" 1)
  if(NOT run_out MATCHES "\nfirst wrong row: request [0-9]+, token 0: layer 3 holds other experts\n")
    message(FATAL_ERROR "the table does not name the wrong row: ${run_out}")
  endif()
endfunction()

function(part_table)
  run(run --requests 20)
  demand_equal("the exit status" "${run_status}" 0)
  demand_equal("stderr" "${run_err}" "")  # no progress bar where there is no terminal
  foreach(label IN ITEMS "requests  " "rows checked" "wrong rows +0 " "  polluted" "  stale" "  overflowed" "  zero" "rows rightly missing"
                         "draft captures suppressed" "rejected rows dropped" "prefix rows reused" "outputs finalized late or out of order"
                         "bytes per slot .* 1,952" "share of time spent capturing .* %")
    if(NOT run_out MATCHES "\n${label}")
      message(FATAL_ERROR "the table has no line '${label}': ${run_out}")
    endif()
  endforeach()
  run(run --requests 20 -q)
  demand_equal("the exit status" "${run_status}" 0)
  demand_equal("stdout of a quiet run" "${run_out}" "")
  demand_equal("stderr of a quiet run" "${run_err}" "")
endfunction()

function(part_help)
  run(run --help)
  demand_equal("the exit status" "${run_status}" 0)
  foreach(option IN ITEMS --requests --seed --dp --depth --finalize --trace --record --weights --json --quiet --help)
    if(NOT run_out MATCHES "\n  [^\n]*${option}")
      message(FATAL_ERROR "the help text does not name ${option}")
    endif()
  endforeach()
endfunction()

# demand_refusal(TEXT ARGUMENT...): exit 2, one line on stderr that holds TEXT, nothing on stdout.
function(demand_refusal text)
  run(run ${ARGN})
  demand_equal("the exit status of ${ARGN}" "${run_status}" 2)
  demand_equal("stdout of ${ARGN}" "${run_out}" "")
  string(FIND "${run_err}" "${text}" found)
  if(found EQUAL -1 OR NOT run_err MATCHES "^reference_engine: [^\n]+\n$")
    message(FATAL_ERROR "stderr of ${ARGN} is '${run_err}', expected one line with '${text}'")
  endif()
endfunction()

function(part_bad_options)
  demand_refusal("unknown option '--nonsense'" --nonsense)
  demand_refusal("unknown option 'stray'" stray)
  demand_refusal("unknown option '--json=1'" --json=1)
  demand_refusal("--requests wants a value" --requests)
  demand_refusal("--requests wants a whole number from 1 to 100000, not '0'" --requests 0)
  demand_refusal("not '100001'" --requests 100001)
  demand_refusal("not '12x'" --requests 12x)
  demand_refusal("not ''" --requests=)
  demand_refusal("--seed wants a whole number from 0 to" --seed -1)
  demand_refusal("not '99999999999999999999'" --seed 99999999999999999999)
  demand_refusal("--dp wants a whole number from 1 to 16, not '17'" --dp 17)
  demand_refusal("--depth wants a whole number from 1 to 64, not '0'" --depth=0)
  demand_refusal("--finalize wants caller or thread, not 'own'" --finalize own)
  demand_refusal("--inject wants wrong-row, not 'x'" --inject x)
  demand_refusal("--trace wants a folder" --trace=)
  demand_refusal("--record wants a file" --record=)
endfunction()

function(part_bad_traces)
  set(folder "${WORK}/bad_traces")
  file(REMOVE_RECURSE "${folder}")
  demand_refusal("index.json: cannot be opened" --trace "${folder}")
  file(WRITE "${folder}/index.json" "{\"model\": \"m\", \"layers\": 2, \"experts\": 4, \"top_k\": 5, \"requests\": []}")
  demand_refusal("has 'top_k' 5, not 1 to 4" --trace "${folder}")
  file(WRITE "${folder}/index.json" "{\"model\": \"m\", \"layers\": 2, \"experts\": 4, \"top_k\": 2, \"requests\": []}")
  demand_refusal("index.json: has no request" --trace "${folder}")
  file(WRITE "${folder}/index.json"
       "{\"model\": \"m\", \"layers\": 2, \"experts\": 4, \"top_k\": 2, \"requests\": "
       "[{\"row_begin\": 0, \"row_end\": 3, \"first_pos\": 5, \"prompt_len\": 5}]}")
  demand_refusal("ids_u8.npy: cannot be opened" --trace "${folder}")
  file(WRITE "${folder}/ids_u8.npy" "not an array")
  demand_refusal("ids_u8.npy: is no .npy file" --trace "${folder}")
endfunction()

function(part_trace)
  if(DEFINED ENV{ROUTECAP_TRACES} AND NOT "$ENV{ROUTECAP_TRACES}" STREQUAL "")
    set(traces "$ENV{ROUTECAP_TRACES}")
  else()
    cmake_path(SET traces NORMALIZE "${SOURCE}/../shared/traces")
  endif()
  if(NOT EXISTS "${traces}/gpt-oss-20b/index.json")
    message("Skipped: no recorded routes in ROUTECAP_TRACES or ../shared/traces")
    return()
  endif()
  run_json(json --trace "${traces}/gpt-oss-20b" --finalize ${MODE} --requests 40)
  demand_everything_happened("${json}")
  demand_numbers("${json}" 96 127 bytes_per_slot)  # 24 * 4 ids of one byte
  # Every recorded row of the requests that were neither aborted nor without interest was asked for: most of the 12,000.
  demand_numbers("${json}" 8000 1000000 rows_checked)
  run_json(json --trace "${traces}/gpt-oss-20b" --finalize ${MODE} --requests 12 --weights)
  demand_numbers("${json}" 288 319 bytes_per_slot)  # and 96 weights of two
endfunction()

cmake_language(CALL part_${PART})
