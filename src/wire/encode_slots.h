// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "backend/rows/rows.h"
#include "wire/flat_form.h"

namespace routecap::wire {

/// Rows from their slots into a flat form in one pass: a piece of them is gathered, converted and written while it is in the cache.
///
/// @param job       what to gather from; its rows and outputs are set here
/// @param geometry  of the rows read, `geometry.rows` of them
/// @param out       of flat_size() bytes
/// @param refused   receives what the form cannot take of these rows, a missing row or an id. All rows are looked at all the same: one that waits
///                  for a copy comes before it
/// @return the row that waits for a copy, or -1
std::int64_t encode_slots(rows::GatherJob job, rows::SlotList slots, const RecordGeometry& geometry, const FlatForm& form, std::byte* out,
                          std::exception_ptr& refused);

}  // namespace routecap::wire
