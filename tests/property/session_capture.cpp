// SPDX-License-Identifier: Apache-2.0
//
// Where a forward's rows stand, and what every layer hands over for them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "property/session.h"

namespace routecap_test::property {
namespace {

constexpr std::int64_t kMostTokens = 8;

std::int64_t aligned(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

/// Smallest and largest number that a dtype holds.
std::pair<std::int64_t, std::int64_t> limits(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return {0, 255};
    case RCAP_DTYPE_UINT16: return {0, 65535};
    case RCAP_DTYPE_INT16: return {-32768, 32767};
    case RCAP_DTYPE_INT32: return {INT32_MIN, INT32_MAX};
    default: return {INT64_MIN, INT64_MAX};
  }
}

}  // namespace

/// One of the layouts of R16, as the library computes it and as the rule says.
Session::Shape Session::place(Draws& draws) {
  const std::int64_t ranks = config_.dp_size;
  const std::int64_t tp = config_.attn_tp_size;
  const std::int64_t layout = draws.below(5);
  Shape shape;
  if (layout == 4 || layout == 0) {
    shape.tokens = draws.below(std::min(geometry_.device_rows, kMostTokens) + 1);
    shape.first_row = layout == 0 ? 0 : draws.below(geometry_.device_rows - shape.tokens + 1);
    if (layout == 4) return shape;
  }
  const auto kind = static_cast<std::int32_t>(layout);
  Numbers tokens;
  for (std::int64_t rank = 0; rank < ranks; ++rank) tokens.push_back(draws.below(std::min(rows_per_rank_, kMostTokens) + 1));
  const std::int64_t rank = draws.below(ranks);
  const std::int64_t tp_rank = draws.below(tp);
  const std::int64_t padded = *std::max_element(tokens.begin(), tokens.end());
  const auto own = static_cast<std::size_t>(rank);
  if (kind == RCAP_ROWS_LOCAL) {
    tokens[own] = shape.tokens;
  } else if (kind == RCAP_ROWS_CONCATENATED) {
    for (std::int64_t before = 0; before < rank; ++before) shape.first_row += aligned(tokens[static_cast<std::size_t>(before)], tp);
    shape.tokens = tokens[own];
  } else if (kind == RCAP_ROWS_PADDED) {
    shape.first_row = rank * padded;
    shape.tokens = tokens[own];
  } else {
    const std::int64_t shard = aligned(tokens[own], tp) / tp;
    shape.tokens = std::clamp<std::int64_t>(tokens[own] - tp_rank * shard, 0, shard);
  }
  Error error;
  Shape library;
  expect(rcap_layout_rows(kind, tokens.data(), ranks, rank, tp, tp_rank, padded, &library.first_row, &library.tokens, error), {RCAP_STATUS_OK}, error,
         "layout_rows");
  same(library.first_row, shape.first_row, "first row of layout " + std::to_string(kind) + " (R16)");
  same(library.tokens, shape.tokens, "tokens of layout " + std::to_string(kind) + " (R16)");
  return shape;
}

/// K distinct ids as a router would give them, physical where the tap has a map.
Numbers Session::router_ids(std::size_t column, Noise& noise) const {
  Numbers logical;
  for (std::int64_t k = 0; k < geometry_.top_k; ++k) {
    std::int64_t id = noise.below(geometry_.experts);
    while (std::find(logical.begin(), logical.end(), id) != logical.end()) id = (id + 1) % geometry_.experts;
    logical.push_back(id);
  }
  const std::shared_ptr<Numbers>& map = taps_[column].id_map;
  if (!map) return logical;
  Numbers physical;
  for (const std::int64_t id : logical) {
    Numbers places;
    for (std::size_t place = 0; place < map->size(); ++place) {
      if ((*map)[place] == id) places.push_back(static_cast<std::int64_t>(place));
    }
    // An expert that no rank holds at the moment cannot be routed to; what comes instead is a bad id.
    physical.push_back(places.empty() ? static_cast<std::int64_t>(map->size())
                                      : places[static_cast<std::size_t>(noise.below(static_cast<std::int64_t>(places.size())))]);
  }
  return physical;
}

/// Every layer's captures of one forward, padded rows behind it and other ranks' rows before it included.
void Session::capture_forward(Draws& draws, const Shape& shape) {
  if (shape.tokens == 0 && !draws.chance(30)) return;
  const std::int64_t spoiled = draws.below(16);
  std::set<std::int64_t> bad;
  std::set<std::int64_t> twice;
  const std::int64_t row = shape.tokens == 0 ? -1 : shape.first_row + draws.below(shape.tokens);
  const std::int64_t other = shape.tokens == 0 ? -1 : shape.first_row + draws.below(shape.tokens);
  const auto column = static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(geometry_.layers())));
  const auto other_column = static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(geometry_.layers())));
  if (spoiled == 13 || spoiled == 15) bad.insert(row);
  if (spoiled == 14 || spoiled == 15) twice.insert(other);
  const auto style = static_cast<std::uint64_t>(draws.below(1 << 15));
  const std::set<std::int64_t> none;
  for (std::size_t at = 0; at < geometry_.layers(); ++at) {
    const bool plain = style == 0;
    capture_layer(at, plain ? 0 : style * 1000 + at, shape, at == column ? bad : none, at == other_column ? twice : none);
  }
}

/// One layer of a forward. Style 0 is one call with exactly the forward's rows; others vary everything that must not matter, and rarely leave
/// rows out or hand some over twice.
void Session::capture_layer(std::size_t column, std::uint64_t style, const Shape& shape, const std::set<std::int64_t>& bad,
                            const std::set<std::int64_t>& twice) {
  Noise noise(style);
  const std::int64_t end = shape.first_row + shape.tokens;
  std::int64_t from = shape.first_row;
  std::int64_t to = end;
  std::int64_t accident = 0;
  if (style != 0) {
    from -= noise.below(std::min<std::int64_t>(shape.first_row, 2) + 1);
    to += noise.below(std::min<std::int64_t>(geometry_.device_rows - end, 2) + 1);
    accident = noise.below(30 * static_cast<std::int64_t>(geometry_.layers()));
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t row = from; row < to; ++row) rows.push_back(row);
  const bool partial = geometry_.partial[column];
  const bool by_row_ids = partial && style != 0 && noise.below(3) != 0;
  if (partial && style != 0 && noise.below(6) == 0) return;  // a late layer that ran on no row
  if (by_row_ids) {
    std::erase_if(rows, [&](std::int64_t) { return noise.below(3) == 0; });
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[static_cast<std::size_t>(noise.below(static_cast<std::int64_t>(i)))]);
  }
  if (accident == 1) return;
  if (accident == 2 && !rows.empty()) rows.pop_back();
  const auto half = style == 0 ? rows.size() : static_cast<std::size_t>(noise.below(static_cast<std::int64_t>(rows.size()) + 1));
  std::vector<std::vector<std::int64_t>> batches = {{rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(half)},
                                                    {rows.begin() + static_cast<std::ptrdiff_t>(half), rows.end()}};
  if (accident == 3 && !batches[0].empty()) batches[1].push_back(batches[0].back());
  if (style != 0 && noise.below(2) == 0) std::swap(batches[0], batches[1]);
  for (std::vector<std::int64_t>& batch : batches) {
    if (batch.empty()) continue;
    if (!by_row_ids) std::sort(batch.begin(), batch.end());
    const bool adjacent = std::adjacent_find(batch.begin(), batch.end(), [](std::int64_t a, std::int64_t b) { return b != a + 1; }) == batch.end();
    CaptureCall call;
    call.column = column;
    call.device = style != 0 && noise.below(2) == 0;
    call.first_row = by_row_ids ? noise.below(*std::min_element(batch.begin(), batch.end()) + 1) : batch.front();
    if (by_row_ids) {
      call.row_ids.emplace();
      for (const std::int64_t row : batch) call.row_ids->push_back(static_cast<std::int32_t>(row - call.first_row));
    } else if (!adjacent) {
      batch.resize(1);  // the doubled row did not join on: hand it over alone
    }
    call.columns = geometry_.top_k + (style != 0 && noise.below(2) == 0 ? config_.num_fused_shared_experts : 0);
    for (const std::int64_t row : batch) {
      Noise contents(contents_ * 7919 + static_cast<std::uint64_t>(row) * 131 + column);
      Numbers ids = router_ids(column, contents);
      const bool committed = row >= shape.first_row && row < end;
      if (!committed && noise.below(2) == 0) ids.assign(ids.size(), noise.below(3) - 2);  // padding holds anything
      if (bad.count(row) != 0)
        ids[static_cast<std::size_t>(noise.below(std::ssize(ids)))] = noise.below(2) == 0 ? -1 : geometry_.experts + noise.below(9);
      if (twice.count(row) != 0) ids.back() = ids.front();
      for (std::int64_t k = geometry_.top_k; k < call.columns; ++k) ids.push_back(geometry_.experts + noise.below(2));
      call.ids.insert(call.ids.end(), ids.begin(), ids.end());
    }
    call.tokens = std::ssize(batch);
    if (by_row_ids && call.device && noise.below(8) == 0) {
      // An index in device memory that points nowhere is counted, one that stands twice spoils its row.
      const std::int64_t wrong = noise.below(3);
      call.row_ids->back() = wrong == 0 ? -1 : wrong == 1 ? static_cast<std::int32_t>(geometry_.device_rows) : call.row_ids->front();
    }
    capture(std::move(call), noise);
  }
}

/// Hands a call over in some dtype and stride that can say it, to the library and to the model.
void Session::capture(CaptureCall call, Noise& noise) {
  std::vector<std::int32_t> dtypes;
  for (const std::int32_t dtype : {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64, RCAP_DTYPE_INT16, RCAP_DTYPE_UINT16, RCAP_DTYPE_UINT8}) {
    const auto fits = [&](std::int64_t id) { return id >= limits(dtype).first && id <= limits(dtype).second; };
    if (std::all_of(call.ids.begin(), call.ids.end(), fits)) dtypes.push_back(dtype);
  }
  auto layout = make<rcap_capture_layout>();
  layout.ids_dtype = dtypes[static_cast<std::size_t>(noise.below(std::ssize(dtypes)))];
  layout.memory = call.device ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.columns = static_cast<std::int32_t>(call.columns);
  layout.tokens = call.tokens;
  layout.first_row = call.first_row;
  const bool kept = geometry_.weights_dtype != RCAP_DTYPE_NONE;
  const bool as_kept = kept && noise.below(2) == 0;
  layout.weights_dtype = as_kept ? geometry_.weights_dtype : RCAP_DTYPE_FLOAT32;
  const std::int64_t id_width = call.columns * bytes_of(layout.ids_dtype);
  const std::int64_t weight_width = call.columns * bytes_of(layout.weights_dtype);
  const std::int64_t id_gap = noise.below(3) == 0 ? noise.below(9) : 0;
  const std::int64_t weight_gap = noise.below(3) == 0 ? noise.below(9) : 0;
  layout.ids_row_stride = id_gap == 0 && noise.below(2) == 0 ? 0 : id_width + id_gap;
  layout.weights_row_stride = weight_gap == 0 && noise.below(2) == 0 ? 0 : weight_width + weight_gap;

  const auto pad = [&](Bytes& bytes, std::int64_t gap) {
    for (std::int64_t i = 0; i < gap; ++i) bytes.push_back(std::byte{0xEE});
  };
  Bytes ids;
  Bytes weights;
  for (std::int64_t row = 0; row < call.tokens; ++row) {
    if (row > 0) pad(ids, id_gap);
    if (row > 0) pad(weights, weight_gap);
    for (std::int64_t k = 0; k < call.columns; ++k) {
      append(ids, call.ids[static_cast<std::size_t>(row * call.columns + k)], layout.ids_dtype);
      if (!kept) continue;
      // Any finite float32 or infinity; NaN as the quiet one, whose narrow forms are the only ones everybody agrees on.
      auto bits = static_cast<std::uint32_t>(noise.next());
      if (noise.below(2) == 0) bits = 0x3F000000U | (bits & 0x7FFFFFU);  // mostly 0.5 to 1, as routing weights are
      if ((bits & 0x7F800000U) == 0x7F800000U && (bits & 0x7FFFFFU) != 0) bits = 0x7FC00000U;
      const std::uint32_t narrow = weight_bits(bits, geometry_.weights_dtype);
      call.weights.push_back(narrow);
      append(weights, as_kept ? narrow : bits, layout.weights_dtype);
    }
  }
  if (taps_[call.column].id_map) call.id_map = std::make_shared<Numbers>(*taps_[call.column].id_map);
  Error error;
  const std::int64_t row_ids_count = call.row_ids ? std::ssize(*call.row_ids) : 0;
  const Placed row_ids(call.row_ids ? call.row_ids->data() : nullptr, row_ids_count * 4, layout.memory);
  const Placed given(ids, layout.memory);
  const Placed given_weights(weights, layout.memory);
  const Statuses allowed = model_.may_capture(call);
  const std::int32_t status = rcap_tap_capture(taps_[call.column].handle, &layout, given.data(), given.bytes(), given_weights.data(),
                                               given_weights.bytes(), row_ids.as<std::int32_t>(), row_ids_count, nullptr, error);
  std::string shown = "capture layer " + std::to_string(geometry_.layer_numbers[call.column]) + " first_row " + std::to_string(call.first_row) +
                      " tokens " + std::to_string(call.tokens) + " ids " + text_of(call.ids);
  if (call.row_ids) shown += " row_ids " + text_of(Numbers(call.row_ids->begin(), call.row_ids->end()));
  note(shown + (call.device ? " DEVICE" : " HOST") + " -> " + name(status));
  expect(status, allowed, error, "capture");
  if (status == RCAP_STATUS_OK) model_.capture(call);
}

/// A draft's capture is counted and its arguments are not looked at (R18), whatever they are.
void Session::draft(Draws& draws) {
  rcap_tap* tap = draft_taps_[static_cast<std::size_t>(draws.below(std::ssize(draft_taps_)))];
  auto layout = make<rcap_capture_layout>();
  layout.tokens = 4;
  layout.columns = config_.top_k;
  layout.first_row = draws.chance(50) ? geometry_.device_rows : 0;
  const std::vector<std::int32_t> ids(static_cast<std::size_t>(4 * geometry_.top_k));
  Error error;
  const bool nothing = draws.chance(30);
  const std::int32_t status = nothing ? rcap_tap_capture(tap, nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, error)
                                      : rcap_tap_capture(tap, &layout, ids.data(), std::ssize(ids) * 4, nullptr, 0, nullptr, 0, nullptr, error);
  note("capture on a draft -> " + name(status));
  expect(status, {RCAP_STATUS_OK}, error, "capture on a draft (R18)");
  model_.suppress();
}

/// A capture that belongs to no forward yet: it counts for the next one (R27).
void Session::stray_capture(Draws& draws) {
  const auto column = static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(geometry_.layers())));
  Shape shape;
  shape.tokens = draws.below(3);
  shape.first_row = draws.below(geometry_.device_rows - shape.tokens + 1);
  if (shape.tokens > 0) capture_layer(column, 0, shape, {}, {});
}

/// The engine moves physical experts: recorded rows keep their logical ids (R22).
void Session::rebalance(Draws& draws) {
  const std::int64_t by = draws.below(geometry_.experts) + 1;
  const bool hole = draws.chance(10);
  for (Tap& tap : taps_) {
    if (!tap.id_map) continue;
    for (std::int64_t& id : *tap.id_map) id = id < 0 ? 0 : (id + by) % geometry_.experts;
    if (hole) tap.id_map->back() = -1;
    Bytes bytes;
    for (const std::int64_t id : *tap.id_map) append(bytes, id, tap.map_dtype);
    tap.map.rewrite(bytes.data());
    note("rebalance: the map is now " + text_of(*tap.id_map));
  }
}

}  // namespace routecap_test::property
