// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <vector>

#include "wire/base64.h"
#include "wire/codecs.h"
#include "wire/frame_kernels.h"
#include "wire/frame_layout.h"
#include "wire/holes.h"

namespace routecap::wire {
namespace {

std::size_t as_size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Runs of valid and missing rows in turn; the first, of valid ones, may be 0.
std::vector<std::int64_t> row_runs(const Record& record) {
  std::vector<std::int64_t> runs;
  bool valid = true;
  for (std::int64_t at = 0; at < record.geometry().rows; valid = !valid) {
    const std::int64_t end = run_end(record.row_validity(), at, record.geometry().rows, valid);
    runs.push_back(end - at);
    at = end;
  }
  return runs;
}

std::vector<std::int64_t> span_pairs(const Record& record) {
  std::vector<std::int64_t> pairs;
  pairs.reserve(record.spans().starts.size() * 2);
  for (std::size_t run = 0; run < record.spans().starts.size(); ++run) {
    pairs.push_back(record.spans().starts[run]);
    pairs.push_back(record.spans().versions[run]);
  }
  return pairs;
}

/// A part before it is written.
struct Part {
  FramePartHead head{};
  const std::byte* raw = nullptr;
  std::vector<std::byte> compressed;  ///< what is stored where the coding is Zstandard
};

/// Compresses a part if that makes it smaller.
void compress(Part& part, std::int32_t level) {
  std::vector<std::byte> out(ZSTD_compressBound(as_size(part.head.raw_bytes)));
  const std::size_t written = ZSTD_compress(out.data(), out.size(), part.raw, as_size(part.head.raw_bytes), level);
  if (ZSTD_isError(written) != 0) fail(RCAP_STATUS_OUT_OF_MEMORY, "frame: Zstandard: %s", ZSTD_getErrorName(written));
  out.resize(written);
  // A reader takes no more than kCompressionLimit bytes for one, so that small input cannot ask for much memory. A skippable frame fills up.
  const std::int64_t fewest = (part.head.raw_bytes + kCompressionLimit - 1) / kCompressionLimit;
  if (static_cast<std::int64_t>(out.size()) < fewest) {
    const auto fill = static_cast<std::uint32_t>(std::max<std::int64_t>(fewest - static_cast<std::int64_t>(out.size()) - 8, 0));
    const std::uint32_t head[2] = {ZSTD_MAGIC_SKIPPABLE_START, fill};
    const auto* bytes = reinterpret_cast<const std::byte*>(head);
    out.insert(out.end(), bytes, bytes + sizeof head);
    out.resize(out.size() + fill);
  }
  if (static_cast<std::int64_t>(out.size()) >= part.head.raw_bytes) return;
  part.head.coding = FrameCoding::kZstd;
  part.head.stored_bytes = static_cast<std::int64_t>(out.size());
  part.compressed = std::move(out);
}

std::vector<Part> make_parts(const Record& record, const std::vector<std::int64_t>& runs, const std::vector<std::int64_t>& spans,
                             std::int32_t zstd_level) {
  std::vector<Part> parts;
  for (const FramePart kind : frame_parts(record.geometry())) {
    Part& part = parts.emplace_back();
    part.head.part = kind;
    const auto give = [&part](const void* raw, std::int64_t bytes) {
      part.raw = static_cast<const std::byte*>(raw);
      part.head.raw_bytes = bytes;
    };
    switch (kind) {
      case FramePart::kRowRuns: give(runs.data(), static_cast<std::int64_t>(runs.size()) * 8); break;
      case FramePart::kCellBits: give(record.cell_validity().data(), record.cell_validity().size()); break;
      case FramePart::kVersionSpans: give(spans.data(), static_cast<std::int64_t>(spans.size()) * 8); break;
      case FramePart::kIds: give(record.ids().data(), record.ids().size()); break;
      case FramePart::kWeights: give(record.weights().data(), record.weights().size()); break;
    }
    part.head.stored_bytes = part.head.raw_bytes;
    if (zstd_level > 0 && part.head.raw_bytes > 0) compress(part, zstd_level);
  }
  return parts;
}

void write_header(const Record& record, const std::vector<Part>& parts, std::int64_t frame_bytes, std::byte* out) {
  const RecordGeometry& geometry = record.geometry();
  const FrameHead head{kFrameMagic,
                       kFrameVersion,
                       kFrameByteOrder,
                       frame_bytes,
                       frame_header_bytes(geometry.layers(), static_cast<std::int64_t>(parts.size())),
                       geometry.start,
                       geometry.rows,
                       geometry.num_experts,
                       geometry.top_k,
                       static_cast<std::int32_t>(geometry.layers()),
                       static_cast<std::int32_t>(parts.size()),
                       geometry.ids_dtype,
                       geometry.weights_dtype,
                       geometry.weights_kind,
                       0};
  std::byte* at = out;
  const auto put = [&at](const void* bytes, std::size_t count) {
    std::memcpy(at, bytes, count);
    at += count;
  };
  put(&head, sizeof head);
  for (std::size_t column = 0; column < geometry.layer_ids.size(); ++column) {
    const FrameLayer layer{geometry.layer_ids[column], geometry.layer_flags[column]};
    put(&layer, sizeof layer);
  }
  for (const Part& part : parts) put(&part.head, sizeof part.head);
  const std::uint64_t checksum = frame_kernels().checksum(out, at - out);
  put(&checksum, sizeof checksum);
}

}  // namespace

void encode_frame(const Record& record, const rcap_encode_options& options, Output& out) {
  const std::vector<std::int64_t> runs = row_runs(record);
  const std::vector<std::int64_t> spans = span_pairs(record);
  std::vector<Part> parts = make_parts(record, runs, spans, options.zstd_level);
  const std::int64_t header_bytes = frame_header_bytes(record.geometry().layers(), static_cast<std::int64_t>(parts.size()));
  std::int64_t frame_bytes = header_bytes;
  for (const Part& part : parts) frame_bytes += frame_padded(part.head.stored_bytes);
  std::byte* frame = out.reserve(frame_bytes);
  if (frame == nullptr) return;
  std::byte* at = frame + header_bytes;
  for (Part& part : parts) {
    const bool stored = part.head.coding == FrameCoding::kStored;
    part.head.checksum = frame_kernels().copy_with_checksum(at, stored ? part.raw : part.compressed.data(), part.head.stored_bytes);
    const std::int64_t padded = frame_padded(part.head.stored_bytes);
    for (std::int64_t i = part.head.stored_bytes; i < padded; ++i) at[i] = std::byte{0};
    at += padded;
  }
  write_header(record, parts, frame_bytes, frame);
}

void encode_frame_base64(const Record& record, const rcap_encode_options& options, Output& out) {
  // The size first: it needs no bytes where nothing is compressed.
  Output counter(nullptr, 0);
  encode_frame(record, options, counter);
  const std::int64_t chars = base64_encoded_size(counter.size());
  std::byte* text = out.reserve(chars);
  if (text == nullptr) return;
  std::vector<std::byte> frame(as_size(counter.size()));
  Output bytes(frame.data(), counter.size());
  encode_frame(record, options, bytes);
  base64_encode(frame.data(), counter.size(), reinterpret_cast<char*>(text));
}

}  // namespace routecap::wire
