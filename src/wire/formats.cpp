// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cinttypes>

#include "support/choice.h"
#include "support/error.h"
#include "wire/codecs.h"

namespace routecap::wire {
namespace {

struct Format {
  const char* name;
  void (*encode)(const Record&, const rcap_encode_options&, Output&);
  Decoded (*decode)(std::span<const std::byte>, const DecodeHints&);
  bool (*looks_like)(std::span<const std::byte>);  ///< null: the form has no mark
  bool takes_missing;
  bool takes_zstd;
  bool takes_turns;
  std::array<std::int32_t, 5> dtypes;  ///< that a caller may ask for
};

constexpr std::array<std::int32_t, 5> kNoDtype{};
constexpr std::array<std::int32_t, 5> kFlatDtypes{RCAP_DTYPE_INT32, RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16};
constexpr std::array<std::int32_t, 5> kNpyDtypes{RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64};

// In the order of `rcap_wire_format`, which begins at 1.
constexpr std::array<Format, 9> kFormats{{
    {"frame", encode_frame, decode_frame, looks_like_frame, false, true, false, kNoDtype},
    {"frame-base64", encode_frame_base64, decode_frame_base64, looks_like_frame_base64, false, true, false, kNoDtype},
    {"sglang", encode_sglang, decode_sglang, nullptr, true, false, false, kFlatDtypes},
    {"vllm", encode_vllm, decode_vllm, looks_like_vllm, true, false, false, kNpyDtypes},
    {"npy", encode_npy, decode_npy, looks_like_npy, true, false, false, kNpyDtypes},
    {"prime", encode_prime, decode_prime, looks_like_prime, true, false, false, kNoDtype},
    {"nemo", encode_nemo, decode_nemo, looks_like_nemo, true, false, false, kNoDtype},
    {"lists", encode_lists, decode_lists, looks_like_lists, true, false, false, kNoDtype},
    {"csv", encode_csv, decode_csv, looks_like_csv, false, false, true, kNoDtype},
}};

constexpr std::array<Choice, 3> kMissing{{{RCAP_MISSING_REFUSE, "REFUSE"}, {RCAP_MISSING_MINUS_ONE, "MINUS_ONE"}, {RCAP_MISSING_FILL, "FILL"}}};

const Format* find(std::int32_t format) {
  return format < 1 || format > static_cast<std::int32_t>(kFormats.size()) ? nullptr : &kFormats[static_cast<std::size_t>(format - 1)];
}

void check_dtype(const Format& format, std::int32_t dtype) {
  if (dtype == RCAP_DTYPE_NONE) return;
  require_dtype("options dtype", dtype, kDtypes);
  for (const std::int32_t allowed : format.dtypes) {
    if (allowed == dtype) return;
  }
  fail(RCAP_STATUS_UNSUPPORTED, "options dtype is %s (%d), %s is not written with it", dtype_name(dtype), dtype, format.name);
}

}  // namespace

const char* format_name(std::int32_t format) {
  const Format* found = find(format);
  return found == nullptr ? nullptr : found->name;
}

std::int32_t format_of(std::string_view name) {
  for (std::int32_t format = 1; find(format) != nullptr; ++format) {
    if (name == find(format)->name) return format;
  }
  return 0;
}

std::int32_t detect(std::span<const std::byte> bytes) {
  for (std::int32_t format = 1; find(format) != nullptr; ++format) {
    if (find(format)->looks_like != nullptr && find(format)->looks_like(bytes)) return format;
  }
  return 0;
}

void check_options(std::int32_t format, const rcap_encode_options& options, const RecordGeometry& geometry) {
  const Format& form = *find(format);
  const auto refuse = [&](const char* option, std::int64_t value) {
    fail(RCAP_STATUS_UNSUPPORTED, "options %s is %" PRId64 ", %s has no use for it", option, value, form.name);
  };
  check_dtype(form, options.dtype);
  require_choice("options missing", options.missing, kMissing);
  if (options.missing != RCAP_MISSING_REFUSE && !form.takes_missing) {
    fail(RCAP_STATUS_UNSUPPORTED, "options missing is %s, %s says what is missing by itself", name_of(options.missing, kMissing), form.name);
  }
  if (options.fill_id != 0 && options.missing != RCAP_MISSING_FILL) refuse("fill_id", options.fill_id);
  if (options.fill_id < 0 || options.fill_id >= geometry.num_experts) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "options fill_id is %d, num_experts is %d", options.fill_id, geometry.num_experts);
  }
  if (options.zstd_level < 0 || options.zstd_level > 19) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "options zstd_level is %d, allowed are 0 .. 19", options.zstd_level);
  }
  if (options.zstd_level != 0 && !form.takes_zstd) refuse("zstd_level", options.zstd_level);
  if (options.turn < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "options turn is %" PRId64 ", it must not be negative", options.turn);
  if (options.turn != 0 && !form.takes_turns) refuse("turn", options.turn);
  if (options.decode_start >= 0 && !form.takes_turns) refuse("decode_start", options.decode_start);
}

std::int64_t encode(const Record& record, std::int32_t format, const rcap_encode_options& options, std::byte* out, std::int64_t capacity) {
  Output output(out, capacity);
  find(format)->encode(record, options, output);
  return output.size();
}

Decoded decode(std::int32_t format, std::span<const std::byte> bytes, const DecodeHints& hints) { return find(format)->decode(bytes, hints); }

}  // namespace routecap::wire
