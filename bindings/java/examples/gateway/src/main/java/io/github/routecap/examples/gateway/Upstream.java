// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** One server that the gateway asks, in that server's form. */
final class Upstream {
  static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static final int LONGEST_ANSWER = 64 << 20;
  private static final int LONGEST_COMPLAINT = 1000;

  private static final ScheduledExecutorService WATCH =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "upstream deadlines");
            thread.setDaemon(true);
            return thread;
          });

  /** An upstream that failed, and the status that the client gets for it. */
  static final class Failed extends Exception {
    private static final long serialVersionUID = 1;
    final int status;

    Failed(String name, Exception why) {
      super("the " + name + " server: " + why.getMessage(), why);
      this.status = why instanceof HttpTimeoutException ? 504 : 502;
    }
  }

  /** What may go wrong with an answer. */
  interface Work<T> {
    T with(Answer answer) throws IOException, Json.Malformed;
  }

  final String name;
  final Form form;
  private final URI uri;
  private final HttpClient client;

  Upstream(HttpClient client, String name, String url, Form form) {
    this.client = client;
    this.name = name;
    this.form = form;
    this.uri = URI.create(url + form.path());
  }

  /** Asks and reads the whole answer. */
  List<Choice> ask(Call call) throws Failed {
    return post(call, answer -> form.readAnswer(answer.all()));
  }

  /** Asks and gives the answer to whoever reads it, for at most the timeout. */
  <T> T post(Call call, Work<T> work) throws Failed {
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(Json.write(form.writeCall(call))))
            .build();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    try {
      HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (Answer answer = new Answer(response.body(), deadline)) {
        if (response.statusCode() != 200) {
          throw new IOException(response.statusCode() + ": " + answer.complaint());
        }
        try {
          return work.with(answer);
        } catch (IOException e) {
          // The time that the request has ends with its headers; the rest is watched here.
          throw System.nanoTime() < deadline ? e : new HttpTimeoutException("the answer took longer than " + TIMEOUT.toSeconds() + " s");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failed(name, e);
    } catch (ClientGone e) {
      throw e;
    } catch (IOException | Json.Malformed | RuntimeException e) {
      throw new Failed(name, e);
    }
  }

  /** The client's connection is broken: nobody is there to be told. */
  static final class ClientGone extends RuntimeException {
    private static final long serialVersionUID = 1;

    ClientGone(IOException why) {
      super(why);
    }
  }

  /** An answer's body, closed at the deadline whoever reads it. */
  static final class Answer implements AutoCloseable {
    private final InputStream body;
    private final ScheduledFuture<?> watch;

    Answer(InputStream body, long deadline) {
      this.body = body;
      this.watch = WATCH.schedule(this::closeBody, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    String all() throws IOException {
      byte[] bytes = body.readNBytes(LONGEST_ANSWER + 1);
      if (bytes.length > LONGEST_ANSWER) {
        throw new IOException("the answer is longer than " + LONGEST_ANSWER + " bytes");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    }

    BufferedReader lines() {
      return new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    String complaint() throws IOException {
      return new String(body.readNBytes(LONGEST_COMPLAINT), StandardCharsets.UTF_8).strip();
    }

    @Override
    public void close() {
      watch.cancel(false);
      closeBody();
    }

    private void closeBody() {
      try {
        body.close();
      } catch (IOException ignored) {
        // Whoever reads it finds out.
      }
    }
  }
}
