// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/rows/rows.h"
#include "capturer/output.h"
#include "capturer/own_thread.h"
#include "commit/settle.h"
#include "commit/staging.h"
#include "config/geometry.h"
#include "record/record.h"
#include "store/copy_ledger.h"
#include "store/slot_store.h"
#include "support/function_ref.h"
#include "support/handle.h"
#include "support/monitor.h"
#include "tap/device_cache.h"
#include "tap/tap.h"

namespace routecap {

/// What a read was asked, checked in shape.
struct ReadRequest;
/// Where a read puts its rows.
struct ReadTarget;

/// Ties the stages of one engine rank together: taps, staging, store, reads. See the header's thread tags for who may call what at once.
class Capturer : public Handle<0x72657470616372> {
 public:
  Capturer(Geometry geometry, std::shared_ptr<Backend> backend);
  /// Gives everything back; outputs answer CLOSED from then on (R34).
  ~Capturer();

  // Set-up (setup.cpp).
  Model& add_model(std::int32_t role, std::string name);
  void set_capture(Model& model, std::int32_t gate);
  Tap& add_tap(Model& model, std::int32_t layer_number, const rcap_tap_options& options, IdMap id_map);
  void seal();
  [[nodiscard]] Tap& tap(std::int32_t id) const;
  [[nodiscard]] bool sealed() const { return sealed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool same_process() const { return pool_->same_process(); }
  [[nodiscard]] rcap_capturer_stats stats();

  // Forwards (forward.cpp).
  Answer end_forward(const rcap_forward_layout& layout, RawArray slots, RawArray rows, RawArray tags, void* stream, Output*& output);
  void discard_forward(void* stream);

  // Outputs (outputs.cpp): each is one caller per handle.
  void accept(Output& output, const rcap_accept_layout& layout, RawArray rows, RawArray slots, void* stream);
  RawArray device_rows(Output& output);
  void copy_to_host(Output& output, void* stream);
  bool ready(Output& output);
  Answer wait(Output& output, std::int64_t timeout_ns);
  Answer finalize(Output& output, rcap_summary* summary);
  void destroy(Output& output);
  OwnThread& own_thread(const char* function);

  // For the own thread (outputs.cpp).
  Settled work_at(Block& block, bool accepted);
  void free_block(Block& block);
  /// Wakes whoever waits for an output, a slot or a block.
  void announce() { progress_.announce(); }

  // Slots (slots.cpp).
  void release_slots(const rcap_slots_layout& layout, RawArray slots, void* stream);
  void release_all();
  void copy_slots(const rcap_slots_layout& layout, RawArray from, RawArray to, void* stream);
  Answer slot_info(std::int64_t slot, rcap_slot_info& info);

  // Reads (read.cpp).
  Answer read(const rcap_read_layout& layout, RawArray slots, RawArray tags, std::unique_ptr<Record>& record);
  Answer read_into(const rcap_read_layout& layout, RawArray slots, RawArray tags, RawArray ids, RawArray weights, RawArray validity,
                   rcap_read_info& info, bool& info_valid);

  // Reads into a form outside the library (encode.cpp).
  /// @param needed  receives the bytes written, or an upper bound where `out` is null or too small
  Answer encode(const rcap_read_layout& layout, RawArray slots, RawArray tags, std::int32_t format, const rcap_encode_options& options,
                std::byte* out, std::int64_t capacity, std::int64_t& needed);

 private:
  /// Fixed at the seal, when it is known whether any tap is PARTIAL.
  struct Stages {
    Stages(const Geometry& geometry, const rows::RowShape& shape, const CommitLimits& limits, LayerFacts layers, Backend& backend);
    rows::RowShape shape;
    DeviceCache cache;
    SlotStore store;
    CopyLedger copies;
    Stream stream;      ///< of copies that nobody named a stream for
    FetchRoom fetched;  ///< for releases and copies of slots in device memory
    StagingRing ring;
    rows::Crew crew;
    Settler settler;
  };

  void require_sealed() const;
  void require_unsealed(const char* what) const;
  [[nodiscard]] Sequence next_sequence() const { return last_sequence_.load(std::memory_order_relaxed) + 1; }
  void take_sequence(Sequence sequence) { last_sequence_.store(sequence, std::memory_order_release); }

  // forward.cpp
  KnownLists widen_known(const Batch& batch);
  Block* free_block_or_wait();
  void describe_forward(Block& block, const Batch& batch, Sequence sequence) const;
  void stage(Block& block, const Batch& batch, void* stream);
  void publish_pending(Block& block, bool any_slot);

  // outputs.cpp
  bool check_acceptance(Block& block, const Acceptance& acceptance);
  void fetch_acceptance(Block& block, const Acceptance& acceptance, void* stream);
  Block& live_block(Output& output) const;
  void start_copy(Block& block, void* stream);
  /// Whether a started transfer has come to its end, good or bad.
  bool transfer_over(Block& block, Transfer& transfer);
  bool copy_complete(Block& block);
  /// Whether nothing writes into the block's memory any more.
  [[nodiscard]] bool quiet(const Block& block);
  /// As Monitor::wait_until, where a device may make the condition true without telling.
  bool wait_until(Deadline deadline, FunctionRef<bool()> condition);
  Settled settle(Block& block);
  rcap_summary settle_stored(Block& block);
  void settle_dropped(Block& block);
  void finish(Block& block);
  /// Leaves a block without an output to whoever needs a block or a slot next.
  void orphan(Block& block, bool settled);
  /// Ends dropped outputs whose copies are over by now (R33).
  void reap_orphans();
  /// The unsettled forward numbered above .. before (both excluded) that may write `slot`, or 0. Under the settle mutex.
  [[nodiscard]] Sequence may_change(std::int64_t slot, Sequence before, Sequence above) const;
  void resolve_copies();

  // read.cpp
  [[nodiscard]] ReadRequest checked_read(const rcap_read_layout& layout, RawArray slots, RawArray tags) const;
  [[nodiscard]] Sequence lacking_forward(const ReadRequest& request, std::int64_t end) const;
  [[nodiscard]] Sequence lacking_copy(std::int64_t slot);
  /// Gathers that many rows of the request from its start on. @return the row that waits for a copy, or -1
  using GatherRows = FunctionRef<std::int64_t(std::int64_t rows)>;
  /// One look at the store: NOT_READY, or `gather` was called and saw rows that belong together (R2, R12, R36); it may be called again before that.
  Answer try_gather(const ReadRequest& request, GatherRows gather);
  Answer try_read(const ReadRequest& request, const ReadTarget& target, rcap_read_info& info);
  /// Repeats an attempt that is NOT_READY until the request's timeout.
  Answer until_ready(const ReadRequest& request, FunctionRef<Answer()> attempt);
  /// All rows of the request; what to gather and where to is left to the caller.
  [[nodiscard]] rows::GatherJob gather_job(const ReadRequest& request) const;
  [[nodiscard]] RecordGeometry record_geometry(const ReadRequest& request, std::int64_t rows) const;
  Answer read_rows(const ReadRequest& request, const ReadTarget& target, rcap_read_info& info);
  struct RowState {
    std::int64_t slot = -1;
    Stamp stamp;
    bool valid = false;
    bool pending = false;  ///< target of a copy that waits for a forward
  };
  [[nodiscard]] RowState row_state(const ReadRequest& request, std::int64_t token) const;
  [[nodiscard]] rcap_read_info info_for(const ReadRequest& request, std::int64_t rows) const;

  Geometry geometry_;
  CommitLimits limits_;
  std::shared_ptr<Backend> backend_;
  struct PoolCloser {
    void operator()(OutputPool* pool) const { pool->close(); }
  };
  std::unique_ptr<OutputPool, PoolCloser> pool_;
  std::vector<std::unique_ptr<Model>> models_;
  std::vector<std::unique_ptr<Tap>> taps_;
  std::vector<std::int32_t> layer_flags_;
  bool has_partial_ = false;
  std::atomic<bool> sealed_{false};
  std::unique_ptr<Stages> stages_;
  std::atomic<Sequence> last_sequence_{0};
  /// Settling, accepting and copying exclude each other: a copy sees a forward either unsettled or stored, never halfway (R12).
  std::mutex settle_mutex_;
  Monitor progress_;
  std::atomic<std::int64_t> orphans_{0};
  std::optional<OwnThread> own_thread_;

  struct Counters {
    std::atomic<std::int64_t> forwards{0}, discarded{0}, busy{0}, finalized{0}, dropped{0};
    std::atomic<std::int64_t> stored{0}, bad{0}, outdated{0}, reserved{0}, rejected{0}, stray{0}, released{0}, copied{0};
  };
  Counters counters_;
};

}  // namespace routecap
