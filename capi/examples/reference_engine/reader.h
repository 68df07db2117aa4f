// SPDX-License-Identifier: Apache-2.0
//
// Reading a finished request's record by its slots.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker.h"
#include "model.h"
#include "rcap.h"

namespace engine {

/// Which rows a request asks for.
struct ReadRange {
  std::int64_t tokens = 0;          // n: rows 0 .. n - 2, the last token was never an input (R1)
  bool include_last = false;        // n rows where an engine that ran ahead has forwarded the last token too (R2)
  std::int64_t after_sequence = 0;  // number of the request's last forward: no row of a previous tenant can be seen (R36)
  std::int64_t timeout_ns = 0;
};

class RecordReader {
 public:
  RecordReader(const ModelShape& shape, rcap_capturer* capturer) : shape_(shape), capturer_(capturer) {}

  /// As a record: what a server hands on to its client or a trainer. @return nothing while a forward that matters is unsettled
  [[nodiscard]] std::optional<RecordBytes> read(const ReadRange& range, std::span<const std::int64_t> slots) const;

  /// Into the caller's memory, with slots as int32: what an engine does that has a place for the bytes already.
  [[nodiscard]] std::optional<RecordBytes> read_into(const ReadRange& range, std::span<const std::int64_t> slots) const;

  /// As a self-describing frame, ready to be sent or stored, in one pass from the slots. The rows must be readable already.
  [[nodiscard]] std::vector<char> encode(const ReadRange& range, std::span<const std::int64_t> slots) const;

 private:
  const ModelShape& shape_;
  rcap_capturer* capturer_;
};

}  // namespace engine
