// SPDX-License-Identifier: Apache-2.0
//
// The content checks of `validate`: what a record can hold although its form is whole, and what most likely made it so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record_view.h"

namespace routecap::cli {

struct Finding {
  std::string kind;                  ///< for programs: `out-of-range`, `duplicate`, ...
  std::vector<std::int32_t> layers;  ///< layer numbers; empty = the row as a whole
  Range rows;                        ///< token positions; empty = all or none in particular
  std::string what;
  std::string cause;  ///< likely; may be empty
  std::string rule;   ///< of the contract, for example `R25`
};

struct CheckOptions {
  std::int32_t num_experts = 0;     ///< E that ids must be below
  std::int64_t tokens = -1;         ///< that an answer counts, -1 = not known
  std::int64_t prompt_tokens = -1;  ///< of them, those of the prompt
  bool start_derived = false;       ///< where the rows start follows from the counts
  bool complete = false;            ///< missing rows are findings too
};

/// All findings of a record, in order of layers and rows.
std::vector<Finding> findings_of(const RecordView& view, const CheckOptions& options);

/// `layers 3-5, positions 120-186: the same row 68 times in a run; stale or padded rows (R15)`.
std::string finding_text(const Finding& finding);

}  // namespace routecap::cli
