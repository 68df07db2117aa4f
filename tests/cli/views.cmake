# SPDX-License-Identifier: Apache-2.0
#
# Tests of the commands that count, draw, measure and look at the machine: Python, with numpy as the oracle.

set(engine "")
if(TARGET reference_engine AND ROUTECAP_BUILD_EXAMPLES)
  set(engine "ROUTECAP_REFERENCE_ENGINE=$<TARGET_FILE:reference_engine>")
endif()
foreach(
  part IN
  ITEMS bench
        demo
        diff_heatmap
        doctor
        heatmap
        heatmap_browser
        stats)
  add_test(NAME cli.${part} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/../wire/with_numpy.sh" "${CMAKE_CURRENT_SOURCE_DIR}/test_${part}.py")
  set_tests_properties(
    cli.${part}
    PROPERTIES LABELS cli
               TIMEOUT 900
               SKIP_RETURN_CODE 77
               ENVIRONMENT
               "ROUTECAP_COMMAND=${command};ROUTECAP_DEFAULT_TRACES=${PROJECT_SOURCE_DIR}/../shared/traces;${engine}"
               ${fixture})
endforeach()
if(TARGET routecap_backend_example)
  set_property(TEST cli.bench cli.doctor APPEND PROPERTY ENVIRONMENT "ROUTECAP_EXAMPLE_PLUGIN=$<TARGET_FILE:routecap_backend_example>")
endif()
