// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every public method and constructor with null in place of each of its arguments in turn: refused by name, or documented to be left out. */
class NullArgumentsTest {
  /** Where null says something: what is not given, or not wanted; and equals. */
  private static final Set<String> MAY_BE_NULL =
      Set.of(
          "Accept.rows 0", "Accept.slots 0", "Array.at 3", "Capture.ids 0", "Capture.weights 0", "Capture.rowIds 0", "Capturer.readInto 1",
          "Capturer.readInto 2", "Capturer.readInto 3", "CapturerBuilder.backend 0", "DecodeHints.layerIds 0", "Forward.slots 0", "Forward.rows 0",
          "Forward.tags 0", "Model.addTap 2", "Read.slots 0", "Read.tags 0", "Record.equals 0", "Record.interleave 0", "Record.interleave 2",
          "Record.compare 1", "Record.fill 2", "Record.fill 3", "RecordConfig.layerIds 0", "RecordConfig.layerFlags 0", "RecordConfig.ids 0",
          "RecordConfig.weights 0", "RecordConfig.validity 0", "RowsQuery.tokensPerRank 0");

  private final Map<Class<?>, Object> good = new HashMap<>();
  private final Set<String> wrong = new TreeSet<>();
  private final Set<String> left = new TreeSet<>();
  /** What takes a text, and a name that would arrive in C as another one. */
  private final Set<String> texts = new TreeSet<>();
  private int refused;

  private static List<Class<?>> publicClasses() throws Exception {
    Path folder = Path.of(Record.class.getProtectionDomain().getCodeSource().getLocation().toURI()).resolve("io/github/routecap");
    List<Class<?>> classes = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.equals("package-info.class")) {
          Class<?> found = Class.forName("io.github.routecap." + name.substring(0, name.length() - ".class".length()));
          if (Modifier.isPublic(found.getModifiers())) {
            classes.add(found);
          }
        }
      }
    }
    return classes;
  }

  /** Something of a type that is no obstacle. */
  private Object some(Class<?> type) {
    if (type == int.class) {
      return 1;
    } else if (type == long.class) {
      return 1L;
    } else if (type == boolean.class) {
      return true;
    } else if (type == DType.class) {
      return DType.UINT8;
    } else if (type == Format.class) {
      return Format.FRAME_BASE64;
    } else if (type.isEnum()) {
      return type.getEnumConstants()[0];
    } else if (type.isArray() && type.getComponentType().isEnum()) {
      return java.lang.reflect.Array.newInstance(type.getComponentType(), 0);
    }
    Object value = good.get(type);
    assertTrue(value != null, "no " + type + " to call with");
    return value;
  }

  private void check(Executable called, Object on) throws Exception {
    Class<?>[] types = called.getParameterTypes();
    for (int at = 0; at < types.length; at++) {
      if (types[at].isPrimitive()) {
        continue;
      }
      Object[] arguments = new Object[types.length];
      for (int other = 0; other < types.length; other++) {
        arguments[other] = other == at ? null : some(types[other]);
      }
      String name = called.getDeclaringClass().getSimpleName() + "." + (called instanceof Method ? called.getName() : "new") + " " + at;
      try {
        Object result = called instanceof Method method ? method.invoke(on, arguments) : ((Constructor<?>) called).newInstance(arguments);
        if (result instanceof AutoCloseable closeable) {
          closeable.close();
        }
        left.add(name);
      } catch (InvocationTargetException e) {
        Throwable why = e.getCause();
        String text = String.valueOf(why.getMessage());
        boolean named = why instanceof NullPointerException && text.matches("[A-Za-z ]+ is null");
        // What the library says itself, with its parameter's name.
        boolean told = why instanceof RouteCapException refusal && refusal.code() == Code.INVALID_ARGUMENT && text.contains("null");
        boolean mayBe = MAY_BE_NULL.contains(name) && why instanceof RouteCapException;
        if (!named && !told && !mayBe) {
          wrong.add(name + ": " + why);
        }
        refused++;
      }
    }
  }

  /** A zero byte ends a text in C, and half a pair of surrogates is no character. */
  private void checkNames(Executable called, Object on) throws Exception {
    Class<?>[] types = called.getParameterTypes();
    for (int at = 0; at < types.length; at++) {
      for (String bad : types[at] == String.class ? new String[] {"host\0", "frame\0x", "\0", "host\ud83d", "\udc00x"} : new String[0]) {
        Object[] arguments = new Object[types.length];
        for (int other = 0; other < types.length; other++) {
          arguments[other] = other == at ? bad : some(types[other]);
        }
        String name = called.getDeclaringClass().getSimpleName() + "." + called.getName();
        texts.add(name);
        String want = bad.indexOf(0) >= 0 ? "name has a zero byte: \"" + bad.replace("\0", "\\0") + '"' : "name cannot be written in UTF-8: character ";
        try {
          ((Method) called).invoke(on, arguments);
          wrong.add(name + " took a name that is none");
        } catch (InvocationTargetException e) {
          if (!(e.getCause() instanceof IllegalArgumentException) || !String.valueOf(e.getCause().getMessage()).contains(want)) {
            wrong.add(name + ": " + e.getCause() + ", want " + want);
          }
        }
      }
    }
  }

  @Test
  void everyDoorNamesWhatIsNull() throws Exception {
    try (Scene scene = new Scene();
        Scene other = new Scene();
        Backend backend = Backend.open("host");
        Record record = RecordTest.of(0, 5, 1, 2)) {
      Capturer unsealed = Capturer.builder().numExperts(8).topK(1).layerIds(0).maxForwardTokens(4).numSlots(8).build();
      other.capture(1);
      Output output = other.capturer.endForward(new Forward().tokens(1).slots(Array.of(5L)));
      good.putAll(
          Map.of(
              Capturer.class, scene.capturer, Output.class, output, Tap.class, scene.taps.get(0), Backend.class, backend, Record.class, record,
              Model.class, unsealed.addModel(Role.TARGET, "target"), RecordRows.class, record.rows()));
      for (Object value :
          new Object[] {
            new Accept(), new Capture(), new DecodeHints(), new Dense(2, 2), new EncodeOptions(), new Forward(), new Read().slots(Array.of(1L)).tokens(2),
            new RecordConfig(), new RowsQuery(), Capturer.builder(), new Columns(new int[] {0}, new int[] {0}, 1, 1, AxisOrder.TOKENS_FIRST),
            new Partition(Split.CONTIGUOUS, 1, 0, 1, 0), new Stage(1, 1, 0, 1, Stage.ALL_CHUNKS, 0, 0), Array.of((byte) 1, (byte) 2), Duration.ZERO, "name",
            new int[] {1}, new long[] {0, 1}, new float[] {1}, new byte[] {1}, new short[] {1}, Set.of(), List.of(), Code.OK
          }) {
        good.putIfAbsent(value.getClass(), value);
      }
      good.put(Set.class, Set.of());
      good.put(List.class, List.of());
      good.put(Object.class, "an object");
      good.put(ByteBuffer.class, ByteBuffer.allocateDirect(8));
      good.put(InputStream.class, new ByteArrayInputStream(new byte[0]));
      good.put(OutputStream.class, new ByteArrayOutputStream());
      for (Class<?> type : publicClasses()) {
        // What a record carries is its maker's; Partition looks at its split.
        if (!type.isRecord() || type == Partition.class) {
          for (Constructor<?> constructor : type.getConstructors()) {
            check(constructor, null);
          }
        }
        for (Method method : type.getDeclaredMethods()) {
          boolean ours = Modifier.isPublic(method.getModifiers()) && !method.isSynthetic();
          // Of an enum's and a record's own methods, Java's are not ours.
          boolean javas = type.isEnum() && method.getName().equals("valueOf") || type.isRecord() && method.getName().equals("equals");
          if (ours && !javas && method.getParameterCount() > 0) {
            check(method, Modifier.isStatic(method.getModifiers()) ? null : some(type));
            // A record's text has its length with it, an enum's own methods are Java's.
            if (!method.getName().equals("decode") && !method.getName().equals("valueOf")) {
              checkNames(method, Modifier.isStatic(method.getModifiers()) ? null : some(type));
            }
          }
        }
      }
      output.close();
      unsealed.close();
    }
    assertEquals(Set.of("Backend.open", "Backend.search", "Capturer.addModel", "Format.parse"), texts);
    left.removeAll(MAY_BE_NULL);
    assertEquals(Set.of(), left, "null was taken");
    assertEquals(Set.of(), wrong);
    assertTrue(refused > 60, refused + " refusals");
  }

  @Test
  void noneOfSeveralFlagsIsNull() {
    try (Record record = RecordTest.of(0, 5, 1, 2);
        Capturer capturer = Capturer.builder().numExperts(8).topK(1).layerIds(0, 1).maxForwardTokens(4).build()) {
      Model model = capturer.addModel(Role.TARGET, "target");
      assertEquals("a flag is null", assertThrows(NullPointerException.class, () -> model.addTap(0, (TapFlag) null)).getMessage());
      assertEquals("a flag is null", assertThrows(NullPointerException.class, () -> record.truncate(2, (ReadFlag) null)).getMessage());
      Set<ReadFlag> flags = new java.util.HashSet<>();
      flags.add(null);
      assertEquals("a flag is null", assertThrows(NullPointerException.class, () -> new Read().flags(flags)).getMessage());
      // One that is named twice counts once.
      try (Record cut = record.truncate(2, ReadFlag.INCLUDE_LAST, ReadFlag.INCLUDE_LAST)) {
        assertEquals(2, cut.info().rows());
      }
    }
  }
}
