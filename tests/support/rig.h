// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/handles.h"
#include "support/router.h"

/// A sealed capturer with its taps, and the few calls that every test makes. Calls that a test does not expect to fail throw `std::runtime_error`
/// with the line of the test; those whose failure is the subject return the status.
namespace routecap_test {

using Slots = std::vector<std::int64_t>;
using Seeds = std::vector<std::int64_t>;

/// What a capturer is made from: E = 64, K = 4, three layers, 64 device rows, 128 slots, four staging blocks unless a test says otherwise.
struct Setup {
  Setup();
  rcap_capturer_config config;
  std::vector<std::int32_t> layer_ids{3, 5, 9};
  std::vector<std::int32_t> tap_flags;            ///< by column; what is lacking is 0
  std::vector<std::vector<std::int32_t>> drafts;  ///< layer numbers of every draft's taps
  rcap_backend* backend = nullptr;                ///< null = host; that of the run unless a test says otherwise
  bool seal = true;
};

/// Arguments of one `rcap_capturer_end_forward`.
struct Forward {
  std::int64_t tokens = 0;
  std::int64_t first_row = 0;
  std::int32_t acceptance = RCAP_ACCEPT_ALL;
  Slots slots{};
  std::vector<std::int64_t> rows{};
  std::vector<std::int64_t> tags{};
  std::int64_t groups = 0;
  std::int64_t group_width = 0;
  std::int64_t slots_group_stride = 0;
  std::int64_t rows_group_stride = 0;
  std::int64_t step = 0;
  std::int64_t weight_version = 0;
  std::int32_t slots_memory = RCAP_MEMORY_HOST;
  std::int32_t rows_memory = RCAP_MEMORY_HOST;
  std::int32_t tags_memory = RCAP_MEMORY_HOST;
  std::int32_t slots_dtype = RCAP_DTYPE_INT64;
  std::int32_t rows_dtype = RCAP_DTYPE_INT64;
};

/// Arguments of one `rcap_output_accept`.
struct Accept {
  std::vector<std::int64_t> rows{};
  Slots slots{};
  std::int64_t groups = 0;
  std::int64_t group_width = 0;
  std::int64_t slots_group_stride = 0;
  std::int64_t rows_group_stride = 0;
  std::int32_t slots_memory = RCAP_MEMORY_HOST;
  std::int32_t rows_memory = RCAP_MEMORY_HOST;
  std::int32_t slots_dtype = RCAP_DTYPE_INT64;
  std::int32_t rows_dtype = RCAP_DTYPE_INT64;
};

/// Arguments of one read. `tokens` < 0 stands for one more than there are slots: every slot's row is asked for.
struct Read {
  Slots slots{};
  std::int64_t tokens = -1;
  std::int64_t start = 0;
  std::int32_t flags = 0;
  std::int32_t unit = RCAP_UNIT_SLOT;
  std::int32_t slots_dtype = RCAP_DTYPE_INT64;
  std::int64_t after_sequence = 0;
  std::int64_t timeout_ns = 0;
  std::vector<std::int64_t> tags{};
};

/// What a read gave, from `rcap_capturer_read` and `rcap_capturer_read_into` alike: the two were compared byte for byte.
struct Rows {
  std::int32_t status = RCAP_STATUS_OK;
  std::int64_t detail = 0;
  std::string text;
  rcap_read_info info = make<rcap_read_info>();
  rcap_record_info record_info = make<rcap_record_info>();
  std::vector<std::byte> ids;
  std::vector<std::byte> weights;
  std::vector<std::byte> row_validity;
  std::vector<std::byte> cell_validity;
  std::vector<std::int32_t> layer_ids;
  std::vector<std::int32_t> layer_flags;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  ///< start and version

  [[nodiscard]] bool valid(std::int64_t row) const;
  [[nodiscard]] bool cell(std::int64_t row, std::int32_t column) const;
  /// The K ids of one cell, widened.
  [[nodiscard]] std::vector<std::int32_t> ids_of(std::int64_t row, std::int32_t column) const;
  /// All ids of a row, widened: [L, K].
  [[nodiscard]] std::vector<std::int32_t> row(std::int64_t row) const;
  /// Bytes of one row of ids / weights.
  [[nodiscard]] std::vector<std::byte> row_bytes(std::int64_t row) const;
  [[nodiscard]] std::vector<std::byte> weight_bytes(std::int64_t row) const;
};

class Rig {
 public:
  explicit Rig(const Setup& setup = Setup(), const char* file = __builtin_FILE(), int line = __builtin_LINE());

  [[nodiscard]] rcap_capturer* get() const { return capturer_.get(); }
  [[nodiscard]] rcap_model* target() const { return target_; }
  [[nodiscard]] rcap_tap* tap(std::size_t column) const { return taps_.at(column); }
  [[nodiscard]] rcap_tap* draft_tap(std::size_t draft, std::size_t index) const { return draft_taps_.at(draft).at(index); }
  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] const Router& router() const { return router_; }
  [[nodiscard]] std::int32_t layers() const { return static_cast<std::int32_t>(setup_.layer_ids.size()); }
  [[nodiscard]] std::int32_t top_k() const { return setup_.config.top_k; }

  /// The expected ids of a seed's row: [L, K].
  [[nodiscard]] std::vector<std::int32_t> expected(std::int64_t seed) const;
  /// The tag that `forward` and `store` give a seed's row.
  [[nodiscard]] static std::int64_t tag(std::int64_t seed) { return seed * 1000003 + 17; }

  /// One layer's ids (and weights where kept) of these rows, as int32 from host memory.
  std::int32_t capture(std::size_t column, const Seeds& seeds, std::int64_t first_row = 0, rcap_error* error = nullptr);
  /// The same through any tap, with the ids of another layer number.
  std::int32_t capture_with(rcap_tap* tap, std::int32_t layer_number, const Seeds& seeds, std::int64_t first_row = 0, rcap_error* error = nullptr);
  /// Rows of a PARTIAL layer: seed i belongs to device row first_row + row_ids[i].
  std::int32_t capture_rows(std::size_t column, const Seeds& seeds, const std::vector<std::int32_t>& row_ids, std::int64_t first_row = 0,
                            std::int32_t memory = RCAP_MEMORY_HOST, rcap_error* error = nullptr);
  void capture_all(const Seeds& seeds, std::int64_t first_row = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE());

  std::int32_t try_end(const Forward& forward, Output& output, rcap_error* error = nullptr);
  Output end(const Forward& forward, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /// Captures every layer and ends the forward with acceptance ALL.
  Output forward(const Seeds& seeds, const Slots& slots, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /// Captures every layer and ends the forward with acceptance LATER; `may_write` as for end_forward.
  Output forward_later(const Seeds& seeds, const Slots& may_write = {}, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /// As `forward`, and waits until the rows are in the store.
  rcap_summary store(const Seeds& seeds, const Slots& slots, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /// Copies (or waits for the own thread) and finalizes.
  rcap_summary settle(const Output& output, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const;
  static std::int32_t try_accept(const Output& output, const Accept& accept, rcap_error* error = nullptr);
  static void accept(const Output& output, const Accept& accept, const char* file = __builtin_FILE(), int line = __builtin_LINE());

  std::int32_t try_release(const Slots& slots, rcap_error* error = nullptr, std::int32_t unit = RCAP_UNIT_SLOT,
                           std::int32_t memory = RCAP_MEMORY_HOST);
  std::int32_t try_copy(const Slots& from, const Slots& to, rcap_error* error = nullptr, std::int32_t unit = RCAP_UNIT_SLOT,
                        std::int32_t memory = RCAP_MEMORY_HOST);
  void release(const Slots& slots, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  void copy(const Slots& from, const Slots& to, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  void release_all(const char* file = __builtin_FILE(), int line = __builtin_LINE());
  void discard(const char* file = __builtin_FILE(), int line = __builtin_LINE());

  /// Looks at a slot until the copies of dropped outputs are over and no more than that many blocks are taken: on the host at once.
  void settle_drops(std::int64_t in_flight = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const;

  [[nodiscard]] rcap_capturer_stats stats() const;
  [[nodiscard]] rcap_slot_info info(std::int64_t slot, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const;
  [[nodiscard]] std::int64_t last_sequence() const { return stats().last_sequence; }
  [[nodiscard]] static std::int64_t sequence(const Output& output) { return rcap_output_sequence(output.get(), nullptr); }

  [[nodiscard]] Rows read(const Read& read) const;
  /// The row of every slot as a word: the seed that the oracle finds in it, `-` for missing (its bytes were 0xFF), `?` for bytes that no captured
  /// seed has, and one word alone for a read that did not succeed, for example `NOT_READY(3)`.
  [[nodiscard]] std::string show(const Slots& slots) const { return words(read({.slots = slots})); }
  [[nodiscard]] std::string words(const Rows& rows) const;

 private:
  void remember(const Seeds& seeds);

  Setup setup_;
  Router router_;
  Capturer capturer_;
  rcap_model* target_ = nullptr;
  std::vector<rcap_tap*> taps_;
  std::vector<std::vector<rcap_tap*>> draft_taps_;
  std::map<std::vector<std::int32_t>, std::int64_t> seed_of_;
};

/// Bytes of one element of a dtype; 0 for NONE.
[[nodiscard]] std::int64_t size_of(std::int32_t dtype);
/// Numbers as the bytes of an integer dtype, cut to its width.
[[nodiscard]] std::vector<std::byte> packed(const std::vector<std::int64_t>& values, std::int32_t dtype);
/// Throws with the line of the test unless a status is OK.
void require_ok(std::int32_t status, const std::string& what, const std::string& text, const char* file, int line);
/// Whether a bit of a bitmap is set, counted from the lowest bit of the first byte.
[[nodiscard]] bool bit(const std::vector<std::byte>& bitmap, std::int64_t index);

}  // namespace routecap_test
