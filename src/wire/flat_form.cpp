// SPDX-License-Identifier: Apache-2.0
#include "wire/flat_form.h"

#include <algorithm>

#include "support/checked.h"
#include "support/dtype.h"
#include "wire/arrays.h"
#include "wire/base64.h"

namespace routecap::wire {
namespace {

std::int64_t length(const std::string& text) { return static_cast<std::int64_t>(text.size()); }
const std::byte* bytes_of(const std::string& text) { return reinterpret_cast<const std::byte*>(text.data()); }

}  // namespace

bool is_flat(std::int32_t format, const RecordGeometry& geometry) {
  switch (format) {
    case RCAP_WIRE_SGLANG:
    case RCAP_WIRE_VLLM:
    case RCAP_WIRE_NPY:
    case RCAP_WIRE_PRIME: return true;
    case RCAP_WIRE_NEMO: return !geometry.has_cells;  // a missing cell anywhere changes what all missing rows are written as
    default: return false;
  }
}

FlatForm flat_form(std::int32_t format, const RecordGeometry& geometry, const rcap_encode_options& options) {
  switch (format) {
    case RCAP_WIRE_SGLANG: return sglang_form(geometry, options);
    case RCAP_WIRE_VLLM: return vllm_form(geometry, options);
    case RCAP_WIRE_NPY: return npy_form(geometry, options);
    case RCAP_WIRE_PRIME: return prime_form(geometry, options);
    default: return nemo_form(geometry, options, false);
  }
}

std::int64_t flat_size(const FlatForm& form, const RecordGeometry& geometry) {
  const std::int64_t body = checked_add(array_bytes(geometry, form.scalar), length(form.head), "bytes of the array");
  const std::int64_t text = form.base64 ? checked_multiply(ceil_divide(body, 3), 4, "characters of the array") : body;
  return checked_add(text, length(form.before) + length(form.after), "bytes of the form");
}

FlatOutput::FlatOutput(const FlatForm& form, std::byte* out)
    : form_(form), out_(std::copy_n(bytes_of(form.before), length(form.before), out)), text_(reinterpret_cast<char*>(out_)) {
  put_body(bytes_of(form.head), length(form.head));
}

void FlatOutput::put_body(const std::byte* bytes, std::int64_t count) {
  if (form_.base64) {
    text_.put(bytes, count);
  } else {
    out_ = std::copy_n(bytes, count, out_);
  }
}

void FlatOutput::put(const Record& rows) {
  const Filler filler = plan_array(form_.name, rows, form_.options, form_.scalar, rows_);
  rows_ += rows.geometry().rows;
  if (!filler.needed && dtype_bytes(rows.geometry().ids_dtype) == facts_of(form_.scalar).bytes) {
    put_body(rows.ids().data(), rows.ids().size());
  } else {
    write_array(rows, form_.scalar, filler, [&](const std::byte* piece, std::int64_t bytes) { put_body(piece, bytes); });
  }
}

void FlatOutput::finish() {
  if (form_.base64) out_ = reinterpret_cast<std::byte*>(text_.finish());
  std::copy_n(bytes_of(form_.after), length(form_.after), out_);
}

void encode_flat(const Record& record, const FlatForm& form, Output& out) {
  std::byte* at = out.reserve(flat_size(form, record.geometry()));
  if (at == nullptr) {
    plan_array(form.name, record, form.options, form.scalar);  // refused whether or not there is room
    return;
  }
  FlatOutput output(form, at);
  output.put(record);
  output.finish();
}

}  // namespace routecap::wire
