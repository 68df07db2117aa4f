# SPDX-License-Identifier: Apache-2.0
#
# Tests of the commands that count, draw, measure and look at the machine: Python, with numpy as the oracle.

# cli_python_test(NAME): NAME_test.py, run by the first Python that has numpy.
function(cli_python_test name)
  add_test(NAME cli.${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/wire/with_numpy.sh" "${CMAKE_CURRENT_SOURCE_DIR}/${name}_test.py")
  set(engine "")
  if(TARGET reference_engine AND ROUTECAP_BUILD_EXAMPLES)
    set(engine "ROUTECAP_REFERENCE_ENGINE=$<TARGET_FILE:reference_engine>")
  endif()
  set_tests_properties(
    cli.${name}
    PROPERTIES LABELS cli
               TIMEOUT 900
               SKIP_RETURN_CODE 77
               ENVIRONMENT "ROUTECAP_COMMAND=$<TARGET_FILE:routecap_command>;${engine}")
endfunction()

foreach(
  name IN
  ITEMS bench
        demo
        diff_heatmap
        doctor
        heatmap
        heatmap_browser
        stats)
  cli_python_test(${name})
endforeach()
