// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "unit/fault_entries.h"

namespace routecap_test {
namespace {

/// A call that gives one new record.
template <class Make>
std::function<std::int32_t(World&)> making(Make make) {
  return [make](World& w) {
    rcap_record* handle = nullptr;
    const std::int32_t status = make(w, &handle);
    w.record.reset(handle);
    return status;
  };
}

std::int32_t encode(World& w, std::int32_t format, std::int32_t zstd_level) {
  auto options = make<rcap_encode_options>();
  options.zstd_level = zstd_level;
  std::int64_t needed = 0;
  return rcap_record_encode(w.given.get(), format, &options, w.buffer.data(), static_cast<std::int64_t>(w.buffer.size()), &needed, w.error);
}

std::int32_t decode(World& w, std::int32_t format, rcap_record** record) {
  static const std::int32_t kLayers[3] = {3, 5, 9};
  const bool carries_layers = format == RCAP_WIRE_FRAME || format == RCAP_WIRE_FRAME_BASE64 || format == RCAP_WIRE_CSV;
  auto hints = make<rcap_decode_hints>();
  hints.start = w.info.start;
  hints.rows = w.info.rows;
  hints.num_experts = w.info.num_experts;
  hints.top_k = w.info.top_k;
  const std::vector<char>& form = w.forms.at(static_cast<std::size_t>(format));
  return rcap_record_decode(format, form.data(), static_cast<std::int64_t>(form.size()), &hints, carries_layers ? nullptr : kLayers,
                            carries_layers ? 0 : 3, record, nullptr, w.error);
}

void add_algebra(std::vector<Entry>& all) {
  const auto add = [&all](const char* function, std::function<std::int32_t(World&)> call) { all.push_back({function, std::move(call), true}); };
  add("rcap_record_append",
      making([](World& w, rcap_record** r) { return rcap_record_append(w.given.get(), w.given.get(), RCAP_OVERLAP_KEEP_NEW, r, w.error); }));
  add("rcap_record_merge", making([](World& w, rcap_record** r) { return rcap_record_merge(w.given.get(), w.given.get(), 1, r, w.error); }));
  add("rcap_record_truncate", making([](World& w, rcap_record** r) { return rcap_record_truncate(w.given.get(), 2, 0, r, w.error); }));
  add("rcap_record_stack", making([](World& w, rcap_record** r) { return rcap_record_stack(w.given.get(), w.other_layer.get(), r, w.error); }));
  add("rcap_record_interleave", making([](World& w, rcap_record** r) {
        static const std::int64_t kEven[2] = {0, 2};
        static const std::int64_t kOdd[2] = {1, 3};
        return rcap_record_interleave(w.given.get(), kEven, 2, w.given.get(), kOdd, 2, r, w.error);
      }));
  add("rcap_record_to_full_axis",
      making([](World& w, rcap_record** r) { return rcap_record_to_full_axis(w.given.get(), 12, RCAP_FILL_MISSING, 0, r, w.error); }));
  add("rcap_record_to_compact", making([](World& w, rcap_record** r) {
        static const std::int32_t kKept[2] = {3, 9};
        return rcap_record_to_compact(w.given.get(), kKept, 2, r, w.error);
      }));
  add("rcap_record_compare", [](World& w) {
    auto report = make<rcap_compare_report>();
    std::int64_t by_layer[3];
    return rcap_record_compare(w.given.get(), w.given.get(), &report, by_layer, 3, w.error);
  });
}

void add_wire(std::vector<Entry>& all) {
  const auto add = [&all](const char* function, std::function<std::int32_t(World&)> call) { all.push_back({function, std::move(call), true}); };
  add("rcap_wire_format_of", [](World& w) {
    std::int32_t format = 0;
    return rcap_wire_format_of("csv", &format, w.error);
  });
  add("rcap_wire_detect", [](World& w) {
    const std::vector<char>& form = w.forms.at(RCAP_WIRE_FRAME_BASE64);
    std::int32_t format = 0;
    return rcap_wire_detect(form.data(), static_cast<std::int64_t>(form.size()), &format, w.error);
  });
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
    add("rcap_record_encode", [format](World& w) { return encode(w, format, 0); });
    add("rcap_record_decode", making([format](World& w, rcap_record** r) { return decode(w, format, r); }));
    add("rcap_capturer_encode", [format](World& w) {
      auto layout = make<rcap_read_layout>();
      layout.tokens = 3;
      std::int64_t needed = 0;
      return rcap_capturer_encode(w.rig->get(), &layout, w.slots, 16, nullptr, 0, format, nullptr, w.buffer.data(),
                                  static_cast<std::int64_t>(w.buffer.size()), &needed, w.error);
    });
  }
  add("rcap_record_encode", [](World& w) { return encode(w, RCAP_WIRE_FRAME, 3); });
}

}  // namespace

void add_record_entries(std::vector<Entry>& all) {
  add_algebra(all);
  add_wire(all);
}

}  // namespace routecap_test
