// SPDX-License-Identifier: Apache-2.0
//
// Records inside the answers of inference servers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace routecap::cli {

/// A record's form as a server put it into its answer.
struct Payload {
  std::string where;         ///< place in the answer, for example `choices[1].routed_experts`
  std::int64_t chunk = -1;   ///< which event of a stream, counted from 0; -1 = the answer is no stream
  std::int64_t choice = 0;   ///< which choice of the answer, as the server numbers it
  std::string bytes;         ///< the form: text, an object or nested lists
  std::string dtype;         ///< that the answer states beside it; empty = none
  std::int64_t tokens = -1;  ///< prompt and generated tokens of the choice, -1 = the answer does not say
};

/// Whether bytes begin as an answer does: a JSON object, a list of objects, or a stream of server-sent events. Forms of records may begin so too.
bool looks_like_answer(std::string_view bytes);

/// Every record in an answer, in its order; none where there is none. Refuses what is no JSON, naming the byte.
///
/// Known places: `meta_info.routed_experts` (SGLang /generate, one answer or a list), `sglext.routed_experts` (SGLang's OpenAI endpoints),
/// `choices[i].routed_experts` (vLLM, prime-rl), `nvext.routed_experts` (Dynamo). What stands there is text, a JSON object with data and shape, or
/// nested lists.
std::vector<Payload> payloads_of(std::string_view bytes);

}  // namespace routecap::cli
