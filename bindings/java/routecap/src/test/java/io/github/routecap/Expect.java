// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.function.Executable;

/** What several tests ask for. */
final class Expect {
  private Expect() {}

  static RouteCapException refusal(Code code, Executable call) {
    RouteCapException refused = assertThrows(RouteCapException.class, call);
    assertEquals(code, refused.code(), refused.getMessage());
    return refused;
  }

  /** Calls of a test that is repeated: fewer where everything is checked and slow. */
  static int scale(int calls) {
    return Math.max(1, calls / Integer.getInteger("routecap.test.scale", 1));
  }

  /** A file of the project, which a binding that was fetched alone does not have. */
  static Path file(String name) {
    String root = System.getenv("ROUTECAP_SOURCE");
    Path path = (root == null ? Path.of("../../..") : Path.of(root)).resolve(name);
    if (root != null) {
      assertTrue(Files.exists(path), path.toString());
    }
    Assumptions.assumeTrue(Files.exists(path), name + " is not here");
    return path;
  }

  /** Waits until the collector has closed what was forgotten. */
  static void live(long want) throws InterruptedException {
    for (int attempt = 0; attempt < 200 && RouteCap.liveHandles() != want; attempt++) {
      System.gc();
      Thread.sleep(20);
    }
    assertEquals(want, RouteCap.liveHandles());
  }

  static int threads() throws IOException {
    try (var tasks = Files.list(Path.of("/proc/self/task"))) {
      return (int) tasks.count();
    }
  }
}
