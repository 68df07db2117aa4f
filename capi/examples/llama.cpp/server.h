// SPDX-License-Identifier: Apache-2.0
//
// The serving loop: sequences come and go in every step, prompts are read in chunks beside sequences that decode, prompts that begin like something
// that is still in the KV cache take it over by a sequence copy, a draft proposes and the target verifies. routecap is told of all of it in slots.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "capture.h"
#include "draft.h"
#include "naive.h"
#include "record_view.h"
#include "workload.h"

namespace llama_demo {

struct ServerConfig {
  std::int32_t sequences = 9;
  std::int32_t running = 6;  // of these at once; what is over stays in the others for a while
  std::int32_t batch_tokens = 64;
  std::int32_t micro_batch_tokens = 64;  // smaller than the batch: the engine cuts it, and first rows are derived
  std::int32_t chunk = 24;               // tokens of a prompt that one step reads
  std::int32_t max_drafts = 4;           // 0 = no draft
  bool all_outputs = false;              // asks for every token's logits, so that the engine prunes nothing
  bool weights = false;
};

/// A request that is over, with what routecap has of it.
struct Served {
  std::int64_t request = 0;
  std::vector<llama_token> tokens;           // prompt and generated
  std::vector<std::uint8_t> has_last_layer;  // of every row: did the engine run the last layer's routers for it?
  engine::RecordHandle record;
};

struct ServerTotals {
  std::int64_t steps = 0;
  std::int64_t micro_batches = 0;
  std::int64_t prompts_in_chunks = 0;
  std::int64_t mixed_steps = 0;  // with prompts and decodes in one batch
  std::int64_t prefix_rows_copied = 0;
  std::int64_t generated_rows_copied = 0;  // of these, rows of tokens that an earlier turn had generated
  std::int64_t drafts_accepted = 0;
  std::int64_t drafts_rejected = 0;
  std::int64_t forwarded_past_the_end = 0;  // requests whose last token was an input already (R2)
  std::int64_t given_up = 0;
  std::int64_t sequences_removed = 0;
  std::int64_t rows_left_after_removal = 0;
  std::int64_t rows_pruned = 0;    // by the engine, in its last layer
  std::int64_t warm_up_asked = 0;  // times that the engine asked about a router while nothing was to be captured
  std::int64_t warm_up_captured = 0;
  std::int64_t naive_rows = 0;
  std::int64_t naive_gated_wrong = 0;
  std::int64_t naive_open_wrong = 0;
};

/// The models that a server runs; the draft's are null where there is none.
struct Models {
  const ModelShape* target_shape = nullptr;
  llama_model* target = nullptr;
  const ModelShape* draft_shape = nullptr;
  llama_model* draft = nullptr;
};

class Server {
 public:
  Server(const Library& library, const Models& models, const ServerConfig& config, const std::vector<Request>& requests);

  /// Serves all of them. @throws EngineError, engine::LibraryError
  std::vector<Served> run();

  [[nodiscard]] const ServerTotals& totals() const { return totals_; }
  [[nodiscard]] const Capture& capture() const { return capture_; }

 private:
  struct Sequence {
    std::int32_t id = 0;
    const Request* request = nullptr;  // null: over; its KV and rows stay for prompts that begin like it
    bool is_used = false;
    std::vector<llama_token> tokens{};
    std::int32_t prompt = 0;  // tokens of the prompt
    std::int32_t past = 0;    // tokens that were inputs and count
    std::vector<std::uint8_t> has_last_layer{};
    std::vector<llama_token> drafts{};  // for the next step
    SamplerHandle sampler{nullptr, nullptr};
    std::int64_t last_forward = 0;  // its number
    std::int64_t over_since = 0;    // step

    [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tokens.size()); }
    [[nodiscard]] std::int32_t generated() const { return size() - prompt; }
    [[nodiscard]] bool is_reading() const { return past < prompt; }
    [[nodiscard]] bool is_running() const { return is_used && request != nullptr; }
  };
  /// Rows of the batch that belong to one sequence: its tokens from `past` on, then its drafts.
  struct Part {
    Sequence* sequence;
    std::int32_t first_row;
    std::int32_t tokens;
  };

  [[nodiscard]] RouterTap::Config target_tap();
  [[nodiscard]] RouterTap::Config draft_tap();
  void warm_up();
  void admit();
  [[nodiscard]] bool has_room() const;
  bool admit(const Request& request);
  [[nodiscard]] Sequence* best_prefix(const std::vector<llama_token>& prompt, std::int32_t* common);
  [[nodiscard]] Sequence* place_for(const Sequence* spared);
  void take_over(Sequence& from, Sequence& to, std::int32_t tokens);
  void fill_batch();
  void step();
  void settle(const Part& part);
  void commit(Sequence& sequence, std::int32_t row, std::int32_t position);
  void propose();
  void finish(std::vector<Served>& served);
  void compare_naive(const Sequence& sequence, const rcap_record* record);
  void remove(Sequence& sequence);
  void remove_tail(const Sequence& sequence);

  const Library& library_;
  Models models_;
  ServerConfig config_;
  const std::vector<Request>& requests_;
  std::int32_t positions_;
  SlotMap slots_;
  Capture capture_;
  NaiveCapturer naive_gated_;
  NaiveCapturer naive_open_;
  std::vector<std::int32_t> draft_ids_;  // scratch
  RouterTap tap_;
  ContextHandle context_;
  std::unique_ptr<Draft> draft_;
  Batch batch_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> committed_rows_;
  std::vector<std::int64_t> committed_slots_;
  std::vector<Sequence> sequences_;
  std::deque<const Request*> waiting_;
  std::vector<std::vector<llama_token>> finished_;  // tokens of each request that is over, by id
  ServerTotals totals_;
};

}  // namespace llama_demo
