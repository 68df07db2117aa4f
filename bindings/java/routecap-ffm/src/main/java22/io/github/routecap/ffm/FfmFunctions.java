// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Span;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * The C API over its function table. Every function with arrays is there twice: with addresses, and for arrays of Java's heap, during which no garbage
 * is collected.
 */
abstract class FfmFunctions implements NativeApi {
  /** ABI number that is asked for. */
  static final int ABI = 1;

  /** Slots of the table. */
  static final int SLOTS = 99;

  /** The library's SONAME. */
  static final String SONAME = "libroutecap.so.0";

  private static final Table TABLE = Table.loaded();

  private static final MethodHandle RCAP_ERROR_INIT = TABLE.function(0, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_BUILD_INFO_INIT = TABLE.function(1, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_VERSION_STRING = TABLE.function(2, FunctionDescriptor.of(JAVA_LONG));
  private static final MethodHandle RCAP_ABI_VERSION = TABLE.function(3, FunctionDescriptor.of(JAVA_INT));
  private static final MethodHandle RCAP_STATUS_NAME = TABLE.function(4, FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
  private static final MethodHandle RCAP_BUILD_INFO_GET = TABLE.function(5, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_LAYOUT_ROWS = TABLE.function(6, FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_LAYOUT_ROWS_HEAP = TABLE.heapFunction(6, FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_OPTIONS_INIT = TABLE.function(7, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_INFO_INIT = TABLE.function(8, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_OPEN = TABLE.function(9, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_DESCRIBE = TABLE.function(10, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_DESTROY = TABLE.function(11, FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_CONFIG_INIT = TABLE.function(12, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_PLAN_INIT = TABLE.function(13, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_TAP_OPTIONS_INIT = TABLE.function(14, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURE_LAYOUT_INIT = TABLE.function(15, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_STATS_INIT = TABLE.function(16, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_PLAN_GET = TABLE.function(17, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_PLAN_GET_HEAP = TABLE.heapFunction(17, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_CREATE = TABLE.function(18, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_CREATE_HEAP = TABLE.heapFunction(18, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_DESTROY = TABLE.function(19, FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_ADD_MODEL = TABLE.function(20, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_MODEL_SET_CAPTURE = TABLE.function(21, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT,
      JAVA_LONG));
  private static final MethodHandle RCAP_MODEL_ADD_TAP = TABLE.function(22, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_MODEL_ADD_TAP_HEAP = TABLE.heapFunction(22, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT,
      JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_SEAL = TABLE.function(23, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_TAP_CAPTURE = TABLE.function(24, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_TAP_CAPTURE_HEAP = TABLE.heapFunction(24, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_TAP_IS_ENABLED = TABLE.function(25, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_TAP_ID = TABLE.function(26, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_TAP = TABLE.function(27, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_STATS_GET = TABLE.function(28, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_FORWARD_LAYOUT_INIT = TABLE.function(29, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_ACCEPT_LAYOUT_INIT = TABLE.function(30, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_SUMMARY_INIT = TABLE.function(31, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_END_FORWARD = TABLE.function(32, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_END_FORWARD_HEAP = TABLE.heapFunction(32, FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
      JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_DISCARD_FORWARD = TABLE.function(33, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_SEQUENCE = TABLE.function(34, FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_ACCEPT = TABLE.function(35, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_ACCEPT_HEAP = TABLE.heapFunction(35, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_DEVICE_ROWS = TABLE.function(36, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_COPY_TO_HOST = TABLE.function(37, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_READY = TABLE.function(38, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_WAIT = TABLE.function(39, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_FINALIZE = TABLE.function(40, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_OUTPUT_DESTROY = TABLE.function(41, FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_COMPLETION_FD = TABLE.function(42, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_NEXT_COMPLETED = TABLE.function(43, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_SLOTS_LAYOUT_INIT = TABLE.function(44, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_SLOT_INFO_INIT = TABLE.function(45, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_RELEASE_SLOTS = TABLE.function(46, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_RELEASE_SLOTS_HEAP = TABLE.heapFunction(46, FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
      JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_RELEASE_ALL = TABLE.function(47, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_COPY_SLOTS = TABLE.function(48, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_COPY_SLOTS_HEAP = TABLE.heapFunction(48, FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
      JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_SLOT_INFO_GET = TABLE.function(49, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_READ_LAYOUT_INIT = TABLE.function(50, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_READ_INFO_INIT = TABLE.function(51, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_READ = TABLE.function(52, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_READ_HEAP = TABLE.heapFunction(52, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_READ_INTO = TABLE.function(53, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_READ_INTO_HEAP = TABLE.heapFunction(53, FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
      JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_LAYOUT_INIT = TABLE.function(54, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_INFO_INIT = TABLE.function(55, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_CREATE = TABLE.function(56, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_CREATE_HEAP = TABLE.heapFunction(56, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_DESTROY = TABLE.function(57, FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_INFO_GET = TABLE.function(58, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_IDS = TABLE.function(59, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_WEIGHTS = TABLE.function(60, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_ROW_VALIDITY = TABLE.function(61, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_CELL_VALIDITY = TABLE.function(62, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_LAYER_IDS = TABLE.function(63, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_LAYER_FLAGS = TABLE.function(64, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_VERSION_SPANS = TABLE.function(65, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_SLICE = TABLE.function(66, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_COMPARE_REPORT_INIT = TABLE.function(67, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_APPEND = TABLE.function(68, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_MERGE = TABLE.function(69, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_TRUNCATE = TABLE.function(70, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_STACK = TABLE.function(71, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_INTERLEAVE = TABLE.function(72, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_INTERLEAVE_HEAP = TABLE.heapFunction(72, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_TO_FULL_AXIS = TABLE.function(73, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT,
      JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_TO_COMPACT = TABLE.function(74, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_TO_COMPACT_HEAP = TABLE.heapFunction(74, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_COMPARE = TABLE.function(75, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_COMPARE_HEAP = TABLE.heapFunction(75, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_ENCODE_OPTIONS_INIT = TABLE.function(76, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_DECODE_HINTS_INIT = TABLE.function(77, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_WIRE_FORMAT_NAME = TABLE.function(78, FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
  private static final MethodHandle RCAP_WIRE_FORMAT_OF = TABLE.function(79, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_WIRE_DETECT = TABLE.function(80, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_WIRE_DETECT_HEAP = TABLE.heapFunction(80, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
      JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_ENCODE = TABLE.function(81, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_ENCODE_HEAP = TABLE.heapFunction(81, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT,
      JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_DECODE = TABLE.function(82, FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_DECODE_HEAP = TABLE.heapFunction(82, FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS,
      JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_ENCODE = TABLE.function(83, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_CAPTURER_ENCODE_HEAP = TABLE.heapFunction(83, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_SEARCH = TABLE.function(84, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_BACKEND_SEARCH_HEAP = TABLE.heapFunction(84, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_FILL_LAYOUT_INIT = TABLE.function(85, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_LAYOUT_INIT = TABLE.function(86, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_FILL = TABLE.function(87, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_RECORD_FILL_HEAP = TABLE.heapFunction(87, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PACK_OFFSETS = TABLE.function(88, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PACK_OFFSETS_HEAP = TABLE.heapFunction(88, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
      JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PACK_PAD = TABLE.function(89, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PACK_PAD_HEAP = TABLE.heapFunction(89, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PACK_STRIP = TABLE.function(90, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PACK_STRIP_HEAP = TABLE.heapFunction(90, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
      ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_MULTIPLE = TABLE.function(91, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_TOKENS = TABLE.function(92, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_TOKENS_HEAP = TABLE.heapFunction(92, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_INDICES = TABLE.function(93, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_INDICES_HEAP = TABLE.heapFunction(93, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_SPLIT = TABLE.function(94, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_SPLIT_HEAP = TABLE.heapFunction(94, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_GATHER = TABLE.function(95, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_PARTITION_GATHER_HEAP = TABLE.heapFunction(95, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_STAGE_LAYERS = TABLE.function(96, FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT,
      JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_STAGE_LAYERS_HEAP = TABLE.heapFunction(96, FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT,
      JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_LAYERS_SPLIT = TABLE.function(97, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_LAYERS_SPLIT_HEAP = TABLE.heapFunction(97, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
      ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_LAYERS_GATHER = TABLE.function(98, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle RCAP_LAYERS_GATHER_HEAP = TABLE.heapFunction(98, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
      ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));

  @Override
  public void rcap_error_init(long value, long structSize) {
    try {
      RCAP_ERROR_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_build_info_init(long value, long structSize) {
    try {
      RCAP_BUILD_INFO_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public String rcap_version_string() {
    try {
      return Table.text((long) RCAP_VERSION_STRING.invokeExact());
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_abi_version() {
    try {
      return (int) RCAP_ABI_VERSION.invokeExact();
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public String rcap_status_name(int status) {
    try {
      return Table.text((long) RCAP_STATUS_NAME.invokeExact(status));
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_build_info_get(long info, long err) {
    try {
      return (int) RCAP_BUILD_INFO_GET.invokeExact(info, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_layout_rows(int kind, Span tokensPerRank, long dpRank, long attnTpSize, long attnTpRank, long paddedTokensPerRank, long
      firstRow, long tokens, long err) {
    try {
      if (Span.onHeap(tokensPerRank)) {
        return (int) RCAP_LAYOUT_ROWS_HEAP.invokeExact(kind, Table.segment(tokensPerRank), Span.count(tokensPerRank, 8), dpRank, attnTpSize,
            attnTpRank, paddedTokensPerRank, firstRow, tokens, err);
      }
      return (int) RCAP_LAYOUT_ROWS.invokeExact(kind, Span.address(tokensPerRank), Span.count(tokensPerRank, 8), dpRank, attnTpSize,
          attnTpRank, paddedTokensPerRank, firstRow, tokens, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(tokensPerRank);
    }
  }

  @Override
  public void rcap_backend_options_init(long value, long structSize) {
    try {
      RCAP_BACKEND_OPTIONS_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_backend_info_init(long value, long structSize) {
    try {
      RCAP_BACKEND_INFO_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_backend_open(long name, long options, long backend, long err) {
    try {
      return (int) RCAP_BACKEND_OPEN.invokeExact(name, options, backend, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_backend_describe(long self, long info, long err) {
    try {
      return (int) RCAP_BACKEND_DESCRIBE.invokeExact(self, info, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_backend_destroy(long self) {
    try {
      RCAP_BACKEND_DESTROY.invokeExact(self);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_capturer_config_init(long value, long structSize) {
    try {
      RCAP_CAPTURER_CONFIG_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_capturer_plan_init(long value, long structSize) {
    try {
      RCAP_CAPTURER_PLAN_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_tap_options_init(long value, long structSize) {
    try {
      RCAP_TAP_OPTIONS_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_capture_layout_init(long value, long structSize) {
    try {
      RCAP_CAPTURE_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_capturer_stats_init(long value, long structSize) {
    try {
      RCAP_CAPTURER_STATS_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_plan_get(long config, Span layerIds, long plan, long err) {
    try {
      if (Span.onHeap(layerIds)) {
        return (int) RCAP_CAPTURER_PLAN_GET_HEAP.invokeExact(config, Table.segment(layerIds), Span.count(layerIds, 4), plan, err);
      }
      return (int) RCAP_CAPTURER_PLAN_GET.invokeExact(config, Span.address(layerIds), Span.count(layerIds, 4), plan, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
    }
  }

  @Override
  public int rcap_capturer_create(long config, Span layerIds, long backend, long capturer, long err) {
    try {
      if (Span.onHeap(layerIds)) {
        return (int) RCAP_CAPTURER_CREATE_HEAP.invokeExact(config, Table.segment(layerIds), Span.count(layerIds, 4), backend, capturer,
            err);
      }
      return (int) RCAP_CAPTURER_CREATE.invokeExact(config, Span.address(layerIds), Span.count(layerIds, 4), backend, capturer, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
    }
  }

  @Override
  public void rcap_capturer_destroy(long self) {
    try {
      RCAP_CAPTURER_DESTROY.invokeExact(self);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_add_model(long self, int role, long name, long model, long err) {
    try {
      return (int) RCAP_CAPTURER_ADD_MODEL.invokeExact(self, role, name, model, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_model_set_capture(long self, int gate, long err) {
    try {
      return (int) RCAP_MODEL_SET_CAPTURE.invokeExact(self, gate, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_model_add_tap(long self, int layerNumber, long options, Span idMap, long tap, long err) {
    try {
      if (Span.onHeap(idMap)) {
        return (int) RCAP_MODEL_ADD_TAP_HEAP.invokeExact(self, layerNumber, options, Table.segment(idMap), Span.count(idMap, 1), tap, err);
      }
      return (int) RCAP_MODEL_ADD_TAP.invokeExact(self, layerNumber, options, Span.address(idMap), Span.count(idMap, 1), tap, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(idMap);
    }
  }

  @Override
  public int rcap_capturer_seal(long self, long err) {
    try {
      return (int) RCAP_CAPTURER_SEAL.invokeExact(self, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_tap_capture(long self, long layout, Span ids, Span weights, Span rowIds, long stream, long err) {
    try {
      if (Span.onHeap(ids) || Span.onHeap(weights) || Span.onHeap(rowIds)) {
        return (int) RCAP_TAP_CAPTURE_HEAP.invokeExact(self, layout, Table.segment(ids), Span.count(ids, 1), Table.segment(weights),
            Span.count(weights, 1), Table.segment(rowIds), Span.count(rowIds, 4), stream, err);
      }
      return (int) RCAP_TAP_CAPTURE.invokeExact(self, layout, Span.address(ids), Span.count(ids, 1), Span.address(weights),
          Span.count(weights, 1), Span.address(rowIds), Span.count(rowIds, 4), stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(ids);
      Reference.reachabilityFence(weights);
      Reference.reachabilityFence(rowIds);
    }
  }

  @Override
  public int rcap_tap_is_enabled(long self, long err) {
    try {
      return (int) RCAP_TAP_IS_ENABLED.invokeExact(self, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_tap_id(long self, long err) {
    try {
      return (int) RCAP_TAP_ID.invokeExact(self, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_tap(long self, int tapId, long tap, long err) {
    try {
      return (int) RCAP_CAPTURER_TAP.invokeExact(self, tapId, tap, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_stats_get(long self, long stats, long err) {
    try {
      return (int) RCAP_CAPTURER_STATS_GET.invokeExact(self, stats, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_forward_layout_init(long value, long structSize) {
    try {
      RCAP_FORWARD_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_accept_layout_init(long value, long structSize) {
    try {
      RCAP_ACCEPT_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_summary_init(long value, long structSize) {
    try {
      RCAP_SUMMARY_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_end_forward(long self, long layout, Span slots, Span rows, Span tags, long stream, long output, long err) {
    try {
      if (Span.onHeap(slots) || Span.onHeap(rows) || Span.onHeap(tags)) {
        return (int) RCAP_CAPTURER_END_FORWARD_HEAP.invokeExact(self, layout, Table.segment(slots), Span.count(slots, 1),
            Table.segment(rows), Span.count(rows, 1), Table.segment(tags), Span.count(tags, 8), stream, output, err);
      }
      return (int) RCAP_CAPTURER_END_FORWARD.invokeExact(self, layout, Span.address(slots), Span.count(slots, 1), Span.address(rows),
          Span.count(rows, 1), Span.address(tags), Span.count(tags, 8), stream, output, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(slots);
      Reference.reachabilityFence(rows);
      Reference.reachabilityFence(tags);
    }
  }

  @Override
  public int rcap_capturer_discard_forward(long self, long stream, long err) {
    try {
      return (int) RCAP_CAPTURER_DISCARD_FORWARD.invokeExact(self, stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public long rcap_output_sequence(long self, long err) {
    try {
      return (long) RCAP_OUTPUT_SEQUENCE.invokeExact(self, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_output_accept(long self, long layout, Span rows, Span slots, long stream, long err) {
    try {
      if (Span.onHeap(rows) || Span.onHeap(slots)) {
        return (int) RCAP_OUTPUT_ACCEPT_HEAP.invokeExact(self, layout, Table.segment(rows), Span.count(rows, 1), Table.segment(slots),
            Span.count(slots, 1), stream, err);
      }
      return (int) RCAP_OUTPUT_ACCEPT.invokeExact(self, layout, Span.address(rows), Span.count(rows, 1), Span.address(slots),
          Span.count(slots, 1), stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(rows);
      Reference.reachabilityFence(slots);
    }
  }

  @Override
  public int rcap_output_device_rows(long self, long data, long bytes, long err) {
    try {
      return (int) RCAP_OUTPUT_DEVICE_ROWS.invokeExact(self, data, bytes, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_output_copy_to_host(long self, long stream, long err) {
    try {
      return (int) RCAP_OUTPUT_COPY_TO_HOST.invokeExact(self, stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_output_ready(long self, long err) {
    try {
      return (int) RCAP_OUTPUT_READY.invokeExact(self, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_output_wait(long self, long timeoutNanos, long err) {
    try {
      return (int) RCAP_OUTPUT_WAIT.invokeExact(self, timeoutNanos, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_output_finalize(long self, long summary, long err) {
    try {
      return (int) RCAP_OUTPUT_FINALIZE.invokeExact(self, summary, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_output_destroy(long self) {
    try {
      RCAP_OUTPUT_DESTROY.invokeExact(self);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_completion_fd(long self, long fd, long err) {
    try {
      return (int) RCAP_CAPTURER_COMPLETION_FD.invokeExact(self, fd, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_next_completed(long self, long timeoutNanos, long sequence, long status, long err) {
    try {
      return (int) RCAP_CAPTURER_NEXT_COMPLETED.invokeExact(self, timeoutNanos, sequence, status, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_slots_layout_init(long value, long structSize) {
    try {
      RCAP_SLOTS_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_slot_info_init(long value, long structSize) {
    try {
      RCAP_SLOT_INFO_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_release_slots(long self, long layout, Span slots, long stream, long err) {
    try {
      if (Span.onHeap(slots)) {
        return (int) RCAP_CAPTURER_RELEASE_SLOTS_HEAP.invokeExact(self, layout, Table.segment(slots), Span.count(slots, 1), stream, err);
      }
      return (int) RCAP_CAPTURER_RELEASE_SLOTS.invokeExact(self, layout, Span.address(slots), Span.count(slots, 1), stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(slots);
    }
  }

  @Override
  public int rcap_capturer_release_all(long self, long stream, long err) {
    try {
      return (int) RCAP_CAPTURER_RELEASE_ALL.invokeExact(self, stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_copy_slots(long self, long layout, Span from, Span to, long stream, long err) {
    try {
      if (Span.onHeap(from) || Span.onHeap(to)) {
        return (int) RCAP_CAPTURER_COPY_SLOTS_HEAP.invokeExact(self, layout, Table.segment(from), Span.count(from, 1), Table.segment(to),
            Span.count(to, 1), stream, err);
      }
      return (int) RCAP_CAPTURER_COPY_SLOTS.invokeExact(self, layout, Span.address(from), Span.count(from, 1), Span.address(to),
          Span.count(to, 1), stream, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(from);
      Reference.reachabilityFence(to);
    }
  }

  @Override
  public int rcap_capturer_slot_info_get(long self, long slot, long info, long err) {
    try {
      return (int) RCAP_CAPTURER_SLOT_INFO_GET.invokeExact(self, slot, info, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_read_layout_init(long value, long structSize) {
    try {
      RCAP_READ_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_read_info_init(long value, long structSize) {
    try {
      RCAP_READ_INFO_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_capturer_read(long self, long layout, Span slots, Span tags, long record, long err) {
    try {
      if (Span.onHeap(slots) || Span.onHeap(tags)) {
        return (int) RCAP_CAPTURER_READ_HEAP.invokeExact(self, layout, Table.segment(slots), Span.count(slots, 1), Table.segment(tags),
            Span.count(tags, 8), record, err);
      }
      return (int) RCAP_CAPTURER_READ.invokeExact(self, layout, Span.address(slots), Span.count(slots, 1), Span.address(tags),
          Span.count(tags, 8), record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(slots);
      Reference.reachabilityFence(tags);
    }
  }

  @Override
  public int rcap_capturer_read_into(long self, long layout, Span slots, Span tags, Span ids, Span weights, Span validity, long info, long
      err) {
    try {
      if (Span.onHeap(slots) || Span.onHeap(tags) || Span.onHeap(ids) || Span.onHeap(weights) || Span.onHeap(validity)) {
        return (int) RCAP_CAPTURER_READ_INTO_HEAP.invokeExact(self, layout, Table.segment(slots), Span.count(slots, 1), Table.segment(tags),
            Span.count(tags, 8), Table.segment(ids), Span.count(ids, 1), Table.segment(weights), Span.count(weights, 1),
            Table.segment(validity), Span.count(validity, 1), info, err);
      }
      return (int) RCAP_CAPTURER_READ_INTO.invokeExact(self, layout, Span.address(slots), Span.count(slots, 1), Span.address(tags),
          Span.count(tags, 8), Span.address(ids), Span.count(ids, 1), Span.address(weights), Span.count(weights, 1), Span.address(validity),
          Span.count(validity, 1), info, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(slots);
      Reference.reachabilityFence(tags);
      Reference.reachabilityFence(ids);
      Reference.reachabilityFence(weights);
      Reference.reachabilityFence(validity);
    }
  }

  @Override
  public void rcap_record_layout_init(long value, long structSize) {
    try {
      RCAP_RECORD_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_record_info_init(long value, long structSize) {
    try {
      RCAP_RECORD_INFO_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_create(long layout, Span layerIds, Span layerFlags, Span ids, Span weights, Span validity, long record, long err) {
    try {
      if (Span.onHeap(layerIds) || Span.onHeap(layerFlags) || Span.onHeap(ids) || Span.onHeap(weights) || Span.onHeap(validity)) {
        return (int) RCAP_RECORD_CREATE_HEAP.invokeExact(layout, Table.segment(layerIds), Span.count(layerIds, 4),
            Table.segment(layerFlags), Span.count(layerFlags, 4), Table.segment(ids), Span.count(ids, 1), Table.segment(weights),
            Span.count(weights, 1), Table.segment(validity), Span.count(validity, 1), record, err);
      }
      return (int) RCAP_RECORD_CREATE.invokeExact(layout, Span.address(layerIds), Span.count(layerIds, 4), Span.address(layerFlags),
          Span.count(layerFlags, 4), Span.address(ids), Span.count(ids, 1), Span.address(weights), Span.count(weights, 1),
          Span.address(validity), Span.count(validity, 1), record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
      Reference.reachabilityFence(layerFlags);
      Reference.reachabilityFence(ids);
      Reference.reachabilityFence(weights);
      Reference.reachabilityFence(validity);
    }
  }

  @Override
  public void rcap_record_destroy(long self) {
    try {
      RCAP_RECORD_DESTROY.invokeExact(self);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_info_get(long self, long info, long err) {
    try {
      return (int) RCAP_RECORD_INFO_GET.invokeExact(self, info, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_ids(long self, long data, long bytes, long err) {
    try {
      return (int) RCAP_RECORD_IDS.invokeExact(self, data, bytes, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_weights(long self, long data, long bytes, long err) {
    try {
      return (int) RCAP_RECORD_WEIGHTS.invokeExact(self, data, bytes, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_row_validity(long self, long data, long bytes, long err) {
    try {
      return (int) RCAP_RECORD_ROW_VALIDITY.invokeExact(self, data, bytes, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_cell_validity(long self, long data, long bytes, long err) {
    try {
      return (int) RCAP_RECORD_CELL_VALIDITY.invokeExact(self, data, bytes, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_layer_ids(long self, long data, long count, long err) {
    try {
      return (int) RCAP_RECORD_LAYER_IDS.invokeExact(self, data, count, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_layer_flags(long self, long data, long count, long err) {
    try {
      return (int) RCAP_RECORD_LAYER_FLAGS.invokeExact(self, data, count, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_version_spans(long self, long starts, long versions, long count, long err) {
    try {
      return (int) RCAP_RECORD_VERSION_SPANS.invokeExact(self, starts, versions, count, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_slice(long self, long start, long end, long record, long err) {
    try {
      return (int) RCAP_RECORD_SLICE.invokeExact(self, start, end, record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_compare_report_init(long value, long structSize) {
    try {
      RCAP_COMPARE_REPORT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_append(long self, long next, int overlap, long record, long err) {
    try {
      return (int) RCAP_RECORD_APPEND.invokeExact(self, next, overlap, record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_merge(long self, long decode, long boundary, long record, long err) {
    try {
      return (int) RCAP_RECORD_MERGE.invokeExact(self, decode, boundary, record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_truncate(long self, long tokens, int flags, long record, long err) {
    try {
      return (int) RCAP_RECORD_TRUNCATE.invokeExact(self, tokens, flags, record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_stack(long self, long other, long record, long err) {
    try {
      return (int) RCAP_RECORD_STACK.invokeExact(self, other, record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_interleave(long self, Span positions, long other, Span otherPositions, long record, long err) {
    try {
      if (Span.onHeap(positions) || Span.onHeap(otherPositions)) {
        return (int) RCAP_RECORD_INTERLEAVE_HEAP.invokeExact(self, Table.segment(positions), Span.count(positions, 8), other,
            Table.segment(otherPositions), Span.count(otherPositions, 8), record, err);
      }
      return (int) RCAP_RECORD_INTERLEAVE.invokeExact(self, Span.address(positions), Span.count(positions, 8), other,
          Span.address(otherPositions), Span.count(otherPositions, 8), record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(positions);
      Reference.reachabilityFence(otherPositions);
    }
  }

  @Override
  public int rcap_record_to_full_axis(long self, int numLayers, int fill, int fillId, long record, long err) {
    try {
      return (int) RCAP_RECORD_TO_FULL_AXIS.invokeExact(self, numLayers, fill, fillId, record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_to_compact(long self, Span layerIds, long record, long err) {
    try {
      if (Span.onHeap(layerIds)) {
        return (int) RCAP_RECORD_TO_COMPACT_HEAP.invokeExact(self, Table.segment(layerIds), Span.count(layerIds, 4), record, err);
      }
      return (int) RCAP_RECORD_TO_COMPACT.invokeExact(self, Span.address(layerIds), Span.count(layerIds, 4), record, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
    }
  }

  @Override
  public int rcap_record_compare(long self, long other, long report, Span byLayer, long err) {
    try {
      if (Span.onHeap(byLayer)) {
        return (int) RCAP_RECORD_COMPARE_HEAP.invokeExact(self, other, report, Table.segment(byLayer), Span.count(byLayer, 8), err);
      }
      return (int) RCAP_RECORD_COMPARE.invokeExact(self, other, report, Span.address(byLayer), Span.count(byLayer, 8), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(byLayer);
    }
  }

  @Override
  public void rcap_encode_options_init(long value, long structSize) {
    try {
      RCAP_ENCODE_OPTIONS_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_decode_hints_init(long value, long structSize) {
    try {
      RCAP_DECODE_HINTS_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public String rcap_wire_format_name(int format) {
    try {
      return Table.text((long) RCAP_WIRE_FORMAT_NAME.invokeExact(format));
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_wire_format_of(long name, long format, long err) {
    try {
      return (int) RCAP_WIRE_FORMAT_OF.invokeExact(name, format, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_wire_detect(Span bytes, long format, long err) {
    try {
      if (Span.onHeap(bytes)) {
        return (int) RCAP_WIRE_DETECT_HEAP.invokeExact(Table.segment(bytes), Span.count(bytes, 1), format, err);
      }
      return (int) RCAP_WIRE_DETECT.invokeExact(Span.address(bytes), Span.count(bytes, 1), format, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(bytes);
    }
  }

  @Override
  public int rcap_record_encode(long self, int format, long options, Span buffer, long needed, long err) {
    try {
      if (Span.onHeap(buffer)) {
        return (int) RCAP_RECORD_ENCODE_HEAP.invokeExact(self, format, options, Table.segment(buffer), Span.count(buffer, 1), needed, err);
      }
      return (int) RCAP_RECORD_ENCODE.invokeExact(self, format, options, Span.address(buffer), Span.count(buffer, 1), needed, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(buffer);
    }
  }

  @Override
  public int rcap_record_decode(int format, Span bytes, long hints, Span layerIds, long record, long consumed, long err) {
    try {
      if (Span.onHeap(bytes) || Span.onHeap(layerIds)) {
        return (int) RCAP_RECORD_DECODE_HEAP.invokeExact(format, Table.segment(bytes), Span.count(bytes, 1), hints, Table.segment(layerIds),
            Span.count(layerIds, 4), record, consumed, err);
      }
      return (int) RCAP_RECORD_DECODE.invokeExact(format, Span.address(bytes), Span.count(bytes, 1), hints, Span.address(layerIds),
          Span.count(layerIds, 4), record, consumed, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(bytes);
      Reference.reachabilityFence(layerIds);
    }
  }

  @Override
  public int rcap_capturer_encode(long self, long layout, Span slots, Span tags, int format, long options, Span buffer, long needed, long
      err) {
    try {
      if (Span.onHeap(slots) || Span.onHeap(tags) || Span.onHeap(buffer)) {
        return (int) RCAP_CAPTURER_ENCODE_HEAP.invokeExact(self, layout, Table.segment(slots), Span.count(slots, 1), Table.segment(tags),
            Span.count(tags, 8), format, options, Table.segment(buffer), Span.count(buffer, 1), needed, err);
      }
      return (int) RCAP_CAPTURER_ENCODE.invokeExact(self, layout, Span.address(slots), Span.count(slots, 1), Span.address(tags),
          Span.count(tags, 8), format, options, Span.address(buffer), Span.count(buffer, 1), needed, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(slots);
      Reference.reachabilityFence(tags);
      Reference.reachabilityFence(buffer);
    }
  }

  @Override
  public int rcap_backend_search(long name, Span text, long needed, long err) {
    try {
      if (Span.onHeap(text)) {
        return (int) RCAP_BACKEND_SEARCH_HEAP.invokeExact(name, Table.segment(text), Span.count(text, 1), needed, err);
      }
      return (int) RCAP_BACKEND_SEARCH.invokeExact(name, Span.address(text), Span.count(text, 1), needed, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(text);
    }
  }

  @Override
  public void rcap_fill_layout_init(long value, long structSize) {
    try {
      RCAP_FILL_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public void rcap_partition_layout_init(long value, long structSize) {
    try {
      RCAP_PARTITION_LAYOUT_INIT.invokeExact(value, structSize);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_record_fill(long self, long layout, Span layerIds, Span positions, Span ids, Span rowMask, Span cellMask, long filled,
      long err) {
    try {
      if (Span.onHeap(layerIds) || Span.onHeap(positions) || Span.onHeap(ids) || Span.onHeap(rowMask) || Span.onHeap(cellMask)) {
        return (int) RCAP_RECORD_FILL_HEAP.invokeExact(self, layout, Table.segment(layerIds), Span.count(layerIds, 4),
            Table.segment(positions), Span.count(positions, 8), Table.segment(ids), Span.count(ids, 1), Table.segment(rowMask),
            Span.count(rowMask, 1), Table.segment(cellMask), Span.count(cellMask, 1), filled, err);
      }
      return (int) RCAP_RECORD_FILL.invokeExact(self, layout, Span.address(layerIds), Span.count(layerIds, 4), Span.address(positions),
          Span.count(positions, 8), Span.address(ids), Span.count(ids, 1), Span.address(rowMask), Span.count(rowMask, 1),
          Span.address(cellMask), Span.count(cellMask, 1), filled, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
      Reference.reachabilityFence(positions);
      Reference.reachabilityFence(ids);
      Reference.reachabilityFence(rowMask);
      Reference.reachabilityFence(cellMask);
    }
  }

  @Override
  public int rcap_pack_offsets(Span lengths, long multiple, Span offsets, long err) {
    try {
      if (Span.onHeap(lengths) || Span.onHeap(offsets)) {
        return (int) RCAP_PACK_OFFSETS_HEAP.invokeExact(Table.segment(lengths), Span.count(lengths, 8), multiple, Table.segment(offsets),
            Span.count(offsets, 8), err);
      }
      return (int) RCAP_PACK_OFFSETS.invokeExact(Span.address(lengths), Span.count(lengths, 8), multiple, Span.address(offsets),
          Span.count(offsets, 8), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(lengths);
      Reference.reachabilityFence(offsets);
    }
  }

  @Override
  public int rcap_pack_pad(Span lengths, Span offsets, long itemBytes, Span pad, Span tokens, Span packed, long err) {
    try {
      if (Span.onHeap(lengths) || Span.onHeap(offsets) || Span.onHeap(pad) || Span.onHeap(tokens) || Span.onHeap(packed)) {
        return (int) RCAP_PACK_PAD_HEAP.invokeExact(Table.segment(lengths), Span.count(lengths, 8), Table.segment(offsets),
            Span.count(offsets, 8), itemBytes, Table.segment(pad), Span.count(pad, 1), Table.segment(tokens), Span.count(tokens, 1),
            Table.segment(packed), Span.count(packed, 1), err);
      }
      return (int) RCAP_PACK_PAD.invokeExact(Span.address(lengths), Span.count(lengths, 8), Span.address(offsets), Span.count(offsets, 8),
          itemBytes, Span.address(pad), Span.count(pad, 1), Span.address(tokens), Span.count(tokens, 1), Span.address(packed),
          Span.count(packed, 1), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(lengths);
      Reference.reachabilityFence(offsets);
      Reference.reachabilityFence(pad);
      Reference.reachabilityFence(tokens);
      Reference.reachabilityFence(packed);
    }
  }

  @Override
  public int rcap_pack_strip(Span lengths, Span offsets, long itemBytes, Span packed, Span tokens, long err) {
    try {
      if (Span.onHeap(lengths) || Span.onHeap(offsets) || Span.onHeap(packed) || Span.onHeap(tokens)) {
        return (int) RCAP_PACK_STRIP_HEAP.invokeExact(Table.segment(lengths), Span.count(lengths, 8), Table.segment(offsets),
            Span.count(offsets, 8), itemBytes, Table.segment(packed), Span.count(packed, 1), Table.segment(tokens), Span.count(tokens, 1),
            err);
      }
      return (int) RCAP_PACK_STRIP.invokeExact(Span.address(lengths), Span.count(lengths, 8), Span.address(offsets), Span.count(offsets, 8),
          itemBytes, Span.address(packed), Span.count(packed, 1), Span.address(tokens), Span.count(tokens, 1), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(lengths);
      Reference.reachabilityFence(offsets);
      Reference.reachabilityFence(packed);
      Reference.reachabilityFence(tokens);
    }
  }

  @Override
  public int rcap_partition_multiple(long layout, long multiple, long err) {
    try {
      return (int) RCAP_PARTITION_MULTIPLE.invokeExact(layout, multiple, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    }
  }

  @Override
  public int rcap_partition_tokens(long layout, Span offsets, long tokens, long err) {
    try {
      if (Span.onHeap(offsets)) {
        return (int) RCAP_PARTITION_TOKENS_HEAP.invokeExact(layout, Table.segment(offsets), Span.count(offsets, 8), tokens, err);
      }
      return (int) RCAP_PARTITION_TOKENS.invokeExact(layout, Span.address(offsets), Span.count(offsets, 8), tokens, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(offsets);
    }
  }

  @Override
  public int rcap_partition_indices(long layout, Span offsets, Span indices, long err) {
    try {
      if (Span.onHeap(offsets) || Span.onHeap(indices)) {
        return (int) RCAP_PARTITION_INDICES_HEAP.invokeExact(layout, Table.segment(offsets), Span.count(offsets, 8), Table.segment(indices),
            Span.count(indices, 8), err);
      }
      return (int) RCAP_PARTITION_INDICES.invokeExact(layout, Span.address(offsets), Span.count(offsets, 8), Span.address(indices),
          Span.count(indices, 8), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(offsets);
      Reference.reachabilityFence(indices);
    }
  }

  @Override
  public int rcap_partition_split(long layout, Span offsets, long itemBytes, Span whole, Span part, long err) {
    try {
      if (Span.onHeap(offsets) || Span.onHeap(whole) || Span.onHeap(part)) {
        return (int) RCAP_PARTITION_SPLIT_HEAP.invokeExact(layout, Table.segment(offsets), Span.count(offsets, 8), itemBytes,
            Table.segment(whole), Span.count(whole, 1), Table.segment(part), Span.count(part, 1), err);
      }
      return (int) RCAP_PARTITION_SPLIT.invokeExact(layout, Span.address(offsets), Span.count(offsets, 8), itemBytes, Span.address(whole),
          Span.count(whole, 1), Span.address(part), Span.count(part, 1), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(offsets);
      Reference.reachabilityFence(whole);
      Reference.reachabilityFence(part);
    }
  }

  @Override
  public int rcap_partition_gather(long layout, Span offsets, long itemBytes, Span parts, Span whole, long err) {
    try {
      if (Span.onHeap(offsets) || Span.onHeap(parts) || Span.onHeap(whole)) {
        return (int) RCAP_PARTITION_GATHER_HEAP.invokeExact(layout, Table.segment(offsets), Span.count(offsets, 8), itemBytes,
            Table.segment(parts), Span.count(parts, 1), Table.segment(whole), Span.count(whole, 1), err);
      }
      return (int) RCAP_PARTITION_GATHER.invokeExact(layout, Span.address(offsets), Span.count(offsets, 8), itemBytes, Span.address(parts),
          Span.count(parts, 1), Span.address(whole), Span.count(whole, 1), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(offsets);
      Reference.reachabilityFence(parts);
      Reference.reachabilityFence(whole);
    }
  }

  @Override
  public int rcap_stage_layers(int numLayers, int ppSize, int ppRank, int vpSize, int vpRank, int firstLayers, int lastLayers, Span
      moeLayers, Span layerIds, long needed, long err) {
    try {
      if (Span.onHeap(moeLayers) || Span.onHeap(layerIds)) {
        return (int) RCAP_STAGE_LAYERS_HEAP.invokeExact(numLayers, ppSize, ppRank, vpSize, vpRank, firstLayers, lastLayers,
            Table.segment(moeLayers), Span.count(moeLayers, 4), Table.segment(layerIds), Span.count(layerIds, 4), needed, err);
      }
      return (int) RCAP_STAGE_LAYERS.invokeExact(numLayers, ppSize, ppRank, vpSize, vpRank, firstLayers, lastLayers,
          Span.address(moeLayers), Span.count(moeLayers, 4), Span.address(layerIds), Span.count(layerIds, 4), needed, err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(moeLayers);
      Reference.reachabilityFence(layerIds);
    }
  }

  @Override
  public int rcap_layers_split(Span layerIds, Span selected, long tokens, long itemBytes, int order, Span whole, Span part, long err) {
    try {
      if (Span.onHeap(layerIds) || Span.onHeap(selected) || Span.onHeap(whole) || Span.onHeap(part)) {
        return (int) RCAP_LAYERS_SPLIT_HEAP.invokeExact(Table.segment(layerIds), Span.count(layerIds, 4), Table.segment(selected),
            Span.count(selected, 4), tokens, itemBytes, order, Table.segment(whole), Span.count(whole, 1), Table.segment(part),
            Span.count(part, 1), err);
      }
      return (int) RCAP_LAYERS_SPLIT.invokeExact(Span.address(layerIds), Span.count(layerIds, 4), Span.address(selected),
          Span.count(selected, 4), tokens, itemBytes, order, Span.address(whole), Span.count(whole, 1), Span.address(part), Span.count(part,
          1), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
      Reference.reachabilityFence(selected);
      Reference.reachabilityFence(whole);
      Reference.reachabilityFence(part);
    }
  }

  @Override
  public int rcap_layers_gather(Span layerIds, Span selected, long tokens, long itemBytes, int order, Span part, Span whole, long err) {
    try {
      if (Span.onHeap(layerIds) || Span.onHeap(selected) || Span.onHeap(part) || Span.onHeap(whole)) {
        return (int) RCAP_LAYERS_GATHER_HEAP.invokeExact(Table.segment(layerIds), Span.count(layerIds, 4), Table.segment(selected),
            Span.count(selected, 4), tokens, itemBytes, order, Table.segment(part), Span.count(part, 1), Table.segment(whole),
            Span.count(whole, 1), err);
      }
      return (int) RCAP_LAYERS_GATHER.invokeExact(Span.address(layerIds), Span.count(layerIds, 4), Span.address(selected),
          Span.count(selected, 4), tokens, itemBytes, order, Span.address(part), Span.count(part, 1), Span.address(whole), Span.count(whole,
          1), err);
    } catch (Throwable unexpected) {
      throw Table.impossible(unexpected);
    } finally {
      Reference.reachabilityFence(layerIds);
      Reference.reachabilityFence(selected);
      Reference.reachabilityFence(part);
      Reference.reachabilityFence(whole);
    }
  }
}
