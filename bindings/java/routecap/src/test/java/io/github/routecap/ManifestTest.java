// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Span;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The binding against capi/abi/api.json. */
class ManifestTest {
  /** Functions that Java does not call, and why. None today. */
  private static final Map<String, String> NOT_BOUND = Map.of();

  private static final Map<String, Class<?>> ENUMS =
      Map.ofEntries(
          Map.entry("rcap_status", Code.class),
          Map.entry("rcap_dtype", DType.class),
          Map.entry("rcap_memory", Memory.class),
          Map.entry("rcap_rows_kind", RowsKind.class),
          Map.entry("rcap_weights_kind", WeightsKind.class),
          Map.entry("rcap_check_level", CheckLevel.class),
          Map.entry("rcap_finalize_mode", FinalizeMode.class),
          Map.entry("rcap_busy_policy", BusyPolicy.class),
          Map.entry("rcap_rows_term", RowsTerm.class),
          Map.entry("rcap_model_role", Role.class),
          Map.entry("rcap_capture_gate", Gate.class),
          Map.entry("rcap_tap_flag", TapFlag.class),
          Map.entry("rcap_acceptance", Acceptance.class),
          Map.entry("rcap_fault", Fault.class),
          Map.entry("rcap_slot_unit", SlotUnit.class),
          Map.entry("rcap_read_flag", ReadFlag.class),
          Map.entry("rcap_overlap", Overlap.class),
          Map.entry("rcap_fill", Fill.class),
          Map.entry("rcap_wire_format", Format.class),
          Map.entry("rcap_missing", Missing.class),
          Map.entry("rcap_padding", Padding.class),
          Map.entry("rcap_axis_order", AxisOrder.class),
          Map.entry("rcap_split", Split.class));

  @SuppressWarnings("unchecked")
  private static Map<String, Object> api() throws Exception {
    Map<String, Object> api = (Map<String, Object>) Json.parse(Files.readString(Expect.file("capi/abi/api.json")));
    assertTrue(Json.objects(api.get("functions")).size() >= 64);
    assertTrue(Json.objects(api.get("structs")).size() >= 21);
    return api;
  }

  private static List<Path> sources() throws Exception {
    Path root = Path.of("src/main/java/io/github/routecap");
    if (!Files.isDirectory(root)) {
      root = Expect.file("bindings/java/routecap/src/main/java/io/github/routecap");
    }
    Assumptions.assumeTrue(Files.isDirectory(root));
    try (var files = Files.list(root)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList();
    }
  }

  @Test
  void everyFunctionOfTheCApiIsBound() throws Exception {
    Set<String> called = new HashSet<>();
    Pattern call = Pattern.compile("(?:\\.|NativeApi::)(rcap_[a-z_]+)\\b");
    for (Path source : sources()) {
      Matcher found = call.matcher(Files.readString(source));
      while (found.find()) {
        called.add(found.group(1));
      }
    }
    assertTrue(called.size() > 50, "only " + called);
    List<String> wrong = new ArrayList<>();
    for (Map<String, Object> function : Json.objects(api().get("functions"))) {
      String name = (String) function.get("name");
      if (called.contains(name) == NOT_BOUND.containsKey(name)) {
        wrong.add(name);
      }
    }
    assertEquals(List.of(), wrong);
  }

  // What a parameter is in the raw layer follows from its C type; SWIG's own choice where no typemap fits would be another.
  @Test
  void theRawLayerHasTheTypesOfTheCApi() throws Exception {
    Map<String, Method> methods = new HashMap<>();
    for (Method method : NativeApi.class.getMethods()) {
      methods.put(method.getName(), method);
    }
    int seen = 0;
    for (Map<String, Object> function : Json.objects(api().get("functions"))) {
      Method method = methods.get(function.get("name"));
      List<Class<?>> want = new ArrayList<>();
      Set<Object> lengths = new HashSet<>();
      for (Map<String, Object> parameter : Json.objects(function.get("parameters"))) {
        String type = (String) parameter.get("type");
        if (parameter.containsKey("length")) {
          lengths.add(parameter.get("length"));
          want.add(Span.class);
        } else if (!lengths.contains(parameter.get("name"))) {
          want.add(type.contains("*") ? long.class : type.equals("int64_t") ? long.class : int.class);
        }
      }
      assertEquals(want, List.of(method.getParameterTypes()), method.getName());
      String returns = (String) function.get("returns");
      Class<?> wanted =
          returns.equals("void") ? void.class : returns.equals("const char*") ? String.class : returns.equals("int64_t") ? long.class : int.class;
      assertEquals(wanted, method.getReturnType(), method.getName());
      seen++;
    }
    assertTrue(seen >= 64);
  }

  @Test
  void enumsHaveTheValuesOfTheCApi() throws Exception {
    for (Map<String, Object> type : Json.objects(api().get("enums"))) {
      Class<?> own = ENUMS.get(type.get("name"));
      if (own == null) {
        fail(type.get("name") + " has no enum");
      }
      List<Map<String, Object>> values = Json.objects(type.get("values"));
      assertEquals(values.size(), own.getEnumConstants().length, own.getName());
      for (int index = 0; index < values.size(); index++) {
        Enum<?> constant = (Enum<?>) own.getEnumConstants()[index];
        String name = (String) values.get(index).get("name");
        assertTrue(name.endsWith("_" + constant.name()), name + " is " + constant.name());
        int value = (int) own.getMethod("value").invoke(constant);
        assertEquals(((Long) values.get(index).get("value")).intValue(), value, name);
        assertEquals(constant, own.getMethod("of", int.class).invoke(null, value));
      }
    }
    assertEquals("RCAP_STATUS_UNKNOWN", Code.nameInC(-99));
    for (Code code : Code.values()) {
      assertEquals("RCAP_STATUS_" + code, Code.nameInC(code.value()));
    }
  }

  @Test
  void structsHaveTheLayoutOfTheCApi() throws Exception {
    NativeApi raw = Native.api();
    ByteBuffer memory = ByteBuffer.allocateDirect(512).order(ByteOrder.nativeOrder());
    Map<String, Class<?>> layouts = new HashMap<>();
    for (Class<?> layout : Layouts.class.getDeclaredClasses()) {
      layouts.put(layout.getSimpleName().toLowerCase(java.util.Locale.ROOT), layout);
    }
    // Fields whose default is not 0: the binding begins with C's defaults, or writes the field whatever it is.
    Set<String> handled =
        Set.of(
            "pipeline_depth", "max_running_requests", "dp_size", "attn_tp_size", "page_size", "ids_dtype", "slots_dtype", "rows_dtype", "decode_start", "start",
            "rows", "turn", "dtype", "cp_size", "sp_size");
    int seen = 0;
    for (Map<String, Object> struct : Json.objects(api().get("structs"))) {
      String name = (String) struct.get("name");
      Class<?> layout = layouts.get(name.substring("rcap_".length()).replace("_", ""));
      long size = (Long) struct.get("size");
      assertEquals(size, layout.getField("SIZE").getInt(null), name);
      List<Map<String, Object>> fields = Json.objects(struct.get("fields"));
      assertEquals(fields.size() + 1, layout.getFields().length, name);
      for (int index = 0; index < 512; index++) {
        memory.put(index, (byte) 0x55);
      }
      Method init = NativeApi.class.getMethod((String) struct.get("init"), long.class, long.class);
      init.invoke(raw, raw.address(memory), size);
      for (Map<String, Object> field : fields) {
        int offset = layout.getField(((String) field.get("name")).toUpperCase(java.util.Locale.ROOT)).getInt(null);
        assertEquals(((Long) field.get("offset")).intValue(), offset, name + "." + field.get("name"));
        if (field.containsKey("default") && !field.containsKey("count")) {
          long value = ((Long) field.get("size")) == 8 ? memory.getLong(offset) : memory.getInt(offset);
          assertEquals(field.get("default"), value, name + "." + field.get("name"));
          assertTrue(value == 0 || offset == 0 || handled.contains(field.get("name")), name + "." + field.get("name") + " has the default " + value);
        }
      }
      assertEquals(0x55, memory.get((int) size), name);
      seen++;
    }
    assertEquals(23, seen);
  }
}
