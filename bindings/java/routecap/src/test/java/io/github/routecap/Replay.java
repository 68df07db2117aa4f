// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * The reference engine's schedule, which the core's tests write (tests/replay/README.md), replayed through this binding: the same calls must give the same
 * answers.
 */
final class Replay {
  private static final Duration LONG = Duration.ofSeconds(10);

  /** One line of the script. */
  record Call(int line, String verb, Map<String, String> given, Map<String, String> wanted, Map<String, byte[]> data) {
    /**
     * The same call with another answer wanted.
     *
     * @param name of the word
     * @param value instead of its own
     * @return another call
     */
    public Call wanting(String name, String value) {
      Map<String, String> other = new LinkedHashMap<>(wanted);
      other.put(name, value);
      return new Call(line, verb, given, other, data);
    }

    private String text(String name) {
      String text = given.get(name);
      if (text == null) {
        throw new IllegalArgumentException("line " + line + ": " + verb + " has no " + name);
      }
      return text;
    }

    private long number(String name) {
      return Long.parseLong(text(name));
    }

    private int small(String name) {
      return Math.toIntExact(number(name));
    }

    /** A list, null where the word is absent. */
    private Array list(String name) {
      String list = given.get(name);
      if (list == null) {
        return null;
      }
      String[] parts = list.split(":", 3);
      return array(parts[0], parts[1], numbers(parts[2]));
    }
  }

  /** What stands for the ids in a replay. */
  record Variant(int experts, long factor, String[] dtypes) {}

  /** The whole file. */
  record Script(List<Variant> variants, List<List<Call>> runs) {}

  private final Variant variant;
  private final int number;
  private final List<String> faults = new ArrayList<>();
  private final Map<String, Capturer> capturers = new HashMap<>();
  private final Map<String, Model> models = new HashMap<>();
  private final Map<String, Tap> taps = new HashMap<>();
  private final Map<String, Integer> columns = new HashMap<>();
  private final Map<String, Output> outputs = new HashMap<>();
  private int topK;
  private int reads;
  private int frames;

  private Replay(Variant variant, int number) {
    this.variant = variant;
    this.number = number;
  }

  /**
   * Replays one run.
   *
   * @param script it is of
   * @param run its calls
   * @param variant index of the variant
   * @return what differs, one line each
   */
  static List<String> faults(Script script, List<Call> run, int variant) {
    Replay replay = new Replay(script.variants.get(variant), variant);
    replay.all(run);
    if (replay.reads < 8 || replay.frames < 8) {
      replay.faults.add(replay.reads + " reads and " + replay.frames + " frames were compared");
    }
    return replay.faults;
  }

  /**
   * Reads a script.
   *
   * @param file where it is
   * @return what is in it
   * @throws IOException if it cannot be read
   */
  static Script read(Path file) throws IOException {
    Script script = new Script(new ArrayList<>(), new ArrayList<>());
    Map<String, byte[]> data = new HashMap<>();
    int line = 0;
    for (String text : Files.readAllLines(file)) {
      line++;
      if (text.isBlank() || text.startsWith("#")) {
        continue;
      }
      String[] words = text.split(" ");
      Call call = new Call(line, words[0], new LinkedHashMap<>(), new LinkedHashMap<>(), data);
      Map<String, String> into = call.given;
      for (String word : Arrays.copyOfRange(words, 1, words.length)) {
        if (word.equals("->")) {
          into = call.wanted;
        } else {
          String[] parts = word.split("=", 2);
          into.put(parts[0], parts[1]);
        }
      }
      switch (call.verb) {
        case "script" -> {
          if (!call.text("version").equals("1")) {
            throw new IOException("line " + line + ": version " + call.text("version"));
          }
        }
        case "variant" -> script.variants.add(new Variant(call.small("experts"), call.number("factor"), call.text("ids").split(",")));
        case "run" -> {
          data = new HashMap<>();
          script.runs.add(new ArrayList<>());
        }
        case "data" -> data.put("@" + call.text("id"), HexFormat.of().parseHex(call.text("bytes")));
        default -> script.runs.get(script.runs.size() - 1).add(call);
      }
    }
    return script;
  }

  private static long[] numbers(String text) {
    return text.isEmpty() ? new long[0] : Arrays.stream(text.split(",")).mapToLong(Long::parseLong).toArray();
  }

  private static int[] ints(long[] numbers) {
    int[] ints = new int[numbers.length];
    Arrays.setAll(ints, at -> (int) numbers[at]);
    return ints;
  }

  private static short[] shorts(long[] numbers) {
    short[] shorts = new short[numbers.length];
    for (int at = 0; at < shorts.length; at++) {
      shorts[at] = (short) numbers[at];
    }
    return shorts;
  }

  /** Heap arrays, each number cut to the low bits of its dtype. */
  private static Array array(String dtype, String memory, long[] numbers) {
    Array array =
        switch (dtype) {
          case "uint8" -> {
            byte[] bytes = new byte[numbers.length];
            for (int at = 0; at < bytes.length; at++) {
              bytes[at] = (byte) numbers[at];
            }
            yield Array.of(bytes);
          }
          case "uint16" -> Array.of(DType.UINT16, shorts(numbers));
          case "int16" -> Array.of(DType.INT16, shorts(numbers));
          case "int32" -> Array.of(ints(numbers));
          default -> Array.of(numbers);
        };
    return memory.equals("device") ? array.onDevice() : array;
  }

  private void all(List<Call> run) {
    try {
      for (Call call : run) {
        try {
          call(call);
        } catch (RouteCapException e) {
          faults.add("line " + call.line + ": " + call.verb + ": " + e.getMessage());
        }
      }
    } finally {
      outputs.values().forEach(Output::close);
      capturers.values().forEach(Capturer::close);
    }
  }

  private void compare(Call call, String what, Object is, Object want) {
    if (!String.valueOf(is).equals(String.valueOf(want))) {
      faults.add("line " + call.line + ": " + call.verb + ": " + what + " " + want + ", is " + is);
    }
  }

  /** A call that may be refused. */
  private interface Answering {
    void call() throws InterruptedException;
  }

  /** Compares a status; true if it is OK in both. */
  private boolean answered(Call call, Answering answering) {
    String status = "OK";
    long detail = 0;
    try {
      answering.call();
    } catch (RouteCapException e) {
      status = e.code().name();
      detail = e.detail();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    String want = call.wanted.getOrDefault("status", "OK");
    compare(call, "status", status, want);
    if (call.wanted.containsKey("detail")) {
      compare(call, "detail", detail, call.wanted.get("detail"));
    }
    return status.equals("OK") && want.equals("OK");
  }

  /** Compares what the script says of an answer's components. */
  private void components(Call call, java.lang.Record answer) {
    Map<String, Object> values = new HashMap<>();
    for (RecordComponent component : answer.getClass().getRecordComponents()) {
      try {
        // rows_stored is rowsStored here.
        values.put(component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT), component.getAccessor().invoke(answer));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
    call.wanted.forEach(
        (name, want) -> {
          if (!name.equals("status")) {
            compare(call, name, values.get(name), want);
          }
        });
  }

  private void call(Call call) {
    Capturer capturer = capturers.get(call.given.get("capturer"));
    Output output = outputs.get(call.given.get("output"));
    switch (call.verb) {
      case "capturer_create" -> capturers.put(call.text("capturer"), create(call));
      case "add_model" ->
          models.put(call.text("model"), capturer.addModel(call.text("role").equals("target") ? Role.TARGET : Role.DRAFT, call.text("name")));
      case "add_tap" -> {
        taps.put(call.text("tap"), models.get(call.text("model")).addTap(call.small("layer"), TapFlag.setOf(call.small("flags")), null));
        columns.put(call.text("tap"), call.small("column"));
      }
      case "seal" -> capturer.seal();
      case "tap_capture" -> capture(call);
      case "discard_forward" -> capturer.discardForward(0);
      case "end_forward" -> endForward(call, capturer);
      case "accept" -> output.accept(new Accept().rows(call.list("rows")).slots(call.list("slots")));
      case "copy_to_host" -> output.copyToHost();
      case "wait" -> answered(call, () -> compare(call, "ready", output.await(LONG), true));
      case "finalize" -> {
        Summary[] summary = new Summary[1];
        if (answered(call, () -> summary[0] = output.settle())) {
          components(call, summary[0]);
        }
      }
      case "output_destroy" -> {
        output.close();
        outputs.remove(call.text("output"));
      }
      case "release_slots" -> capturer.releaseSlots(SlotUnit.SLOT, call.list("slots"), 0);
      case "copy_slots" -> capturer.copySlots(SlotUnit.SLOT, call.list("from"), call.list("to"), 0);
      case "stats" -> components(call, capturer.stats());
      case "read" -> read(call, capturer);
      case "read_into" -> readInto(call, capturer);
      case "encode" -> {
        byte[][] frame = new byte[1][];
        if (answered(call, () -> frame[0] = capturer.encode(readOf(call), Format.FRAME, new EncodeOptions()))) {
          frame(call, frame[0]);
        }
      }
      case "capturer_destroy" -> {
        capturer.close();
        capturers.remove(call.text("capturer"));
      }
      default -> faults.add("line " + call.line + ": no call " + call.verb);
    }
  }

  private Capturer create(Call call) {
    topK = call.small("top_k");
    return Capturer.builder()
        .numExperts(variant.experts)
        .topK(topK)
        .numFusedSharedExperts(call.small("fused_shared_experts"))
        .layerIds(ints(numbers(call.text("layers"))))
        .weightsDType(call.text("weights").equals("bfloat16") ? DType.BFLOAT16 : DType.NONE)
        .weightsKind(WeightsKind.of(call.small("weights_kind")))
        .checkLevel(CheckLevel.of(call.small("check_level")))
        .pipelineDepth(call.small("pipeline_depth"))
        .chunkedPrefillSize(call.number("chunked_prefill_size"))
        .maxRunningRequests(call.number("max_running_requests"))
        .numVerifyTokens(call.number("num_verify_tokens"))
        .maxGraphTokens(call.number("max_graph_tokens"))
        .dpSize(call.number("dp_size"))
        .attentionTpSize(call.number("attn_tp_size"))
        .numSlots(call.number("num_slots"))
        .reservedSlots(call.number("reserved_slots"))
        .build();
  }

  private void capture(Call call) {
    int column = columns.get(call.text("tap"));
    String memory = call.text("memory");
    byte[] low = call.data.get(call.text("ids"));
    long[] ids = new long[low.length];
    Arrays.setAll(ids, at -> (low[at] & 0xff) * variant.factor);
    Capture capture =
        new Capture()
            .ids(array(variant.dtypes[column], memory, ids))
            .columns(call.small("columns"))
            .tokens(call.number("tokens"))
            .firstRow(call.number("first_row"));
    if (call.given.containsKey("weights")) {
      ByteBuffer bits = ByteBuffer.wrap(call.data.get(call.text("weights"))).order(ByteOrder.LITTLE_ENDIAN);
      short[] kept = new short[bits.capacity() / 2];
      float[] wide = new float[kept.length];
      for (int at = 0; at < kept.length; at++) {
        kept[at] = bits.getShort();
        wide[at] = Float.intBitsToFloat(kept[at] << 16);
      }
      Array weights = column % 2 == 1 ? Array.of(wide) : Array.of(DType.BFLOAT16, kept);
      capture.weights(memory.equals("device") ? weights.onDevice() : weights);
    }
    if (call.given.containsKey("row_ids")) {
      capture.rowIds(array("int32", memory, numbers(call.text("row_ids"))));
    }
    taps.get(call.text("tap")).capture(capture);
  }

  private void endForward(Call call, Capturer capturer) {
    Forward forward =
        new Forward()
            .firstRow(call.number("first_row"))
            .tokens(call.number("tokens"))
            .acceptance(Acceptance.valueOf(call.text("acceptance").toUpperCase(Locale.ROOT)))
            .slots(call.list("slots"))
            .rows(call.list("rows"))
            .groups(call.number("groups"))
            .groupWidth(call.number("group_width"))
            .slotsGroupStride(call.number("slots_group_stride"))
            .rowsGroupStride(call.number("rows_group_stride"));
    if (answered(call, () -> outputs.put(call.given.getOrDefault("output", "refused"), capturer.endForward(forward)))) {
      compare(call, "sequence", outputs.get(call.text("output")).sequence(), call.wanted.get("sequence"));
    }
  }

  private static Read readOf(Call call) {
    return new Read().slots(call.list("slots")).flags(ReadFlag.setOf(call.small("flags"))).tokens(call.number("tokens")).afterSequence(call.number("after"));
  }

  private void read(Call call, Capturer capturer) {
    Record[] made = new Record[1];
    if (!answered(call, () -> made[0] = capturer.read(readOf(call)))) {
      return;
    }
    try (Record record = made[0]) {
      frame(call, record.toFrame());
      RecordInfo info = record.info();
      compare(call, "experts", info.numExperts(), variant.experts);
      rows(call, info.start(), info.rows(), info.rowsValid(), record.ids(), record.weights(), bytes(record.rowValidity()), bytes(record.cellValidity()));
    }
  }

  private void readInto(Call call, Capturer capturer) {
    ReadInfo needs = capturer.readInto(readOf(call), null, null, null);
    ByteBuffer ids = direct(needs.idsBytes());
    ByteBuffer weights = direct(needs.weightsBytes());
    byte[] validity = new byte[(int) (needs.rowValidityBytes() + needs.cellValidityBytes())];
    Array weightsInto = needs.weightsBytes() == 0 ? null : Array.of(needs.weightsDType(), weights);
    ReadInfo[] info = new ReadInfo[1];
    if (answered(call, () -> info[0] = capturer.readInto(readOf(call), Array.of(needs.idsDType(), ids), weightsInto, Array.of(validity)))) {
      // A row less than asked for is no fault, and the cell bits begin behind the bits of the rows that there are (R2).
      int cells = (int) info[0].rowValidityBytes();
      rows(
          call,
          info[0].start(),
          info[0].rows(),
          info[0].rowsValid(),
          ids.limit((int) info[0].idsBytes()),
          weights.limit((int) info[0].weightsBytes()),
          Arrays.copyOf(validity, cells),
          Arrays.copyOfRange(validity, cells, cells + (int) info[0].cellValidityBytes()));
    }
  }

  private static ByteBuffer direct(long bytes) {
    return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  private void rows(Call call, long start, long rows, long valid, ByteBuffer ids, ByteBuffer weights, byte[] rowValidity, byte[] cellValidity) {
    reads++;
    HexFormat hex = HexFormat.of();
    compare(call, "start", start, call.wanted.get("start"));
    compare(call, "rows", rows, call.wanted.get("rows"));
    compare(call, "valid", valid, call.wanted.get("valid"));
    compare(call, "row_validity", hex.formatHex(rowValidity), call.wanted.get("row_validity"));
    compare(call, "cell_validity", hex.formatHex(cellValidity), call.wanted.get("cell_validity"));
    compare(call, "weights", weights == null ? "" : hex.formatHex(bytes(weights)), call.wanted.getOrDefault("weights", ""));
    byte[] cells = hex.parseHex(call.wanted.get("cell_validity"));
    byte[] low = hex.parseHex(call.wanted.get("ids"));
    int width = variant.experts <= 256 ? 1 : variant.experts <= 65536 ? 2 : 4;
    ByteBuffer want = ByteBuffer.allocate(low.length * width).order(ByteOrder.nativeOrder());
    for (int at = 0; at < low.length; at++) {
      int cell = at / topK;
      // A missing cell is all ones (R7).
      boolean there = cell / 8 >= cells.length || (cells[cell / 8] >> (cell % 8) & 1) != 0;
      long id = there ? (low[at] & 0xff) * variant.factor : -1;
      switch (width) {
        case 1 -> want.put((byte) id);
        case 2 -> want.putShort((short) id);
        default -> want.putInt((int) id);
      }
    }
    if (!Arrays.equals(bytes(ids), want.array())) {
      faults.add("line " + call.line + ": " + call.verb + ": ids " + call.wanted.get("ids") + ", is " + hex.formatHex(bytes(ids)));
    }
  }

  private void frame(Call call, byte[] frame) {
    frames++;
    CRC32 crc = new CRC32();
    crc.update(frame);
    compare(call, "frame", String.format("%08x", crc.getValue()), call.wanted.get("frames").split(",")[number]);
  }
}
