// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Scratch;
import io.github.routecap.internal.Span;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A place where rows are captured: the host (built in) or an accelerator (a plugin). Capturers keep theirs alive. */
public final class Backend implements AutoCloseable {
  final Cell cell;

  private Backend(long handle) {
    cell = new Cell.OfBackend(handle);
    cell.closeAfter(this);
  }

  /**
   * Opens a backend with its defaults.
   *
   * @param name {@code host}, the name of a plugin, or the absolute path of one
   * @return the backend, to be closed
   * @throws RouteCapException with every place that was looked at and why it would not do
   */
  public static Backend open(String name) {
    return open(name, 0, 0);
  }

  /**
   * Opens a backend.
   *
   * @param name {@code host}, the name of a plugin, or the absolute path of one
   * @param deviceOrdinal which device of its kind; the host has only 0
   * @param threads threads that it may use for one call; 0 is its default
   * @return the backend, to be closed
   * @throws RouteCapException with every place that was looked at and why it would not do
   */
  public static Backend open(String name, int deviceOrdinal, int threads) {
    NativeApi api = Native.api();
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.BackendOptions.SIZE);
      api.rcap_backend_options_init(scratch.address(), Layouts.BackendOptions.SIZE);
      scratch.put(Layouts.BackendOptions.DEVICE_ORDINAL, deviceOrdinal).put(Layouts.BackendOptions.THREADS, threads);
      Failure.check(api.rcap_backend_open(scratch.text(given(name, "name")), scratch.address(), scratch.out(0), scratch.error()), scratch);
      return new Backend(scratch.outLong(0));
    }
  }

  /**
   * Tells where a backend of that name is looked for and what is there. Loads what can be loaded, opens nothing.
   *
   * @param name as for {@link #open(String)}
   * @return one line a place: its path, and {@code loads} or why not
   */
  public static String search(String name) {
    NativeApi api = Native.api();
    try (Scratch scratch = Scratch.take()) {
      // The search opens files: it may wait, and no array of the heap is lent to a call that does.
      ByteBuffer text = ByteBuffer.allocateDirect(1024);
      while (true) {
        Span room = Span.at(api.address(text), text.capacity(), text);
        int status = api.rcap_backend_search(scratch.text(given(name, "name")), room, scratch.out(0), scratch.error());
        int needed = Math.toIntExact(scratch.outLong(0));
        if (status == Code.OUT_OF_RANGE.value() && needed > text.capacity()) {
          text = ByteBuffer.allocateDirect(needed);
          continue;
        }
        Failure.check(status, scratch);
        byte[] bytes = new byte[needed - 1];
        text.get(0, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
      }
    }
  }

  /**
   * Asks the backend for its properties.
   *
   * @return what it says of itself now
   */
  public BackendInfo describe() {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.BackendInfo.SIZE);
      Failure.check(cell.api.rcap_backend_describe(cell.handle, scratch.address(), scratch.error()), scratch);
      return BackendInfo.from(scratch);
    } finally {
      cell.leave();
    }
  }

  /** Gives the backend back; capturers made with it go on working. */
  @Override
  public void close() {
    cell.close();
  }
}
