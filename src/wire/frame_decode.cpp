// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <utility>

#include "support/checked.h"
#include "support/dtype.h"
#include "wire/base64.h"
#include "wire/codecs.h"
#include "wire/frame_kernels.h"
#include "wire/frame_layout.h"
#include "wire/holes.h"
#include "wire/shape.h"
#include "wire/text.h"

namespace routecap::wire {
namespace {

constexpr const char* kForm = "frame";

#ifdef ROUTECAP_FUZZ_CHECKSUMS_PASS
// Fuzzers cannot make a checksum; they are after what comes behind it.
constexpr bool kChecksumsCount = false;
#else
constexpr bool kChecksumsCount = true;
#endif

template <class Struct>
Struct load(std::span<const std::byte> bytes, std::int64_t offset) {
  Struct value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void fail_truncated(std::int64_t there, std::int64_t needed) {
  fail(RCAP_STATUS_CORRUPT, "frame: truncated: %" PRId64 " bytes are there, %" PRId64 " are needed", there, needed);
}

/// The fixed part, checked as far as its own bytes can be.
FrameHead read_head(std::span<const std::byte> bytes) {
  const auto there = static_cast<std::int64_t>(bytes.size());
  const std::int64_t magic_bytes = std::min<std::int64_t>(there, 8);
  if (magic_bytes == 0 || std::memcmp(bytes.data(), kFrameMagic.data(), static_cast<std::size_t>(magic_bytes)) != 0) {
    fail(RCAP_STATUS_CORRUPT, "frame: no frame begins here: the magic is missing at byte 0");
  }
  if (there < 16) fail_truncated(there, sizeof(FrameHead));
  // Behind these two fields another version may look different.
  if (load<std::uint32_t>(bytes, 12) != kFrameByteOrder) {
    fail(RCAP_STATUS_CORRUPT, "frame: byte order is 0x%08x at byte 12, it must be 0x%08x", load<std::uint32_t>(bytes, 12), kFrameByteOrder);
  }
  if (const auto version = load<std::uint32_t>(bytes, 8); version != kFrameVersion) {
    fail(RCAP_STATUS_VERSION_MISMATCH, "frame: version is %u, this library reads %u", version, kFrameVersion);
  }
  if (there < static_cast<std::int64_t>(sizeof(FrameHead))) fail_truncated(there, sizeof(FrameHead));
  const auto head = load<FrameHead>(bytes, 0);
  if (head.num_layers < 1 || head.parts < 0 || head.parts > kMostFrameParts || head.header_bytes != frame_header_bytes(head.num_layers, head.parts) ||
      head.frame_bytes < head.header_bytes) {
    fail(RCAP_STATUS_CORRUPT, "frame: %d layers, %d parts, %" PRId64 " bytes of header and %" PRId64 " bytes of frame do not go together",
         head.num_layers, head.parts, head.header_bytes, head.frame_bytes);
  }
  if (there < head.header_bytes) fail_truncated(there, head.frame_bytes);
  const std::int64_t checked = head.header_bytes - 8;
  if (kChecksumsCount && load<std::uint64_t>(bytes, checked) != frame_kernels().checksum(bytes.data(), checked)) {
    fail(RCAP_STATUS_CORRUPT, "frame: the checksum of the header, at byte %" PRId64 ", is wrong", checked);
  }
  if (there < head.frame_bytes) fail_truncated(there, head.frame_bytes);
  return head;
}

RecordGeometry read_geometry(std::span<const std::byte> bytes, const FrameHead& head) {
  const auto check = [](bool good, const char* what, std::int64_t value) {
    if (!good) fail(RCAP_STATUS_CORRUPT, "frame: %s is %" PRId64 " in the header", what, value);
  };
  check(head.start >= 0, "start", head.start);
  check(head.rows >= 0 && head.rows <= INT64_MAX - head.start, "rows", head.rows);
  check(head.num_experts >= 1, "num_experts", head.num_experts);
  check(head.top_k >= 1 && head.top_k <= head.num_experts, "top_k", head.top_k);
  check(head.ids_dtype == ids_dtype_for(head.num_experts), "ids_dtype", head.ids_dtype);
  check(head.weights_dtype == RCAP_DTYPE_NONE || is_weights_dtype(head.weights_dtype), "weights_dtype", head.weights_dtype);
  check(head.weights_kind >= 0 && head.weights_kind <= RCAP_WEIGHTS_SCALED, "weights_kind", head.weights_kind);
  check(head.reserved == 0, "a reserved field", head.reserved);
  RecordGeometry geometry{head.start, head.rows, head.num_experts, head.top_k, head.ids_dtype, head.weights_dtype, head.weights_kind, false, {}, {}};
  constexpr std::int32_t kKnown = RCAP_TAP_HASH_ROUTED | RCAP_TAP_UNORDERED | RCAP_TAP_PARTIAL;
  for (std::int64_t column = 0; column < head.num_layers; ++column) {
    const auto layer = load<FrameLayer>(bytes, static_cast<std::int64_t>(sizeof(FrameHead)) + column * static_cast<std::int64_t>(sizeof(FrameLayer)));
    check(layer.layer_id >= 0 && (column == 0 || layer.layer_id > geometry.layer_ids.back()), "a layer that does not ascend", layer.layer_id);
    check((layer.flags & ~kKnown) == 0, "a layer's flags", layer.flags);
    geometry.layer_ids.push_back(layer.layer_id);
    geometry.layer_flags.push_back(layer.flags);
  }
  // Ids, row runs and version spans are always there, weights where the header has their dtype: one more is the cells' validity.
  geometry.has_cells = head.parts > (head.weights_dtype == RCAP_DTYPE_NONE ? 3 : 4);
  if (geometry.any_partial()) check(geometry.has_cells, "parts, and a layer is PARTIAL: parts", head.parts);
  return geometry;
}

void check_hints(const RecordGeometry& geometry, const DecodeHints& hints) {
  check_no_turn(kForm, hints);
  if (hints.start >= 0) check_agrees(kForm, "start", hints.start, geometry.start);
  if (hints.rows >= 0) check_agrees(kForm, "rows", hints.rows, geometry.rows);
  if (hints.num_experts > 0) check_agrees(kForm, "num_experts", hints.num_experts, geometry.num_experts);
  if (hints.top_k > 0) check_agrees(kForm, "top_k", hints.top_k, geometry.top_k);
  if (hints.num_layers > 0) check_agrees(kForm, "num_layers", hints.num_layers, geometry.layers());
  if (hints.dtype != RCAP_DTYPE_NONE) check_agrees(kForm, "dtype", hints.dtype, geometry.ids_dtype);
  if (hints.layer_ids.empty()) return;
  check_agrees(kForm, "layer_ids_count", static_cast<std::int64_t>(hints.layer_ids.size()), geometry.layers());
  for (std::size_t column = 0; column < hints.layer_ids.size(); ++column) {
    check_agrees(kForm, "layer_ids", hints.layer_ids[column], geometry.layer_ids[column]);
  }
}

/// A part inside the frame.
struct Part {
  FramePartHead head;
  const std::byte* stored;
  std::int64_t offset;
};

/// The table of parts, checked against the geometry: which there are, where they lie, and what they become.
std::vector<Part> read_parts(std::span<const std::byte> bytes, const FrameHead& head, const RecordGeometry& geometry) {
  const std::vector<FramePart> expected = frame_parts(geometry);
  if (head.parts != static_cast<std::int32_t>(expected.size())) {
    fail(RCAP_STATUS_CORRUPT, "frame: %d parts, what the header says makes it %zu", head.parts, expected.size());
  }
  std::vector<Part> parts;
  std::int64_t table = static_cast<std::int64_t>(sizeof(FrameHead)) + std::int64_t{head.num_layers} * static_cast<std::int64_t>(sizeof(FrameLayer));
  std::int64_t offset = head.header_bytes;
  for (const FramePart kind : expected) {
    const auto part = load<FramePartHead>(bytes, table);
    table += static_cast<std::int64_t>(sizeof(FramePartHead));
    const bool known = part.part == kind && (part.coding == FrameCoding::kStored || part.coding == FrameCoding::kZstd);
    const bool inside = part.stored_bytes >= 0 && part.stored_bytes <= head.frame_bytes - offset && part.raw_bytes >= 0;
    const std::int64_t most = part.coding == FrameCoding::kStored || !inside ? part.stored_bytes : part.stored_bytes * kCompressionLimit;
    const bool sized = part.coding == FrameCoding::kStored ? part.raw_bytes == most : part.raw_bytes <= most;
    const std::int64_t padded = inside ? frame_padded(part.stored_bytes) : 0;
    if (!known || !inside || !sized || padded > head.frame_bytes - offset) {
      fail(RCAP_STATUS_CORRUPT, "frame: part %u (coding %u, %" PRId64 " bytes that become %" PRId64 ") at byte %" PRId64 " does not fit in",
           static_cast<unsigned>(part.part), static_cast<unsigned>(part.coding), part.stored_bytes, part.raw_bytes, offset);
    }
    for (std::int64_t i = part.stored_bytes; i < padded; ++i) {
      if (bytes[static_cast<std::size_t>(offset + i)] != std::byte{0})
        fail(RCAP_STATUS_CORRUPT, "frame: byte %" PRId64 " between parts is not 0", offset + i);
    }
    parts.push_back({part, bytes.data() + offset, offset});
    offset += padded;
  }
  if (offset != head.frame_bytes)
    fail(RCAP_STATUS_CORRUPT, "frame: the parts end at byte %" PRId64 ", the frame at %" PRId64, offset, head.frame_bytes);
  return parts;
}

/// Checks a part's checksum and brings it into `out`, of raw_bytes bytes.
void unpack(const Part& part, std::byte* out) {
  const FramePartHead& head = part.head;
  const bool stored = head.coding == FrameCoding::kStored;
  const std::uint64_t checksum =
      stored ? frame_kernels().copy_with_checksum(out, part.stored, head.stored_bytes) : frame_kernels().checksum(part.stored, head.stored_bytes);
  if (kChecksumsCount && checksum != head.checksum) {
    fail(RCAP_STATUS_CORRUPT, "frame: the checksum of part %u, at byte %" PRId64 ", is wrong", static_cast<unsigned>(head.part), part.offset);
  }
  if (stored) return;
  const std::size_t got = ZSTD_decompress(out, static_cast<std::size_t>(head.raw_bytes), part.stored, static_cast<std::size_t>(head.stored_bytes));
  if (ZSTD_isError(got) != 0 || static_cast<std::int64_t>(got) != head.raw_bytes) {
    fail(RCAP_STATUS_CORRUPT, "frame: part %u, at byte %" PRId64 ", does not decompress to %" PRId64 " bytes", static_cast<unsigned>(head.part),
         part.offset, head.raw_bytes);
  }
}

/// A part that goes into an array of the record, whose size the geometry gives.
void unpack_into(const Part& part, Bytes& out) {
  if (part.head.raw_bytes != out.size()) {
    fail(RCAP_STATUS_CORRUPT, "frame: part %u has %" PRId64 " bytes, the header makes it %" PRId64, static_cast<unsigned>(part.head.part),
         part.head.raw_bytes, out.size());
  }
  unpack(part, out.data());
}

/// A part of 8-byte numbers.
std::vector<std::int64_t> unpack_numbers(const Part& part, std::int64_t unit) {
  if (part.head.raw_bytes % (8 * unit) != 0) {
    fail(RCAP_STATUS_CORRUPT, "frame: part %u has %" PRId64 " bytes, no whole number of entries", static_cast<unsigned>(part.head.part),
         part.head.raw_bytes);
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(part.head.raw_bytes / 8));
  unpack(part, reinterpret_cast<std::byte*>(numbers.data()));
  return numbers;
}

void read_rows(const std::vector<std::int64_t>& runs, Record& record) {
  const std::int64_t rows = record.geometry().rows;
  std::int64_t at = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run] < (run == 0 ? 0 : 1) || runs[run] > rows - at) {
      fail(RCAP_STATUS_CORRUPT, "frame: run %zu of rows has %" PRId64 ", %" PRId64 " rows are left", run, runs[run], rows - at);
    }
    if (run % 2 == 0) bits::set_range(record.row_validity().data(), at, runs[run]);
    at += runs[run];
  }
  if (at != rows) fail(RCAP_STATUS_CORRUPT, "frame: the runs have %" PRId64 " rows, the header %" PRId64, at, rows);
}

/// The bitmap says nothing that a record would say otherwise: no bit behind the last cell or in a missing row, no valid row without a cell unless
/// every column is PARTIAL, and some reason to be there.
void check_cells(const Record& record) {
  const RecordGeometry& geometry = record.geometry();
  const std::byte* cells = record.cell_validity().data();
  const std::int64_t layers = geometry.layers();
  const std::int64_t bits_behind = record.cell_validity().size() * 8 - geometry.rows * layers;
  if (bits::count_set(cells, geometry.rows * layers, bits_behind) != 0) fail(RCAP_STATUS_CORRUPT, "frame: bits behind the last cell are set");
  const bool all_partial = geometry.all_partial();
  bool needed = geometry.any_partial();
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    const std::int64_t valid = bits::count_set(cells, row * layers, layers);
    if (record.row_valid(row) ? valid == 0 && !all_partial : valid != 0) {
      fail(RCAP_STATUS_CORRUPT, "frame: row %" PRId64 " is %s and has %" PRId64 " valid cells", row, record.row_valid(row) ? "valid" : "missing",
           valid);
    }
    needed = needed || (valid > 0 && valid < layers);
  }
  if (!needed) fail(RCAP_STATUS_CORRUPT, "frame: cells have a validity of their own that says the same as the rows'");
}

void read_spans(const std::vector<std::int64_t>& pairs, Record& record) {
  const RecordGeometry& geometry = record.geometry();
  VersionSpans& spans = record.spans();
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const std::int64_t start = pairs[i];
    const bool first = spans.starts.empty();
    const bool ascends = first ? start == geometry.start : start > spans.starts.back() && pairs[i + 1] != spans.versions.back();
    if (!ascends || start - geometry.start >= geometry.rows || (!first && !record.row_valid(start - geometry.start))) {
      fail(RCAP_STATUS_CORRUPT, "frame: version span %zu starts at %" PRId64 ", the record has [%" PRId64 ", %" PRId64 ")", i / 2, start,
           geometry.start, geometry.start + geometry.rows);
    }
    spans.starts.push_back(start);
    spans.versions.push_back(pairs[i + 1]);
  }
  const bool has_valid = run_end(record.row_validity(), 0, geometry.rows, false) != geometry.rows;
  if (has_valid == spans.starts.empty()) {
    fail(RCAP_STATUS_CORRUPT, "frame: %zu version spans, and %s valid row", spans.starts.size(), has_valid ? "a" : "no");
  }
}

}  // namespace

Decoded decode_frame(std::span<const std::byte> bytes, const DecodeHints& hints) {
  const FrameHead head = read_head(bytes);
  RecordGeometry geometry = read_geometry(bytes, head);
  const std::vector<Part> parts = read_parts(bytes, head, geometry);
  check_hints(geometry, hints);
  // What the arrays take is what the parts become, and that was checked against the bytes that are there; nothing is allocated before.
  const auto check_size = [&](const Part& part, std::int64_t row_bytes) {
    if (part.head.raw_bytes != checked_multiply(geometry.rows, row_bytes, "frame: bytes of a part")) {
      fail(RCAP_STATUS_CORRUPT, "frame: part %u has %" PRId64 " bytes, %" PRId64 " rows have %" PRId64 " each", static_cast<unsigned>(part.head.part),
           part.head.raw_bytes, geometry.rows, row_bytes);
    }
  };
  for (const Part& part : parts) {
    if (part.head.part == FramePart::kIds) check_size(part, geometry.row_ids_bytes());
    if (part.head.part == FramePart::kWeights) check_size(part, geometry.row_weights_bytes());
  }
  auto record = std::make_unique<Record>(std::move(geometry));
  for (const Part& part : parts) {
    switch (part.head.part) {
      case FramePart::kRowRuns: read_rows(unpack_numbers(part, 1), *record); break;
      case FramePart::kCellBits:
        unpack_into(part, record->cell_validity());
        check_cells(*record);
        break;
      case FramePart::kVersionSpans: read_spans(unpack_numbers(part, 2), *record); break;
      case FramePart::kIds:
        unpack_into(part, record->ids());
        if (const std::optional<BadId> bad = record->find_bad_id()) {
          fail(RCAP_STATUS_CORRUPT, "frame: row %" PRId64 ", layer %d has id %" PRId64 ", num_experts is %d", bad->row, bad->layer, bad->id,
               record->geometry().num_experts);
        }
        break;
      case FramePart::kWeights: unpack_into(part, record->weights()); break;
    }
  }
  record->canonicalize();
  return {std::move(record), head.frame_bytes};
}

bool looks_like_frame(std::span<const std::byte> bytes) {
  return bytes.size() >= kFrameMagic.size() && std::memcmp(bytes.data(), kFrameMagic.data(), kFrameMagic.size()) == 0;
}

Decoded decode_frame_base64(std::span<const std::byte> bytes, const DecodeHints& hints) {
  const std::vector<std::byte> frame = decoded_base64("frame-base64", text_of(bytes), 0);
  Decoded decoded = decode_frame(frame, hints);
  if (decoded.consumed != static_cast<std::int64_t>(frame.size())) {
    fail(RCAP_STATUS_CORRUPT, "frame-base64: %zu bytes follow the frame", frame.size() - static_cast<std::size_t>(decoded.consumed));
  }
  decoded.consumed = static_cast<std::int64_t>(bytes.size());
  return decoded;
}

bool looks_like_frame_base64(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  std::array<std::byte, 9> front{};
  if (text.size() < 12 || !base64_decode(text.data(), 12, front.data()).ok()) return false;
  return std::memcmp(front.data(), kFrameMagic.data(), kFrameMagic.size()) == 0;
}

}  // namespace routecap::wire
