// SPDX-License-Identifier: Apache-2.0
#include "encode.h"

#include <array>
#include <string_view>
#include <utility>

#include "options.h"
#include "output.h"
#include "progress.h"
#include "ranges.h"

namespace routecap::cli {
namespace {

std::int32_t missing_of(const std::string& name) {
  if (name == "refuse") return RCAP_MISSING_REFUSE;
  if (name == "minus-one") return RCAP_MISSING_MINUS_ONE;
  return RCAP_MISSING_FILL;
}

/// The library's text of a refused missing row, and the way out.
std::string with_way_out(const std::string& text, const EncodeOptions& options) {
  if (options.missing == "refuse" && text.find("missing") != std::string::npos) {
    const std::string name = " (options missing is REFUSE)";
    const std::size_t at = text.find(name);
    return (at == std::string::npos ? text : text.substr(0, at) + text.substr(at + name.size())) + ": choose how to write it with --missing";
  }
  constexpr std::array<std::pair<const char*, const char*>, 5> kNames{{{"options zstd_level is ", "--zstd is "},
                                                                       {"options turn is ", "--to-turn is "},
                                                                       {"options decode_start is ", "--decode-start is "},
                                                                       {"options fill_id is ", "--fill-id is "},
                                                                       {"options dtype is ", "--to-dtype is "}}};
  for (const auto& [name, option] : kNames) {
    if (!text.starts_with(name)) continue;
    std::string behind = text.substr(std::string_view(name).size());
    const std::string experts = ", num_experts is ";
    const std::size_t at = behind.find(experts);
    if (at != std::string::npos) behind = behind.substr(0, at) + ", there are " + behind.substr(at + experts.size()) + " experts";
    // Of a type the library also tells the API's number.
    const std::size_t comma = behind.find(',');
    return option + (options.dtype.empty() || std::string_view(option) != "--to-dtype is " || comma == std::string::npos
                         ? behind
                         : options.dtype + behind.substr(comma));
  }
  return text;
}

void append_encoded(std::string& bytes, const rcap_record* record, std::int32_t format, const rcap_encode_options& options) {
  std::int64_t needed = 0;
  require([&](rcap_error* error) { return rcap_record_encode(record, format, &options, nullptr, 0, &needed, error); });
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(needed));
  require([&](rcap_error* error) { return rcap_record_encode(record, format, &options, bytes.data() + before, needed, &needed, error); });
  bytes.resize(before + static_cast<std::size_t>(needed));
}

}  // namespace

void add_encode_options(Parser& parser, EncodeOptions& options) {
  const char* group = "How the output is written";
  const auto add = [&](const char* names, Target value, const char* help, const char* type, Check check = {}) -> Option& {
    Option& option = parser.add_value(names, value, help, type, std::move(check));
    option.group = group;
    return option;
  };
  add("-o,--output", &options.output, "file to write, whole or not at all; standard output if not given, or -", "FILE");
  parser.add_choice("--to", &options.to, "form of the output; frame if not given", "FORM", form_names()).group = group;
  parser
      .add_choice("--to-dtype", &options.dtype, "type of the ids in sglang (uint8, uint16, int32), vllm and npy (also int16, int64)", "TYPE",
                  id_dtype_names())
      .group = group;
  parser
      .add_choice("--missing", &options.missing, "missing rows in a form that cannot say so; minus-one needs a signed type; refuse if not given",
                  "HOW", {"refuse", "minus-one", "fill"})
      .group = group;
  add("--fill-id", &options.fill_id, "first id that --missing fill writes, the next columns get the next ones; 0 if not given", "ID",
      whole_number(0, INT64_MAX));
  add("--zstd", &options.zstd_level, "compress a frame's parts with this Zstandard level, 1 to 19", "LEVEL", whole_number(1, 19));
  add("--to-turn", &options.turn, "turn column of csv; 0 if not given", "N", whole_number(0, INT64_MAX));
  add("--decode-start", &options.decode_start, "first token position of the decode phase in csv; all prefill if not given", "N",
      whole_number(0, INT64_MAX));
}

void write_records(const std::vector<const rcap_record*>& records, const EncodeOptions& options) {
  std::int32_t format = 0;
  require([&](rcap_error* error) { return rcap_wire_format_of(options.to.c_str(), &format, error); });
  auto facts = make(rcap_encode_options_init);
  if (!options.dtype.empty()) facts.dtype = dtype_of(options.dtype, "--to-dtype");
  facts.missing = missing_of(options.missing);
  facts.fill_id = options.fill_id;
  facts.zstd_level = options.zstd_level;
  facts.turn = options.turn;
  facts.decode_start = options.decode_start;
  if (records.size() > 1 && format != RCAP_WIRE_FRAME) {
    refuse("--to ", options.to, ": it holds one record and the input has ", records.size(),
           "; choose one of them, or --to frame, or join them with concat");
  }
  if (options.fill_id != 0 && options.missing != "fill") {
    refuse("--fill-id ", options.fill_id, ": only --missing fill writes it, and --missing is ", options.missing);
  }
  std::string bytes;
  Progress progress("encoding", static_cast<std::int64_t>(records.size()));
  for (const rcap_record* record : records) {
    try {
      append_encoded(bytes, record, format, facts);
    } catch (const LibraryFailure& failure) {
      throw LibraryFailure(failure.status(), with_way_out(failure.what(), options));
    }
    progress.advance(1);
  }
  write_output(options.output, bytes, format == RCAP_WIRE_FRAME || format == RCAP_WIRE_NPY);
}

}  // namespace routecap::cli
