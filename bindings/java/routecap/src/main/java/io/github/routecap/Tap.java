// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Scratch;

/** The place of one MoE layer of one model where ids are handed over. It belongs to its capturer and ends with it. */
public final class Tap {
  private final Cell.OfCapturer cell;
  private final long handle;

  Tap(Cell.OfCapturer cell, long handle) {
    this.cell = cell;
    this.handle = handle;
  }

  /**
   * Hands one layer's ids (and weights) over: narrowed, mapped, counted, written to the device cache. It allocates nothing and waits for nothing. On a
   * denied tap nothing is looked at and the call is counted (R18). Arrays in device memory stay valid until the stream has passed the call. One thread at
   * a time captures on a tap.
   *
   * @param capture what is handed over
   */
  public void capture(Capture capture) {
    given(capture, "capture");
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      capture.write(scratch);
      int status =
          cell.api.rcap_tap_capture(
              handle,
              scratch.address(),
              Array.in(capture.ids),
              Array.in(capture.weights),
              Array.in(capture.rowIds, DType.INT32, "row ids"),
              capture.stream,
              scratch.error());
      Failure.check(status, scratch);
    } finally {
      cell.leave();
    }
  }

  /**
   * Hands one layer's ids over, from row 0 of the device buffer.
   *
   * @param ids [tokens, columns], columns adjacent: int64, int32, int16, uint16 or uint8
   * @param columns K, or K plus the fused shared experts
   * @param tokens rows handed over
   */
  public void capture(Array ids, int columns, long tokens) {
    capture(new Capture().ids(given(ids, "ids")).columns(columns).tokens(tokens));
  }

  /**
   * Whether captures on this tap are written.
   *
   * @return false when its model is denied
   */
  public boolean isEnabled() {
    return ask(NativeApi::rcap_tap_is_enabled) > 0;
  }

  /**
   * The small stable number of the tap: the taps of a capturer count from 0 in the order they were added.
   *
   * @return the number
   */
  public int id() {
    return ask(NativeApi::rcap_tap_id);
  }

  private interface Question {
    int ask(NativeApi api, long handle, long error);
  }

  private int ask(Question question) {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      int answer = question.ask(cell.api, handle, scratch.error());
      Failure.check(answer, scratch);
      return answer;
    } finally {
      cell.leave();
    }
  }
}
