// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What the roles share of Java's own server. */
final class Http {
  static final int LONGEST_BODY = 1 << 20;

  private static final int POOL_THREADS = 64;
  private static final int POOL_QUEUE = 1024;

  private Http() {}

  /** A request's body that is longer than is taken. */
  static final class TooLarge extends Exception {
    private static final long serialVersionUID = 1;

    TooLarge() {
      super("the body is too large: more than " + LONGEST_BODY + " bytes");
    }
  }

  static HttpServer listen(String host, int port) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), POOL_QUEUE);
    server.setExecutor(threads());
    return server;
  }

  static void on(HttpServer server, String method, String path, HttpHandler handler) {
    server.createContext(
        path,
        exchange -> {
          try (exchange) {
            if (!exchange.getRequestURI().getPath().equals(path)) {
              sendText(exchange, 404, "there is no " + exchange.getRequestURI().getPath());
            } else if (!exchange.getRequestMethod().equals(method)) {
              exchange.getResponseHeaders().set("Allow", method);
              sendText(exchange, 405, path + " takes " + method);
            } else {
              handler.handle(exchange);
            }
          }
        });
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

  static String body(HttpExchange exchange) throws IOException, TooLarge {
    byte[] body = exchange.getRequestBody().readNBytes(LONGEST_BODY + 1);
    if (body.length > LONGEST_BODY) {
      throw new TooLarge();
    }
    return new String(body, StandardCharsets.UTF_8);
  }

  static void sendJson(HttpExchange exchange, int status, String text) throws IOException {
    send(exchange, status, "application/json", text);
  }

  static void sendText(HttpExchange exchange, int status, String text) throws IOException {
    send(exchange, status, "text/plain; charset=utf-8", text + "\n");
  }

  private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
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
