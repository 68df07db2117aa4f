// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class ErrorsTest {
  private static void fails(Code code, String text, Executable call) {
    RouteCapException refused = Expect.refusal(code, call);
    assertTrue(refused.getMessage().startsWith(code + ": "), refused.getMessage());
    assertTrue(refused.getMessage().contains(text), refused.getMessage());
    assertEquals(-1, refused.getMessage().indexOf('\n'));
  }

  @Test
  void eachMistakeHasItsCode() {
    try (Scene scene = new Scene();
        Capturer unsealed = Capturer.builder().numExperts(8).topK(1).layerIds(0).maxForwardTokens(4).build();
        Record record = RecordTest.of(0, 5, 3)) {
      Tap tap = scene.taps.get(0);
      Array one = Array.of(1, 2, 3, 4);
      byte[] frame = record.toFrame();
      fails(Code.INVALID_ARGUMENT, "3", () -> tap.capture(one, 3, 1));
      fails(Code.OUT_OF_RANGE, "64", () -> tap.capture(new Capture().ids(one).columns(4).tokens(1).firstRow(64)));
      fails(Code.INVALID_ARGUMENT, "32", () -> tap.capture(one, 4, 2));
      fails(Code.INVALID_ARGUMENT, "ids", () -> tap.capture(new Capture().columns(4).tokens(1)));
      assertThrows(
          IllegalArgumentException.class, () -> tap.capture(new Capture().ids(one).rowIds(Array.of(0L)).columns(4).tokens(1)), "row ids are INT64, not INT32");
      assertThrows(IllegalArgumentException.class, () -> tap.capture(new Capture().ids(one.onDevice()).rowIds(one).columns(4).tokens(1)));
      fails(Code.INVALID_STATE, "sealed", scene.capturer::seal);
      fails(Code.INVALID_STATE, "target", unsealed::seal);
      fails(Code.NOT_FOUND, "99", () -> scene.capturer.tap(99));
      fails(Code.INVALID_ARGUMENT, "eagle", () -> unsealed.addModel(Role.DRAFT, "eagle").setCapture(Gate.ALLOW));
      fails(Code.OUT_OF_RANGE, "1024", () -> scene.capturer.slotInfo(1024));
      fails(Code.OUT_OF_RANGE, "-1", () -> scene.capturer.releaseSlots(-1));
      fails(Code.OUT_OF_RANGE, "num_experts", () -> Capturer.builder().topK(1).layerIds(0).build());
      fails(
          Code.OUT_OF_MEMORY,
          "",
          () -> {
            // More than there are addresses; allocated at the seal.
            try (Capturer large = Capturer.builder().numExperts(256).topK(8).layerIds(0).maxForwardTokens(1L << 46).numSlots(8).build()) {
              large.addModel(Role.TARGET, "target").addTap(0);
              large.seal();
            }
          });
      fails(Code.NOT_FOUND, "toaster", () -> Backend.open("toaster"));
      fails(Code.OUT_OF_RANGE, "5", () -> scene.capturer.read(new Read().slots(Array.of(1L)).tokens(2).afterSequence(5)));
      fails(Code.NOT_FOUND, "frame", () -> Format.parse("xml"));
      fails(Code.NOT_FOUND, "", () -> Record.detect("hello".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
      fails(Code.CORRUPT, "", () -> Record.ofFrame(Arrays.copyOf(frame, 60)));
      fails(Code.CORRUPT, "1 bytes", () -> Record.ofFrame(Arrays.copyOf(frame, frame.length + 1)));
      byte[] newer = frame.clone();
      newer[8] = 9;
      fails(Code.VERSION_MISMATCH, "9", () -> Record.ofFrame(newer));
      fails(Code.INVALID_ARGUMENT, "", () -> Record.decode(Format.SGLANG, "AAAA", new DecodeHints()));
    }
  }

  @Test
  void answersSayWhatIsLacking() throws Exception {
    try (Scene scene = new Scene(builder -> builder.pipelineDepth(1))) {
      scene.capture(1);
      try (Output output = scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(5L)))) {
        scene.capture(1);
        RouteCapException busy = Expect.refusal(Code.BUSY, () -> scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(6L))));
        assertEquals("BUSY", busy.getMessage());
        RouteCapException lacking =
            Expect.refusal(Code.NOT_READY, () -> scene.capturer.read(new Read().slots(Array.of(5L)).tokens(2).afterSequence(1)));
        assertEquals(1, lacking.detail());
        assertEquals("NOT_READY: sequence 1 is lacking", lacking.getMessage());
        assertEquals(0, Expect.refusal(Code.NOT_READY, output::settle).detail());
        output.copyToHost();
        output.settle();
      }
    }
  }

  // Acceptance check 5: the error of a call lies in the call's own memory.
  @Test
  void everyTextBelongsToItsCall() throws Exception {
    int calls = Expect.scale(20_000);
    AtomicInteger wrong = new AtomicInteger();
    AtomicInteger right = new AtomicInteger();
    try (Scene scene = new Scene();
        Record record = RecordTest.of(0, 5, 1, 2)) {
      Thread[] threads = new Thread[64];
      for (int index = 0; index < threads.length; index++) {
        long slot = 1024 + index;
        threads[index] =
            new Thread(
                () -> {
                  for (int call = 0; call < calls; call++) {
                    String text;
                    String want;
                    if (call % 2 == 0) {
                      want = "OUT_OF_RANGE: slot is " + slot + ", allowed are 0 .. 1023 (num_slots is 1024)";
                      text = said(() -> scene.capturer.slotInfo(slot));
                    } else {
                      want = "OUT_OF_RANGE: slice [0, " + slot + "), the record has the positions [0, 2)";
                      text = said(() -> record.slice(0, slot));
                    }
                    (want.equals(text) ? right : wrong).getAndIncrement();
                  }
                });
        threads[index].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertEquals(0, wrong.get());
    assertEquals(64 * calls, right.get());
  }

  private static String said(Executable call) {
    try {
      call.execute();
      return "nothing";
    } catch (Throwable e) {
      return e.getMessage();
    }
  }
}
