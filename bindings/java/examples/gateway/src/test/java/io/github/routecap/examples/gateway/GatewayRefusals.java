// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpServer;
import io.github.routecap.RouteCap;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What is told to clients that ask wrongly, and what of servers that answer wrongly; {@code tests/gateway/cases.json} has the cases, which are the same for
 * the gateways of all languages. Prints what went wrong and ends with 1, or prints one line.
 */
public final class GatewayRefusals {
  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** What the bad server answers; asked counts how often. */
  private static volatile byte[] answer = {};

  private static final AtomicInteger ASKED = new AtomicInteger();

  private static int checks;

  private record Answered(int status, String allow, String type, String body) {}

  private GatewayRefusals() {}

  /**
   * Runs everything.
   *
   * @param arguments the file of the cases
   */
  public static void main(String[] arguments) {
    try {
      Map<?, ?> cases = (Map<?, ?>) Json.read(Files.readString(Path.of(arguments[0])));
      badRequests(part(cases, "requests", 100));
      tokensWhereNoneAreAskedFor();
      otherPathsAndMethods(part(cases, "paths", 10));
      badAnswers(part(cases, "answers", 200));
      statusesOfServers(part(cases, "statuses", 10));
      options();
    } catch (Exception e) {
      // The servers' threads would keep the process.
      e.printStackTrace();
      System.exit(1);
    }
    require(RouteCap.liveHandles() == 0, RouteCap.liveHandles() + " handles are alive");
    System.out.println("Java " + System.getProperty("java.version") + ": " + checks + " refusals");
    System.exit(0);
  }

  private static List<?> part(Map<?, ?> cases, String name, int least) {
    List<?> part = (List<?>) cases.get(name);
    require(part.size() >= least, part.size() + " cases of " + name);
    return part;
  }

  /** A case's text, with what is repeated in place of %s. */
  private static String text(Map<?, ?> one, String name) {
    String text = (String) one.get(name);
    return one.get("repeat") instanceof List<?> repeat ? text.replace("%s", ((String) repeat.get(0)).repeat(((Long) repeat.get(1)).intValue())) : text;
  }

  private static HttpServer engine(Form form) throws IOException {
    HttpServer server = Http.listen("127.0.0.1", 0);
    Http.on(server, "POST", form.path(), new Engine(form)::serve);
    server.start();
    return server;
  }

  /** A server that answers what {@link #answer} has. */
  private static HttpServer bad() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            ASKED.incrementAndGet();
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(answer);
          }
        });
    server.start();
    return server;
  }

  private static HttpServer front(HttpServer prefill, Form prefillForm, HttpServer decode, Form decodeForm) throws IOException {
    HttpServer server = Http.listen("127.0.0.1", 0);
    new Gateway(urlOf(prefill), prefillForm, urlOf(decode), decodeForm).install(server);
    server.start();
    return server;
  }

  private static String urlOf(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static Answered send(String method, String url, byte[] body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(20)).method(method, HttpRequest.BodyPublishers.ofByteArray(body)).build();
    HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    checks++;
    return new Answered(
        response.statusCode(), response.headers().firstValue("Allow").orElse(""), response.headers().firstValue("Content-Type").orElse(""), response.body());
  }

  private static Answered post(HttpServer server, String path, String body) throws IOException, InterruptedException {
    return send("POST", urlOf(server) + path, body.getBytes(StandardCharsets.UTF_8));
  }

  /** The message of an error body, which has nothing else in it. */
  private static String said(Answered answered) throws Json.Malformed {
    Map<?, ?> told = (Map<?, ?>) Json.read(answered.body);
    Map<?, ?> error = (Map<?, ?>) told.get("error");
    boolean whole = told.size() == 1 && error != null && error.size() == 2 && Long.valueOf(answered.status).equals(error.get("code"));
    require(whole && answered.type.equals("application/json"), answered.toString());
    String message = (String) error.get("message");
    require(!message.isEmpty() && message.indexOf('\n') < 0 && message.indexOf('\r') < 0, answered.toString());
    return message;
  }

  /** The gateway judges a request itself, and so does a stand-in engine; nobody is asked. */
  private static void badRequests(List<?> cases) throws Exception {
    HttpServer nobody = bad();
    Form vllm = Form.ALL.get("vllm");
    HttpServer front = front(nobody, vllm, nobody, vllm);
    Map<String, HttpServer> engines = new HashMap<>();
    for (Map.Entry<String, Form> form : Form.ALL.entrySet()) {
      engines.put(form.getKey(), engine(form.getValue()));
    }
    for (Object one : cases) {
      Map<?, ?> bad = (Map<?, ?>) one;
      byte[] body = text(bad, "body").getBytes(StandardCharsets.UTF_8);
      for (String name : bad.get("form").equals("vllm") ? List.of("vllm", "prime") : List.of("sglang")) {
        badRequest(front, engines.get(name), name, body, (String) bad.get("says"));
      }
    }
    for (Map.Entry<String, String> before : Map.of("sglang", "{\"input_ids\":[1],\"a\":\"\u20ac", "vllm", "{\"prompt\":[1],\"abcd\":\"\u20ac").entrySet()) {
      // A byte that is none of UTF-8, half a surrogate pair, more bytes than a number needs, and a letter cut off.
      for (int[] letter : new int[][] {{0xff}, {0xed, 0xa0, 0x80}, {0xc0, 0x80}, {0xe2, 0x82}}) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(before.getValue().getBytes(StandardCharsets.UTF_8));
        Arrays.stream(letter).forEach(body::write);
        body.writeBytes("\"}".getBytes(StandardCharsets.UTF_8));
        badRequest(front, engines.get(before.getKey()), before.getKey(), body.toByteArray(), "the request is no UTF-8 at byte 25");
      }
    }
    for (Map.Entry<String, String> some :
        Map.of("sglang", "{\"input_ids\":[1,2],\"routed_experts_start_len\":1}", "vllm", "{\"prompt\":[1,2],\"routed_experts_prompt_start\":1}").entrySet()) {
      Form form = Form.ALL.get(some.getKey());
      Answered answered = post(front, form.path(), some.getValue());
      require(
          answered.status == 400 && said(answered).equals(form.fields().start() + " is 1; this gateway gives all rows, from 0"), answered.toString());
    }
    require(ASKED.get() == 0, "a server was asked " + ASKED + " times");
    front.stop(0);
    nobody.stop(0);
    engines.values().forEach(engine -> engine.stop(0));
  }

  private static void badRequest(HttpServer front, HttpServer engine, String name, byte[] body, String says) throws Exception {
    for (HttpServer server : List.of(front, engine)) {
      Answered answered = send("POST", urlOf(server) + Form.ALL.get(name).path(), body);
      String shown = new String(body, 0, Math.min(body.length, 200), StandardCharsets.UTF_8);
      require(
          answered.status == 400 && said(answered).startsWith(says),
          name + " of the " + (server == front ? "gateway" : "engine") + ", " + shown + ": " + answered + ", want " + says);
    }
  }

  /** Where no number of tokens is asked for, the servers' own holds. */
  private static void tokensWhereNoneAreAskedFor() throws Exception {
    Form sglang = Form.ALL.get("sglang");
    HttpServer good = engine(sglang);
    HttpServer front = front(good, sglang, good, sglang);
    record Left(String form, String body, int want) {}
    for (Left left :
        List.of(
            new Left("sglang", "{\"input_ids\":[4]}", 128),
            new Left("sglang", "{\"input_ids\":[4],\"sampling_params\":null}", 128),
            new Left("sglang", "{\"input_ids\":[4],\"sampling_params\":{\"max_new_tokens\":null}}", 128),
            new Left("vllm", "{\"prompt\":[4]}", 16),
            new Left("vllm", "{\"prompt\":[4],\"max_tokens\":null}", 16))) {
      Form form = Form.ALL.get(left.form);
      Answered answered = post(front, form.path(), left.body);
      require(answered.status == 200, left + ": " + answered);
      List<Choice> choices = form.readAnswer(answered.body.getBytes(StandardCharsets.UTF_8));
      require(choices.size() == 1 && Arrays.equals(choices.get(0).tokens, Engine.tokensOf(new long[] {4}, 0, left.want)), left + ": " + answered);
    }
    front.stop(0);
    good.stop(0);
  }

  /** Paths and methods that are not served. */
  private static void otherPathsAndMethods(List<?> cases) throws Exception {
    Form sglang = Form.ALL.get("sglang");
    HttpServer good = engine(sglang);
    HttpServer front = front(good, sglang, good, sglang);
    for (HttpServer server : List.of(front, good)) {
      for (Object one : cases) {
        Map<?, ?> asked = (Map<?, ?>) one;
        String method = (String) asked.get("method");
        String path = text(asked, "path");
        boolean none = server == good && path.equals("/stats");
        long status = none ? 404 : (Long) asked.get("status");
        Answered answered = send(method, urlOf(server) + path, new byte[0]);
        String where = method + " " + path + ": " + answered;
        require(answered.status == status && answered.allow.equals(none ? "" : asked.get("allow")) && answered.type.equals("application/json"), where);
        require(answered.body.isEmpty() == method.equals("HEAD"), where);
        if (!method.equals("HEAD") && status != 200) {
          require(said(answered).equals(none ? "there is no /stats" : asked.get("says")), where);
        }
      }
    }
    front.stop(0);
    good.stop(0);
  }

  /** Whatever a server answers, and wherever, the client is told which server and what is wrong. Each answers a request for one token behind [5,6,7]. */
  private static void badAnswers(List<?> cases) throws Exception {
    Form sglang = Form.ALL.get("sglang");
    HttpServer good = engine(sglang);
    HttpServer bad = bad();
    Map<String, HttpServer> before = new HashMap<>();
    Map<String, HttpServer> behind = new HashMap<>();
    for (Map.Entry<String, Form> form : Form.ALL.entrySet()) {
      before.put(form.getKey(), front(bad, form.getValue(), good, sglang));
      behind.put(form.getKey(), front(good, sglang, bad, form.getValue()));
    }
    List<Object> all = new ArrayList<>(cases);
    // A character that stands for its byte, as below.
    all.add(Map.of("form", "sglang", "body", "{\"index\":0,\"output_ids\":[3],\"text\":\"\u00ff\"}", "says", "the answer is no UTF-8 at byte 36"));
    for (Object one : all) {
      Map<?, ?> wrong = (Map<?, ?>) one;
      String form = (String) wrong.get("form");
      String body = (String) wrong.get("body");
      String says = (String) wrong.get("says");
      badAnswer("prefill", before.get(form), false, body, says);
      badAnswer("decode", behind.get(form), false, body, says);
      Object streamed = wrong.containsKey("streamed") ? wrong.get("streamed") : says;
      if (streamed != null) {
        badAnswer("decode", behind.get(form), true, "data: " + body + "\n\n", (String) streamed);
      }
    }
    // Two choices, of which one comes twice.
    answer = "{\"choices\":[{\"index\":1,\"token_ids\":[3]},{\"index\":1,\"token_ids\":[3]}]}".getBytes(StandardCharsets.UTF_8);
    Answered answered = post(behind.get("vllm"), "/prime", "{\"prompt\":[5],\"n\":2}");
    require(answered.status == 502 && said(answered).equals("the decode server: choice 1 came twice"), answered.toString());
    before.values().forEach(server -> server.stop(0));
    behind.values().forEach(server -> server.stop(0));
    good.stop(0);
    bad.stop(0);
  }

  private static void badAnswer(String name, HttpServer front, boolean stream, String sent, String says) throws Exception {
    answer = sent.getBytes(StandardCharsets.ISO_8859_1);
    Answered answered = post(front, "/v1/completions", "{\"prompt\":[5,6,7],\"max_tokens\":1,\"stream\":" + stream + "}");
    String message = said(answered);
    require(
        answered.status == 502 && message.startsWith("the " + name + " server: ") && message.contains(says),
        name + ", stream " + stream + ", " + sent + ": " + answered + ", want " + says);
  }

  /** A server's refusal is the client's to know; its failures are not. */
  private static void statusesOfServers(List<?> cases) throws Exception {
    Form sglang = Form.ALL.get("sglang");
    HttpServer good = engine(sglang);
    for (Object one : cases) {
      Map<?, ?> refused = (Map<?, ?>) one;
      int status = ((Long) refused.get("status")).intValue();
      byte[] body = text(refused, "body").getBytes(StandardCharsets.UTF_8);
      HttpServer bad = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
      bad.createContext(
          "/",
          exchange -> {
            try (exchange) {
              exchange.getRequestBody().readAllBytes();
              exchange.getResponseHeaders().set("Location", urlOf(good) + "/generate");
              exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
              exchange.getResponseBody().write(body);
            }
          });
      bad.start();
      for (String where : List.of("prefill false", "decode false", "decode true")) {
        String name = where.split(" ")[0];
        HttpServer front = name.equals("prefill") ? front(bad, sglang, good, sglang) : front(good, sglang, bad, sglang);
        Answered answered = post(front, "/generate", "{\"input_ids\":[1],\"stream\":" + where.split(" ")[1] + "}");
        String want = "the " + name + " server: " + refused.get("says");
        require(answered.status == (Long) refused.get("want") && said(answered).equals(want), status + " of " + where + ": " + answered + ", want " + want);
        front.stop(0);
      }
      bad.stop(0);
    }
    HttpServer gone = engine(sglang);
    gone.stop(0);
    HttpServer front = front(gone, sglang, good, sglang);
    Answered answered = post(front, "/generate", "{\"input_ids\":[1]}");
    require(
        answered.status == 502 && said(answered).equals("the prefill server: no connection to " + urlOf(gone) + "/generate"), answered.toString());
    front.stop(0);
    good.stop(0);
    // What is said of an exception that says nothing itself.
    require(Http.said(new NullPointerException()).equals("NullPointerException"), Http.said(new NullPointerException()));
    require(Http.said(new IOException(null, new IOException(" two\nlines "))).equals("two lines"), "an exception's cause is not told");
  }

  /** What the program says of its options. */
  private static void options() throws Exception {
    String forms = ", allowed are sglang, vllm and prime";
    String both = "--prefill http://a:1 --decode http://b:1";
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      record Run(String arguments, int code, String says) {}
      for (Run run :
          List.of(
              new Run("", 2, "gateway: a gateway needs --prefill URL\nusage: gateway --role"),
              new Run("--role engine --form x", 2, "gateway: --form is \"x\"" + forms),
              new Run("--role x", 2, "gateway: --role is \"x\", allowed are gateway and engine"),
              new Run("--nothing 1", 2, "gateway: \"--nothing\" is no option"),
              new Run("--role", 2, "gateway: --role needs a value"),
              new Run("--prefill http://a:1", 2, "gateway: a gateway needs --decode URL"),
              new Run("--prefill a:1 --decode http://b:1", 2, "gateway: --prefill is \"a:1\", allowed is http://HOST:PORT"),
              new Run("--prefill http://a:99999 --decode http://b:1", 2, "gateway: --prefill is \"http://a:99999\", allowed is http://HOST:PORT"),
              new Run("--prefill http://a:1 --decode http://", 2, "gateway: --decode is \"http://\", allowed is http://HOST:PORT"),
              new Run(both + " --decode-form y", 2, "gateway: --decode-form is \"y\"" + forms),
              new Run(both + " --form vllm", 2, "gateway: --form is no option of the role gateway"),
              new Run("--role engine --decode http://b:1", 2, "gateway: --decode is no option of the role engine"),
              new Run("--role engine --listen 1", 2, "gateway: --listen is \"1\", allowed is HOST:PORT with a port of 0 .. 65535"),
              new Run("--role engine --listen 127.0.0.1:70000", 2, "gateway: --listen is \"127.0.0.1:70000\", allowed is HOST:PORT"),
              new Run("--role engine --listen 127.0.0.1:" + taken.getLocalPort(), 1, "gateway: --listen 127.0.0.1:" + taken.getLocalPort() + ": "),
              new Run("--role engine --listen nowhere.invalid:1", 1, "gateway: --listen nowhere.invalid:1: "),
              new Run("--help", 0, "usage: gateway --role"),
              new Run("--role engine -h", 0, "usage: gateway --role"))) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        if (Runtime.version().feature() >= 22) {
          command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add("-Djava.library.path=" + System.getProperty("java.library.path"));
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(run.arguments.isEmpty() ? List.of() : List.of(run.arguments.split(" ")));
        Process process = new ProcessBuilder(command).start();
        boolean over = process.waitFor(60, TimeUnit.SECONDS);
        if (!over) {
          process.destroyForcibly();
        }
        String stdout = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String stderr = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        String told = run.code == 0 ? stdout : stderr;
        String where = run.arguments + ": " + stdout + stderr;
        require(over && process.exitValue() == run.code && told.startsWith(run.says) && (run.code == 0 ? stderr : stdout).isEmpty(), where);
        require(told.contains("\nusage: ") == (run.code == 2) && !told.contains("\tat "), where);
        require(run.code != 1 || told.indexOf('\n') == told.length() - 1, where);
        for (String needed : List.of("--prefill", "--decode-form", "max_tokens is 16", "32768", "4096")) {
          require(run.code != 0 || told.contains(needed), run.arguments + " does not tell " + needed);
        }
        checks++;
      }
    }
  }

  private static void require(boolean holds, String why) {
    if (!holds) {
      System.err.println("gateway refusals: " + why);
      System.exit(1);
    }
  }
}
