// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import io.github.routecap.Format;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The OpenAI-like endpoints of vLLM and prime, which differ in how rows are written. */
record OpenAiForm(String path, Format wire, boolean streamsRows) implements Form {
  @Override
  public Call readCall(String body) throws Json.Malformed {
    Map<String, Object> read = Json.readObject(body);
    return Call.checked(
        Json.numbers(read, "prompt"),
        Json.number(read, "max_tokens", 0),
        Json.number(read, "n", 1),
        Json.flag(read, "stream"),
        Json.number(read, "routed_experts_prompt_start", 0),
        read.get("fault"));
  }

  @Override
  public Object writeCall(Call call) {
    Map<String, Object> write = new LinkedHashMap<>();
    write.put("prompt", call.prompt());
    write.put("max_tokens", call.maxTokens());
    write.put("n", call.choices());
    write.put("stream", call.stream());
    write.put("routed_experts_prompt_start", call.start());
    if (call.fault() != null) {
      write.put("fault", call.fault());
    }
    return write;
  }

  @Override
  public List<Choice> readAnswer(String body) throws Json.Malformed {
    if (!(Json.readObject(body).get("choices") instanceof List<?> list)) {
      throw new Json.Malformed("the answer has no choices");
    }
    List<Choice> choices = new ArrayList<>();
    for (Object one : list) {
      if (!(one instanceof Map<?, ?>)) {
        throw new Json.Malformed("a choice is no object");
      }
      @SuppressWarnings("unchecked")
      Map<String, Object> choice = (Map<String, Object>) one;
      choices.add(
          new Choice(
              (int) Json.number(choice, "index", 0),
              Json.numbers(choice, "token_ids"),
              Rows.field(choice.get("routed_experts")),
              Json.number(choice, "routed_experts_prompt_start", 0)));
    }
    return choices;
  }

  @Override
  public Object writeAnswer(List<Choice> choices, Call call) {
    List<Object> write = new ArrayList<>();
    for (Choice one : choices) {
      Map<String, Object> choice = new LinkedHashMap<>();
      choice.put("index", one.index);
      choice.put("token_ids", one.tokens);
      if (one.routing != null) {
        choice.put("routed_experts", new Json.Raw(one.routing));
      }
      choice.put("routed_experts_prompt_start", one.start);
      write.add(choice);
    }
    return Map.of("choices", write);
  }
}
