// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "support/checked.h"
#include "support/dtype.h"
#include "wire/arrays.h"
#include "wire/holes.h"

namespace routecap::wire {
namespace {

template <class Number>
Number load(const std::byte* at) {
  Number value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Calls with a null pointer to the type of the record's ids.
template <class Call>
void with_id_type(std::int32_t dtype, Call&& call) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: call(static_cast<const std::uint8_t*>(nullptr)); break;
    case RCAP_DTYPE_UINT16: call(static_cast<const std::uint16_t*>(nullptr)); break;
    default: call(static_cast<const std::int32_t*>(nullptr)); break;
  }
}

/// As above with the type of a scalar. Ids are never negative and -1 is all ones: signed and unsigned types of one size are written alike.
template <class Call>
void with_scalar_type(Scalar scalar, Call&& call) {
  switch (facts_of(scalar).bytes) {
    case 1: call(static_cast<std::uint8_t*>(nullptr)); break;
    case 2: call(static_cast<std::uint16_t*>(nullptr)); break;
    case 4: call(static_cast<std::uint32_t*>(nullptr)); break;
    default: call(static_cast<std::uint64_t*>(nullptr)); break;
  }
}

/// Largest id that a scalar holds, as far as ids go.
std::int64_t largest_of(Scalar scalar) {
  const ScalarFacts& facts = facts_of(scalar);
  const std::int32_t bits = facts.bytes * 8 - (facts.is_signed ? 1 : 0);
  return bits >= 32 ? INT32_MAX : (std::int64_t{1} << bits) - 1;
}

std::int64_t id_at(const Record& record, std::int64_t element) {
  std::int64_t id = 0;
  with_id_type(record.geometry().ids_dtype, [&](auto* type) {
    using Id = std::remove_cvref_t<decltype(*type)>;
    id = static_cast<std::int64_t>(load<Id>(record.ids().data() + element * static_cast<std::int64_t>(sizeof(Id))));
  });
  return id;
}

void check_ids_fit(const char* form, const Record& record, const ScalarFacts& scalar, std::int64_t first_row) {
  const RecordGeometry& geometry = record.geometry();
  const std::int64_t largest = largest_of(scalar.scalar);
  if (geometry.num_experts - 1 <= largest) return;
  for (std::int64_t cell = 0; cell < geometry.rows * geometry.layers(); ++cell) {
    if (!record.cell_valid(cell / geometry.layers(), cell % geometry.layers())) continue;
    for (std::int64_t k = 0; k < geometry.top_k; ++k) {
      if (const std::int64_t id = id_at(record, cell * geometry.top_k + k); id > largest) {
        fail(RCAP_STATUS_OUT_OF_RANGE, "%s: row %" PRId64 ", layer %d has id %" PRId64 ", %.*s holds up to %" PRId64, form,
             first_row + cell / geometry.layers(), geometry.layer_ids[static_cast<std::size_t>(cell % geometry.layers())], id,
             static_cast<int>(scalar.name.size()), scalar.name.data(), largest);
      }
    }
  }
}

}  // namespace

std::int64_t array_bytes(const RecordGeometry& geometry, Scalar scalar) {
  return checked_multiply(checked_multiply(checked_multiply(geometry.rows, geometry.layers(), "cells"), geometry.top_k, "ids"),
                          facts_of(scalar).bytes, "bytes of the ids");
}

Filler plan_array(const char* form, const Record& record, const rcap_encode_options& options, Scalar scalar, std::int64_t first_row) {
  const ScalarFacts& facts = facts_of(scalar);
  if (options.missing == RCAP_MISSING_MINUS_ONE && !facts.is_signed) {
    fail(RCAP_STATUS_UNSUPPORTED, "%s: options missing is MINUS_ONE, ids are written as %.*s", form, static_cast<int>(facts.name.size()),
         facts.name.data());
  }
  const Filler filler{has_holes(record), options.missing, options.fill_id};
  if (filler.needed && options.missing == RCAP_MISSING_REFUSE) {
    const Hole hole = first_hole(record);
    if (hole.column < 0) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%s cannot say that row %" PRId64 " is missing (options missing is REFUSE)", form, first_row + hole.row);
    }
    fail(RCAP_STATUS_OUT_OF_RANGE, "%s cannot say that row %" PRId64 ", layer %d is missing (options missing is REFUSE)", form, first_row + hole.row,
         record.geometry().layer_ids[static_cast<std::size_t>(hole.column)]);
  }
  check_ids_fit(form, record, facts, first_row);
  if (filler.needed && options.missing == RCAP_MISSING_FILL) {
    const std::int64_t last = std::int64_t{options.fill_id} + record.geometry().top_k - 1;
    const std::int64_t largest = last >= record.geometry().num_experts ? record.geometry().num_experts - 1 : last;
    if (largest > largest_of(scalar)) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "%s: options fill_id %d gives id %" PRId64 ", %.*s holds up to %" PRId64, form, options.fill_id, largest,
           static_cast<int>(facts.name.size()), facts.name.data(), largest_of(scalar));
    }
  }
  return filler;
}

void convert_piece(const Record& record, Scalar scalar, const Filler& filler, std::int64_t from, std::int64_t count, std::byte* out) {
  const RecordGeometry& geometry = record.geometry();
  with_scalar_type(scalar, [&](auto* out_type) {
    using Out = std::remove_cvref_t<decltype(*out_type)>;
    const auto store = [&](std::int64_t element, Out value) {
      std::memcpy(out + element * static_cast<std::int64_t>(sizeof(Out)), &value, sizeof value);
    };
    with_id_type(geometry.ids_dtype, [&](auto* id_type) {
      using Id = std::remove_cvref_t<decltype(*id_type)>;
      const std::byte* in = record.ids().data() + from * static_cast<std::int64_t>(sizeof(Id));
      if constexpr (sizeof(Id) == sizeof(Out)) {
        std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(Id));
      } else {
        for (std::int64_t i = 0; i < count; ++i) store(i, static_cast<Out>(load<Id>(in + i * static_cast<std::int64_t>(sizeof(Id)))));
      }
    });
    if (!filler.needed) return;
    const std::int64_t top_k = geometry.top_k;
    for (std::int64_t cell = from / top_k; cell * top_k < from + count; ++cell) {
      if (record.cell_valid(cell / geometry.layers(), cell % geometry.layers())) continue;
      const std::int64_t end = std::min((cell + 1) * top_k, from + count);
      for (std::int64_t element = std::max(cell * top_k, from); element < end; ++element) {
        const std::int64_t id = (filler.fill_id + (element - cell * top_k)) % geometry.num_experts;
        store(element - from, filler.missing == RCAP_MISSING_MINUS_ONE ? static_cast<Out>(-1) : static_cast<Out>(id));
      }
    }
  });
}

}  // namespace routecap::wire
