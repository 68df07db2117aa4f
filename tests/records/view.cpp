// SPDX-License-Identifier: Apache-2.0
#include "records/view.h"

#include <cstring>

#include <doctest/doctest.h>

namespace routecap_records {
namespace {

template <class List>
void show(std::ostream& out, const char* name, const List& list) {
  out << ' ' << name << " [";
  for (const auto& value : list) out << ' ' << static_cast<std::int64_t>(value);
  out << " ]";
}

const std::int64_t* given(const std::vector<std::int64_t>& positions) { return positions.empty() ? nullptr : positions.data(); }

std::int64_t count(const std::vector<std::int64_t>& list) { return static_cast<std::int64_t>(list.size()); }

}  // namespace

View view(const rcap_record* record) {
  View view;
  rcap_record_info info;
  rcap_record_info_init(&info, sizeof info);
  REQUIRE(rcap_record_info_get(record, &info, nullptr) == RCAP_STATUS_OK);
  view.start = info.start;
  view.rows = info.rows;
  view.rows_valid = info.rows_valid;
  view.num_experts = info.num_experts;
  view.top_k = info.top_k;
  view.ids_dtype = info.ids_dtype;
  view.weights_dtype = info.weights_dtype;
  view.weights_kind = info.weights_kind;
  view.has_cells = info.has_cell_validity;
  const auto take = [&](auto function, Bytes& into) {
    const void* data = nullptr;
    std::int64_t bytes = -1;
    REQUIRE(function(record, &data, &bytes, nullptr) == RCAP_STATUS_OK);
    REQUIRE(data != nullptr);
    into.assign(static_cast<const unsigned char*>(data), static_cast<const unsigned char*>(data) + bytes);
  };
  take(rcap_record_ids, view.ids);
  take(rcap_record_weights, view.weights);
  take(rcap_record_row_validity, view.row_bits);
  take(rcap_record_cell_validity, view.cell_bits);
  const std::int32_t* numbers = nullptr;
  std::int64_t layers = 0;
  REQUIRE(rcap_record_layer_ids(record, &numbers, &layers, nullptr) == RCAP_STATUS_OK);
  REQUIRE(layers == info.num_layers);
  view.layer_ids.assign(numbers, numbers + layers);
  REQUIRE(rcap_record_layer_flags(record, &numbers, &layers, nullptr) == RCAP_STATUS_OK);
  view.layer_flags.assign(numbers, numbers + layers);
  const std::int64_t* starts = nullptr;
  const std::int64_t* versions = nullptr;
  std::int64_t spans = 0;
  REQUIRE(rcap_record_version_spans(record, &starts, &versions, &spans, nullptr) == RCAP_STATUS_OK);
  REQUIRE(spans == info.version_spans);
  for (std::int64_t i = 0; i < spans; ++i) view.spans.emplace_back(starts[i], versions[i]);
  return view;
}

std::ostream& operator<<(std::ostream& out, const View& view) {
  out << "start " << view.start << " rows " << view.rows << " valid " << view.rows_valid << " E " << view.num_experts << " K " << view.top_k
      << " dtypes " << view.ids_dtype << ' ' << view.weights_dtype << " kind " << view.weights_kind << " cells " << view.has_cells;
  show(out, "layers", view.layer_ids);
  show(out, "flags", view.layer_flags);
  show(out, "row bits", view.row_bits);
  show(out, "cell bits", view.cell_bits);
  out << " spans [";
  for (const auto& [start, version] : view.spans) out << ' ' << start << ':' << version;
  out << " ]";
  show(out, "ids", view.ids);
  show(out, "weights", view.weights);
  return out;
}

Handle made(const Call& call) {
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  rcap_record* record = nullptr;
  const std::int32_t status = call(&record, &error);
  REQUIRE_MESSAGE(status == RCAP_STATUS_OK, std::string(error.text));
  REQUIRE(record != nullptr);
  return Handle(record);
}

std::string refusal(const Call& call) {
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  rcap_record* const untouched = reinterpret_cast<rcap_record*>(&error);
  rcap_record* record = untouched;
  const std::int32_t status = call(&record, &error);
  CHECK(record == untouched);
  CHECK(status < 0);
  CHECK(error.code == status);
  CHECK(call(&record, nullptr) == status);
  CHECK(record == untouched);
  const std::string text = error.text;
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.size() + 1 < sizeof error.text);
  return std::string(rcap_status_name(status)).substr(std::strlen("RCAP_STATUS_")) + ": " + text;
}

Handle append(const Handle& self, const Handle& next, std::int32_t overlap) {
  return made([&](rcap_record** record, rcap_error* err) { return rcap_record_append(self.get(), next.get(), overlap, record, err); });
}

Handle merge(const Handle& self, const Handle& decode, std::int64_t boundary) {
  return made([&](rcap_record** record, rcap_error* err) { return rcap_record_merge(self.get(), decode.get(), boundary, record, err); });
}

Handle truncate(const Handle& self, std::int64_t tokens, std::int32_t flags) {
  return made([&](rcap_record** record, rcap_error* err) { return rcap_record_truncate(self.get(), tokens, flags, record, err); });
}

Handle slice(const Handle& self, std::int64_t start, std::int64_t end) {
  return made([&](rcap_record** record, rcap_error* err) { return rcap_record_slice(self.get(), start, end, record, err); });
}

Handle stack(const Handle& self, const Handle& other) {
  return made([&](rcap_record** record, rcap_error* err) { return rcap_record_stack(self.get(), other.get(), record, err); });
}

Handle interleave(const Handle& self, const std::vector<std::int64_t>& positions, const Handle& other,
                  const std::vector<std::int64_t>& other_positions) {
  return made([&](rcap_record** record, rcap_error* err) {
    return rcap_record_interleave(self.get(), given(positions), count(positions), other.get(), given(other_positions), count(other_positions), record,
                                  err);
  });
}

Handle to_full_axis(const Handle& self, std::int32_t num_layers, std::int32_t fill, std::int32_t fill_id) {
  return made([&](rcap_record** record, rcap_error* err) { return rcap_record_to_full_axis(self.get(), num_layers, fill, fill_id, record, err); });
}

Handle to_compact(const Handle& self, const std::vector<std::int32_t>& layer_ids) {
  return made([&](rcap_record** record, rcap_error* err) {
    return rcap_record_to_compact(self.get(), layer_ids.data(), static_cast<std::int64_t>(layer_ids.size()), record, err);
  });
}

Compared compare(const Handle& self, const Handle& other) {
  Compared compared;
  rcap_compare_report_init(&compared.report, sizeof compared.report);
  compared.by_layer.assign(view(self.get()).layer_ids.size(), -7);
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  const std::int32_t status =
      rcap_record_compare(self.get(), other.get(), &compared.report, compared.by_layer.data(), count(compared.by_layer), &error);
  REQUIRE_MESSAGE(status == RCAP_STATUS_OK, std::string(error.text));
  return compared;
}

}  // namespace routecap_records
