// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "property/expected.h"
#include "property/model.h"
#include "property/schedule.h"
#include "support/device.h"
#include "support/handles.h"

namespace routecap_test::property {

/// The library answered something else than the contract says. Its text lists every call made so far.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How often schedules met what: an answer of a call, a fault of a row, a row's fate.
using Census = std::map<std::string, std::int64_t>;

enum class Finalizing : std::uint8_t { kCaller, kOwnThread };

/// One capturer and its model, driven side by side through the public C API.
///
/// Where the capturer finalizes on a thread of its own, what has settled is only known after waiting. Until then the model keeps accepted outputs
/// unsettled; `synchronize` waits for them, and exact comparisons follow.
class Session {
 public:
  /// Counts into `census` unless it is null.
  Session(const DrawList& geometry, Finalizing finalizing, Variant variant, Census* census);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Runs one command and compares what can be compared after it.
  void run(const Command& command);
  /// Settles or drops every output, compares every slot, and forgets how it came to that: a session may go on so without an end, in the same memory.
  void rest();
  /// Compares every slot, then destroys everything in one of the legal orders.
  void finish();

  /// Runs a whole schedule; throws `Mismatch`.
  static void run(const Schedule& schedule, Finalizing finalizing, Variant variant = Variant::kContract, Census* census = nullptr);

 private:
  struct LiveOutput {
    rcap_output* handle = nullptr;
    Sequence number = 0;
  };
  struct KeptRecord {
    Record record;
    ExpectedRecord expected;
  };
  struct Tap {
    rcap_tap* handle = nullptr;
    std::shared_ptr<Numbers> id_map;  ///< what the model sees; null = ids are logical
    Placed map;                       ///< what the library was given; rewritten in place
    std::int32_t map_dtype = RCAP_DTYPE_NONE;
  };
  /// One list laid out in groups, as the library gets it.
  struct Laid {
    std::vector<std::byte> bytes;
    std::int64_t stride = 0;
    [[nodiscard]] Placed placed(std::int32_t memory) const { return {bytes, memory}; }
  };

  // session.cpp: set-up, comparison of answers, trace
  void make_geometry(Draws& draws);
  void make_capturer(Draws& draws);
  void add_taps(Draws& draws);
  void note(std::string line) { trace_.push_back(std::move(line)); }
  void met(const std::string& event, std::int64_t times = 1) const {
    if (census_ != nullptr) (*census_)[event] += times;
  }
  [[noreturn]] void mismatch(const std::string& what) const;
  void demand(bool holds, const std::string& what) const {
    if (!holds) mismatch(what);
  }
  void same(std::int64_t library, std::int64_t model, const std::string& what) const;
  /// Demands that a status is one of those allowed, and that the error tells the same in one line.
  void expect(std::int32_t status, const Statuses& allowed, const Error& error, const std::string& what) const;
  void expect_lacking(const Error& error, const std::set<Sequence>& lacking, const std::string& what) const;
  void check_stats() const;
  void check_every_slot();
  void close();

  // session_capture.cpp: what layers hand over
  struct Shape {
    std::int64_t first_row = 0;
    std::int64_t tokens = 0;
  };
  [[nodiscard]] Shape place(Draws& draws);
  void capture_forward(Draws& draws, const Shape& shape);
  void capture_layer(std::size_t column, std::uint64_t style, const Shape& shape, const std::set<std::int64_t>& bad,
                     const std::set<std::int64_t>& twice);
  void capture(CaptureCall call, Noise& noise);
  [[nodiscard]] Numbers router_ids(std::size_t column, Noise& noise) const;
  void draft(Draws& draws);
  void stray_capture(Draws& draws);
  void rebalance(Draws& draws);

  // session_forward.cpp: ended forwards
  void forward(Draws& draws);
  [[nodiscard]] ForwardCall forward_call(Draws& draws, const Shape& shape, std::int64_t& groups, std::int64_t& width);
  [[nodiscard]] Numbers choose_slots(Draws& draws, std::size_t count, const std::vector<std::int64_t>& among);
  [[nodiscard]] Numbers choose_rows(Draws& draws, std::int64_t tokens, std::int64_t& groups, std::int64_t& width);
  void spoil(Draws& draws, std::int64_t fault, Numbers* slots, Numbers* rows, std::int64_t tokens) const;
  [[nodiscard]] std::int32_t end_forward(Draws& draws, const ForwardCall& call, std::int64_t groups, std::int64_t width);
  [[nodiscard]] Statuses may_end_forward(const ForwardCall& call) const;
  void accept(Draws& draws);
  void misuse(Draws& draws);
  [[nodiscard]] Laid lay(const Numbers& list, std::int32_t dtype, std::int64_t groups, std::int64_t width, std::int64_t gap);

  // session_outputs.cpp
  [[nodiscard]] std::size_t pick(Draws& draws) const;
  /// On a device: waits until what the model takes for complete is.
  void catch_up(const LiveOutput& output);
  void catch_up_with_drops() const;
  void copy_to_host(const LiveOutput& output);
  void finalize(const LiveOutput& output);
  void settle(Draws& draws);
  void poll(Draws& draws);
  void check_device_rows(const LiveOutput& output);
  void drop(std::size_t index);
  void settle_all();
  void synchronize();
  void check_summary(const rcap_summary& library, Sequence number) const;
  void check_completions();
  void check_closed(const LiveOutput& output) const;

  // session_slots.cpp
  void release(Draws& draws);
  void release_all();
  void copy_slots(Draws& draws);
  void discard();
  void check_slot(std::int64_t slot) const;

  // session_read.cpp
  [[nodiscard]] ReadCall read_call(Draws& draws) const;
  void read(Draws& draws);
  void check_read(const ReadCall& call, std::int32_t dtype, std::int64_t timeout_ns, const Model& model, bool keep);
  void check_record(const rcap_record* record, const ExpectedRecord& expected) const;
  void algebra(Draws& draws);

  Finalizing finalizing_;
  Geometry geometry_;
  Model model_;
  rcap_capturer_config config_;
  std::int64_t rows_per_rank_ = 0;
  std::uint64_t contents_ = 1;       ///< seed of the next forward's ids; every forward has others, so a stale row is seen
  std::int64_t dropped_lately_ = 0;  ///< own thread: blocks that may not be free yet
  std::set<Sequence> completions_;
  std::int64_t completions_forgotten_ = 0;
  std::vector<std::string> trace_;
  std::vector<Tap> taps_;  ///< by column
  std::vector<rcap_tap*> draft_taps_;
  std::vector<KeptRecord> records_;
  std::vector<LiveOutput> outputs_;
  rcap_capturer* capturer_ = nullptr;
  void* copies_ = nullptr;  ///< a device's stream beside that of the forwards
  Census* census_ = nullptr;
  DrawList closing_;
};

/// `[1, 2, 3]`
[[nodiscard]] std::string text_of(const Numbers& numbers);

}  // namespace routecap_test::property
