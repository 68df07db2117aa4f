// SPDX-License-Identifier: Apache-2.0
#include "two_ways.h"

#include <algorithm>

namespace routecap_test {
namespace {

/// Whether the size can be told before the rows are read.
bool goes_by_rows_alone(std::int32_t format, const Rig& rig) {
  const auto& flags = rig.setup().tap_flags;
  const bool partial = std::any_of(flags.begin(), flags.end(), [](std::int32_t flag) { return (flag & RCAP_TAP_PARTIAL) != 0; });
  return format == RCAP_WIRE_SGLANG || format == RCAP_WIRE_VLLM || format == RCAP_WIRE_NPY || format == RCAP_WIRE_PRIME ||
         (format == RCAP_WIRE_NEMO && !partial);
}

}  // namespace

rcap_encode_options default_options() {
  rcap_encode_options options;
  rcap_encode_options_init(&options, sizeof options);
  return options;
}

Answered by_record(const Rig& rig, const Asked& asked, std::int32_t format, const rcap_encode_options& options) {
  Answered answer;
  Error error;
  rcap_record* handle = nullptr;
  answer.status =
      rcap_capturer_read(rig.get(), &asked.layout, asked.slots.empty() ? nullptr : asked.slots.data(), static_cast<std::int64_t>(asked.slots.size()),
                         asked.tags.empty() ? nullptr : asked.tags.data(), static_cast<std::int64_t>(asked.tags.size()), &handle, error);
  const Record record(handle);
  if (answer.status == RCAP_STATUS_OK) answer.status = rcap_record_encode(record.get(), format, &options, nullptr, 0, &answer.needed, error);
  if (answer.status == RCAP_STATUS_OK) {
    answer.bytes.resize(static_cast<std::size_t>(answer.needed));
    char none = 0;
    answer.status =
        rcap_record_encode(record.get(), format, &options, answer.bytes.empty() ? &none : answer.bytes.data(), answer.needed, &answer.needed, error);
  }
  answer.detail = error.detail();
  answer.text = error.text();
  return answer;
}

Answered in_one_pass(const Rig& rig, const Asked& asked, std::int32_t format, const rcap_encode_options& options, std::int64_t capacity) {
  constexpr char kUntouched = '\x5A';
  Answered answer;
  Error error;
  std::string buffer(static_cast<std::size_t>(std::max<std::int64_t>(capacity, 0) + 64), kUntouched);
  answer.status = rcap_capturer_encode(rig.get(), &asked.layout, asked.slots.empty() ? nullptr : asked.slots.data(),
                                       static_cast<std::int64_t>(asked.slots.size()), asked.tags.empty() ? nullptr : asked.tags.data(),
                                       static_cast<std::int64_t>(asked.tags.size()), format, &options, capacity < 0 ? nullptr : buffer.data(),
                                       std::max<std::int64_t>(capacity, 0), &answer.needed, error);
  if (buffer.find_first_not_of(kUntouched, buffer.size() - 64) != std::string::npos) answer.text = "wrote behind the buffer";
  if (answer.status == RCAP_STATUS_OK && capacity >= 0) answer.bytes = buffer.substr(0, static_cast<std::size_t>(answer.needed));
  if (answer.text.empty()) answer.text = error.text();
  answer.detail = error.detail();
  return answer;
}

std::string difference(const Rig& rig, const Asked& asked, std::int32_t format, const rcap_encode_options& options) {
  const Answered expected = by_record(rig, asked, format, options);
  const Answered size = in_one_pass(rig, asked, format, options, -1);
  const std::int64_t capacity = std::max(size.status == RCAP_STATUS_OK ? size.needed : 0, std::max<std::int64_t>(expected.needed, 0));
  const Answered found = in_one_pass(rig, asked, format, options, capacity);
  if (found.text == "wrote behind the buffer") return found.text;
  if (found.status != expected.status) {
    return "status " + name(found.status) + " (" + found.text + "), by record " + name(expected.status) + " (" + expected.text + ")";
  }
  if (found.detail != expected.detail) return "detail " + std::to_string(found.detail) + ", by record " + std::to_string(expected.detail);
  if (found.status != RCAP_STATUS_OK) return {};
  if (size.status != RCAP_STATUS_OK) return "the size was refused: " + size.text;
  if (size.needed < expected.needed) return "size " + std::to_string(size.needed) + ", by record " + std::to_string(expected.needed);
  if (!goes_by_rows_alone(format, rig) && size.needed != expected.needed) return "the size of a record is known and was not told";
  if (found.needed != expected.needed) return "needed " + std::to_string(found.needed) + ", by record " + std::to_string(expected.needed);
  if (found.bytes != expected.bytes) return "other bytes";
  if (size.needed == 0) return {};
  const Answered short_of = in_one_pass(rig, asked, format, options, size.needed - 1);
  if (short_of.text == "wrote behind the buffer") return short_of.text;
  if (short_of.status != RCAP_STATUS_OUT_OF_RANGE || short_of.needed != size.needed) {
    return "one byte too few: " + name(short_of.status) + ", needed " + std::to_string(short_of.needed) + " of " + std::to_string(size.needed);
  }
  return {};
}

}  // namespace routecap_test
