// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.routecap.Record;
import io.github.routecap.RouteCap;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples with what a user of the Maven artifacts has: no library is installed, the natives' jar has one. */
class ExamplesTest {
  @Test
  void servingWritesAFrame(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("request.frame");
    Serving.main(new String[] {file.toString()});
    try (InputStream input = Files.newInputStream(file);
        Record record = Record.readFrom(input)) {
      assertEquals(11, record.info().rowsValid());
      assertEquals((17 * 9 + 5 * 10 + 11 * 3) % 64, record.rows().row(10).experts()[2][3]);
    }
    assertTrue(RouteCap.origin().contains("/routecap-" + System.getProperty("user.name") + "-"), RouteCap.origin());
  }
}
