// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfilerTest {
  // Acceptance check 9, for Java: its profiler samples threads in native code while they capture.
  @Test
  void captureUnderTheProfiler(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("capture.jfr");
    long[] slots = {1, 2, 3, 4};
    try (Recording recording = new Recording();
        Scene scene = new Scene()) {
      recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(1));
      recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(1));
      recording.start();
      long end = System.nanoTime() + 700_000_000L;
      long forwards = 0;
      while (System.nanoTime() < end) {
        assertEquals(4, scene.forward(slots).rowsStored());
        forwards++;
      }
      recording.stop();
      recording.dump(file);
      assertEquals(forwards, scene.capturer.stats().forwards());
      try (Record record = scene.read(slots)) {
        scene.expect(record, slots);
      }
    }
    int ours = 0;
    for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
      List<RecordedFrame> frames = event.getStackTrace() == null ? List.of() : event.getStackTrace().getFrames();
      if (frames.stream().anyMatch(frame -> frame.getMethod().getType().getName().startsWith("io.github.routecap."))) {
        ours++;
      }
    }
    assertTrue(ours > 0, "the profile has no sample of this test");
  }
}
