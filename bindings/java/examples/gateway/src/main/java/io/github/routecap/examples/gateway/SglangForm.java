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
  public Call.Fields fields() {
    return new Call.Fields("input_ids", "sampling_params", "max_new_tokens", "routed_experts_start_len", 128);
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
    if (!call.fault().isEmpty()) {
      write.put("fault", call.fault());
    }
    return write;
  }

  /** One choice or a list of them. A choice that does not say which one it is has its place in the list. */
  @Override
  public List<Choice> readAnswer(byte[] body) throws Json.Malformed {
    Object read = Json.read("answer", body);
    if (read instanceof List<?> list) {
      return Members.choices(list, "", this::choice);
    }
    if (!(read instanceof Map<?, ?>)) {
      throw new Json.Malformed("the answer is " + Members.shown(read) + ", not an object or a list");
    }
    return List.of(choice(0, Members.of("the answer", "", read)));
  }

  private Choice choice(int at, Members read) throws Json.Malformed {
    Members meta = read.object("meta_info");
    return new Choice(
        (int) read.whole("index", 0, Call.MOST_CHOICES - 1, at),
        read.tokens("output_ids", 0, Call.MOST_TOKENS),
        meta.rows("routed_experts", false),
        meta.whole(fields().start(), 0, Members.LARGEST, 0));
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
