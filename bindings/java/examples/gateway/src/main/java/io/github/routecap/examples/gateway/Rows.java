// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import io.github.routecap.DecodeHints;
import io.github.routecap.EncodeOptions;
import io.github.routecap.Format;
import io.github.routecap.Record;

/** The model that all of this is about, and its rows as the forms write them. */
final class Rows {
  static final int EXPERTS = 128;
  static final int TOP_K = 4;
  static final int LAYERS = 6;

  private Rows() {}

  /** A record as the value of a form's JSON field. */
  static String encode(Form form, Record record) {
    String text = record.encodeText(form.wire(), new EncodeOptions());
    // prime's is an object by itself, the others' are strings without anything to escape.
    return form.wire() == Format.PRIME ? text : '"' + text + '"';
  }

  /** Reads a form's JSON field, and refuses what is not rows [start, start + rows) of this model. */
  static Record decode(Form form, String field, long start, long rows) throws Json.Malformed {
    if (field == null) {
      throw new Json.Malformed("the answer has no routed_experts");
    }
    String text = field;
    if (form.wire() != Format.PRIME) {
      text = (String) Json.read(field);
    }
    return Record.decode(form.wire(), text, new DecodeHints().start(start).rows(rows).numExperts(EXPERTS).topK(TOP_K).numLayers(LAYERS));
  }
}
