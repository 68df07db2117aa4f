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
  public Call.Fields fields() {
    return new Call.Fields("prompt", null, "max_tokens", "routed_experts_prompt_start", 16);
  }

  @Override
  public Object writeCall(Call call) {
    Map<String, Object> write = new LinkedHashMap<>();
    write.put("prompt", call.prompt());
    write.put("max_tokens", call.maxTokens());
    write.put("n", call.choices());
    write.put("stream", call.stream());
    write.put("routed_experts_prompt_start", call.start());
    if (!call.fault().isEmpty()) {
      write.put("fault", call.fault());
    }
    return write;
  }

  @Override
  public List<Choice> readAnswer(byte[] body) throws Json.Malformed {
    return Members.choices(Members.of("the answer", "", Json.read("answer", body)).list("choices"), "choices", this::choice);
  }

  private Choice choice(int at, Members read) throws Json.Malformed {
    return new Choice(
        (int) read.whole("index", 0, Call.MOST_CHOICES - 1, at),
        read.tokens("token_ids", 0, Call.MOST_TOKENS),
        read.rows("routed_experts", wire == Format.PRIME),
        read.whole(fields().start(), 0, Members.LARGEST, 0));
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
