// SPDX-License-Identifier: Apache-2.0
//
// Records inside the answers of inference servers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace routecap::cli {

/// A record's form as a server put it into its answer.
struct Payload {
  std::string where;         ///< place in the answer, for example `choices[1].routed_experts`
  std::int64_t choice = 0;   ///< which choice of the answer, as the server numbers it
  std::string bytes;         ///< the form: text, an object or nested lists
  std::string dtype;         ///< that the answer states beside it; empty = none
  std::int64_t tokens = -1;  ///< prompt and generated tokens of the choice, -1 = the answer does not say
  std::int64_t start = -1;   ///< token position of the first row, -1 = the answer does not say
};

/// Whether bytes look like an answer: a JSON object or list of objects, or a stream of `data:` lines, and no form of a record by itself.
bool looks_like_answer(const std::string& bytes);

/// Every record in an answer. Refuses one in which there is none.
std::vector<Payload> payloads_of(const std::string& bytes);

}  // namespace routecap::cli
