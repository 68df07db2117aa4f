// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "support/dtype.h"
#include "wire/arrays.h"

namespace routecap::wire {
namespace {

template <class Number>
Number swap_bytes(Number value) {
  if constexpr (sizeof(Number) == 2) return static_cast<Number>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  if constexpr (sizeof(Number) == 4) return static_cast<Number>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  if constexpr (sizeof(Number) == 8) return static_cast<Number>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  return value;
}

/// A foreign array of one type, as numbers. An id above INT64_MAX reads as negative, which is just as far outside [0, E).
template <class Number, bool kSwapped>
class Array {
 public:
  Array(const char* form, const RecordGeometry& geometry, const std::byte* data, Holes holes)
      : form_(form), geometry_(geometry), data_(data), holes_(holes) {}

  [[nodiscard]] Number at(std::int64_t element) const {
    Number value;
    std::memcpy(&value, data_ + element * static_cast<std::int64_t>(sizeof(Number)), sizeof value);
    return kSwapped ? swap_bytes(value) : value;
  }

  /// Checks every id. @return whether -1 stands somewhere
  [[nodiscard]] bool check_range() const {
    Number smallest = 0;
    Number largest = 0;
    for (std::int64_t i = 0; i < elements(); ++i) {
      const Number id = at(i);
      smallest = id < smallest ? id : smallest;
      largest = id > largest ? id : largest;
    }
    if (outside(smallest) || outside(largest)) fail_outside();
    return std::is_signed_v<Number> && smallest != 0;
  }

  /// Whether a cell is missing; one that is -1 in part is refused.
  [[nodiscard]] bool missing(std::int64_t cell) const {
    std::int64_t gone = 0;
    for (std::int64_t k = 0; k < geometry_.top_k; ++k) gone += at(cell * geometry_.top_k + k) == static_cast<Number>(-1) ? 1 : 0;
    if (gone != 0 && gone != geometry_.top_k) {
      fail(RCAP_STATUS_CORRUPT, "%s: row %" PRId64 ", layer %d is -1 in %" PRId64 " of its %d columns", form_, cell / geometry_.layers(),
           layer_of(cell), gone, geometry_.top_k);
    }
    return gone != 0;
  }

  void mark_valid(Record& record) const {
    const std::int64_t layers = geometry_.layers();
    for (std::int64_t row = 0; row < geometry_.rows; ++row) {
      std::int64_t valid = 0;
      for (std::int64_t cell = row * layers; cell < (row + 1) * layers; ++cell) {
        if (missing(cell)) continue;
        ++valid;
        bits::set(record.cell_validity().data(), cell);
      }
      if (valid > 0) bits::set(record.row_validity().data(), row);
      if (holes_ == Holes::kByRow && valid > 0 && valid < layers) {
        fail(RCAP_STATUS_CORRUPT, "%s: row %" PRId64 " is -1 in %" PRId64 " of its %" PRId64 " layers", form_, row, layers - valid, layers);
      }
    }
  }

  template <class Id>
  void convert(std::byte* out) const {
    if constexpr (sizeof(Id) == sizeof(Number) && !kSwapped) {
      if (elements() > 0) std::memcpy(out, data_, static_cast<std::size_t>(elements()) * sizeof(Id));
    } else {
      for (std::int64_t i = 0; i < elements(); ++i) {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): a negative number is a hole here, whose bytes are overwritten
        const Id id = static_cast<Id>(at(i));
        std::memcpy(out + i * static_cast<std::int64_t>(sizeof(Id)), &id, sizeof id);
      }
    }
  }

  [[nodiscard]] std::int64_t elements() const { return geometry_.rows * geometry_.layers() * geometry_.top_k; }

 private:
  [[nodiscard]] bool outside(Number id) const {
    if (std::is_signed_v<Number> && id == static_cast<Number>(-1)) return false;
    return static_cast<std::int64_t>(id) < 0 || static_cast<std::int64_t>(id) >= geometry_.num_experts;
  }
  [[noreturn]] void fail_outside() const {
    std::int64_t element = 0;
    while (!outside(at(element))) ++element;
    const std::int64_t cell = element / geometry_.top_k;
    fail(RCAP_STATUS_OUT_OF_RANGE, "%s: row %" PRId64 ", layer %d has id %" PRId64 ", num_experts is %d", form_, cell / geometry_.layers(),
         layer_of(cell), static_cast<std::int64_t>(at(element)), geometry_.num_experts);
  }
  [[nodiscard]] std::int32_t layer_of(std::int64_t cell) const { return geometry_.layer_ids[static_cast<std::size_t>(cell % geometry_.layers())]; }

  const char* form_;
  const RecordGeometry& geometry_;
  const std::byte* data_;
  Holes holes_;
};

template <class Number, bool kSwapped>
std::unique_ptr<Record> read(const char* form, RecordGeometry geometry, const std::byte* data, Holes holes) {
  const Array<Number, kSwapped> array(form, geometry, data, holes);
  const bool has_minus_one = array.check_range();
  geometry.has_cells = has_minus_one;  // dropped again where only whole rows are missing
  auto record = std::make_unique<Record>(geometry);
  if (has_minus_one) {
    array.mark_valid(*record);
  } else {
    bits::set_range(record->row_validity().data(), 0, geometry.rows);
  }
  switch (geometry.ids_dtype) {
    case RCAP_DTYPE_UINT8: array.template convert<std::uint8_t>(record->ids().data()); break;
    case RCAP_DTYPE_UINT16: array.template convert<std::uint16_t>(record->ids().data()); break;
    default: array.template convert<std::int32_t>(record->ids().data()); break;
  }
  record->canonicalize();
  // Foreign forms know no weight versions: all rows are of version 0.
  if (record->rows_valid() > 0) record->spans() = {{geometry.start}, {0}};
  return record;
}

}  // namespace

std::unique_ptr<Record> record_of_array(const char* form, RecordGeometry geometry, const ArraySource& source, Holes holes) {
  const auto read_as = [&]<class Number>(Number) {
    return source.swapped && sizeof(Number) > 1 ? read<Number, true>(form, std::move(geometry), source.data, holes)
                                                : read<Number, false>(form, std::move(geometry), source.data, holes);
  };
  switch (source.scalar) {
    case Scalar::kUint8: return read_as(std::uint8_t{});
    case Scalar::kInt8: return read_as(std::int8_t{});
    case Scalar::kUint16: return read_as(std::uint16_t{});
    case Scalar::kInt16: return read_as(std::int16_t{});
    case Scalar::kUint32: return read_as(std::uint32_t{});
    case Scalar::kInt32: return read_as(std::int32_t{});
    case Scalar::kUint64: return read_as(std::uint64_t{});
    default: return read_as(std::int64_t{});
  }
}

}  // namespace routecap::wire
