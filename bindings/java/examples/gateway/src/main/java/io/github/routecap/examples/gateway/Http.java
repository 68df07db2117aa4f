// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What the roles share of Java's own server. */
final class Http {
  static final int LONGEST_BODY = 1 << 20;

  /** Bytes of a longer one that are read and dropped. */
  private static final long MOST_DROPPED = 8 << 20;

  /** How long a client may take to send its request. */
  static final int REQUEST_SECONDS = 10;

  private static final int POOL_THREADS = 64;
  private static final int POOL_QUEUE = 1024;

  static {
    // Java's server waits for as long as a client likes, and for each with a thread, unless it is told otherwise before it is first used: it then closes
    // the connection. What it sends has to be read in the time of the request and of the upstream's answer together.
    limit("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
    limit("sun.net.httpserver.maxRspTime", REQUEST_SECONDS + Upstream.TIMEOUT.toSeconds());
  }

  private Http() {}

  private static void limit(String property, long seconds) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, Long.toString(seconds));
    }
  }

  /** A request's body that is longer than is taken. */
  static final class TooLarge extends Exception {
    private static final long serialVersionUID = 1;

    TooLarge() {
      super("the request is too large: more than " + LONGEST_BODY + " bytes");
    }
  }

  static HttpServer listen(String host, int port) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), POOL_QUEUE);
    server.setExecutor(threads());
    // Every path that has no handler of its own.
    server.createContext("/", exchange -> handled(exchange, Http::nowhere));
    return server;
  }

  static void on(HttpServer server, String method, String path, HttpHandler handler) {
    String allowed = method.equals("GET") ? "GET, HEAD" : method;
    server.createContext(
        path,
        exchange -> {
          String asked = exchange.getRequestMethod();
          if (!exchange.getRequestURI().getPath().equals(path)) {
            handled(exchange, Http::nowhere);
          } else if (!asked.equals(method) && !(asked.equals("HEAD") && method.equals("GET"))) {
            exchange.getResponseHeaders().set("Allow", allowed);
            handled(exchange, wrong -> sendError(wrong, 405, path + " takes " + allowed));
          } else {
            handled(exchange, handler);
          }
        });
  }

  private static void nowhere(HttpExchange exchange) throws IOException {
    sendError(exchange, 404, "there is no " + Members.clipped(String.valueOf(exchange.getRequestURI().getPath())));
  }

  /** A handler that fails answers all the same, where its answer has not begun. */
  private static void handled(HttpExchange exchange, HttpHandler handler) throws IOException {
    try (exchange) {
      try {
        handler.handle(exchange);
      } catch (RuntimeException e) {
        if (exchange.getResponseCode() < 0) {
          sendError(exchange, 500, said(e));
        }
      }
    }
  }

  /** What an exception says, on one line; many say nothing themselves. */
  static String said(Throwable why) {
    for (Throwable one = why; one != null; one = one.getCause()) {
      if (one.getMessage() != null && !one.getMessage().isBlank()) {
        return one.getMessage().strip().replaceAll("\\s+", " ");
      }
    }
    return why.getClass().getSimpleName();
  }

  /** A virtual thread for each request where Java has them (21), else a bounded pool, whose excess the accepting thread serves itself. */
  static ExecutorService threads() {
    try {
      return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException | UnsupportedOperationException e) {
      ThreadPoolExecutor pool =
          new ThreadPoolExecutor(
              POOL_THREADS, POOL_THREADS, 30, TimeUnit.SECONDS, new ArrayBlockingQueue<>(POOL_QUEUE), new ThreadPoolExecutor.CallerRunsPolicy());
      pool.allowCoreThreadTimeOut(true);
      return pool;
    }
  }

  static byte[] body(HttpExchange exchange) throws IOException, TooLarge {
    // What says of itself that it is far too large is not waited for.
    if (declared(exchange) > LONGEST_BODY + MOST_DROPPED) {
      throw new TooLarge();
    }
    InputStream from = exchange.getRequestBody();
    byte[] body = from.readNBytes(LONGEST_BODY + 1);
    if (body.length > LONGEST_BODY) {
      // A connection that is closed with bytes unread is reset, and the answer may be lost with it.
      byte[] dropped = new byte[8192];
      for (long left = MOST_DROPPED; left > 0; ) {
        int count = from.read(dropped);
        left = count < 0 ? 0 : left - count;
      }
      throw new TooLarge();
    }
    return body;
  }

  private static long declared(HttpExchange exchange) {
    String length = exchange.getRequestHeaders().getFirst("Content-Length");
    try {
      return length == null ? 0 : Long.parseLong(length.strip());
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  static void sendJson(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(bytes.length));
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    // Now: closing the exchange first reads what is left of the request, and waits for it.
    exchange.getResponseBody().flush();
  }

  /** What every error looks like, of the gateway and of the engines. */
  static String error(int status, String message) {
    Map<String, Object> error = new LinkedHashMap<>();
    error.put("code", status);
    error.put("message", message);
    return Json.write(Map.of("error", error));
  }

  static void sendError(HttpExchange exchange, int status, String message) throws IOException {
    sendJson(exchange, status, error(status, message));
  }

  /** Server-sent events; the status line goes out with the first. */
  static final class Events {
    private final HttpExchange exchange;
    private OutputStream stream;

    Events(HttpExchange exchange) {
      this.exchange = exchange;
    }

    boolean begun() {
      return stream != null;
    }

    void send(String data) throws IOException {
      if (stream == null) {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        stream = exchange.getResponseBody();
      }
      stream.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
      stream.flush();
    }

    void end() throws IOException {
      send("[DONE]");
    }
  }
}
