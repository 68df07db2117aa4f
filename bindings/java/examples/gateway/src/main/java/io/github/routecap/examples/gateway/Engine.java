// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpExchange;
import io.github.routecap.Array;
import io.github.routecap.Format;
import io.github.routecap.Record;
import io.github.routecap.RecordConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Arrays;

/** Stands in for an inference server: tokens and routes follow from the prompt, so that whoever asks can check the answer. */
final class Engine {
  private static final int STREAM_STEP = 3;

  private final Form form;

  Engine(Form form) {
    this.form = form;
  }

  /** The output tokens of a choice. */
  static long[] tokensOf(long[] prompt, int index, int count) {
    long[] tokens = new long[count];
    long previous = prompt[prompt.length - 1];
    for (int at = 0; at < count; at++) {
      previous = (previous * 31 + at + 7L * index + 3) % 50000;
      tokens[at] = previous;
    }
    return tokens;
  }

  /** The ids [tokens, LAYERS, TOP_K] of tokens that stand from a position on. */
  static byte[] routesOf(long[] tokens, long position) {
    byte[] ids = new byte[tokens.length * Rows.LAYERS * Rows.TOP_K];
    int place = 0;
    for (int at = 0; at < tokens.length; at++) {
      for (int layer = 0; layer < Rows.LAYERS; layer++) {
        for (int k = 0; k < Rows.TOP_K; k++) {
          ids[place++] = (byte) ((tokens[at] * 13 + (position + at) * 5 + layer * 29 + k * 31) % Rows.EXPERTS);
        }
      }
    }
    return ids;
  }

  /** What the model was given for a choice: every token but the last was an input (R1). */
  static long[] inputsOf(long[] prompt, long[] output) {
    long[] inputs = Arrays.copyOf(prompt, prompt.length + output.length - 1);
    System.arraycopy(output, 0, inputs, prompt.length, output.length - 1);
    return inputs;
  }

  void serve(HttpExchange exchange) throws IOException {
    Call call;
    try {
      call = form.readCall(Http.body(exchange));
    } catch (Json.Malformed e) {
      Http.sendError(exchange, 400, e.getMessage());
      return;
    } catch (Http.TooLarge e) {
      Http.sendError(exchange, 413, e.getMessage());
      return;
    }
    List<Choice> parts = parts(call);
    if (call.stream()) {
      Http.Events events = new Http.Events(exchange);
      for (Choice part : parts) {
        events.send(Json.write(form.writeAnswer(List.of(part), call)));
      }
      events.end();
      return;
    }
    String text = Json.write(form.writeAnswer(parts, call));
    Http.sendJson(exchange, 200, "body".equals(call.fault()) ? text.substring(0, text.length() / 2) : text);
  }

  /** Every choice, whole or in the pieces of a stream. */
  private List<Choice> parts(Call call) {
    List<Choice> parts = new ArrayList<>();
    for (int index = 0; index < call.choices(); index++) {
      long[] output = tokensOf(call.prompt(), index, call.maxTokens());
      long[] inputs = inputsOf(call.prompt(), output);
      int first = (int) call.start();
      int step = call.stream() ? STREAM_STEP : output.length;
      for (int at = 0; at < output.length; at += step) {
        int end = Math.min(at + step, output.length);
        Choice part = new Choice(index, Arrays.copyOfRange(output, at, end), null, first);
        int last = call.prompt().length + end - 1;
        if (form.streamsRows() || end == output.length) {
          part.routing = spoil(call.fault(), rows(Arrays.copyOfRange(inputs, first, last), first));
          first = last;
        }
        parts.add(part);
      }
    }
    return parts;
  }

  private String rows(long[] tokens, long position) {
    int[] layers = new int[Rows.LAYERS];
    Arrays.setAll(layers, layer -> layer);
    RecordConfig config =
        new RecordConfig()
            .start(position)
            .rows(tokens.length)
            .numExperts(Rows.EXPERTS)
            .topK(Rows.TOP_K)
            .layerIds(layers)
            .ids(Array.of(routesOf(tokens, position)));
    try (Record record = Record.create(config)) {
      return Rows.encode(form, record);
    }
  }

  /** Makes rows wrong in a way that has been seen. */
  private String spoil(String fault, String routing) {
    boolean prime = form.wire() == Format.PRIME;
    switch (fault) {
      case "truncated":
        return prime ? "{\"data\":\"AAAA\",\"shape\":[9,6,4],\"start\":0,\"dtype\":\"uint8\"}" : "\"AAAA\"";
      case "base64":
        return routing.replaceFirst("A", "!");
      case "huge":
        // Beside prime's: a .npy that says it has a million million rows.
        return prime
            ? "{\"data\":\"AAAA\",\"shape\":[999999999999,6,4],\"start\":0,\"dtype\":\"uint8\"}"
            : "\"k05VTVBZAQB2AHsnZGVzY3InOiAnfHUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDk5OTk5OTk5OTk5OSwgNiwgNCksIH0gICAgICAgICAg"
                + "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=\"";
      case "absent":
        return null;
      default:
        return routing;
    }
  }
}
