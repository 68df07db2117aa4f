// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplayTest {
  /** A file of the whole project; where ROUTECAP_SOURCE names the project, it must be there. */
  private static Replay.Script script() throws IOException {
    String root = System.getenv("ROUTECAP_SOURCE");
    Path file = Path.of(root == null ? "../../.." : root, "tests", "replay", "reference_engine.script");
    assumeTrue(root != null || Files.exists(file), file + " is not here");
    return Replay.read(file);
  }

  @Test
  void everyVariantOfEveryRunGivesTheSameAnswers() throws IOException {
    Replay.Script script = script();
    assertEquals(3, script.variants().size());
    assertEquals(2, script.runs().size());
    for (int variant = 0; variant < 3; variant++) {
      for (List<Replay.Call> run : script.runs()) {
        assertEquals(List.of(), Replay.faults(script, run, variant));
      }
    }
  }

  @Test
  void anAnswerThatDiffersIsFound() throws IOException {
    record Change(String verb, String word, String value) {}
    Replay.Script script = script();
    for (Change change :
        List.of(
            new Change("end_forward", "sequence", "77"),
            new Change("finalize", "rows_stored", "1000"),
            new Change("stats", "suppressed", "1000"),
            new Change("read", "frames", "00000000,00000000,00000000"),
            new Change("read", "row_validity", "0000"),
            new Change("read_into", "cell_validity", "00"),
            new Change("read_into", "ids", "00"),
            new Change("encode", "status", "BUSY"))) {
      List<Replay.Call> run = new ArrayList<>(script.runs().get(0));
      int place = 0;
      while (!run.get(place).verb().equals(change.verb) || !run.get(place).wanted().containsKey(change.word)) {
        place++;
      }
      run.set(place, run.get(place).wanting(change.word, change.value));
      List<String> faults = Replay.faults(script, run, 0);
      assertFalse(faults.isEmpty(), change.toString());
      assertTrue(faults.get(0).startsWith("line " + run.get(place).line() + ": " + change.verb), faults.get(0));
    }
  }
}
