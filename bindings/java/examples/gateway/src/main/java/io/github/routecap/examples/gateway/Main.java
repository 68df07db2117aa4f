// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpServer;
import io.github.routecap.RouteCap;
import io.github.routecap.RouteCapException;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A gateway in front of a prefill and a decode server. It joins the routing that the two recorded, checks it, and answers in the form that the client asked
 * for: POST /generate (SGLang), /v1/completions (vLLM), /prime (prime's object), and GET /stats.
 *
 * <pre>
 * java -jar gateway.jar --role engine  --listen 127.0.0.1:8001 --form sglang
 * java -jar gateway.jar --role engine  --listen 127.0.0.1:8002 --form vllm
 * java -jar gateway.jar --role gateway --listen 127.0.0.1:8000 --prefill http://localhost:8001 --prefill-form sglang \
 *     --decode http://localhost:8002 --decode-form vllm
 * </pre>
 *
 * <p>The engines are stand-ins: they answer in the servers' envelopes with routes that anybody can compute again.
 */
public final class Main {
  private static final String USAGE =
      """
      usage: gateway --role gateway --prefill URL --decode URL [--prefill-form FORM] [--decode-form FORM] [--listen HOST:PORT]
             gateway --role engine [--form FORM] [--listen HOST:PORT]
      """;

  private static final String DETAILS =
      """

      A gateway in front of a prefill and a decode server: POST /generate, /v1/completions, /prime, GET /stats. An engine is a stand-in for such a server.

        --role ROLE           gateway (where it is left out) or engine
        --listen HOST:PORT    where to listen, 127.0.0.1:0 where it is left out; port 0 takes a free one. The address is printed.
        --prefill URL         the prefill server, http://HOST:PORT
        --decode URL          the decode server
        --prefill-form FORM   the prefill server's form: sglang (where it is left out), vllm or prime
        --decode-form FORM    the decode server's form
        --form FORM           the form that an engine answers in

      Limits of a request: 1 MiB; 32768 tokens of prompt, each 0 .. 2147483647; 4096 tokens of output (max_tokens is 16 and max_new_tokens 128 where they are
      left out); 16 choices (n is 1). It comes within 10 s, and a server answers within 30 s. Errors are JSON: {"error":{"code":400,"message":"..."}}.
      """;

  private static final int LARGEST_PORT = 65535;

  /** What the options may not be. */
  private static final class Wrong extends Exception {
    private static final long serialVersionUID = 1;

    Wrong(String message) {
      super(message);
    }
  }

  private final Map<String, String> given = new HashMap<>();
  private final Map<String, String> otherwise =
      Map.of(
          "--role", "gateway", "--listen", "127.0.0.1:0", "--form", "sglang", "--prefill", "", "--prefill-form", "sglang", "--decode", "", "--decode-form", "sglang");

  private Main(String[] arguments) throws Wrong {
    for (int i = 0; i < arguments.length; i += 2) {
      if (!otherwise.containsKey(arguments[i])) {
        throw new Wrong(quoted(arguments[i]) + " is no option");
      }
      if (i + 1 == arguments.length) {
        throw new Wrong(arguments[i] + " needs a value");
      }
      given.put(arguments[i], arguments[i + 1]);
    }
  }

  /**
   * Serves until the process ends; the address is printed, so that port 0 can be asked for.
   *
   * @param arguments options, each followed by its value
   */
  public static void main(String[] arguments) {
    if (Arrays.stream(arguments).anyMatch(List.of("--help", "-help", "-h")::contains)) {
      System.out.print(USAGE + DETAILS);
      return;
    }
    try {
      new Main(arguments).serve();
    } catch (Wrong e) {
      System.err.print("gateway: " + e.getMessage() + "\n" + USAGE);
      System.exit(2);
    } catch (IOException | RouteCapException e) {
      System.err.println("gateway: " + e.getMessage());
      System.exit(1);
    }
  }

  private String value(String name) {
    return given.getOrDefault(name, otherwise.get(name));
  }

  private void serve() throws IOException, Wrong {
    boolean engine = value("--role").equals("engine");
    if (!engine && !value("--role").equals("gateway")) {
      throw new Wrong("--role is " + quoted(value("--role")) + ", allowed are gateway and engine");
    }
    for (String name : new String[] {"--form", "--prefill", "--prefill-form", "--decode", "--decode-form"}) {
      if (given.containsKey(name) && engine != name.equals("--form")) {
        throw new Wrong(name + " is no option of the role " + value("--role"));
      }
    }
    String listen = value("--listen");
    int colon = listen.lastIndexOf(':');
    if (colon < 1 || !isPort(listen.substring(colon + 1))) {
      throw new Wrong("--listen is " + quoted(listen) + ", allowed is HOST:PORT with a port of 0 .. " + LARGEST_PORT);
    }
    Form own = engine ? form("--form") : null;
    Gateway gateway = engine ? null : new Gateway(url("--prefill"), form("--prefill-form"), url("--decode"), form("--decode-form"));
    // The library is loaded now, and not while a client waits.
    RouteCap.version();
    HttpServer server;
    try {
      server = Http.listen(listen.substring(0, colon), Integer.parseInt(listen.substring(colon + 1)));
    } catch (IOException | RuntimeException e) {
      throw new IOException("--listen " + listen + ": " + Http.said(e), e);
    }
    if (engine) {
      Http.on(server, "POST", own.path(), new Engine(own)::serve);
    } else {
      gateway.install(server);
    }
    server.start();
    System.out.println(server.getAddress().getHostString() + ":" + server.getAddress().getPort());
  }

  private static boolean isPort(String text) {
    return text.matches("[0-9]{1,5}") && Integer.parseInt(text) <= LARGEST_PORT;
  }

  private Form form(String name) throws Wrong {
    Form form = Form.ALL.get(value(name));
    if (form == null) {
      throw new Wrong(name + " is " + quoted(value(name)) + ", allowed are sglang, vllm and prime");
    }
    return form;
  }

  /** A server's URL, without a slash at its end. */
  private String url(String name) throws Wrong {
    String text = value(name);
    if (text.isEmpty()) {
      throw new Wrong("a gateway needs " + name + " URL");
    }
    try {
      URI uri = URI.create(text);
      boolean known = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (known && uri.getHost() != null && uri.getPort() <= LARGEST_PORT && uri.getQuery() == null && uri.getFragment() == null) {
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
      }
    } catch (IllegalArgumentException e) {
      // Said below.
    }
    throw new Wrong(name + " is " + quoted(text) + ", allowed is http://HOST:PORT");
  }

  private static String quoted(String text) {
    return Json.write(text);
  }
}
