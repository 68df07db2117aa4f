// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import io.github.routecap.Overlap;
import io.github.routecap.Record;
import io.github.routecap.RecordInfo;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * A streamed answer on its way through: every delta is checked and appended (R5), and goes out with its rows, or all rows go out with the last part of each
 * choice, as the client's form has it.
 */
final class StreamedAnswer implements AutoCloseable {
  private static final String EVENT = "data: ";

  /** A choice: its rows so far, and where the client has got to. */
  private static final class Growing {
    Record rows;
    long tokens;
    long sent;
  }

  private final Form form;
  private final Form upstream;
  private final Call call;
  private final Record prompt;
  private final Growing[] open;

  StreamedAnswer(Form form, Form upstream, Call call, Record prompt) {
    this.form = form;
    this.upstream = upstream;
    this.call = call;
    this.prompt = prompt;
    this.open = new Growing[call.choices()];
    for (int i = 0; i < open.length; i++) {
      open[i] = new Growing();
    }
  }

  /** Passes everything on. @return nothing */
  Void pass(Upstream.Answer answer, Http.Events events, LongAdder rows) throws IOException, Json.Malformed {
    BufferedReader lines = answer.lines();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.startsWith(EVENT)) {
        continue;
      }
      String data = line.substring(EVENT.length());
      boolean ends = data.equals("[DONE]");
      String passed = null;
      if (ends) {
        checkEnd();
      } else {
        List<Choice> parts = upstream.readAnswer(data.getBytes(StandardCharsets.ISO_8859_1));
        // Such an event carries usage counts or keeps the connection open; a client's form may have no way to write it.
        if (parts.isEmpty()) {
          continue;
        }
        for (Choice part : parts) {
          rows.add(grow(part));
        }
        passed = Json.write(form.writeAnswer(parts, call));
      }
      try {
        if (ends) {
          events.end();
          return null;
        }
        events.send(passed);
      } catch (IOException e) {
        throw new Upstream.ClientGone(e);
      }
    }
    throw new IOException("the stream ended before its end");
  }

  private void checkEnd() throws Json.Malformed {
    for (int i = 0; i < open.length; i++) {
      Growing one = open[i];
      if (one.tokens != call.maxTokens() || one.sent != call.start() + one.tokens - 1) {
        throw new Json.Malformed("choice " + i + " ended after " + one.tokens + " of " + call.maxTokens() + " tokens and row " + one.sent);
      }
    }
  }

  /** Appends a delta to its choice and replaces its rows by those that the client is to get with it. @return how many those are */
  private long grow(Choice part) throws Json.Malformed {
    if (part.index >= open.length) {
      throw new Json.Malformed("choice " + part.index + " came, asked for were " + open.length);
    }
    Growing one = open[part.index];
    one.tokens += part.tokens.length;
    if (one.tokens > call.maxTokens()) {
      throw new Json.Malformed("choice " + part.index + " has " + one.tokens + " tokens, asked for were " + call.maxTokens());
    }
    boolean last = one.tokens == call.maxTokens();
    if (part.routing == null) {
      if (upstream.streamsRows() || last) {
        throw new Json.Malformed("choice " + part.index + ": the answer has no routed_experts");
      }
      part.start = 0;
      return 0;
    }
    long end = call.start() + one.tokens - 1;
    long begin = call.start();
    if (one.rows != null) {
      RecordInfo info = one.rows.info();
      begin = info.start() + info.rows();
    }
    try (Record delta = Rows.decode(upstream, part.routing, begin, end - begin)) {
      Record appended = (one.rows == null ? prompt : one.rows).append(delta, Overlap.REFUSE);
      if (one.rows != null) {
        one.rows.close();
      }
      one.rows = appended;
    } catch (RuntimeException e) {
      throw new Json.Malformed("choice " + part.index + ": " + Http.said(e));
    }
    part.routing = null;
    part.start = 0;
    if (!form.streamsRows() && !last) {
      return 0;
    }
    try (Record fresh = one.rows.slice(one.sent, end)) {
      Gateway.write(form, fresh, part);
    }
    long fresh = end - one.sent;
    one.sent = end;
    return fresh;
  }

  @Override
  public void close() {
    for (Growing one : open) {
      if (one.rows != null) {
        one.rows.close();
      }
    }
  }
}
