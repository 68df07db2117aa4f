// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import io.github.routecap.Format;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One server's way of writing requests, answers and rows. */
interface Form {
  String path();

  /** What its fields are called. */
  Call.Fields fields();

  /** Reads a request, and refuses what no server would do. */
  default Call readCall(byte[] body) throws Json.Malformed {
    return Call.read(body, fields());
  }

  Object writeCall(Call call);

  List<Choice> readAnswer(byte[] body) throws Json.Malformed;

  Object writeAnswer(List<Choice> choices, Call call);

  Format wire();

  /** Whether a stream carries each delta's rows with it; otherwise all rows of a choice come with its last part. */
  boolean streamsRows();

  /** By name: `sglang`, `vllm`, `prime`. */
  Map<String, Form> ALL = all();

  private static Map<String, Form> all() {
    Map<String, Form> forms = new LinkedHashMap<>();
    forms.put("sglang", new SglangForm());
    forms.put("vllm", new OpenAiForm("/v1/completions", Format.VLLM, false));
    forms.put("prime", new OpenAiForm("/prime", Format.PRIME, true));
    return forms;
  }
}
