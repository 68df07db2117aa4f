// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpServer;
import io.github.routecap.Record;
import io.github.routecap.RecordConfig;
import io.github.routecap.RouteCap;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
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
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The gateway between engines in processes of their own: every pair of forms, then a load of good and bad requests. Prints what went wrong and ends with 1, or
 * prints one line of figures. Uses nothing but the JDK; {@code gateway.requests} scales the load.
 */
public final class GatewayCheck {
  private static final int WORKERS = 64;
  private static final int REQUESTS = Integer.getInteger("gateway.requests", 40);
  private static final long MOST_GROWTH = 32L << 20;

  /** What a bad answer of an engine must say, and never what a neighbour's does. */
  private static final Map<String, String> FAULTS =
      Map.of(
          "truncated", "CORRUPT: vllm: it does not begin with the magic of a .npy",
          "base64", "CORRUPT: ",
          "huge", "999999999999",
          "absent", "the answer has no routed_experts",
          "body", "the JSON ends too early");

  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** An engine's process and where it listens. */
  private record Started(Process process, String url) implements AutoCloseable {
    static Started engine(String form) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      if (Runtime.version().feature() >= 22) {
        command.add("--enable-native-access=ALL-UNNAMED");
      }
      for (String property : new String[] {"java.library.path", "routecap.library", "routecap.tmpdir"}) {
        if (System.getProperty(property) != null) {
          command.add("-D" + property + "=" + System.getProperty(property));
        }
      }
      command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Main.class.getName(), "--role", "engine", "--form", form));
      Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      // Also when a check fails, which ends this process.
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
      BufferedReader said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      String address = said.readLine();
      if (address == null) {
        throw new IOException("the engine of " + form + " does not start");
      }
      return new Started(process, "http://" + address);
    }

    @Override
    public void close() {
      process.destroy();
    }
  }

  private record Answered(int status, String body) {}

  private GatewayCheck() {}

  /**
   * Runs everything.
   *
   * @param arguments none
   * @throws Exception whatever stops it
   */
  public static void main(String[] arguments) throws Exception {
    try (Started sglang = Started.engine("sglang");
        Started vllm = Started.engine("vllm");
        Started prime = Started.engine("prime")) {
      everyPairOfForms(Map.of("sglang", sglang.url, "vllm", vllm.url, "prime", prime.url));
      eventsWithoutChoices(sglang.url);
      load(sglang.url, vllm.url);
    }
    System.exit(0);
  }

  private static HttpServer front(String prefillUrl, String prefill, String decodeUrl, String decode) throws IOException {
    HttpServer server = Http.listen("127.0.0.1", 0);
    new Gateway(prefillUrl, Form.ALL.get(prefill), decodeUrl, Form.ALL.get(decode)).install(server);
    server.start();
    return server;
  }

  private static String urlOf(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static void everyPairOfForms(Map<String, String> urls) throws Exception {
    SplittableRandom random = new SplittableRandom(3);
    for (String prefill : Form.ALL.keySet()) {
      for (String decode : Form.ALL.keySet()) {
        HttpServer server = front(urls.get(prefill), prefill, urls.get(decode), decode);
        for (Map.Entry<String, Form> client : Form.ALL.entrySet()) {
          for (int round = 0; round < 8; round++) {
            Call call = randomCall(random);
            Answered answered = post(urlOf(server) + client.getValue().path(), Json.write(client.getValue().writeCall(call)).getBytes(StandardCharsets.UTF_8));
            String where = prefill + ", " + decode + " to " + client.getKey() + ", stream " + call.stream() + ": ";
            require(answered.status == 200, where + answered.status + " " + answered.body);
            String fault = verify(client.getValue(), call, answered.body);
            require(fault == null, where + fault);
          }
        }
        server.stop(0);
      }
    }
    require(RouteCap.liveHandles() == 0, RouteCap.liveHandles() + " handles are alive");
  }

  /** Engines send events without a choice: usage counts at a stream's end, or to keep a connection open. A client gets what it would get without them. */
  private static void eventsWithoutChoices(String prefillUrl) throws Exception {
    Call call = new Call(new long[] {5, 6, 7}, 1, 1, true, 0, "");
    Form sglang = Form.ALL.get("sglang");
    long[] output = Engine.tokensOf(call.prompt(), 0, 1);
    // One token needs no row behind the prompt's.
    Choice only = new Choice(0, output, null, 3);
    try (Record none = Record.create(new RecordConfig().start(3).numExperts(Rows.EXPERTS).topK(Rows.TOP_K).layerIds(0, 1, 2, 3, 4, 5))) {
      only.routing = Rows.encode(sglang, none);
    }
    String event = Json.write(sglang.writeAnswer(List.of(only), call));
    HttpServer decode = Http.listen("127.0.0.1", 0);
    Http.on(
        decode,
        "POST",
        sglang.path(),
        exchange -> {
          Http.Events events = new Http.Events(exchange);
          events.send("[]");
          events.send(event);
          events.send("[]");
          events.end();
        });
    decode.start();
    HttpServer server = front(prefillUrl, "sglang", urlOf(decode), "sglang");
    for (Map.Entry<String, Form> client : Form.ALL.entrySet()) {
      Answered answered = post(urlOf(server) + client.getValue().path(), Json.write(client.getValue().writeCall(call)).getBytes(StandardCharsets.UTF_8));
      String where = "events without choices to " + client.getKey() + ": ";
      require(answered.status == 200 && answered.body.split("\n\n").length == 2, where + answered.status + " " + answered.body);
      String fault = verify(client.getValue(), call, answered.body);
      require(fault == null, where + fault);
    }
    server.stop(0);
    decode.stop(0);
  }

  private static void load(String prefillUrl, String decodeUrl) throws Exception {
    HttpServer server = front(prefillUrl, "sglang", decodeUrl, "vllm");
    String url = urlOf(server);
    AtomicLong slowest = new AtomicLong();
    // The same load twice: what the first leaves behind is warmth, what the second adds is a leak.
    run(url, slowest);
    long before = resident();
    run(url, slowest);
    long after = resident();
    Map<?, ?> stats = (Map<?, ?>) Json.read(CLIENT.send(HttpRequest.newBuilder(URI.create(url + "/stats")).build(), HttpResponse.BodyHandlers.ofString()).body());
    server.stop(0);
    require(after < before + MOST_GROWTH, (before >> 20) + " MiB before, " + (after >> 20) + " MiB after");
    require(slowest.get() < Upstream.TIMEOUT.toNanos() / 2, "a request took " + slowest.get() / 1_000_000 + " ms");
    require(
        stats.get("live_handles").equals(0L) && stats.get("requests").equals(2L * WORKERS * REQUESTS), "statistics " + stats);
    for (String name : new String[] {"streams", "rows", "bad_requests", "bad_upstreams"}) {
      require((Long) stats.get(name) > 0, "statistics " + stats);
    }
    System.out.printf(
        "Java %s, %s, %s: %d requests, slowest %d ms, %d MiB before, %d MiB after%n",
        System.getProperty("java.version"), RouteCap.api(), Http.threads().getClass().getSimpleName(), 2 * WORKERS * REQUESTS, slowest.get() / 1_000_000, before >> 20, after >> 20);
  }

  private static void run(String url, AtomicLong slowest) throws InterruptedException {
    ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
    CountDownLatch over = new CountDownLatch(WORKERS);
    for (int worker = 0; worker < WORKERS; worker++) {
      SplittableRandom random = new SplittableRandom(worker * 7919L + 9);
      new Thread(
              () -> {
                try {
                  for (int i = 0; i < REQUESTS && faults.isEmpty(); i++) {
                    long began = System.nanoTime();
                    String fault = oneRequest(url, random);
                    if (fault != null) {
                      faults.add(fault);
                    }
                    slowest.accumulateAndGet(System.nanoTime() - began, Math::max);
                  }
                } catch (Exception e) {
                  faults.add(e.toString());
                } finally {
                  over.countDown();
                }
              })
          .start();
    }
    over.await();
    require(faults.isEmpty(), String.valueOf(faults.peek()));
  }

  /** Sends a good or a bad request. @return what is wrong with what came back, or null */
  private static String oneRequest(String url, SplittableRandom random) throws Exception {
    List<Form> forms = List.copyOf(Form.ALL.values());
    Form form = forms.get(random.nextInt(forms.size()));
    Call call = randomCall(random);
    int want = 200;
    String text = "";
    int kind = random.nextInt(10);
    byte[] body;
    if (kind == 0) {
      List<String> names = List.of("truncated", "base64", "huge", "absent", "body");
      String fault = names.get(random.nextInt(names.size()));
      call = new Call(call.prompt(), call.maxTokens(), call.choices(), false, 0, fault);
      want = 502;
      text = FAULTS.get(fault);
    }
    body = Json.write(form.writeCall(call)).getBytes(StandardCharsets.UTF_8);
    if (kind == 1) {
      body = Arrays.copyOf(body, body.length / 2);
      want = 400;
      text = "the JSON ends too early";
    } else if (kind == 2) {
      body = new byte[Http.LONGEST_BODY + 1];
      Arrays.fill(body, (byte) '[');
      want = 413;
      text = "too large";
    } else if (kind == 3) {
      Call greedy = new Call(call.prompt(), 1 << 30, call.choices(), call.stream(), 0, "");
      body = Json.write(form.writeCall(greedy)).getBytes(StandardCharsets.UTF_8);
      want = 400;
      text = "tokens is 1073741824, allowed are whole numbers 1 .. 4096";
    }
    Answered answered = post(url + form.path(), body);
    if (answered.status != want || !answered.body.contains(text)) {
      return "fault " + call.fault() + ", kind " + kind + ": status " + answered.status + ", want " + want + " with '" + text + "': " + answered.body;
    }
    return want == 200 ? verify(form, call, answered.body) : null;
  }

  private static Call randomCall(SplittableRandom random) {
    long[] prompt = random.longs(1 + random.nextInt(60), 0, 50000).toArray();
    return new Call(prompt, 1 + random.nextInt(20), 1 + random.nextInt(3), random.nextBoolean(), 0, "");
  }

  private static Answered post(String url, byte[] body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(60)).POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
    HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    return new Answered(response.statusCode(), response.body());
  }

  /** Compares every choice's tokens and rows with what the engines must have computed. @return what differs, or null */
  private static String verify(Form form, Call call, String answer) throws Json.Malformed {
    List<Choice> came = new ArrayList<>();
    if (!call.stream()) {
      came.addAll(form.readAnswer(answer.getBytes(StandardCharsets.UTF_8)));
    } else {
      String[] events = answer.strip().split("\n\n");
      for (int i = 0; i + 1 < events.length; i++) {
        came.addAll(form.readAnswer(events[i].substring("data: ".length()).getBytes(StandardCharsets.UTF_8)));
      }
      if (!events[events.length - 1].equals("data: [DONE]")) {
        return "no end: " + answer;
      }
    }
    int cells = Rows.LAYERS * Rows.TOP_K;
    for (int index = 0; index < call.choices(); index++) {
      long[] output = Engine.tokensOf(call.prompt(), index, call.maxTokens());
      byte[] want = Engine.routesOf(Engine.inputsOf(call.prompt(), output), 0);
      List<Long> tokens = new ArrayList<>();
      ByteArrayOutputStream ids = new ByteArrayOutputStream();
      for (Choice part : came) {
        if (part.index != index) {
          continue;
        }
        for (long token : part.tokens) {
          tokens.add(token);
        }
        if (part.routing == null) {
          continue;
        }
        if (part.start != ids.size() / cells) {
          return "choice " + index + ": a part starts at " + part.start + " behind " + ids.size() / cells + " rows";
        }
        try (Record record = Rows.decode(form, part.routing, part.start, call.prompt().length + tokens.size() - 1 - part.start)) {
          for (int id : record.copyIds()) {
            ids.write(id);
          }
        }
      }
      if (!Arrays.equals(tokens.stream().mapToLong(Long::longValue).toArray(), output) || !Arrays.equals(ids.toByteArray(), want)) {
        return "choice " + index + ": " + tokens.size() + " tokens and " + ids.size() + " ids, want " + output.length + " and " + want.length + "; or others";
      }
    }
    return null;
  }

  /** The process's memory when nothing is going on. */
  private static long resident() throws Exception {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(100);
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          least = Math.min(least, Long.parseLong(line.replaceAll("\\D", "")) << 10);
        }
      }
    }
    return least;
  }

  private static void require(boolean holds, String why) {
    if (!holds) {
      System.err.println("gateway: " + why);
      System.exit(1);
    }
  }
}
