// SPDX-License-Identifier: Apache-2.0
//
// Reads: every byte against the model, and against other reads.
#include <algorithm>
#include <utility>

#include "property/session.h"

namespace routecap_test::property {
namespace {

constexpr std::byte kCanary{0xC5};
constexpr std::size_t kCanaryBytes = 16;
constexpr std::int64_t kLongWait = 10'000'000'000;
constexpr std::size_t kMostRecords = 3;

Bytes packed(const Numbers& list, std::int32_t dtype) {
  Bytes bytes;
  for (const std::int64_t value : list) append(bytes, value, dtype);
  return bytes;
}

rcap_read_layout layout_of(const ReadCall& call, std::int32_t dtype, std::int64_t timeout_ns) {
  auto layout = make<rcap_read_layout>();
  layout.slots_dtype = dtype;
  layout.unit = call.pages ? RCAP_UNIT_PAGE : RCAP_UNIT_SLOT;
  layout.flags = call.include_last ? RCAP_READ_INCLUDE_LAST : 0;
  layout.tokens = call.tokens;
  layout.start = call.start;
  layout.after_sequence = call.after;
  layout.timeout_ns = timeout_ns;
  return layout;
}

/// A buffer of exactly so many bytes with a canary behind it.
Bytes guarded(std::int64_t bytes) { return Bytes(static_cast<std::size_t>(bytes) + kCanaryBytes, kCanary); }

bool canary_lives(const Bytes& buffer) {
  return std::all_of(buffer.end() - kCanaryBytes, buffer.end(), [](std::byte byte) { return byte == kCanary; });
}

Bytes bytes_at(const void* data, std::int64_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  return {from, from + bytes};
}

/// What a record says, as one value, so that two records are compared byte for byte.
struct Content {
  Numbers geometry;
  Bytes ids;
  Bytes weights;
  Bytes row_validity;
  Bytes cell_validity;
  Numbers spans;
  bool operator==(const Content&) const = default;
};

Content content_of(const rcap_record* record) {
  Content content;
  auto info = make<rcap_record_info>();
  const auto must = [](std::int32_t status) {
    if (status != RCAP_STATUS_OK) throw Mismatch("an accessor of a record answers " + name(status));
  };
  must(rcap_record_info_get(record, &info, nullptr));
  content.geometry = {info.start,       info.rows,      info.rows_valid,    info.num_layers,        info.top_k,
                      info.num_experts, info.ids_dtype, info.weights_dtype, info.has_cell_validity, info.version_spans};
  const auto take = [&](auto&& get) {
    const void* data = nullptr;
    std::int64_t bytes = 0;
    must(get(record, &data, &bytes, nullptr));
    return bytes_at(data, bytes);
  };
  content.ids = take(rcap_record_ids);
  content.weights = take(rcap_record_weights);
  content.row_validity = take(rcap_record_row_validity);
  content.cell_validity = take(rcap_record_cell_validity);
  const std::int64_t* starts = nullptr;
  const std::int64_t* versions = nullptr;
  std::int64_t spans = 0;
  must(rcap_record_version_spans(record, &starts, &versions, &spans, nullptr));
  content.spans.assign(starts, starts + spans);
  content.spans.insert(content.spans.end(), versions, versions + spans);
  return content;
}

bool bit(const Bytes& bitmap, std::int64_t index) { return (static_cast<int>(bitmap[static_cast<std::size_t>(index / 8)]) >> (index % 8) & 1) != 0; }

}  // namespace

ReadCall Session::read_call(Draws& draws) const {
  ReadCall call;
  call.pages = draws.chance(20);
  call.include_last = draws.chance(30);
  const std::int64_t limit = call.pages ? geometry_.slots / geometry_.page_size : geometry_.slots;
  const std::int64_t per_element = call.pages ? geometry_.page_size : 1;
  const std::int64_t count = draws.below(12);
  for (std::int64_t i = 0; i < count; ++i) call.list.push_back(draws.chance(8) ? -1 : draws.below(limit));
  // n - 1 slots, n slots, or more than n; rarely too few.
  const std::int64_t covered = count * per_element;
  call.tokens = std::max<std::int64_t>(covered + 1 - draws.below(3), 0);
  if (draws.chance(3)) call.tokens = covered + 2;
  call.start = draws.chance(40) ? draws.below(call.tokens + 1) : 0;
  if (draws.chance(3)) call.start = draws.chance(50) ? -1 : call.tokens + 1;
  const std::int64_t last = model_.last_sequence();
  if (draws.chance(50)) call.after = draws.chance(50) ? last : draws.below(last + 1);
  if (draws.chance(3)) call.after = last + 1;
  if (geometry_.tags && draws.chance(60)) {
    call.tags.emplace();
    for (std::int64_t i = 0; i < std::min(covered, call.tokens); ++i) {
      // Mostly the tag that is there.
      std::int64_t tag = draws.below(4);
      const std::int64_t element = call.list[static_cast<std::size_t>(i / per_element)];
      const std::int64_t slot = call.pages && element >= 0 ? element * per_element + i % per_element : element;
      if (slot >= 0 && draws.chance(70)) tag = model_.slot_info(slot).info.tag;
      call.tags->push_back(tag);
    }
  } else if (!geometry_.tags && !call.list.empty() && draws.chance(2)) {
    call.tags = Numbers(call.list.size(), 0);
  }
  if (!call.list.empty() && draws.chance(6)) {
    const Numbers beyond = {limit, -2, limit + 9};
    call.list[static_cast<std::size_t>(draws.below(count))] = beyond[static_cast<std::size_t>(draws.below(3))];
  }
  return call;
}

void Session::read(Draws& draws) {
  ReadCall call = read_call(draws);
  const std::int32_t dtype = draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
  if (finalizing_ == Finalizing::kCaller) {
    // Waiting is in vain where nobody finalizes meanwhile, and the answer the same.
    check_read(call, dtype, draws.chance(3) ? 200'000 : 0, model_, true);
    return;
  }
  // What a patient read of the newest number gives does not depend on how far the own thread has come, unless it waits for an acceptance.
  Model settled = model_;
  for (const Sequence number : settled.unsettled()) {
    if (settled.is_accepted(number)) settled.finalize(number);
  }
  call.after = model_.last_sequence();
  const bool waits_for_accept = settled.read(call).statuses.allows(RCAP_STATUS_NOT_READY);
  if (waits_for_accept) synchronize();
  check_read(call, dtype, waits_for_accept ? 0 : kLongWait, waits_for_accept ? model_ : settled, true);
}

void Session::check_read(const ReadCall& call, std::int32_t dtype, std::int64_t timeout_ns, const Model& model, bool keep) {
  const ReadAnswer answer = model.read(call);
  const rcap_read_layout layout = layout_of(call, dtype, timeout_ns);
  const Bytes slots = packed(call.list, dtype);
  const void* list = slots.empty() ? nullptr : slots.data();
  const std::int64_t* tags = call.tags ? call.tags->data() : nullptr;
  const std::int64_t tags_count = call.tags ? std::ssize(*call.tags) : 0;
  Error error;
  rcap_record* handle = nullptr;
  const std::int32_t status = rcap_capturer_read(capturer_, &layout, list, std::ssize(slots), tags, tags_count, &handle, error);
  Record record(handle);
  note("read tokens " + std::to_string(call.tokens) + " start " + std::to_string(call.start) + (call.include_last ? " INCLUDE_LAST" : "") +
       " after " + std::to_string(call.after) + (call.pages ? " pages " : " slots ") + text_of(call.list) +
       (call.tags ? " tags " + text_of(*call.tags) : "") + " -> " + name(status));
  expect(status, answer.statuses, error, "read");
  expect_lacking(error, answer.lacking, "lacking sequence of the read");
  demand((handle != nullptr) == (status == RCAP_STATUS_OK), "read: a record is given with OK and only then");

  Error into_error;
  auto info = make<rcap_read_info>();
  if (status != RCAP_STATUS_OK) {
    Bytes nothing = guarded(0);
    const std::int32_t into = rcap_capturer_read_into(capturer_, &layout, list, std::ssize(slots), tags, tags_count, nothing.data(), 0, nullptr, 0,
                                                      nothing.data(), 0, &info, into_error);
    // Buffers of no bytes are too small for anything; which of two refusals comes first is not said.
    if (into != RCAP_STATUS_OUT_OF_RANGE) expect(into, answer.statuses, into_error, "read_into");
    return;
  }
  const ExpectedRecord expected = expected_record(geometry_, answer.start, answer.rows);
  check_record(record.get(), expected);
  met("row read valid", expected.rows_valid);
  met("row read missing", expected.rows - expected.rows_valid);
  if (call.include_last) met(expected.rows == call.tokens - call.start ? "last row read" : "last row absent");
  if (expected.spans.size() > 1) met("several weight versions in one read");

  // With INCLUDE_LAST and a slot for it, whether the last row exists is only known at the read: the needs are told for it too.
  const std::int64_t covered = std::ssize(call.list) * (call.pages ? geometry_.page_size : 1);
  const bool last_too = call.include_last && covered >= call.tokens;
  const std::int64_t most_rows = std::max<std::int64_t>(call.tokens - (last_too ? 0 : 1) - call.start, 0);
  const ExpectedRecord most = expected_record(geometry_, answer.start, std::vector<RowPointer>(static_cast<std::size_t>(most_rows)));
  const std::int32_t query =
      rcap_capturer_read_into(capturer_, &layout, list, std::ssize(slots), tags, tags_count, nullptr, 0, nullptr, 0, nullptr, 0, &info, into_error);
  expect(query, {RCAP_STATUS_OK}, into_error, "read_into without buffers");
  same(info.ids_bytes, std::ssize(most.ids), "ids_bytes needed");
  same(info.weights_bytes, std::ssize(most.weights), "weights_bytes needed");
  same(info.row_validity_bytes, std::ssize(most.row_validity), "row_validity_bytes needed");
  same(info.cell_validity_bytes, std::ssize(most.cell_validity), "cell_validity_bytes needed");

  Bytes ids = guarded(std::ssize(most.ids));
  Bytes weights = guarded(std::ssize(most.weights));
  const std::int64_t validity_bytes = std::ssize(most.row_validity) + std::ssize(most.cell_validity);
  Bytes validity = guarded(validity_bytes);
  const std::int32_t into = rcap_capturer_read_into(capturer_, &layout, list, std::ssize(slots), tags, tags_count, ids.data(), std::ssize(most.ids),
                                                    weights.data(), std::ssize(most.weights), validity.data(), validity_bytes, &info, into_error);
  expect(into, {RCAP_STATUS_OK}, into_error, "read_into");
  same(info.start, expected.start, "start of read_into");
  same(info.rows, expected.rows, "rows of read_into");
  same(info.rows_valid, expected.rows_valid, "rows_valid of read_into");
  same(info.num_layers, static_cast<std::int64_t>(geometry_.layers()), "num_layers of read_into");
  same(info.top_k, geometry_.top_k, "top_k of read_into");
  same(info.ids_dtype, ids_dtype(geometry_.experts), "ids_dtype of read_into");
  same(info.weights_dtype, geometry_.weights_dtype, "weights_dtype of read_into");
  same(info.weight_version_min, expected.version_min, "weight_version_min of read_into");
  same(info.weight_version_max, expected.version_max, "weight_version_max of read_into");
  const auto compare = [&](const Bytes& wanted, const std::byte* data, const std::string& what) {
    const std::string differs = difference(wanted, data, std::ssize(wanted));
    demand(differs.empty(), what + " of read_into: " + differs);
  };
  compare(expected.ids, ids.data(), "ids");
  compare(expected.weights, weights.data(), "weights");
  compare(expected.row_validity, validity.data(), "row bitmap");
  compare(expected.cell_validity, validity.data() + expected.row_validity.size(), "cell bitmap");
  demand(canary_lives(ids) && canary_lives(weights) && canary_lives(validity), "read_into wrote behind a buffer");
  if (keep && records_.size() < kMostRecords) records_.push_back({std::move(record), expected});
}

void Session::check_record(const rcap_record* record, const ExpectedRecord& expected) const {
  Error error;
  auto info = make<rcap_record_info>();
  expect(rcap_record_info_get(record, &info, error), {RCAP_STATUS_OK}, error, "record info");
  same(info.start, expected.start, "start of the record");
  same(info.rows, expected.rows, "rows of the record");
  same(info.rows_valid, expected.rows_valid, "rows_valid of the record");
  same(info.num_layers, static_cast<std::int64_t>(geometry_.layers()), "num_layers of the record");
  same(info.top_k, geometry_.top_k, "top_k of the record");
  same(info.num_experts, geometry_.experts, "num_experts of the record");
  same(info.ids_dtype, ids_dtype(geometry_.experts), "ids_dtype of the record");
  same(info.weights_dtype, geometry_.weights_dtype, "weights_dtype of the record");
  same(info.has_cell_validity, geometry_.any_partial() ? 1 : 0, "has_cell_validity of the record");
  const Content content = content_of(record);
  const auto compare = [&](const Bytes& wanted, const Bytes& given, const std::string& what) {
    const std::string differs = difference(wanted, given.data(), std::ssize(given));
    demand(differs.empty(), what + " of the record: " + differs);
  };
  compare(expected.ids, content.ids, "ids");
  compare(expected.weights, content.weights, "weights");
  compare(expected.row_validity, content.row_validity, "row bitmap");
  compare(expected.cell_validity, content.cell_validity, "cell bitmap");
  Numbers spans;
  for (const auto& [start, version] : expected.spans) spans.push_back(start);
  for (const auto& [start, version] : expected.spans) spans.push_back(version);
  demand(content.spans == spans, "version spans of the record: the library says " + text_of(content.spans) + ", the contract " + text_of(spans));
  same(info.version_spans, std::ssize(expected.spans), "version_spans of the record");
  const std::int32_t* layers = nullptr;
  const std::int32_t* flags = nullptr;
  std::int64_t count = 0;
  expect(rcap_record_layer_ids(record, &layers, &count, error), {RCAP_STATUS_OK}, error, "layer_ids");
  same(count, static_cast<std::int64_t>(geometry_.layers()), "layer_ids of the record");
  expect(rcap_record_layer_flags(record, &flags, &count, error), {RCAP_STATUS_OK}, error, "layer_flags");
  same(count, static_cast<std::int64_t>(geometry_.layers()), "layer_flags of the record");
  for (std::size_t column = 0; column < geometry_.layers(); ++column) {
    same(layers[column], geometry_.layer_numbers[column], "layer_ids of the record");
    same(flags[column], geometry_.partial[column] ? RCAP_TAP_PARTIAL : 0, "layer_flags of the record");
  }
}

/// Laws that hold between reads whatever was captured: a suffix, a slice, a sum of deltas (R3, R4, R5). The model has no say here.
void Session::algebra(Draws& draws) {
  if (finalizing_ == Finalizing::kOwnThread) synchronize();
  ReadCall call;
  const std::int64_t count = 1 + draws.below(20);
  for (std::int64_t i = 0; i < count; ++i) call.list.push_back(draws.chance(6) ? -1 : draws.below(geometry_.slots));
  call.tokens = count + 1;
  const Bytes slots = packed(call.list, RCAP_DTYPE_INT64);
  const auto take = [&](std::int64_t start, std::int64_t tokens) {
    const rcap_read_layout layout = layout_of({.list = {}, .tokens = tokens, .start = start, .tags = {}}, RCAP_DTYPE_INT64, 0);
    rcap_record* record = nullptr;
    Error error;
    const std::int32_t status = rcap_capturer_read(capturer_, &layout, slots.data(), std::ssize(slots), nullptr, 0, &record, error);
    expect(status, {RCAP_STATUS_OK, RCAP_STATUS_NOT_READY}, error, "read");
    return Record(record);
  };
  const Record whole = take(0, call.tokens);
  if (!whole) return;  // a copy among these slots waits for its forward
  met("algebra");
  note("algebra over slots " + text_of(call.list));
  const Content all = content_of(whole.get());
  const std::int64_t layers = all.geometry[3];
  const auto slice = [&](std::int64_t start, std::int64_t end) {
    rcap_record* record = nullptr;
    Error error;
    expect(rcap_record_slice(whole.get(), start, end, &record, error), {RCAP_STATUS_OK}, error, "slice");
    return Record(record);
  };
  Bytes ids;
  Bytes weights;
  std::int64_t row = 0;
  while (row < count) {
    const std::int64_t end = row + 1 + draws.below(count - row);
    const Record delta = take(row, end + 1);
    const Record tail = take(row, call.tokens);
    demand(delta && tail, "a part of a read is not ready where the whole is");
    const Content part = content_of(delta.get());
    same(part.geometry[0], row, "start of a delta (R5)");
    demand(part == content_of(slice(row, end).get()), "a delta differs from the slice of the whole (R5)");
    demand(content_of(tail.get()) == content_of(slice(row, count).get()), "read(s) differs from read(0)[s:] (R3)");
    ids.insert(ids.end(), part.ids.begin(), part.ids.end());
    weights.insert(weights.end(), part.weights.begin(), part.weights.end());
    for (std::int64_t i = row; i < end; ++i) {
      demand(bit(part.row_validity, i - row) == bit(all.row_validity, i), "row validity of a delta differs from the whole's (R5)");
      for (std::int64_t column = 0; column < layers && !all.cell_validity.empty(); ++column) {
        const bool cell = bit(part.cell_validity, (i - row) * layers + column);
        demand(cell == bit(all.cell_validity, i * layers + column), "cell validity of a delta differs from the whole's (R5)");
      }
    }
    row = end;
  }
  demand(ids == all.ids && weights == all.weights, "concatenated deltas differ from the whole (R5)");
  demand(content_of(slice(0, count).get()) == all, "a slice of everything differs from the whole");
  Error error;
  rcap_record* none = nullptr;
  expect(rcap_record_slice(whole.get(), 0, count + 1, &none, error), {RCAP_STATUS_OUT_OF_RANGE}, error, "slice past the end");
  expect(rcap_record_slice(whole.get(), -1, count, &none, error), {RCAP_STATUS_OUT_OF_RANGE}, error, "slice before the start");
}

}  // namespace routecap_test::property
