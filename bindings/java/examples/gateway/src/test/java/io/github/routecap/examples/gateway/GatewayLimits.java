// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.github.routecap.RouteCap;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The gateway between engines that never end and clients that never go on, all in one process with a small heap ({@code -Xmx64m}) and short times
 * ({@code -Dsun.net.httpserver.maxReqTime=2 -Dsun.net.httpserver.maxRspTime=5}). Prints what went wrong and ends with 1, or prints one line.
 */
public final class GatewayLimits {
  /** More than loopback holds between two processes that nobody has read. */
  private static final long IN_FLIGHT = 16L << 20;

  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** An engine that repeats something until nobody reads it any more. */
  private static final class Endless {
    final AtomicLong wrote = new AtomicLong();
    final CountDownLatch over = new CountDownLatch(1);
    private final String begin;
    private final byte[] repeated;

    Endless(String begin, String repeated) {
      this.begin = begin;
      this.repeated = repeated.repeat(1 + 4096 / repeated.length()).getBytes(StandardCharsets.UTF_8);
    }

    void serve(HttpExchange exchange) throws IOException {
      try {
        exchange.getRequestBody().readAllBytes();
        exchange.sendResponseHeaders(200, 0);
        OutputStream body = exchange.getResponseBody();
        body.write(begin.getBytes(StandardCharsets.UTF_8));
        while (true) {
          body.write(repeated);
          wrote.addAndGet(repeated.length);
        }
      } finally {
        over.countDown();
      }
    }
  }

  private record Case(String name, Endless engine, boolean stream, long limit, String asked, boolean begun) {}

  private GatewayLimits() {}

  /**
   * Runs everything.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    try {
      endlessAnswers();
      requestsThatAreTooLarge();
      clientsThatSendSlowly();
      clientThatDoesNotRead();
    } catch (Exception e) {
      // The servers' threads would keep the process.
      e.printStackTrace();
      System.exit(1);
    }
    require(RouteCap.liveHandles() == 0, RouteCap.liveHandles() + " handles are alive");
    System.out.println("Java " + System.getProperty("java.version") + ": limits hold");
    System.exit(0);
  }

  private static HttpServer engine(String form, HttpHandler handler) throws IOException {
    HttpServer server = Http.listen("127.0.0.1", 0);
    Http.on(server, "POST", Form.ALL.get(form).path(), handler);
    server.start();
    return server;
  }

  private static HttpServer good() throws IOException {
    return engine("sglang", new Engine(Form.ALL.get("sglang"))::serve);
  }

  private static HttpServer front(HttpServer prefill, HttpServer decode, String decodeForm) throws IOException {
    HttpServer server = Http.listen("127.0.0.1", 0);
    new Gateway(urlOf(prefill), Form.ALL.get("sglang"), urlOf(decode), Form.ALL.get(decodeForm)).install(server);
    server.start();
    return server;
  }

  private static String urlOf(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static HttpResponse<String> post(HttpServer server, String path, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(urlOf(server) + path)).timeout(Duration.ofSeconds(20)).POST(HttpRequest.BodyPublishers.ofString(body)).build();
    return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static void endlessAnswers() throws Exception {
    // 3 rows of the prompt, or 7 of the output, of 6 * 4 ids.
    long prefillLimit = 65536 + 3 * 24 * 11 + 512;
    long decodeLimit = 65536 + 2 * (7 * 24 * 11 + 8 * 512);
    String prefillAsked = "1 choices of 3 rows and 1 tokens take";
    String decodeAsked = "2 choices of 7 rows and 8 tokens take";
    List<Case> cases =
        List.of(
            new Case("prefill", new Endless("{\"index\":0,\"text\":\"", "x"), false, prefillLimit, prefillAsked, false),
            new Case("whole", new Endless("{\"choices\":[", " "), false, decodeLimit, decodeAsked, false),
            new Case("a line", new Endless("data: ", "x"), true, decodeLimit, decodeAsked, false),
            new Case("signs of life", new Endless("", ": \n\n"), true, decodeLimit, decodeAsked, false),
            new Case("events without choices", new Endless("", "data: {\"choices\":[]}\n\n"), true, decodeLimit, decodeAsked, false),
            new Case(
                "events without tokens", new Endless("", "data: {\"choices\":[{\"index\":1,\"token_ids\":[]}]}\n\n"), true, decodeLimit, decodeAsked, true));
    for (Case one : cases) {
      boolean first = one.name.equals("prefill");
      HttpServer bad = engine(first ? "sglang" : "vllm", one.engine::serve);
      HttpServer good = good();
      HttpServer server = first ? front(bad, good, "sglang") : front(good, bad, "vllm");
      HttpResponse<String> answered = post(server, "/v1/completions", "{\"prompt\":[5,6,7],\"max_tokens\":8,\"n\":2,\"stream\":" + one.stream + "}");
      String want = "the answer is longer than the " + one.limit + " bytes that " + one.asked;
      String end = answered.body().substring(Math.max(0, answered.body().length() - 300));
      require(answered.statusCode() == (one.begun ? 200 : 502) && end.contains(want), one.name + ": " + answered.statusCode() + " " + end);
      require(one.engine.over.await(10, TimeUnit.SECONDS), one.name + ": the engine is still read");
      require(one.engine.wrote.get() < one.limit + IN_FLIGHT, one.name + ": " + one.engine.wrote + " bytes were taken");
      server.stop(0);
      good.stop(0);
      bad.stop(0);
    }
  }

  private static Socket connect(HttpServer server, String text) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(20_000);
    socket.connect(new InetSocketAddress("127.0.0.1", server.getAddress().getPort()));
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  /** Every one is told so: at once where it says so of itself, and although it sends more than is taken. */
  private static void requestsThatAreTooLarge() throws Exception {
    HttpServer good = good();
    HttpServer server = front(good, good, "sglang");
    try (Socket socket = connect(server, "POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 99999999999999\r\n\r\n{}")) {
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      require(answer.startsWith("HTTP/1.1 413 ") && answer.contains("more than 1048576 bytes"), answer);
    }
    for (int attempt = 0; attempt < 20; attempt++) {
      HttpResponse<String> answered = post(server, "/generate", "[".repeat(5 << 20));
      require(answered.statusCode() == 413 && answered.body().contains("more than 1048576 bytes"), answered.statusCode() + " " + answered.body());
    }
    server.stop(0);
    good.stop(0);
  }

  /** More clients than the pool of Java 17 has threads stop in their heads and bodies: they are cut off, and one that comes later is served. */
  private static void clientsThatSendSlowly() throws Exception {
    HttpServer good = good();
    HttpServer server = front(good, good, "sglang");
    List<Socket> slow = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      slow.add(connect(server, "POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Len"));
      slow.add(connect(server, "POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n{"));
    }
    // One that waits behind them is cut off with them, and served when it comes again.
    HttpResponse<String> answered = null;
    for (int attempt = 0; answered == null && attempt < 40; attempt++) {
      try {
        answered = post(server, "/generate", "{\"input_ids\":[1,2],\"sampling_params\":{\"max_new_tokens\":3}}");
      } catch (IOException e) {
        Thread.sleep(250);
      }
    }
    require(answered != null, "nobody is served beside clients that do not go on");
    require(answered.statusCode() == 200, answered.statusCode() + " " + answered.body());
    for (Socket socket : slow) {
      boolean closed;
      try {
        closed = socket.getInputStream().read() < 0;
      } catch (java.net.SocketTimeoutException e) {
        closed = false;
      } catch (IOException e) {
        closed = true;
      }
      require(closed, "a client that does not go on with its request is still connected");
      socket.close();
    }
    server.stop(0);
    good.stop(0);
  }

  /** 16 choices may take more than the network holds. The engine is a bare socket, so that no limit is kept but the gateway's. */
  private static void clientThatDoesNotRead() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    ServerSocket bare = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread engine =
        new Thread(
            () -> {
              try (Socket socket = bare.accept()) {
                socket.getInputStream().read(new byte[4096]);
                OutputStream out = socket.getOutputStream();
                out.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                byte[] events = "data: {\"choices\":[{\"index\":1,\"token_ids\":[]}]}\n\n".repeat(100).getBytes(StandardCharsets.UTF_8);
                while (true) {
                  out.write(events);
                }
              } catch (IOException e) {
                over.countDown();
              }
            });
    engine.setDaemon(true);
    engine.start();
    HttpServer good = good();
    HttpServer server = Http.listen("127.0.0.1", 0);
    new Gateway(urlOf(good), Form.ALL.get("sglang"), "http://127.0.0.1:" + bare.getLocalPort(), Form.ALL.get("vllm")).install(server);
    server.start();
    String body = "{\"prompt\":[5,6,7],\"max_tokens\":4096,\"n\":16,\"stream\":true}";
    try (Socket socket =
        connect(server, "POST /v1/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)) {
      require(over.await(20, TimeUnit.SECONDS), "a client that does not read holds the server");
      require(socket.isConnected(), "the client went by itself");
    }
    server.stop(0);
    good.stop(0);
    bare.close();
  }

  private static void require(boolean holds, String why) {
    if (!holds) {
      System.err.println("gateway limits: " + why);
      System.exit(1);
    }
  }
}
