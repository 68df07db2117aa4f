// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.routecap.Record;
import io.github.routecap.RecordInfo;
import io.github.routecap.RouteCap;
import java.io.IOException;
import java.net.http.HttpClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Joins the routing of a prefill and a decode server, checks it, and answers in the client's form. */
final class Gateway {
  private final Upstream prefill;
  private final Upstream decode;
  private final LongAdder requests = new LongAdder();
  private final LongAdder streams = new LongAdder();
  private final LongAdder rows = new LongAdder();
  private final LongAdder badRequests = new LongAdder();
  private final LongAdder badUpstreams = new LongAdder();

  Gateway(String prefillUrl, Form prefillForm, String decodeUrl, Form decodeForm) {
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Upstream.TIMEOUT).build();
    this.prefill = new Upstream(client, "prefill", prefillUrl, prefillForm);
    this.decode = new Upstream(client, "decode", decodeUrl, decodeForm);
  }

  void install(HttpServer server) {
    for (Form form : Form.ALL.values()) {
      Http.on(server, "POST", form.path(), exchange -> serve(exchange, form));
    }
    Http.on(server, "GET", "/stats", exchange -> Http.sendJson(exchange, 200, Json.write(stats())));
  }

  private Map<String, Object> stats() {
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("requests", requests.sum());
    stats.put("streams", streams.sum());
    stats.put("rows", rows.sum());
    stats.put("bad_requests", badRequests.sum());
    stats.put("bad_upstreams", badUpstreams.sum());
    stats.put("live_handles", RouteCap.liveHandles());
    return stats;
  }

  private void serve(HttpExchange exchange, Form form) throws IOException {
    requests.increment();
    Http.Events events = new Http.Events(exchange);
    try {
      answer(exchange, form, events);
    } catch (Http.TooLarge e) {
      refuse(exchange, events, 413, e);
    } catch (Json.Malformed e) {
      refuse(exchange, events, 400, e);
    } catch (Upstream.Failed e) {
      refuse(exchange, events, e.status, e);
    } catch (Upstream.ClientGone e) {
      // Closing the exchange is all that is left to do.
    } catch (RuntimeException e) {
      refuse(exchange, events, 500, e);
    }
  }

  private void refuse(HttpExchange exchange, Http.Events events, int status, Exception why) throws IOException {
    (status < 500 ? badRequests : badUpstreams).increment();
    String text = Http.error(status, Http.said(why));
    if (events.begun()) {
      // The status line is gone: a stream says it in an event.
      events.send(text);
    } else {
      Http.sendJson(exchange, status, text);
    }
  }

  private void answer(HttpExchange exchange, Form form, Http.Events events)
      throws IOException, Http.TooLarge, Json.Malformed, Upstream.Failed {
    Call asked = form.readCall(Http.body(exchange));
    if (asked.start() != 0) {
      throw new Json.Malformed(form.fields().start() + " is " + asked.start() + "; this gateway gives all rows, from 0");
    }
    long boundary = asked.prompt().length;
    // The prefill server forwards the prompt: its rows are those of every choice. It is asked for one token, which the decode server repeats.
    List<Choice> first = prefill.ask(new Call(asked.prompt(), 1, 1, false, 0, ""));
    try (Record prompt = promptRows(first, boundary)) {
      Call call = asked.withStart(boundary);
      if (call.stream()) {
        streams.increment();
        try (StreamedAnswer streamed = new StreamedAnswer(form, decode.form, call, prompt)) {
          decode.post(call, answer -> streamed.pass(answer, events, rows));
        }
        return;
      }
      List<Choice> choices = decode.ask(call);
      join(form, call, prompt, choices);
      Http.sendJson(exchange, 200, Json.write(form.writeAnswer(choices, call)));
    }
  }

  private Record promptRows(List<Choice> first, long boundary) throws Upstream.Failed {
    try {
      return Rows.decode(prefill.form, first.get(0).routing, 0, boundary);
    } catch (Json.Malformed | RuntimeException e) {
      throw new Upstream.Failed(prefill.name, e);
    }
  }

  /** Puts the prompt's rows before each choice's own and writes both in the client's form (R40). */
  private void join(Form form, Call call, Record prompt, List<Choice> choices) throws Upstream.Failed {
    try {
      for (Choice one : choices) {
        try (Record own = Rows.decode(decode.form, one.routing, call.start(), one.tokens.length - 1);
            Record merged = prompt.merge(own, call.start())) {
          write(form, merged, one);
          rows.add(merged.info().rows());
        } catch (RuntimeException e) {
          throw new Json.Malformed("choice " + one.index + ": " + Http.said(e));
        }
      }
    } catch (Json.Malformed e) {
      throw new Upstream.Failed(decode.name, e);
    }
  }

  /** Gives a choice a record's rows. */
  static void write(Form form, Record record, Choice one) throws Json.Malformed {
    RecordInfo info = record.info();
    if (info.rowsValid() != info.rows()) {
      throw new Json.Malformed("choice " + one.index + ": " + (info.rows() - info.rowsValid()) + " of " + info.rows() + " rows are missing");
    }
    one.start = info.start();
    one.routing = Rows.encode(form, record);
  }
}
