// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "wire/base64_stream.h"
#include "wire/output.h"
#include "wire/scalar.h"
#include "wire/wire.h"

/// The forms whose body is one flat array [rows, layers, K]: written from a record, or from pieces of one that come from their slots.
namespace routecap::wire {

/// What such a form has around the array, and how the array is written. It goes by the geometry and the options alone.
struct FlatForm {
  const char* name = nullptr;
  Scalar scalar = Scalar::kInt32;
  rcap_encode_options options{};  ///< as they apply to the array
  std::string before;             ///< as it is, in front of everything
  std::string head;               ///< belongs to the body: the header of a `.npy`
  std::string after;              ///< as it is, behind everything
  bool base64 = true;             ///< of head and array together
};

// Each in the file of its form; `options` are checked.
FlatForm sglang_form(const RecordGeometry& geometry, const rcap_encode_options& options);
FlatForm npy_form(const RecordGeometry& geometry, const rcap_encode_options& options);
FlatForm vllm_form(const RecordGeometry& geometry, const rcap_encode_options& options);
FlatForm prime_form(const RecordGeometry& geometry, const rcap_encode_options& options);
/// @param cell_holes  some valid row lacks some layer
FlatForm nemo_form(const RecordGeometry& geometry, const rcap_encode_options& options, bool cell_holes);

/// Whether a record's form, but for its array, is known before its rows are: then it can be written from slots.
bool is_flat(std::int32_t format, const RecordGeometry& geometry);
/// Only where is_flat() says so.
FlatForm flat_form(std::int32_t format, const RecordGeometry& geometry, const rcap_encode_options& options);

/// Bytes of the whole form.
std::int64_t flat_size(const FlatForm& form, const RecordGeometry& geometry);

/// Rows to a flat form, some at a time.
class FlatOutput {
 public:
  /// @param out  of flat_size() bytes
  FlatOutput(const FlatForm& form, std::byte* out);
  /// The next rows. Refuses missing cells and ids as plan_array() says; what was written is of no use then.
  void put(const Record& rows);
  void finish();

 private:
  void put_body(const std::byte* bytes, std::int64_t count);

  const FlatForm& form_;
  std::byte* out_;
  Base64Stream text_;
  std::int64_t rows_ = 0;
};

/// Writes a whole record.
void encode_flat(const Record& record, const FlatForm& form, Output& out);

}  // namespace routecap::wire
