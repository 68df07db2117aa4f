// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base85.h"
#include "error.h"

namespace routecap::cli {
namespace {

using nlohmann::json;

constexpr const char* kName = "routed_experts";

/// Member of an object; null where there is none, or `value` is no object.
const json* member(const json& value, const char* name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(name);
  return found == value.end() || found->is_null() ? nullptr : &*found;
}

/// A whole number >= 0, or -1.
std::int64_t count_of(const json& value, const char* name) {
  const json* found = member(value, name);
  return found == nullptr || !found->is_number_unsigned() || found->get<std::uint64_t>() > INT64_MAX / 4 ? -1 : found->get<std::int64_t>();
}

/// Tokens of one choice, -1 where they are not told.
struct Tokens {
  std::int64_t prompt = -1;
  std::int64_t all = -1;  ///< prompt and generated ones
};

Tokens tokens_of(const json& counts) {
  const std::int64_t prompt = count_of(counts, "prompt_tokens");
  const std::int64_t completion = count_of(counts, "completion_tokens");
  return prompt < 0 || completion < 0 ? Tokens() : Tokens{prompt, prompt + completion};
}

/// The bytes of a form. An object's `data` in base 85 becomes base64, as the `prime` form has it.
std::string form_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  const json* data = member(value, "data");
  if (data != nullptr && data->is_string() && !may_be_base64(data->get_ref<const std::string&>())) {
    if (const auto bytes = base85_bytes(data->get_ref<const std::string&>())) {
      json changed = value;
      changed["data"] = base64_text(*bytes);
      return changed.dump(-1, ' ', false, json::error_handler_t::replace);
    }
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Collects the records of one JSON value of an answer.
class Finder {
 public:
  explicit Finder(std::vector<Payload>& found) : found_(found) {}

  /// @param chunk  event of a stream, or -1
  void search(const json& answer, std::int64_t chunk) {
    chunk_ = chunk;
    if (answer.is_array()) {
      for (std::size_t i = 0; i < answer.size(); ++i) search_one(answer[i], text_of('[', i, "]."), static_cast<std::int64_t>(i));
    } else {
      search_one(answer, "", 0);
    }
  }

 private:
  /// @param number  of the answer in a batch
  void search_one(const json& answer, const std::string& prefix, std::int64_t number) {
    if (const json* meta = member(answer, "meta_info")) {
      const std::int64_t index = count_of(answer, "index");
      take(*meta, prefix + "meta_info", index < 0 ? number : index, tokens_of(*meta));
    }
    const json* usage = member(answer, "usage");
    const json* choices = member(answer, "choices");
    const std::size_t count = choices != nullptr && choices->is_array() ? choices->size() : 0;
    // The counts of several choices are summed up: they say nothing of one.
    const Tokens tokens = usage != nullptr && count <= 1 ? tokens_of(*usage) : Tokens();
    for (const char* extension : {"sglext", "nvext"}) {
      if (const json* holder = member(answer, extension)) take(*holder, prefix + extension, 0, tokens);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t index = count_of((*choices)[i], "index");
      take((*choices)[i], text_of(prefix, "choices[", i, ']'), index < 0 ? static_cast<std::int64_t>(i) : index, tokens);
    }
  }

  void take(const json& holder, const std::string& place, std::int64_t choice, Tokens tokens) {
    const json* value = member(holder, kName);
    if (value == nullptr) return;
    Payload payload;
    payload.where = chunk_ < 0 ? text_of(place, '.', kName) : text_of("chunk ", chunk_, ", ", place, '.', kName);
    payload.chunk = chunk_;
    payload.choice = choice;
    payload.tokens = tokens.all;
    payload.prompt_tokens = tokens.prompt;
    if (const json* dtype = member(holder, "routed_experts_dtype"); dtype != nullptr && dtype->is_string()) payload.dtype = dtype->get<std::string>();
    payload.bytes = form_of(*value);
    found_.push_back(std::move(payload));
  }

  std::vector<Payload>& found_;
  std::int64_t chunk_ = -1;
};

/// @param offset  of the text in the input
json parsed(std::string_view text, std::size_t offset) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    refuse("this looks like a server's answer and is no JSON: unexpected content at byte ", offset + (error.byte == 0 ? 0 : error.byte - 1));
  }
}

bool is_field(std::string_view line, std::string_view name) { return line.starts_with(name); }

/// One line of a stream, without its end, which is taken too.
std::string_view next_line(std::string_view bytes, std::size_t& at) {
  const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
  std::string_view line = bytes.substr(at, end - at);
  at = std::min(end + 1, bytes.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// A `data:` line of an event: its value, and where that stands in the input.
struct DataLine {
  std::string_view text;
  std::size_t offset = 0;
};

/// Reads a stream of server-sent events: an event's `data:` lines belong together, joined by line ends, and an empty line ends it.
class StreamReader {
 public:
  StreamReader(std::string_view bytes, std::size_t before, ServerAnswer& answer)
      : bytes_(bytes), before_(before), answer_(answer), finder_(answer.payloads) {}

  void read() {
    std::vector<DataLine> lines;
    for (std::size_t at = 0; at < bytes_.size();) {
      std::string_view line = next_line(bytes_, at);
      if (line.empty()) {
        take(lines);
        lines.clear();
      }
      if (!is_field(line, "data:")) continue;
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      if (line != "[DONE]") lines.push_back({line, before_ + static_cast<std::size_t>(line.data() - bytes_.data())});
    }
    // A stream that was cut has no empty line behind its last event.
    take(lines);
  }

 private:
  void take(const std::vector<DataLine>& lines) {
    if (lines.empty()) return;
    std::string text;
    for (const DataLine& line : lines) text.append(text.empty() ? "" : "\n").append(line.text);
    try {
      const json event = json::parse(text);
      finder_.search(event, chunk_++);
    } catch (const json::parse_error& error) {
      // Some servers leave the empty lines out: then each line is an event.
      if (lines.size() > 1 && std::all_of(lines.begin(), lines.end(), [](const DataLine& line) { return json::accept(line.text); })) {
        for (const DataLine& line : lines) finder_.search(json::parse(line.text), chunk_++);
        return;
      }
      tell_broken(lines, error.byte == 0 ? 0 : error.byte - 1);
      ++chunk_;
    }
  }

  /// @param at  in the joined lines
  void tell_broken(const std::vector<DataLine>& lines, std::size_t at) {
    if (!answer_.broken.empty()) return;
    std::size_t line = 0;
    while (line + 1 < lines.size() && at > lines[line].text.size()) at -= lines[line++].text.size() + 1;
    answer_.broken = text_of("event ", chunk_, " of the stream is no JSON: unexpected content at byte ", lines[line].offset + at);
    answer_.broken_chunk = chunk_;
  }

  std::string_view bytes_;
  std::size_t before_;
  ServerAnswer& answer_;
  Finder finder_;
  std::int64_t chunk_ = 0;
};

bool is_stream(std::string_view bytes) {
  for (const char* field : {"data:", "event:", "id:", "retry:", ":"}) {
    if (is_field(bytes, field)) return true;
  }
  return false;
}

std::string_view without_space(std::string_view bytes) { return bytes.substr(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size())); }

}  // namespace

bool looks_like_answer(std::string_view bytes) {
  const std::string_view text = without_space(bytes);
  return is_stream(text) || text.starts_with('{') || (text.starts_with('[') && without_space(text.substr(1)).starts_with('{'));
}

ServerAnswer payloads_of(std::string_view bytes, std::size_t before) {
  ServerAnswer answer;
  if (is_stream(without_space(bytes))) {
    StreamReader(bytes, before, answer).read();
  } else {
    Finder(answer.payloads).search(parsed(bytes, before), -1);
  }
  return answer;
}

std::string fault_of_prime(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  // Other objects have a member data too.
  const json* data = member(object, "data");
  if (member(object, "shape") == nullptr && (data == nullptr || !data->is_string())) return {};
  const auto is_count = [](const json& value) { return value.is_number_unsigned(); };
  const auto is_shape = [&](const json& value) { return value.is_array() && value.size() == 3 && std::all_of(value.begin(), value.end(), is_count); };
  const auto is_text = [](const json& value) { return value.is_string(); };
  const auto fault = [&](const char* name, bool required, auto&& is_right, const char* wanted) -> std::string {
    const auto found = object.find(name);
    if (found == object.end()) return required ? text_of("there is no member ", name) : std::string();
    if (is_right(*found)) return {};
    std::string value = found->dump(-1, ' ', true);
    if (value.size() > 40) value = value.substr(0, 40) + "...";
    return text_of("member ", name, " is ", value, ", not ", wanted);
  };
  for (const std::string& found : {fault("data", true, is_text, "a text"), fault("shape", true, is_shape, "three whole numbers from 0 up"),
                                   fault("start", false, is_count, "a whole number from 0 up"), fault("dtype", false, is_text, "a text")}) {
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace routecap::cli
