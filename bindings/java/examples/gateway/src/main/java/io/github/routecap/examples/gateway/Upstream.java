// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** One server that the gateway asks, in that server's form. */
final class Upstream {
  static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** What an error holds of a server's refusal, and what is read to find it. */
  private static final int LONGEST_TOLD = 1000;

  private static final int MOST_READ = 64 << 10;

  private static final ScheduledExecutorService WATCH =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "upstream deadlines");
            thread.setDaemon(true);
            return thread;
          });

  /** An answer that is not 200. */
  private static final class Answered extends IOException {
    private static final long serialVersionUID = 1;
    final int status;

    Answered(int status, String text) {
      super("it answers " + status + (text.isEmpty() ? "" : ": " + text));
      this.status = status;
    }
  }

  /** An upstream that failed, and the status that the client gets for it: a refusal of the server's own is passed on. */
  static final class Failed extends Exception {
    private static final long serialVersionUID = 1;
    final int status;

    Failed(String name, Exception why) {
      super("the " + name + " server: " + Http.said(why), why);
      if (why instanceof HttpTimeoutException) {
        this.status = 504;
      } else {
        this.status = why instanceof Answered answered && answered.status / 100 == 4 ? answered.status : 502;
      }
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

  /** The choices of an answer that came whole: each that was asked for, once. */
  List<Choice> ask(Call call) throws Failed {
    return post(call, answer -> checked(call, form.readAnswer(answer.all())));
  }

  private static List<Choice> checked(Call call, List<Choice> choices) throws Json.Malformed {
    if (choices.size() != call.choices()) {
      throw new Json.Malformed(choices.size() + " choices came, asked for were " + call.choices());
    }
    boolean[] came = new boolean[call.choices()];
    for (Choice one : choices) {
      if (one.index >= call.choices()) {
        throw new Json.Malformed("choice " + one.index + " came, asked for were " + call.choices());
      }
      if (came[one.index]) {
        throw new Json.Malformed("choice " + one.index + " came twice");
      }
      if (one.tokens.length < 1 || one.tokens.length > call.maxTokens()) {
        throw new Json.Malformed("choice " + one.index + " has " + one.tokens.length + " tokens, asked for were 1 .. " + call.maxTokens());
      }
      came[one.index] = true;
    }
    return choices;
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
      try (Answer answer = new Answer(response.body(), call, deadline)) {
        if (response.statusCode() != 200) {
          throw new Answered(response.statusCode(), answer.complaint());
        }
        return work.with(answer);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failed(name, e);
    } catch (ClientGone e) {
      throw e;
    } catch (ConnectException e) {
      throw new Failed(name, new IOException("no connection to " + uri, e));
    } catch (IOException e) {
      // The time that the request has ends with its headers; the rest is watched here.
      boolean late = e instanceof HttpTimeoutException || !(e instanceof Answered) && System.nanoTime() >= deadline;
      throw new Failed(name, late ? new HttpTimeoutException("its answer took longer than " + TIMEOUT.toSeconds() + " s") : e);
    } catch (Json.Malformed | RuntimeException e) {
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

  /** A body that is cut off where it has more bytes than it can have. */
  private static final class Limited extends FilterInputStream {
    private final Call asked;
    private long came;

    Limited(InputStream body, Call asked) {
      super(body);
      this.asked = asked;
    }

    @Override
    public int read() throws IOException {
      int one = in.read();
      count(one < 0 ? 0 : 1);
      return one;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
      int got = in.read(into, from, length);
      count(Math.max(got, 0));
      return got;
    }

    private void count(int more) throws IOException {
      came += more;
      if (came > asked.longestAnswer()) {
        throw new IOException(
            "the answer is longer than the " + asked.longestAnswer() + " bytes that " + asked.choices() + " choices of " + asked.rows() + " rows and "
                + asked.maxTokens() + " tokens take");
      }
    }
  }

  /** An answer's body, closed at the deadline whoever reads it. */
  static final class Answer implements AutoCloseable {
    private final InputStream body;
    private final ScheduledFuture<?> watch;

    Answer(InputStream body, Call asked, long deadline) {
      this.body = new Limited(body, asked);
      this.watch = WATCH.schedule(this::closeBody, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    byte[] all() throws IOException {
      return body.readAllBytes();
    }

    /** Lines whose characters are the answer's bytes: what they say is read where they are taken apart. */
    BufferedReader lines() {
      return new BufferedReader(new InputStreamReader(body, StandardCharsets.ISO_8859_1));
    }

    /** What a server says of its refusal, on one line: the message of the error bodies that servers have, or its text. */
    String complaint() throws IOException {
      String text = new String(body.readNBytes(MOST_READ), StandardCharsets.UTF_8);
      try {
        if (Json.read(text) instanceof Map<?, ?> told && told.get("error") instanceof Map<?, ?> error && error.get("message") instanceof String message
            && !message.isEmpty()) {
          text = message;
        }
      } catch (Json.Malformed e) {
        // It says so in words of its own.
      }
      String line = text.strip().replaceAll("\\s+", " ");
      if (line.length() <= LONGEST_TOLD) {
        return line;
      }
      return line.substring(0, Character.isHighSurrogate(line.charAt(LONGEST_TOLD - 1)) ? LONGEST_TOLD - 1 : LONGEST_TOLD);
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
