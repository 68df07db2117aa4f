// SPDX-License-Identifier: Apache-2.0
#include "load.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "options.h"
#include "payload.h"
#include "progress.h"
#include "ranges.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

/// Hints in the library's form.
struct Hints {
  rcap_decode_hints facts = make(rcap_decode_hints_init);
  std::vector<std::int32_t> layer_ids;
};

Hints hints_of(const LoadOptions& options) {
  Hints hints;
  hints.facts.start = options.start;
  hints.facts.rows = options.rows.empty() ? -1 : number_of(options.rows, "--rows");
  hints.facts.num_experts = options.num_experts;
  hints.facts.top_k = options.top_k;
  hints.facts.turn = options.turn;
  if (!options.dtype.empty()) hints.facts.dtype = dtype_of(options.dtype, "--dtype");
  if (!options.layer_ids.empty()) hints.layer_ids = layers_of(options.layer_ids, "--layer-ids");
  // With both, they must agree, which the library sees to.
  hints.facts.num_layers = options.num_layers;
  return hints;
}

/// The library names its hints; the user knows them as options.
std::string with_option_names(std::string text) {
  constexpr std::array<std::pair<const char*, const char*>, 7> kNames{{{"start", "--start"},
                                                                       {"rows", "--rows"},
                                                                       {"num_layers", "--layers"},
                                                                       {"num_experts", "--experts"},
                                                                       {"top_k", "--top-k"},
                                                                       {"dtype", "--dtype"},
                                                                       {"turn", "--turn"}}};
  for (const auto& [hint, option] : kNames) {
    if (text.find(text_of("hint ", hint)) == std::string::npos) continue;
    if (text.find(" is needed") != std::string::npos) {
      return text_of(text, ": say it with ", option, std::string_view(hint) == "num_layers" ? " or --layer-ids" : "");
    }
    const std::string said = text_of("hint ", hint, " is ");
    const std::size_t at = text.find(said);
    if (at == std::string::npos) return text;
    std::string behind = text.substr(at + said.size());
    std::int32_t own = 0;
    std::int32_t other = 0;
    if (std::string_view(hint) == "dtype" && std::sscanf(behind.c_str(), "%" SCNd32 ", the bytes have %" SCNd32, &own, &other) == 2) {
      // Its numbers are those of the API; int8 is a type that the API has no number for.
      behind = text_of(dtype_name(own), ", the bytes have ", other == RCAP_DTYPE_NONE ? "another type" : dtype_name(other));
    }
    return text.substr(0, at) + option + " is " + behind;
  }
  return text;
}

std::int32_t format_of(const std::string& name) {
  std::int32_t format = 0;
  require([&](rcap_error* error) { return rcap_wire_format_of(name.c_str(), &format, error); });
  return format;
}

/// 0 where the bytes have no mark.
std::int32_t detected(std::string_view bytes) {
  std::int32_t format = 0;
  const rcap_status status = rcap_wire_detect(bytes.data(), static_cast<std::int64_t>(bytes.size()), &format, nullptr);
  return status == RCAP_STATUS_OK ? format : 0;
}

RecordHandle decode(std::int32_t format, std::string_view bytes, Hints hints, IdRange range, std::int64_t* consumed) {
  // E follows from no foreign form's bytes, so any E that is large enough lets every id through.
  const bool any = range == IdRange::kAny && format != RCAP_WIRE_FRAME && format != RCAP_WIRE_FRAME_BASE64 && hints.facts.num_experts > 0;
  const auto attempt = [&](const Hints& given) {
    return make_record([&](rcap_record** record, rcap_error* error) {
      return rcap_record_decode(format, bytes.data(), static_cast<std::int64_t>(bytes.size()), &given.facts,
                                given.layer_ids.empty() ? nullptr : given.layer_ids.data(), static_cast<std::int64_t>(given.layer_ids.size()), record,
                                consumed, error);
    });
  };
  try {
    return attempt(hints);
  } catch (const LibraryFailure& failure) {
    if (!any || failure.status() != RCAP_STATUS_OUT_OF_RANGE) throw;
    hints.facts.num_experts = INT32_MAX;
    try {
      return attempt(hints);
    } catch (const LibraryFailure&) {
      // What is said with the right E says more.
      throw failure;
    }
  }
}

class Loader {
 public:
  Loader(const Input& input, const LoadOptions& options, IdRange range)
      : input_(input), bytes_(input.bytes), options_(options), range_(range), hints_(hints_of(options)) {
    // Windows programs put a byte order mark before UTF-8 text, JSON and streams included.
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (bytes_.starts_with(kMark)) {
      const std::string_view rest = bytes_.substr(kMark.size());
      if (looks_like_answer(rest) || rest.starts_with('[')) bytes_ = rest;
    }
    contents_.name = input.name;
    contents_.bytes = static_cast<std::int64_t>(input.bytes.size());
  }

  Contents load() {
    if (input_.bytes.empty()) refuse(input_.name, " is empty");
    const std::int32_t told = detected(bytes_);
    const std::int32_t asked = options_.from.empty() ? 0 : format_of(options_.from);
    // With --from, an answer still is one: what stands in it has that form.
    if (told == 0 && looks_like_answer(bytes_) && load_answer(asked)) return std::move(contents_);
    if (!options_.several_inputs && (options_.choice >= 0 || options_.chunk >= 0)) {
      refuse(options_.choice >= 0 ? "--choice: " : "--chunk: ", input_.name, " is no answer of a server with records in it");
    }
    const std::int32_t format = chosen(told, asked);
    if (format == 0) {
      refuse(input_.name, ": its content tells no form of a record; name one with --from (a flat base64 array is sglang)");
    }
    if (format == RCAP_WIRE_FRAME) {
      load_frames();
    } else {
      if (options_.frame >= 0 && !options_.several_inputs) refuse("--frame: ", input_.name, " holds no frames");
      Piece piece;
      piece.format = format;
      piece.bytes = contents_.bytes;
      add(std::move(piece), bytes_, hints_, nullptr);
    }
    return std::move(contents_);
  }

 private:
  /// The form that is meant, and the hints that it has a use for.
  std::int32_t chosen(std::int32_t told, std::int32_t asked) {
    if (!options_.several_inputs) return asked != 0 ? asked : told;
    if (told != 0) hints_.facts.dtype = RCAP_DTYPE_NONE;
    return told != 0 ? told : asked;
  }

  /// The hints that a form has a use for. With one input, one that contradicts the bytes is refused by the library.
  [[nodiscard]] Hints useful(std::int32_t format, Hints hints) const {
    const bool frame = format == RCAP_WIRE_FRAME || format == RCAP_WIRE_FRAME_BASE64;
    const bool has_start = frame || format == RCAP_WIRE_PRIME || format == RCAP_WIRE_CSV;
    if (options_.several_inputs && frame) return {};
    if (options_.several_inputs && has_start) hints.facts.start = -1;
    if (!has_start && hints.facts.start < 0) hints.facts.start = options_.start_if_absent;
    return hints;
  }

  void add(Piece piece, std::string_view bytes, const Hints& hints, std::int64_t* consumed) {
    try {
      RecordHandle record = decode(piece.format, bytes, useful(piece.format, hints), range_, consumed);
      if (consumed != nullptr) piece.bytes = *consumed;
      contents_.records.push_back({std::move(piece), std::move(record)});
    } catch (const LibraryFailure& failure) {
      // The library names the byte; where the whole is JSON, the member says more.
      const std::string fault = piece.format == RCAP_WIRE_PRIME ? fault_of_prime(bytes) : std::string();
      throw LibraryFailure(failure.status(), text_of(input_.name, piece.where.empty() ? "" : ", ", piece.where, ": ",
                                                     fault.empty() ? with_option_names(failure.what()) : "prime: " + fault));
    }
  }

  void load_frames() {
    Progress progress("decoding", contents_.bytes);
    std::int64_t offset = 0;
    for (std::int64_t number = 0; offset < contents_.bytes; ++number) {
      Piece piece;
      piece.format = RCAP_WIRE_FRAME;
      piece.offset = offset;
      const std::string where = text_of("frame ", number, " at byte ", offset);
      piece.where = where;
      std::int64_t consumed = 0;
      try {
        add(std::move(piece), bytes_.substr(static_cast<std::size_t>(offset)), hints_, &consumed);
      } catch (const LibraryFailure& failure) {
        // A file that is still being written, or was cut: what stands before is whole.
        if (number == 0) throw;
        contents_.broken = failure.what();
        contents_.broken_where = where;
        contents_.way_out = "; --frame chooses one of the frames before it";
        break;
      }
      offset += consumed;
      progress.advance(consumed);
    }
    if (contents_.records.size() == 1 && contents_.broken.empty()) contents_.records.front().piece.where.clear();
    if (options_.frame >= 0) {
      const auto count = static_cast<std::int64_t>(contents_.records.size());
      if (options_.frame >= count) refuse("--frame: ", options_.frame, ", ", input_.name, " holds ", count, " whole, counted from 0");
      Loaded chosen = std::move(contents_.records[static_cast<std::size_t>(options_.frame)]);
      contents_.records.clear();
      contents_.records.push_back(std::move(chosen));
      contents_.broken.clear();
    }
  }

  /// @return whether there was a record in it
  bool load_answer(std::int32_t format) {
    ServerAnswer answer;
    try {
      answer = payloads_of(bytes_, input_.bytes.size() - bytes_.size());
    } catch (const Failure& failure) {
      if (format != 0) return false;  // --from may know better
      throw Failure(failure.code(), text_of(input_.name, ": ", failure.what()));
    }
    const std::vector<Payload>& payloads = answer.payloads;
    if (payloads.empty()) {
      if (format != 0) return false;
      if (!answer.broken.empty()) refuse(input_.name, ": ", answer.broken);
      // An object that has a member of `prime` is one that lacks another, or has a bad one.
      if (const std::string fault = fault_of_prime(bytes_); !fault.empty()) {
        refuse(input_.name, ": prime: ", fault);
      }
      refuse(input_.name, " looks like a server's answer and holds no routed_experts where servers put them");
    }
    if (options_.frame >= 0 && !options_.several_inputs) refuse("--frame: ", input_.name, " is a server's answer; choose with --choice");
    std::string places;
    for (const Payload& payload : payloads) {
      places += text_of(places.empty() ? "" : "; ", "choice ", payload.choice, " at ", payload.where);
      const bool other_choice = options_.choice >= 0 && payload.choice != options_.choice;
      const bool other_chunk = options_.chunk >= 0 && payload.chunk != options_.chunk;
      if (!other_choice && !other_chunk) add_payload(payload, format);
    }
    if (!answer.broken.empty() && (options_.chunk < 0 || options_.chunk == answer.broken_chunk)) {
      contents_.broken = text_of(input_.name, ": ", answer.broken);
      contents_.broken_where = text_of("chunk ", answer.broken_chunk);
      contents_.way_out = "; --chunk chooses one of the other events";
      if (options_.chunk >= 0) refuse(contents_.broken);
    }
    if (contents_.records.empty()) refuse(input_.name, " has no record of that ", options_.choice >= 0 ? "--choice" : "--chunk", ", but ", places);
    return true;
  }

  void add_payload(const Payload& payload, std::int32_t format) {
    Piece piece;
    piece.where = payload.where;
    piece.bytes = static_cast<std::int64_t>(payload.bytes.size());
    piece.tokens = payload.tokens;
    piece.prompt_tokens = payload.prompt_tokens;
    piece.format = format == 0 || options_.several_inputs ? detected(payload.bytes) : format;
    if (piece.format == 0) piece.format = format;
    if (piece.format == 0 && payload.bytes.starts_with('{')) piece.format = RCAP_WIRE_PRIME;
    // A flat base64 array is the one form without a mark, and the one that is left.
    if (piece.format == 0) piece.format = RCAP_WIRE_SGLANG;
    Hints hints = hints_;
    if (hints.facts.dtype == RCAP_DTYPE_NONE && !payload.dtype.empty() && piece.format == RCAP_WIRE_SGLANG) {
      hints.facts.dtype = dtype_of(payload.dtype, "the answer's routed_experts_dtype");
    }
    const bool has_start = hints.facts.start >= 0 || piece.format == RCAP_WIRE_PRIME || piece.format == RCAP_WIRE_FRAME_BASE64;
    if (has_start || piece.tokens < 0) {
      add(std::move(piece), payload.bytes, hints, nullptr);
    } else {
      add_by_tokens(std::move(piece), payload.bytes, hints);
    }
  }

  /// A server counts n tokens and gives the rows from some position up to n - 1 (R1): how many there are says from which.
  void add_by_tokens(Piece piece, const std::string& bytes, Hints hints) {
    const std::int64_t behind = std::max<std::int64_t>(0, piece.tokens - 1);
    piece.start_derived = true;
    hints.facts.start = 0;
    add(piece, bytes, hints, nullptr);
    const std::int64_t rows = RecordView(contents_.records.back().record.get()).rows();
    if (rows == behind) return;
    contents_.records.pop_back();
    if (rows > behind) {
      throw LibraryFailure(RCAP_STATUS_CORRUPT, text_of(input_.name, ", ", piece.where, ": ", rows, " rows, the answer counts ", piece.tokens,
                                                        " tokens and so ", behind, " rows at most (R1); --start takes them as they are"));
    }
    hints.facts.start = behind - rows;
    add(std::move(piece), bytes, hints, nullptr);
  }

  const Input& input_;
  std::string_view bytes_;  ///< of the input, without a byte order mark
  const LoadOptions& options_;
  IdRange range_;
  Hints hints_;
  Contents contents_;
};

}  // namespace

void add_load_options(Parser& parser, LoadOptions& options) {
  const char* group = "What the input's bytes do not say";
  const auto add = [&](const char* names, Target value, const char* help, const char* type, Check check = {}) -> Option& {
    Option& option = parser.add_value(names, value, help, type, std::move(check));
    option.group = group;
    return option;
  };
  parser.add_choice("--from", &options.from, "form of the input, where its content does not tell it", "FORM", form_names()).group = group;
  add("--start", &options.start, "token position of the first row", "N", whole_number(0, INT64_MAX));
  add("--rows", &options.rows, "number of rows", "N");
  add("--layers", &options.num_layers, "number of layers, numbered from 0", "N", whole_number(1, INT32_MAX));
  add("--layer-ids", &options.layer_ids, "layer number of each column, ascending: 3,4,7-60", "LIST").excludes = {"--layers"};
  add("--experts", &options.num_experts, "routed experts E of a layer: ids lie in [0, E)", "E", whole_number(1, INT32_MAX));
  add("--top-k", &options.top_k, "experts chosen per token and layer", "K", whole_number(1, INT32_MAX));
  parser.add_choice("--dtype", &options.dtype, "type of the ids in a flat array", "TYPE", id_dtype_names()).group = group;
  add("--turn", &options.turn, "turn of a CSV trace that has several", "N", whole_number(0, INT64_MAX));
  add("--frame", &options.frame, "which frame of a file that holds several, counted from 0", "N", whole_number(0, INT64_MAX));
  add("--choice", &options.choice, "which choice of a server's answer that has several, as the server numbers them", "N", whole_number(0, INT64_MAX));
  add("--chunk", &options.chunk, "which event of a streamed answer, counted from 0, where several hold records", "N", whole_number(0, INT64_MAX));
}

void add_input(Parser& parser, std::string& path, const char* name) {
  parser.add_value(name, &path, "a record in any form, a server's answer that holds one, or - for standard input", "").required = true;
}

Contents load_all(const std::string& path, const LoadOptions& options, IdRange range) {
  const Input input = read_input(path);
  return Loader(input, options, range).load();
}

Loaded load_one(const std::string& path, const LoadOptions& options) {
  Contents contents = load_all(path, options);
  if (!contents.broken.empty()) refuse(contents.broken, contents.way_out);
  const std::size_t count = contents.records.size();
  if (count != 1) {
    const bool frames = contents.records.front().piece.format == RCAP_WIRE_FRAME && contents.records.front().piece.where.starts_with("frame ");
    refuse(contents.name, " holds ", count, " records; choose one with ", frames ? "--frame" : "--choice (and --chunk in a stream)");
  }
  return std::move(contents.records.front());
}

}  // namespace routecap::cli
