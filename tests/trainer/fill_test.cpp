// SPDX-License-Identifier: Apache-2.0
// Dense ids for a trainer.
#include <doctest/doctest.h>

#include "records/sketch.h"
#include "trainer/calls.h"

using namespace routecap_trainer;
using routecap_records::Handle;
using routecap_records::record;
using routecap_records::Sketch;

namespace {

/// Two layers, two of eight experts; SPREAD gives n, n + 4 for the n-th filled row.
Sketch sketch(std::vector<std::string> rows, std::int64_t start = 0, std::vector<std::int32_t> flags = {}) {
  return {.start = start, .rows = std::move(rows), .layers = {2, 6}, .flags = std::move(flags), .num_experts = 8};
}

}  // namespace

TEST_CASE("R42: missing rows, the last token and padding are filled with distinct ids, and the masks say so") {
  const Handle rows = record(sketch({"7.1 2.3", "~", "5.4 0.6"}));
  const Filled made = fill(rows.get(), {.tokens = 6, .length = 4});
  CHECK(made.ids == Numbers{7, 1, 2, 3, 0, 4, 0, 4, 5, 4, 0, 6, 1, 5, 1, 5, 2, 6, 2, 6, 3, 7, 3, 7});
  CHECK(made.row_mask == Bytes{1, 0, 1, 0, 0, 0});
  CHECK(made.cell_mask == Bytes{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0});
  CHECK(made.filled == 4);
}

TEST_CASE("R42: a layer that lacks a cell is filled alone, and counts its own filled rows") {
  const Handle rows = record(sketch({"7.1 -", "- 2.3", "5.4 -"}, 0, {RCAP_TAP_PARTIAL, RCAP_TAP_PARTIAL}));
  const Filled made = fill(rows.get(), {.tokens = 4, .length = 4});
  CHECK(made.ids == Numbers{7, 1, 0, 4, 0, 4, 2, 3, 5, 4, 1, 5, 1, 5, 2, 6});
  CHECK(made.row_mask == Bytes{0, 0, 0, 0});
  CHECK(made.cell_mask == Bytes{1, 0, 0, 1, 1, 0, 0, 0});
  CHECK(made.filled == 4);
  // Of the layers asked for alone.
  CHECK(fill(rows.get(), {.tokens = 4, .length = 4}, {2}).row_mask == Bytes{1, 0, 1, 0});
}

TEST_CASE("R42: numbers go on where the batch's earlier calls ended") {
  const Handle none = record(sketch({}));
  CHECK(fill(none.get(), {.tokens = 2, .length = 2, .first_fill = 3}, {6}).ids == Numbers{3, 7, 4, 0});
  CHECK(fill(none.get(), {.tokens = 2, .length = 2, .first_fill = 7}, {6}).ids == Numbers{7, 3, 0, 4});
  CHECK(fill(none.get(), {.tokens = 1, .length = 1, .first_fill = INT64_MAX}, {6}).ids == Numbers{7, 3});  // 2^63 - 1 is 7 modulo 8
}

TEST_CASE("R42: a value in place of distinct ids, for trainers that look at the mask") {
  const Handle rows = record(sketch({"7.1 2.3", "~"}));
  const Fill minus{.tokens = 3, .length = 3, .dtype = RCAP_DTYPE_INT16, .padding = RCAP_PADDING_VALUE, .fill_value = -1};
  CHECK(fill(rows.get(), minus).ids == Numbers{7, 1, 2, 3, -1, -1, -1, -1, -1, -1, -1, -1});
  const Fill zero{.tokens = 3, .length = 3, .dtype = RCAP_DTYPE_UINT8, .padding = RCAP_PADDING_VALUE};
  CHECK(fill(rows.get(), zero).ids == Numbers{7, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(fill(rows.get(), zero).row_mask == Bytes{1, 0, 0});
}

TEST_CASE("R43: rows by position, for a rank's part of a sequence") {
  const Handle rows = record(sketch({"1.2 3.4", "2.3 4.5", "3.4 5.6", "4.5 6.7"}, 2));
  const Numbers positions = {5, 2, -1, 1, 3, 3, 6, 99};
  const Filled made = fill(rows.get(), {.tokens = 8, .length = 7}, {2}, &positions);
  CHECK(made.ids == Numbers{4, 5, 1, 2, 0, 4, 1, 5, 2, 3, 2, 3, 2, 6, 3, 7});
  CHECK(made.row_mask == Bytes{1, 1, 0, 0, 1, 1, 0, 0});
  // Without positions the rows count from the start.
  CHECK(fill(rows.get(), {.start = 4, .tokens = 2, .length = 7}, {2}).ids == Numbers{3, 4, 4, 5});
  const Numbers none;
  CHECK(fill(rows.get(), {.length = 7}, {2}, &none).filled == 0);
}

TEST_CASE("R43: layers in the order asked for, tokens or layers first") {
  const Handle rows = record(sketch({"1.2 3.4", "5.6 7.0"}));
  CHECK(fill(rows.get(), {.tokens = 2, .length = 2}, {6, 2}).ids == Numbers{3, 4, 1, 2, 7, 0, 5, 6});
  const Fill layers_first{.tokens = 2, .length = 2, .order = RCAP_AXIS_ORDER_LAYERS_FIRST};
  CHECK(fill(rows.get(), layers_first).ids == Numbers{1, 2, 5, 6, 3, 4, 7, 0});
  CHECK(fill(rows.get(), layers_first, {6, 2}).ids == Numbers{3, 4, 7, 0, 1, 2, 5, 6});
}

TEST_CASE("R43: ids of every width in every dtype that holds them") {
  for (const std::int32_t experts : {256, 257, 65536, 65537}) {
    const std::string last = std::to_string(experts - 1);
    const Handle rows = record(Sketch{.rows = {last + ".0", "~"}, .layers = {1}, .num_experts = experts});
    for (const std::int32_t dtype : {RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64}) {
      const std::int64_t holds = dtype == RCAP_DTYPE_UINT8 ? 255 : dtype == RCAP_DTYPE_UINT16 ? 65535 : dtype == RCAP_DTYPE_INT16 ? 32767 : INT32_MAX;
      if (experts - 1 > holds) continue;
      CAPTURE(experts);
      CAPTURE(dtype);
      CHECK(fill(rows.get(), {.tokens = 2, .length = 2, .first_fill = experts - 1, .dtype = dtype}).ids ==
            Numbers{experts - 1, 0, experts - 1, experts / 2 - 1});
    }
  }
}

TEST_CASE("R42: a layout left as its init function makes it asks for int64, tokens first, spread") {
  rcap_fill_layout layout;
  rcap_fill_layout_init(&layout, sizeof layout);
  CHECK(layout.dtype == RCAP_DTYPE_INT64);
  CHECK(layout.order == RCAP_AXIS_ORDER_TOKENS_FIRST);
  CHECK(layout.padding == RCAP_PADDING_SPREAD);
}

TEST_CASE("R42: what does not fit is refused by name, and nothing is written") {
  const Handle rows = record(sketch({"1.2 3.4", "5.6 7.0"}, 1));
  const Handle wide = record(Sketch{.rows = {"299.0"}, .layers = {1}, .num_experts = 300});
  struct Arrays {
    Layers layers = {};
    Numbers positions = {};
    std::int64_t ids_bytes = 64;  // two tokens, two layers, K = 2, int64
    std::int64_t row_mask_bytes = 2;
    std::int64_t cell_mask_bytes = 4;
  };
  const auto fill_of = [](const Handle& record, const Fill& fill, const Arrays& arrays = {}) {
    return refused([&](rcap_error* err) {
      Bytes ids(128, 1);
      Bytes row_mask(8, 2);
      Bytes cell_mask(8, 3);
      std::int64_t filled = -3;
      const rcap_fill_layout layout = layout_of(fill);
      const std::int32_t status =
          rcap_record_fill(record.get(), &layout, arrays.layers.empty() ? nullptr : arrays.layers.data(), count(arrays.layers),
                           arrays.positions.empty() ? nullptr : arrays.positions.data(), count(arrays.positions), ids.data(), arrays.ids_bytes,
                           row_mask.data(), arrays.row_mask_bytes, cell_mask.data(), arrays.cell_mask_bytes, &filled, err);
      CHECK(ids == Bytes(128, 1));
      CHECK(row_mask == Bytes(8, 2));
      CHECK(cell_mask == Bytes(8, 3));
      CHECK(filled == -3);
      return status;
    });
  };
  const Fill good{.tokens = 2, .length = 3};
  const auto with = [&good](auto change) {
    Fill fill = good;
    change(fill);
    return fill;
  };
  CHECK(fill_of(rows, good, {.layers = {2, 7}}) == "OUT_OF_RANGE: layer_ids: layer 7 is none of the 2 layers there are (2 .. 6)");
  CHECK(fill_of(rows, good, {.layers = {2, 2}}) == "INVALID_ARGUMENT: layer_ids: layer 2 stands at 0 and at 1");
  CHECK(fill_of(rows, with([](Fill& f) { f.length = 2; })) == "OUT_OF_RANGE: the record has the positions [1, 3), layout->length is 2");
  CHECK(fill_of(rows, with([](Fill& f) { f.length = -1; })) == "OUT_OF_RANGE: layout->length is -1, allowed are 0 .. 9223372036854775807");
  CHECK(fill_of(rows, with([](Fill& f) { f.start = -1; })) == "OUT_OF_RANGE: layout->start is -1, allowed are 0 .. 9223372036854775807");
  CHECK(fill_of(rows, with([](Fill& f) { f.tokens = -1; })) == "OUT_OF_RANGE: layout->tokens is -1, allowed are 0 .. 9223372036854775807");
  CHECK(fill_of(rows, with([](Fill& f) { f.first_fill = -1; })) == "OUT_OF_RANGE: layout->first_fill is -1, allowed are 0 .. 9223372036854775807");
  CHECK(fill_of(rows, with([](Fill& f) { f.start = INT64_MAX; })) ==
        "OUT_OF_RANGE: layout->start + layout->tokens: 9223372036854775807 + 2 exceeds 9223372036854775807");
  CHECK(fill_of(rows, with([](Fill& f) { f.tokens = INT64_MAX / 2 + 1; })) ==
        "OUT_OF_RANGE: tokens * layers: 4611686018427387904 * 2 exceeds 9223372036854775807");
  CHECK(fill_of(rows, with([](Fill& f) { f.tokens = INT64_MAX / 8; })) ==
        "OUT_OF_RANGE: bytes of all ids: 4611686018427387900 * 8 exceeds 9223372036854775807");
  CHECK(fill_of(wide, with([](Fill& f) { f.dtype = RCAP_DTYPE_UINT8; })) ==
        "OUT_OF_RANGE: layout->dtype is UINT8 (1), the record's ids reach to 299, it holds 255");
  CHECK(
      fill_of(rows, with([](Fill& f) { f.dtype = RCAP_DTYPE_FLOAT16; })).starts_with("INVALID_ARGUMENT: layout->dtype is FLOAT16 (6), allowed are "));
  CHECK(fill_of(rows, with([](Fill& f) { f.order = 2; })) ==
        "INVALID_ARGUMENT: layout->order is 2, allowed are TOKENS_FIRST (0) and LAYERS_FIRST (1)");
  CHECK(fill_of(rows, with([](Fill& f) { f.padding = -1; })) == "INVALID_ARGUMENT: layout->padding is -1, allowed are SPREAD (0) and VALUE (1)");
  CHECK(fill_of(rows, with([](Fill& f) { f.fill_value = 1; })) == "UNSUPPORTED: layout->fill_value is 1, SPREAD has no use for it");
  CHECK(fill_of(rows, with([](Fill& f) {
                  f.padding = RCAP_PADDING_VALUE;
                  f.fill_value = -1;
                  f.dtype = RCAP_DTYPE_UINT16;
                })) == "OUT_OF_RANGE: layout->fill_value is -1, allowed are 0 .. 65535");
  CHECK(fill_of(rows, good, {.positions = {0, -2}}) == "OUT_OF_RANGE: positions[1] is -2, allowed are -1 and above");
  CHECK(fill_of(rows, good, {.positions = {0}}) == "INVALID_ARGUMENT: positions_count is 1, it must be 2");
  CHECK(fill_of(rows, with([](Fill& f) { f.start = 1; }), {.positions = {0, 1}}) == "UNSUPPORTED: layout->start is 1, with positions it must be 0");
  CHECK(fill_of(rows, good, {.ids_bytes = 32}) == "INVALID_ARGUMENT: ids_bytes is 32, it must be 64");
  CHECK(fill_of(rows, good, {.row_mask_bytes = 1}) == "INVALID_ARGUMENT: row_mask_bytes is 1, it must be 2");
  CHECK(fill_of(rows, good, {.cell_mask_bytes = 2}) == "INVALID_ARGUMENT: cell_mask_bytes is 2, it must be 4");
  const rcap_fill_layout layout = layout_of(good);
  CHECK(refused([&](rcap_error* err) {
          return rcap_record_fill(rows.get(), &layout, nullptr, 0, nullptr, 0, nullptr, 64, nullptr, 0, nullptr, 0, nullptr, err);
        }) == "INVALID_ARGUMENT: ids is null, ids_bytes is 64");
  Bytes ids(64, 1);
  const Layers layers = {2};
  CHECK(refused([&](rcap_error* err) {
          return rcap_record_fill(rows.get(), &layout, layers.data(), 0, nullptr, 0, ids.data(), 64, nullptr, 0, nullptr, 0, nullptr, err);
        }) == "INVALID_ARGUMENT: layer_ids_count is 0, it must be at least 1");
  // What is not wanted may be left out.
  CHECK(rcap_record_fill(rows.get(), &layout, nullptr, 0, nullptr, 0, ids.data(), 64, nullptr, 0, nullptr, 0, nullptr, nullptr) == RCAP_STATUS_OK);
}
