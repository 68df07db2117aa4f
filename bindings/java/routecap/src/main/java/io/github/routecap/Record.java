// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Scratch;
import io.github.routecap.internal.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Rows that left the library: it owns its bytes, knows its geometry, and never changes. Any number of threads may use it at once.
 *
 * <p>Two records are equal where all that they hold is: geometry, layers, flags, validity, ids, weights and weight versions. A record that was closed equals
 * itself alone.
 *
 * <p>The name is that of {@link java.lang.Record}, which every file imports: import this one by its full name.
 */
public final class Record implements AutoCloseable {
  private final Cell.OfRecord cell;

  /** 0 until it is asked for. */
  private volatile int hash;

  Record(long handle) {
    cell = new Cell.OfRecord(handle);
    cell.closeAfter(this);
  }

  /**
   * Makes a record from the caller's arrays; they are copied.
   *
   * @param config geometry and arrays
   * @return the record, to be closed
   */
  public static Record create(RecordConfig config) {
    NativeApi api = Native.api();
    Span validity = Array.in(given(config, "config").validity, DType.UINT8, "validity");
    try (Scratch scratch = Scratch.take()) {
      config.write(scratch);
      int status =
          api.rcap_record_create(
              scratch.address(),
              ints(config.layerIds),
              ints(config.layerFlags),
              Array.in(config.ids),
              Array.in(config.weights),
              validity,
              scratch.out(0),
              scratch.error());
      Failure.check(status, scratch);
      return new Record(scratch.outLong(0));
    }
  }

  private static Span ints(int[] numbers) {
    return numbers == null ? null : Array.in(Array.of(numbers));
  }

  private static Span longs(long[] numbers) {
    return numbers == null ? null : Array.in(Array.of(numbers));
  }

  /**
   * The geometry of the record.
   *
   * @return its geometry
   */
  public RecordInfo info() {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.RecordInfo.SIZE);
      Failure.check(cell.api.rcap_record_info_get(cell.handle, scratch.address(), scratch.error()), scratch);
      return RecordInfo.from(scratch);
    } finally {
      cell.leave();
    }
  }

  private interface Borrow {
    int borrow(NativeApi api, long handle, long data, long count, long error);
  }

  /** A part of the record where it lies, for as long as the caller uses the cell. */
  private ByteBuffer borrowed(Borrow borrow, int elementBytes) {
    try (Scratch scratch = Scratch.take()) {
      Failure.check(borrow.borrow(cell.api, cell.handle, scratch.out(0), scratch.out(1), scratch.error()), scratch);
      long bytes = scratch.outLong(1) * elementBytes;
      if (bytes > Integer.MAX_VALUE) {
        throw new RouteCapException(Code.UNSUPPORTED, bytes + " bytes do not fit a ByteBuffer, which has at most " + Integer.MAX_VALUE + "; slice the record");
      }
      return bytes == 0 ? ByteBuffer.allocateDirect(0) : cell.api.view(scratch.outLong(0), bytes);
    }
  }

  /**
   * A part of the record where it lies. The record's memory is given back when the record is closed and no such buffer is left, whatever was made of it:
   * a buffer never points to memory that is gone.
   */
  private ByteBuffer view(Borrow borrow) {
    cell.enter();
    ByteBuffer root = null;
    try {
      root = borrowed(borrow, 1);
      cell.leaveAfter(root);
      return readable(root);
    } finally {
      if (root == null) {
        cell.leave();
      }
    }
  }

  private static ByteBuffer readable(ByteBuffer root) {
    return root.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
  }

  /**
   * The ids [rows, L, K], row-major, of {@link RecordInfo#idsDType()}. Cells that are not valid are 0xFF in every byte.
   *
   * @return the record's own memory, read-only and in the machine's byte order; it stays valid as long as the buffer is reachable
   */
  public ByteBuffer ids() {
    return view(NativeApi::rcap_record_ids);
  }

  /**
   * The weights [rows, L, K] of {@link RecordInfo#weightsDType()}; empty where none are kept.
   *
   * @return the record's own memory, read-only and in the machine's byte order; it stays valid as long as the buffer is reachable
   */
  public ByteBuffer weights() {
    return view(NativeApi::rcap_record_weights);
  }

  /**
   * The row bitmap: bit i of byte i/8, counted from the lowest, is 1 if row i was captured (R7).
   *
   * @return the record's own memory, read-only; it stays valid as long as the buffer is reachable
   */
  public ByteBuffer rowValidity() {
    return view(NativeApi::rcap_record_row_validity);
  }

  /**
   * The cell bitmap, bit row * L + column; empty where valid rows are valid in every column.
   *
   * @return the record's own memory, read-only; it stays valid as long as the buffer is reachable
   */
  public ByteBuffer cellValidity() {
    return view(NativeApi::rcap_record_cell_validity);
  }

  /**
   * The model layer number of every column (R26).
   *
   * @return a copy
   */
  public int[] layerIds() {
    return ints(NativeApi::rcap_record_layer_ids);
  }

  /**
   * The {@link TapFlag} bits of every column (R24, R26).
   *
   * @return a copy
   */
  public int[] layerFlags() {
    return ints(NativeApi::rcap_record_layer_flags);
  }

  private int[] ints(Borrow borrow) {
    cell.enter();
    try {
      ByteBuffer view = readable(borrowed(borrow, Integer.BYTES));
      int[] numbers = new int[view.remaining() / Integer.BYTES];
      view.asIntBuffer().get(numbers);
      return numbers;
    } finally {
      cell.leave();
    }
  }

  /**
   * A run of rows of one weight version.
   *
   * @param start token position of the first row
   * @param version the weight version
   */
  public record VersionSpan(long start, long version) {}

  /**
   * Runs of rows with one weight version. A run ends where the next begins; missing rows belong to the run before them.
   *
   * @return ascending by position; empty without a valid row
   */
  public List<VersionSpan> versionSpans() {
    List<VersionSpan> spans = new ArrayList<>();
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      int status = cell.api.rcap_record_version_spans(cell.handle, scratch.out(0), scratch.out(1), scratch.out(2), scratch.error());
      Failure.check(status, scratch);
      int count = Math.toIntExact(scratch.outLong(2));
      if (count > 0) {
        ByteBuffer starts = cell.api.view(scratch.outLong(0), (long) count * Long.BYTES).order(ByteOrder.nativeOrder());
        ByteBuffer versions = cell.api.view(scratch.outLong(1), (long) count * Long.BYTES).order(ByteOrder.nativeOrder());
        for (int index = 0; index < count; index++) {
          spans.add(new VersionSpan(starts.getLong(index * Long.BYTES), versions.getLong(index * Long.BYTES)));
        }
      }
    } finally {
      cell.leave();
    }
    return spans;
  }

  /**
   * The rows one by one, copied out of the record.
   *
   * @return ascending by position; may be iterated any number of times, also after the record was closed
   */
  public RecordRows rows() {
    return new RecordRows(info(), layerIds(), ids(), weights(), rowValidity(), cellValidity());
  }

  /**
   * The ids [rows, L, K] as numbers. Cells that are not valid are -1.
   *
   * @return a copy
   */
  public int[] copyIds() {
    return copy(RecordRows::ids);
  }

  /**
   * The weights [rows, L, K] as numbers, exactly; empty where none are kept.
   *
   * @return a copy
   */
  public float[] copyWeights() {
    return copy(RecordRows::weights);
  }

  private <T> T copy(Function<RecordRows, T> copier) {
    cell.enter();
    try {
      return copier.apply(
          new RecordRows(
              info(),
              layerIds(),
              readable(borrowed(NativeApi::rcap_record_ids, 1)),
              readable(borrowed(NativeApi::rcap_record_weights, 1)),
              readable(borrowed(NativeApi::rcap_record_row_validity, 1)),
              readable(borrowed(NativeApi::rcap_record_cell_validity, 1))));
    } finally {
      cell.leave();
    }
  }

  private interface Derivation {
    int derive(NativeApi api, long handle, Scratch scratch, long made);
  }

  private Record derive(Derivation derivation) {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(derivation.derive(cell.api, cell.handle, scratch, scratch.out(0)), scratch);
      return new Record(scratch.outLong(0));
    } finally {
      cell.leave();
    }
  }

  private interface Join {
    int join(NativeApi api, long handle, long other, long made, long error);
  }

  private Record join(Record other, Join join) {
    other.cell.enter();
    try {
      return derive((api, handle, scratch, made) -> join.join(api, handle, other.cell.handle, made, scratch.error()));
    } finally {
      other.cell.leave();
    }
  }

  /**
   * A new record of the token positions [start, end): byte for byte what a read from {@code start} would have given (R3, R4).
   *
   * @param start first position
   * @param end position behind the last
   * @return the record, to be closed
   */
  public Record slice(long start, long end) {
    return derive((api, handle, scratch, made) -> api.rcap_record_slice(handle, start, end, made, scratch.error()));
  }

  /**
   * A new record of this one's rows and then another's, which starts inside this one or right behind it (R5, R39).
   *
   * @param next the rows behind
   * @param overlap what happens where both hold a position
   * @return the record, to be closed
   */
  public Record append(Record next, Overlap overlap) {
    int policy = given(overlap, "overlap").value();
    return join(given(next, "next"), (api, handle, other, made, error) -> api.rcap_record_append(handle, other, policy, made, error));
  }

  /**
   * A new record of a request served by a prefill and a decode engine: positions below the boundary from this record, the others from the decode side's
   * (R40).
   *
   * @param decode record of the decode side
   * @param boundary first position that is the decode side's, usually the number of prompt tokens
   * @return the record, to be closed
   */
  public Record merge(Record decode, long boundary) {
    return join(given(decode, "decode"), (api, handle, other, made, error) -> api.rcap_record_merge(handle, other, boundary, made, error));
  }

  /**
   * A new record for a request cut to fewer tokens: positions below tokens - 1, with {@link ReadFlag#INCLUDE_LAST} below tokens (R4).
   *
   * @param tokens tokens that are left
   * @param flags options
   * @return the record, to be closed
   */
  public Record truncate(long tokens, ReadFlag... flags) {
    int bits = ReadFlag.bits(Given.flags(flags));
    return derive((api, handle, scratch, made) -> api.rcap_record_truncate(handle, tokens, bits, made, scratch.error()));
  }

  /**
   * A new record of the same tokens with the layers of both: stages of a pipeline (R44).
   *
   * @param other layers of another stage
   * @return the record, to be closed
   */
  public Record stack(Record other) {
    return join(given(other, "other"), NativeApi::rcap_record_stack);
  }

  /**
   * A new record of token positions that context parallelism dealt out to two ranks (R45). A position that nobody named is missing.
   *
   * @param positions token position of each of this record's rows; null is start, start + 1, ..., and another length than the rows' is refused
   * @param other rows of another rank
   * @param otherPositions token position of each of its rows, or null
   * @return the record, to be closed
   */
  public Record interleave(long[] positions, Record other, long[] otherPositions) {
    return join(
        given(other, "other"),
        (api, handle, second, made, error) -> api.rcap_record_interleave(handle, longs(positions), second, longs(otherPositions), made, error));
  }

  /**
   * A new record with a column for every layer 0 .. layers - 1 of the model (R26).
   *
   * @param layers layers of the model
   * @param fill what the layers hold that were not captured
   * @param fillId the id that {@link Fill#VALUE} puts there
   * @return the record, to be closed
   */
  public Record toFullAxis(int layers, Fill fill, int fillId) {
    int kind = given(fill, "fill").value();
    return derive((api, handle, scratch, made) -> api.rcap_record_to_full_axis(handle, layers, kind, fillId, made, scratch.error()));
  }

  /**
   * A new record with some of this one's layers alone.
   *
   * @param layerIds layers to keep, ascending
   * @return the record, to be closed
   */
  public Record toCompact(int... layerIds) {
    Span layers = ints(given(layerIds, "layerIds"));
    return derive((api, handle, scratch, made) -> api.rcap_record_to_compact(handle, layers, made, scratch.error()));
  }

  /**
   * Writes the ids as a trainer replays them: [tokens, layers, K] of any integers that hold them, every row filled (R42).
   *
   * @param dense which rows and layers, and what stands in rows without ids
   * @param ids receives the ids; their dtype is the array's
   * @param rowMask receives a byte for every row: 1 where the ids of all these layers are the engine's, else 0; null is not wanted
   * @param cellMask receives a byte for every row and layer; null is not wanted
   * @return rows that were filled in some layer
   */
  public long fill(Dense dense, Array ids, Array rowMask, Array cellMask) {
    given(dense, "dense");
    given(ids, "ids");
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      dense.write(scratch, ids.dtype());
      int status =
          cell.api.rcap_record_fill(
              cell.handle,
              scratch.address(),
              ints(dense.layerIds),
              longs(dense.positions),
              Array.out(ids, "ids"),
              Array.out(rowMask, "the row mask"),
              Array.out(cellMask, "the cell mask"),
              scratch.out(0),
              scratch.error());
      Failure.check(status, scratch);
      return scratch.outLong(0);
    } finally {
      cell.leave();
    }
  }

  /**
   * Compares two records on the positions that both hold.
   *
   * @param other the other record
   * @return where they differ
   */
  public CompareReport compare(Record other) {
    return compare(other, null);
  }

  /**
   * Compares two records on the positions that both hold, and counts by layer.
   *
   * @param other the other record
   * @param byLayer receives, for each column of this record, the cells that differ in ids, where the shapes are the same; null is not wanted
   * @return where they differ
   */
  public CompareReport compare(Record other, long[] byLayer) {
    given(other, "other");
    cell.enter();
    try {
      other.cell.enter();
      try (Scratch scratch = Scratch.take()) {
        scratch.struct(Layouts.CompareReport.SIZE);
        int status = cell.api.rcap_record_compare(cell.handle, other.cell.handle, scratch.address(), longs(byLayer), scratch.error());
        Failure.check(status, scratch);
        return CompareReport.from(scratch);
      } finally {
        other.cell.leave();
      }
    } finally {
      cell.leave();
    }
  }

  /**
   * Whether another record holds the same: {@link CompareReport#equal()} of {@link #compare(Record)}.
   *
   * @param other a record
   * @return false also where either was closed, unless they are one
   */
  @Override
  public boolean equals(Object other) {
    if (this == other) {
      return true;
    }
    if (!(other instanceof Record record)) {
      return false;
    }
    try {
      return compare(record).equal();
    } catch (RouteCapException e) {
      if (e.code() != Code.CLOSED) {
        throw e;
      }
      return false;
    }
  }

  /**
   * A number of what the record holds. It is made when it is first asked for, of all ids, and stays when the record is closed.
   *
   * @return the same number for equal records
   */
  @Override
  public int hashCode() {
    int known = hash;
    if (known != 0) {
      return known;
    }
    try {
      cell.enter();
      try {
        known = 31 * info().hashCode() + readable(borrowed(NativeApi::rcap_record_ids, 1)).hashCode();
      } finally {
        cell.leave();
      }
    } catch (RouteCapException e) {
      if (e.code() != Code.CLOSED) {
        throw e;
      }
      known = System.identityHashCode(this);
    }
    hash = known == 0 ? 1 : known;
    return hash;
  }

  /**
   * Writes the record in a form. What a form cannot hold is lost, missing cells excepted: the options decide.
   *
   * @param format the form
   * @param options options of the encoder
   * @return the bytes
   */
  public byte[] encode(Format format, EncodeOptions options) {
    given(format, "format");
    given(options, "options");
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      return Encoded.bytes(
          scratch,
          (room, needed) -> {
            options.write(scratch);
            return cell.api.rcap_record_encode(cell.handle, format.value(), scratch.secondAddress(), room, needed, scratch.error());
          });
    } finally {
      cell.leave();
    }
  }

  /**
   * Writes the record in a form, with the form's own choices.
   *
   * @param format the form
   * @return the bytes
   */
  public byte[] encode(Format format) {
    return encode(format, new EncodeOptions());
  }

  /**
   * Writes the record in a form that is text: every one but {@link Format#FRAME} and {@link Format#NPY}.
   *
   * @param format the form
   * @param options options of the encoder
   * @return the text
   */
  public String encodeText(Format format, EncodeOptions options) {
    if (format == Format.FRAME || format == Format.NPY) {
      throw new IllegalArgumentException("the form " + format + " is no text");
    }
    return new String(encode(format, options), StandardCharsets.UTF_8);
  }

  /**
   * Reads a record from a form. It never guesses: a fact that is neither in the bytes nor in the hints is an error that names the hint.
   *
   * @param format the form
   * @param bytes the form's bytes, and nothing behind them
   * @param hints what the bytes do not say
   * @return the record, to be closed
   */
  public static Record decode(Format format, byte[] bytes, DecodeHints hints) {
    return decode(format, Array.of(given(bytes, "bytes")), hints);
  }

  /**
   * Reads a record from a form that is text.
   *
   * @param format the form
   * @param text the form's text, and nothing behind it
   * @param hints what the text does not say
   * @return the record, to be closed
   */
  public static Record decode(Format format, String text, DecodeHints hints) {
    return decode(format, given(text, "text").getBytes(StandardCharsets.UTF_8), hints);
  }

  /**
   * Reads a record from a form in any memory, for example a direct buffer.
   *
   * @param format the form
   * @param bytes the form's bytes, and nothing behind them, uint8
   * @param hints what the bytes do not say
   * @return the record, to be closed
   */
  public static Record decode(Format format, Array bytes, DecodeHints hints) {
    Decoded decoded = decodePrefix(format, bytes, hints);
    if (decoded.consumed() != bytes.bytes()) {
      decoded.record().close();
      throw new RouteCapException(
          Code.CORRUPT, bytes.bytes() - decoded.consumed() + " bytes stand behind the " + format.formName() + " of " + decoded.consumed() + " bytes");
    }
    return decoded.record();
  }

  /**
   * A record that was read from the beginning of some bytes.
   *
   * @param record the record, to be closed
   * @param consumed the bytes it took
   */
  public record Decoded(Record record, long consumed) {}

  /**
   * Reads the first of several frames that stand one behind the other.
   *
   * @param format the form
   * @param bytes the bytes, uint8
   * @param hints what the bytes do not say
   * @return the record, and where the next begins
   */
  public static Decoded decodePrefix(Format format, Array bytes, DecodeHints hints) {
    given(format, "format");
    given(hints, "hints");
    NativeApi api = Native.api();
    Span data = Array.in(given(bytes, "bytes"), DType.UINT8, "the bytes of a form");
    try (Scratch scratch = Scratch.take()) {
      hints.write(scratch);
      int status =
          api.rcap_record_decode(format.value(), data, scratch.address(), ints(hints.layerIds), scratch.out(0), scratch.out(1), scratch.error());
      Failure.check(status, scratch);
      return new Decoded(new Record(scratch.outLong(0)), scratch.outLong(1));
    }
  }

  /**
   * The form that bytes are in, told by their content alone. {@link Format#SGLANG} has no mark and is never found.
   *
   * @param bytes any bytes
   * @return the form
   * @throws RouteCapException with {@link Code#NOT_FOUND} where nothing recognizes them
   */
  public static Format detect(byte[] bytes) {
    NativeApi api = Native.api();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(api.rcap_wire_detect(Array.in(Array.of(given(bytes, "bytes"))), scratch.out(0), scratch.error()), scratch);
      return Format.of(scratch.outInt(0));
    }
  }

  /**
   * The record as a frame, the library's own form.
   *
   * @return the bytes
   */
  public byte[] toFrame() {
    return encode(Format.FRAME);
  }

  /**
   * Reads one frame.
   *
   * @param frame the bytes, and nothing behind them
   * @return the record, to be closed
   */
  public static Record ofFrame(byte[] frame) {
    return decode(Format.FRAME, given(frame, "frame"), new DecodeHints());
  }

  /**
   * Writes the record as a frame.
   *
   * @param output where to
   * @throws IOException if the output fails
   */
  public void writeTo(OutputStream output) throws IOException {
    given(output, "output").write(toFrame());
  }

  /**
   * Reads one frame, and not a byte more. It takes no more memory than has been read, whatever size the frame claims.
   *
   * @param input where from
   * @return the record, to be closed, or null at the end of the input
   * @throws java.io.EOFException if the input ends inside a frame
   * @throws IOException if the input fails
   */
  public static Record readFrom(InputStream input) throws IOException {
    return Frames.read(given(input, "input"));
  }

  /** Gives the record's memory back, when no buffer of {@link #ids()} and the like is left. */
  @Override
  public void close() {
    cell.close();
  }
}
