// SPDX-License-Identifier: Apache-2.0
//
// The end of a request, and of a sequence.
#include <algorithm>

#include "server.h"
#include "support.h"

namespace llama_demo {

using engine::at;
using engine::count;

void Server::finish(std::vector<Served>& served) {
  for (Sequence& sequence : sequences_) {
    if (!sequence.is_running() || sequence.is_reading()) continue;
    const Request& request = *sequence.request;
    const bool is_given_up = request.given_up_after >= 0 && sequence.generated() >= request.given_up_after;
    if (sequence.generated() < request.new_tokens && !is_given_up) continue;

    // The row of the last token is not part of the answer, even where it was an input already (R1, R2).
    const std::int64_t rows = sequence.size() - 1;
    Served result;
    result.request = request.id;
    result.tokens = sequence.tokens;
    result.has_last_layer.assign(sequence.has_last_layer.begin(), sequence.has_last_layer.begin() + rows);
    result.record = capture_.read(slots_.slots(sequence.id, 0, rows), sequence.size(), sequence.last_forward);
    compare_naive(sequence, result.record.get());
    served.push_back(std::move(result));

    at(finished_, request.id) = sequence.tokens;
    sequence.request = nullptr;
    sequence.over_since = totals_.steps;
    sequence.drafts.clear();
    // A client that went away leaves nothing; what ended well may be the beginning of another prompt.
    if (is_given_up) {
      ++totals_.given_up;
      remove(sequence);
    }
  }
}

void Server::remove(Sequence& sequence) {
  library_.llama_memory_seq_rm(library_.llama_get_memory(context_.get()), sequence.id, -1, -1);
  if (draft_ != nullptr) draft_->keep(sequence.id, 0);
  // Nothing of a sequence that is gone can be read any more (R8).
  const auto gone = slots_.slots(sequence.id, 0, sequence.past);
  capture_.release(gone);
  totals_.rows_left_after_removal += std::ranges::count_if(gone, [&](std::int64_t slot) { return capture_.holds_row(slot); });
  ++totals_.sequences_removed;
  sequence = Sequence{.id = sequence.id};
}

/// Rows in which a naive capturer has other ids than routecap, in cells that routecap has.
void Server::compare_naive(const Sequence& sequence, const rcap_record* record) {
  const auto layers = models_.target_shape->moe_layers();
  const std::int64_t top_k = models_.target_shape->top_k;
  const RecordView view(record);
  for (std::int64_t row = 0; row + 1 < sequence.size(); ++row) {
    bool is_gated_wrong = false;
    bool is_open_wrong = false;
    for (std::int64_t column = 0; column < count(layers); ++column) {
      if (!view.has_cell(row, column)) continue;
      const auto is_wrong = [&](const NaiveCapturer& naive) {
        const auto ids = naive.ids(slots_.slot(sequence.id, row), at(layers, column));
        for (std::int64_t k = 0; k < top_k; ++k) {
          if (at(ids, k) != view.id(row, column, k)) return true;
        }
        return false;
      };
      is_gated_wrong = is_gated_wrong || is_wrong(naive_gated_);
      is_open_wrong = is_open_wrong || is_wrong(naive_open_);
    }
    ++totals_.naive_rows;
    totals_.naive_gated_wrong += is_gated_wrong ? 1 : 0;
    totals_.naive_open_wrong += is_open_wrong ? 1 : 0;
  }
}

}  // namespace llama_demo
