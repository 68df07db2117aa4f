// SPDX-License-Identifier: Apache-2.0
#include "wire/encode_slots.h"

#include <algorithm>
#include <optional>

#include "support/error.h"

namespace routecap::wire {
namespace {

/// Bytes of ids that are gathered at a time: few enough to stay in the second-level cache, enough for the gather's prefetching to pay.
constexpr std::int64_t kPieceBytes = std::int64_t{64} * 1024;

std::uint8_t* bits_of(Bytes& bytes) { return reinterpret_cast<std::uint8_t*>(bytes.data()); }

}  // namespace

std::int64_t encode_slots(rows::GatherJob job, rows::SlotList slots, const RecordGeometry& geometry, const FlatForm& form, std::byte* out,
                          std::exception_ptr& refused) {
  FlatOutput output(form, out);
  RecordGeometry piece_geometry = geometry;
  piece_geometry.weights_dtype = RCAP_DTYPE_NONE;
  const std::int64_t at_once = std::max<std::int64_t>(kPieceBytes / job.shape.ids_bytes, 1);
  std::optional<Record> piece;
  std::int64_t first = 0;
  do {
    job.rows = std::min(at_once, geometry.rows - first);
    if (!piece || piece->geometry().rows != job.rows) {
      piece_geometry.rows = job.rows;
      piece.emplace(piece_geometry);
    }
    job.ids = piece->ids().data();
    job.weights = nullptr;
    job.row_validity = bits_of(piece->row_validity());
    job.cell_validity = geometry.has_cells ? bits_of(piece->cell_validity()) : nullptr;
    job.versions = nullptr;
    const std::int64_t pending_row = job.rows > 0 ? rows::gather(job, slots).pending_row : -1;
    if (pending_row >= 0) return first + pending_row;
    try {
      if (refused == nullptr) output.put(*piece);
    } catch (const Error&) {
      refused = std::current_exception();
    }
    first += job.rows;
    slots.first += job.rows;
    if (job.tags != nullptr) job.tags += job.rows;
  } while (first < geometry.rows);
  output.finish();
  return -1;
}

}  // namespace routecap::wire
