// SPDX-License-Identifier: Apache-2.0
//
// From an input's bytes to records: which form they are in, what the user adds, and what of several is meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input.h"
#include "library.h"

namespace routecap::cli {

class Parser;

/// What the user says of an input whose bytes do not say it.
struct LoadOptions {
  std::string from;
  std::int64_t start = -1;
  std::string rows;  ///< a number; in `inspect` also a range A:B, which is no hint
  std::int32_t num_layers = 0;
  std::string layer_ids;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::string dtype;
  std::int64_t turn = -1;
  std::int64_t frame = -1;
  std::int64_t choice = -1;
  std::int64_t chunk = -1;
  /// A command with several inputs: what the options say is said of those inputs that need it, and the others are taken as their content tells.
  bool several_inputs = false;
  /// Token position of the first row where neither the bytes nor --start say it; -1 = it must be said.
  std::int64_t start_if_absent = -1;
};

/// Declares --from, --frame, --choice, --chunk and the hints.
void add_load_options(Parser& parser, LoadOptions& options);

/// Declares an input as a positional argument.
void add_input(Parser& parser, std::string& path, const char* name = "FILE");

/// One form of a record as it lies in an input: the whole of it, one frame of several, or a value inside an HTTP answer.
struct Piece {
  std::int32_t format = 0;
  std::string where;                ///< empty for the whole input, else for example `frame 2` or `choices[0].routed_experts`
  std::int64_t offset = 0;          ///< of a frame in the input
  std::int64_t bytes = 0;           ///< that the form takes
  std::int64_t tokens = -1;         ///< prompt and generated tokens that an answer tells of, -1 = it does not
  std::int64_t prompt_tokens = -1;  ///< of them, those of the prompt
  bool start_derived = false;       ///< the position of the first row follows from the token counts and the number of rows alone
};

struct Loaded {
  Piece piece;
  RecordHandle record;
};

/// All that an input holds, in order, and why it ends where it does.
struct Contents {
  std::string name;
  std::int64_t bytes = 0;
  std::vector<Loaded> records;
  std::string broken;        ///< why the frame behind the last record, or an event of a stream, cannot be read; empty = there is none such
  std::string broken_where;  ///< `frame 2 at byte 812`, `event 3`
  const char* way_out = "";  ///< what chooses one of those that can be read
};

/// How ids are taken that are not below E.
enum class IdRange {
  kStrict,  ///< refused
  kAny,     ///< kept where the form does not itself state E: the record then has another E than the options
};

/// Every record of an input. Throws where the first one cannot be read.
Contents load_all(const std::string& path, const LoadOptions& options, IdRange range = IdRange::kStrict);

/// The record that is meant; refuses an input that holds several and names the option that chooses.
Loaded load_one(const std::string& path, const LoadOptions& options);

}  // namespace routecap::cli
