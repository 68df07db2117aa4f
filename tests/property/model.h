// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <routecap/routecap.h>

/// The contract, written down as naively as it can be said: a list of numbered operations, and a slot's state found by walking that list back from
/// its end, anew for every question. Nothing is cached, updated in place or ordered by anything but the numbers; no idea is shared with the library.
namespace routecap_test::property {

using Sequence = std::int64_t;
using Numbers = std::vector<std::int64_t>;

/// Statuses that the contract allows for one call; usually one.
class Statuses {
 public:
  Statuses(std::initializer_list<std::int32_t> allowed) : allowed_(allowed) {}
  explicit Statuses(std::set<std::int32_t> allowed) : allowed_(std::move(allowed)) {}
  [[nodiscard]] bool allows(std::int32_t status) const { return allowed_.count(status) != 0; }
  [[nodiscard]] bool refuses() const { return !allows(RCAP_STATUS_OK); }
  [[nodiscard]] const std::set<std::int32_t>& all() const { return allowed_; }
  [[nodiscard]] std::string text() const;

 private:
  std::set<std::int32_t> allowed_;
};

/// What a capturer was made with.
struct Geometry {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::vector<std::int32_t> layer_numbers;
  std::vector<bool> partial;  ///< by column
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  bool tags = false;
  bool full_check = false;
  std::int64_t slots = 0;
  std::int64_t reserved = 0;
  std::int64_t page_size = 1;
  std::int64_t depth = 1;
  std::int64_t device_rows = 0;

  [[nodiscard]] std::size_t layers() const { return layer_numbers.size(); }
  [[nodiscard]] bool any_partial() const;
};

/// One `rcap_tap_capture` on a target's tap, its shape already known to be good.
struct CaptureCall {
  std::size_t column = 0;
  std::int64_t first_row = 0;
  std::int64_t tokens = 0;
  std::int64_t columns = 0;            ///< K and the fused shared columns behind it
  Numbers ids;                         ///< [tokens, columns], as handed over
  std::vector<std::uint32_t> weights;  ///< [tokens, columns], bits in the dtype that the capturer keeps
  std::optional<std::vector<std::int32_t>> row_ids;
  bool device = false;
  std::shared_ptr<const Numbers> id_map;  ///< as it stands at the call; null = ids are logical
};

/// One `rcap_capturer_end_forward`, groups laid out flat: entry i is (rows[i], slots[i]).
struct ForwardCall {
  std::int64_t first_row = 0;
  std::int64_t tokens = 0;
  std::int32_t acceptance = RCAP_ACCEPT_ALL;
  std::optional<Numbers> slots;
  bool slots_on_device = false;
  std::optional<Numbers> rows;
  bool rows_on_device = false;
  std::optional<Numbers> tags;
  std::int64_t step = 0;
  std::int64_t weight_version = 0;
};

/// One `rcap_output_accept`.
struct AcceptCall {
  Numbers rows;
  bool rows_on_device = false;
  std::optional<Numbers> slots;
  bool slots_on_device = false;
};

/// One read. With `pages` the list names pages.
struct ReadCall {
  Numbers list;
  bool pages = false;
  std::int64_t tokens = 0;
  std::int64_t start = 0;
  bool include_last = false;
  Sequence after = 0;
  std::optional<Numbers> tags;
};

/// A row in a slot. Ids are widened, weights are bits of the kept dtype; cells nobody captured hold nothing.
struct Row {
  struct Cell {
    Numbers ids;
    std::vector<std::uint32_t> weights;
  };
  std::vector<std::optional<Cell>> cells;  ///< by column
  Sequence forward = 0;
  std::int64_t weight_version = 0;
  std::int64_t tag = 0;
};
using RowPointer = std::shared_ptr<const Row>;  ///< null = missing

/// What a slot shows, seen from one number.
struct Shown {
  Sequence decided_by = 0;
  RowPointer row;
  std::set<Sequence> lacking;  ///< forwards that must settle first; `row` means nothing until this is empty
};

struct ReadAnswer {
  Statuses statuses{RCAP_STATUS_OK};
  std::set<Sequence> lacking;  ///< with NOT_READY, the forwards of which any may be named
  std::int64_t start = 0;
  std::vector<RowPointer> rows;
};

struct SlotAnswer {
  Statuses statuses{RCAP_STATUS_OK};
  std::set<Sequence> lacking;  ///< as in `ReadAnswer`
  rcap_slot_info info{};
};

/// Faults that the meta-test gives the model: each must be noticed, or the comparison is worth nothing.
enum class Variant {
  kContract,            ///< as semantics.md says
  kCopyIgnoresPending,  ///< a copy takes what its source shows at the call
  kArrivalOrder,        ///< the last operation applied wins, whatever its number
  kDropLeavesOld,       ///< a dropped forward leaves its slots as they were
  kBadRowLeavesOld,     ///< a bad row leaves its slot as it was
  kCopySourceMoves,     ///< a copy takes its source as it is at the read, not as numbered before the copy
  kUnsettledHides,      ///< an unsettled forward already hides what its slots had
  kHolesStored,         ///< -1 in the slots names the last slot, as a plain index would
  kTagsIgnored,         ///< a read compares no tags
};

class Model {
 public:
  explicit Model(Geometry geometry, Variant variant = Variant::kContract);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }

  // Every call comes in two: what it may answer, which changes nothing, and what it does once it answered OK.
  [[nodiscard]] Statuses may_capture(const CaptureCall& call) const;
  void capture(const CaptureCall& call);
  void suppress() { ++stats_.suppressed; }
  void discard_forward();

  [[nodiscard]] Statuses may_end_forward(const ForwardCall& call) const;
  Sequence end_forward(const ForwardCall& call);
  void busy() { ++stats_.busy; }

  [[nodiscard]] Statuses may_accept(Sequence number, const AcceptCall& call) const;
  void accept(Sequence number, const AcceptCall& call);
  void copy_to_host(Sequence number) { forward(number).copied = true; }
  [[nodiscard]] bool ready(Sequence number) const { return forward(number).copied; }
  [[nodiscard]] Statuses may_finalize(Sequence number) const;
  void finalize(Sequence number);
  void drop(Sequence number);

  [[nodiscard]] Statuses may_release(const Numbers& slots) const;
  Sequence release(const Numbers& slots);
  Sequence release_all();
  [[nodiscard]] Statuses may_copy(const Numbers& from, const Numbers& to) const;
  Sequence copy(const Numbers& from, const Numbers& to);

  [[nodiscard]] SlotAnswer slot_info(std::int64_t slot) const;
  [[nodiscard]] ReadAnswer read(const ReadCall& call) const;
  [[nodiscard]] Sequence last_sequence() const { return forgotten_ + static_cast<Sequence>(operations_.size()); }
  /// Keeps what every slot shows and forgets how it came to that, so that a schedule without an end needs no memory without one. Nothing may be
  /// unsettled; numbers go on, and forwards up to here must not be asked about again.
  void forget();
  /// Numbers up to this one are forgotten.
  [[nodiscard]] Sequence forgotten() const { return forgotten_; }
  /// Counters; `copies_pending` counts the targets that show NOT_READY, which is the least the library may count.
  [[nodiscard]] rcap_capturer_stats stats() const;
  /// The most it may count: also pairs whose target was decided anew while their source still waits.
  [[nodiscard]] std::int64_t most_copies_pending() const;

  [[nodiscard]] bool is_settled(Sequence number) const { return forward(number).state != State::kStaged; }
  [[nodiscard]] bool is_accepted(Sequence number) const;
  [[nodiscard]] const rcap_summary& summary(Sequence number) const { return forward(number).summary; }
  [[nodiscard]] const ForwardCall& call(Sequence number) const { return forward(number).call; }
  /// Forwards that are neither settled nor dropped, oldest first.
  [[nodiscard]] std::vector<Sequence> unsettled() const;
  /// By staged row (entry with ALL and GIVEN, forward row with LATER): what `rcap_output_device_rows` must hold there; null = undefined bytes.
  [[nodiscard]] std::vector<RowPointer> staged_rows(Sequence number) const;

 private:
  /// What one layer saw of one device row since the last end_forward or discard_forward.
  struct Captured {
    std::int64_t times = 0;
    bool id_out_of_range = false;
    bool id_repeated = false;
    Row::Cell cell;
  };
  using CapturedRows = std::vector<std::vector<Captured>>;  // [column][row]
  enum class State { kStaged, kSettled, kDropped };
  struct Entry {
    std::int64_t row = -1;
    std::int64_t slot = -1;
    bool has_slot = true;
  };
  struct Forward {
    ForwardCall call;
    CapturedRows captured;  ///< rows of the forward alone
    Numbers strays;         ///< by column: entries of row_ids outside the device buffer
    bool copied = false;
    std::optional<AcceptCall> accepted;
    State state = State::kStaged;
    std::map<std::int64_t, RowPointer> effects;  ///< once settled or dropped: what it left in each slot
    rcap_summary summary{};
    Sequence number = 0;
  };
  struct Release {
    std::set<std::int64_t> slots;
    bool all = false;
  };
  struct Copy {
    std::map<std::int64_t, std::int64_t> source_of;    ///< by target
    std::map<std::int64_t, RowPointer> shown_at_call;  ///< by target; for the wrong variants alone
  };
  using Operation = std::variant<Forward, Release, Copy>;
  struct Verdict {
    std::int32_t fault = RCAP_FAULT_NONE;
    std::int32_t layer = -1;
  };

  [[nodiscard]] bool is_reserved(std::int64_t slot) const { return slot >= 0 && slot < geometry_.reserved; }
  [[nodiscard]] Operation& operation(Sequence number) { return operations_.at(static_cast<std::size_t>(number - forgotten_ - 1)); }
  [[nodiscard]] const Operation& operation(Sequence number) const { return operations_.at(static_cast<std::size_t>(number - forgotten_ - 1)); }
  [[nodiscard]] Forward& forward(Sequence number) { return std::get<Forward>(operation(number)); }
  [[nodiscard]] const Forward& forward(Sequence number) const { return std::get<Forward>(operation(number)); }

  // model_forward.cpp
  [[nodiscard]] std::set<std::int32_t> refusals(const Numbers* rows, const Numbers* slots, std::int64_t tokens,
                                                const std::optional<std::set<std::int64_t>>& within) const;
  [[nodiscard]] std::vector<Entry> entries(const Forward& forward) const;
  [[nodiscard]] std::optional<std::set<std::int64_t>> given_slots(const Forward& forward) const;
  [[nodiscard]] bool may_write(const Forward& forward, std::int64_t slot) const;
  [[nodiscard]] bool slot_in_range(const Forward& forward, const Entry& entry) const;
  [[nodiscard]] bool layer_incomplete(const Forward& forward, std::size_t column) const;
  [[nodiscard]] bool layer_repeated(const Forward& forward, std::size_t column) const;
  [[nodiscard]] bool row_repeated(const Forward& forward, std::size_t column, std::int64_t row) const;
  [[nodiscard]] Verdict judge(const Forward& forward, const std::vector<Entry>& remaining, const Entry& entry) const;
  [[nodiscard]] RowPointer row_of(const Forward& forward, std::int64_t row) const;
  void name_bad_layers(Forward& forward) const;
  void settle(Forward& forward);

  // model_read.cpp
  [[nodiscard]] Shown shown(std::int64_t slot, Sequence before, bool as_source) const;
  [[nodiscard]] Shown shown_by_arrival(std::int64_t slot) const;
  [[nodiscard]] Shown remembered(std::int64_t slot) const;
  [[nodiscard]] Shown shown_now(std::int64_t slot) const;
  [[nodiscard]] std::set<Sequence> awaited(std::int64_t slot, const Shown& shown, Sequence after) const;

  Geometry geometry_;
  Variant variant_;
  CapturedRows captured_;
  Numbers strays_;
  Sequence forgotten_ = 0;
  std::vector<Shown> remembered_;      ///< by slot, what it showed at `forgotten_`; empty while that is 0
  std::vector<Operation> operations_;  ///< number n at n - forgotten_ - 1
  std::vector<Sequence> arrivals_;     ///< numbers in the order in which they were applied; for the wrong variants alone
  rcap_capturer_stats stats_{};
};

}  // namespace routecap_test::property
