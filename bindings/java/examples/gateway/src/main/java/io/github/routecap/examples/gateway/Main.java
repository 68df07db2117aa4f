// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.util.HashMap;
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
      "usage: --role gateway|engine [--listen HOST:PORT] [--form FORM] [--prefill URL] [--prefill-form FORM] [--decode URL] [--decode-form FORM]";

  private Main() {}

  /**
   * Serves until the process ends; the address is printed, so that port 0 can be asked for.
   *
   * @param arguments options, each followed by its value
   * @throws IOException if the address cannot be listened on
   */
  public static void main(String[] arguments) throws IOException {
    Map<String, String> options = new HashMap<>();
    options.put("--role", "gateway");
    options.put("--listen", "127.0.0.1:0");
    for (String name : new String[] {"--form", "--prefill-form", "--decode-form"}) {
      options.put(name, "sglang");
    }
    options.put("--prefill", "");
    options.put("--decode", "");
    for (int i = 0; i < arguments.length; i += 2) {
      if (!options.containsKey(arguments[i]) || i + 1 == arguments.length) {
        refuse("no option " + arguments[i] + " with a value; " + USAGE);
      }
      options.put(arguments[i], arguments[i + 1]);
    }
    String[] address = options.get("--listen").split(":");
    if (address.length != 2 || !address[1].matches("\\d{1,5}")) {
      refuse("--listen " + options.get("--listen") + " is not HOST:PORT");
    }
    HttpServer server = Http.listen(address[0], Integer.parseInt(address[1]));
    switch (options.get("--role")) {
      case "engine":
        Form form = form(options, "--form");
        Http.on(server, "POST", form.path(), new Engine(form)::serve);
        break;
      case "gateway":
        new Gateway(options.get("--prefill"), form(options, "--prefill-form"), options.get("--decode"), form(options, "--decode-form")).install(server);
        break;
      default:
        refuse("no role " + options.get("--role") + "; there are gateway and engine");
    }
    server.start();
    System.out.println(server.getAddress().getHostString() + ":" + server.getAddress().getPort());
  }

  private static Form form(Map<String, String> options, String name) {
    Form form = Form.ALL.get(options.get(name));
    if (form == null) {
      refuse(name + " " + options.get(name) + " is no form; there are " + String.join(", ", Form.ALL.keySet()));
    }
    return form;
  }

  private static void refuse(String why) {
    System.err.println("gateway: " + why);
    System.exit(2);
  }
}
