// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "support/choice.h"
#include "wire/arrays.h"
#include "wire/codecs.h"
#include "wire/text.h"

namespace routecap::wire {
namespace {

constexpr const char* kForm = "lists";

/// Nested lists read into a flat array; every list of a level is as long as the first.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : reader_(kForm, text) {
    // Every id but the last of a list is followed by a comma: half the text's characters are enough, and the array never grows.
    ids_.reserve(text.size() / 2 + 1);
    reader_.expect('[');
    if (!reader_.take(']')) {
      do {
        read_row();
        ++rows_;
      } while (reader_.take(','));
      reader_.expect(']');
    }
    reader_.expect_end();
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t layers() const { return layers_; }
  [[nodiscard]] std::int64_t top_k() const { return top_k_; }
  [[nodiscard]] const std::vector<std::int32_t>& ids() const { return ids_; }

 private:
  void read_row() {
    std::int64_t layers = 0;
    reader_.expect('[');
    do {
      read_cell();
      ++layers;
    } while (reader_.take(','));
    reader_.expect(']');
    if (layers_ != 0 && layers != layers_) reader_.fail_here("a row has another number of layers than the first, before");
    layers_ = layers;
  }
  void read_cell() {
    std::int64_t count = 0;
    reader_.expect('[');
    do {
      const std::int64_t id = reader_.integer();
      if (id < INT32_MIN || id > INT32_MAX) reader_.fail_here("an id does not fit 32 bits, before");
      ids_.push_back(static_cast<std::int32_t>(id));
      ++count;
    } while (reader_.take(','));
    reader_.expect(']');
    if (top_k_ != 0 && count != top_k_) reader_.fail_here("a list has another number of ids than the first, before");
    top_k_ = count;
  }

  JsonReader reader_;
  std::vector<std::int32_t> ids_;
  std::int64_t rows_ = 0;
  std::int64_t layers_ = 0;
  std::int64_t top_k_ = 0;
};

/// Text in pieces that stay in the first cache, and are no burden for a small stack.
class TextOutput {
 public:
  explicit TextOutput(Output& out) : out_(out) {}
  void put(char character) {
    if (fill_ == kPiece) flush();
    piece_[static_cast<std::size_t>(fill_++)] = character;
  }
  void put(std::int64_t number) {
    if (kPiece - fill_ < 20) flush();
    char* begin = piece_.data() + fill_;
    fill_ += std::to_chars(begin, piece_.data() + kPiece, number).ptr - begin;
  }
  void flush() {
    out_.put(piece_.data(), fill_);
    fill_ = 0;
  }

 private:
  static constexpr std::int64_t kPiece = 2048;
  Output& out_;
  std::int64_t fill_ = 0;
  std::array<char, kPiece> piece_;
};

}  // namespace

void encode_lists(const Record& record, const rcap_encode_options& options, Output& out) {
  const RecordGeometry& geometry = record.geometry();
  const Filler filler = plan_array(kForm, record, options, Scalar::kInt32);
  TextOutput text(out);
  std::int64_t k = 0;
  std::int64_t column = 0;
  bool first_row = true;
  text.put('[');
  write_array(record, Scalar::kInt32, filler, [&](const std::byte* piece, std::int64_t bytes) {
    for (std::int64_t at = 0; at < bytes; at += 4) {
      std::int32_t id = 0;
      std::memcpy(&id, piece + at, sizeof id);
      if (k == 0) {
        if (column == 0) {
          if (!first_row) text.put(',');
          first_row = false;
          text.put('[');
        } else {
          text.put(',');
        }
        text.put('[');
      } else {
        text.put(',');
      }
      text.put(std::int64_t{id});
      if (++k < geometry.top_k) continue;
      k = 0;
      text.put(']');
      if (++column < geometry.layers()) continue;
      column = 0;
      text.put(']');
    }
  });
  text.put(']');
  text.flush();
}

Decoded decode_lists(std::span<const std::byte> bytes, const DecodeHints& hints) {
  check_no_turn(kForm, hints);
  if (hints.dtype != RCAP_DTYPE_NONE)
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s: hint dtype is %s, numbers in lists have none", kForm, dtype_name(hints.dtype));
  const ListReader lists(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  Facts facts;
  facts.rows = lists.rows();
  if (lists.rows() > 0) set_shape(facts, kForm, lists.rows(), lists.layers(), lists.top_k());
  const auto input = static_cast<std::int64_t>(bytes.size());
  RecordGeometry geometry = resolve(kForm, facts, hints, input);
  return {
      record_of_array(kForm, std::move(geometry), {reinterpret_cast<const std::byte*>(lists.ids().data()), Scalar::kInt32, false}, Holes::kByCell),
      input};
}

bool looks_like_lists(std::span<const std::byte> bytes) {
  // Three brackets and a number, or an empty list.
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  JsonReader reader(kForm, text);
  if (!reader.take('[')) return false;
  if (reader.take(']')) return reader.peek() == '\0';
  if (!reader.take('[') || !reader.take('[')) return false;
  const char next = reader.peek();
  return next == '-' || (next >= '0' && next <= '9');
}

}  // namespace routecap::wire
