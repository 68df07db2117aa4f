// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import io.github.routecap.Format;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** SGLang's /generate. */
final class SglangForm implements Form {
  @Override
  public String path() {
    return "/generate";
  }

  @Override
  public Format wire() {
    return Format.SGLANG;
  }

  @Override
  public boolean streamsRows() {
    return true;
  }

  @Override
  public Call readCall(String body) throws Json.Malformed {
    Map<String, Object> read = Json.readObject(body);
    Map<String, Object> sampling = Json.object(read, "sampling_params");
    return Call.checked(
        Json.numbers(read, "input_ids"),
        Json.number(sampling, "max_new_tokens", 0),
        Json.number(sampling, "n", 1),
        Json.flag(read, "stream"),
        Json.number(read, "routed_experts_start_len", 0),
        read.get("fault"));
  }

  @Override
  public Object writeCall(Call call) {
    Map<String, Object> sampling = new LinkedHashMap<>();
    sampling.put("max_new_tokens", call.maxTokens());
    sampling.put("n", call.choices());
    Map<String, Object> write = new LinkedHashMap<>();
    write.put("input_ids", call.prompt());
    write.put("sampling_params", sampling);
    write.put("stream", call.stream());
    write.put("return_routed_experts", true);
    write.put("routed_experts_start_len", call.start());
    if (call.fault() != null) {
      write.put("fault", call.fault());
    }
    return write;
  }

  @Override
  public List<Choice> readAnswer(String body) throws Json.Malformed {
    Object read = Json.read(body);
    List<Choice> choices = new ArrayList<>();
    for (Object one : read instanceof List<?> list ? list : List.of(read)) {
      if (!(one instanceof Map<?, ?>)) {
        throw new Json.Malformed("an answer is no object");
      }
      @SuppressWarnings("unchecked")
      Map<String, Object> answer = (Map<String, Object>) one;
      Map<String, Object> meta = Json.object(answer, "meta_info");
      choices.add(
          new Choice(
              (int) Json.number(answer, "index", 0),
              Json.numbers(answer, "output_ids"),
              Rows.field(meta.get("routed_experts")),
              Json.number(meta, "routed_experts_start_len", 0)));
    }
    return choices;
  }

  @Override
  public Object writeAnswer(List<Choice> choices, Call call) {
    List<Object> write = new ArrayList<>();
    for (Choice one : choices) {
      Map<String, Object> meta = new LinkedHashMap<>();
      meta.put("prompt_tokens", call.prompt().length);
      meta.put("completion_tokens", one.tokens.length);
      if (one.routing != null) {
        meta.put("routed_experts", new Json.Raw(one.routing));
      }
      meta.put("routed_experts_start_len", one.start);
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("index", one.index);
      answer.put("output_ids", one.tokens);
      answer.put("meta_info", meta);
      write.add(answer);
    }
    return write.size() == 1 && (call.choices() == 1 || call.stream()) ? write.get(0) : write;
  }
}
