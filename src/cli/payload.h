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
  std::string where;                ///< place in the answer, for example `choices[1].routed_experts`
  std::int64_t chunk = -1;          ///< which event of a stream, counted from 0; -1 = the answer is no stream
  std::int64_t choice = 0;          ///< which choice of the answer, as the server numbers it
  std::string bytes;                ///< the form: text, an object or nested lists
  std::string dtype;                ///< that the answer states beside it; empty = none
  std::int64_t tokens = -1;         ///< prompt and generated tokens of the choice, -1 = the answer does not say
  std::int64_t prompt_tokens = -1;  ///< of them, those of the prompt
};

/// The records of an answer.
struct ServerAnswer {
  std::vector<Payload> payloads;
  std::string broken;              ///< why an event of a stream cannot be read, the first such one; empty = all can
  std::int64_t broken_chunk = -1;  ///< which event that is
};

/// Whether bytes begin as an answer does: a JSON object, a list of objects, or a stream of server-sent events. Forms of records may begin so too.
bool looks_like_answer(std::string_view bytes);

/// Every record in an answer, in its order; none where there is none. Refuses what is no JSON, naming the byte; an event of a stream that is none is
/// told in `broken`, and the others are read.
///
/// Known places: `meta_info.routed_experts` (SGLang /generate, one answer or a list), `sglext.routed_experts` (SGLang's OpenAI endpoints),
/// `choices[i].routed_experts` (vLLM, prime-rl), `nvext.routed_experts` (Dynamo). What stands there is text, a JSON object with data and shape, or
/// nested lists.
///
/// @param before  bytes of the input that stand before these
ServerAnswer payloads_of(std::string_view bytes, std::size_t before);

/// What is wrong with a member of a `prime` object, naming it: `member shape is [1,3], not three whole numbers from 0 up`. Empty where the text is no
/// JSON object of this kind, or its members are what they should be.
std::string fault_of_prime(std::string_view text);

}  // namespace routecap::cli
