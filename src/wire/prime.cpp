// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "wire/arrays.h"
#include "wire/codecs.h"
#include "wire/flat_form.h"
#include "wire/text.h"

namespace routecap::wire {
namespace {

constexpr const char* kForm = "prime";

/// What the object holds; members it does not know are skipped.
struct Object {
  std::string_view data;
  std::int64_t data_offset = -1;
  std::string dtype;
  std::int64_t shape[3] = {-1, -1, -1};
  std::int64_t start = -1;
};

void once(const JsonReader& reader, bool seen) {
  if (seen) reader.fail_here("a member stands twice, before");
}

void read_shape(JsonReader& reader, Object& object) {
  once(reader, object.shape[0] >= 0);
  reader.expect('[');
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) reader.expect(',');
    object.shape[i] = reader.integer();
    if (object.shape[i] < 0) reader.fail_here("shape has a negative number, before");
  }
  reader.expect(']');
}

Object read_object(std::string_view text) {
  JsonReader reader(kForm, text);
  Object object;
  reader.expect('{');
  if (!reader.take('}')) {
    do {
      const std::string name = unescaped(reader, reader.raw_string());
      reader.expect(':');
      if (name == "data") {
        once(reader, object.data_offset >= 0);
        reader.skip_space();
        object.data_offset = reader.offset() + 1;
        object.data = reader.raw_string();
      } else if (name == "shape") {
        read_shape(reader, object);
      } else if (name == "start") {
        once(reader, object.start >= 0);
        object.start = reader.integer();
        if (object.start < 0) reader.fail_here("start is negative, before");
      } else if (name == "dtype") {
        once(reader, !object.dtype.empty());
        object.dtype = unescaped(reader, reader.raw_string());
      } else {
        reader.skip_value();
      }
    } while (reader.take(','));
    reader.expect('}');
  }
  reader.expect_end();
  if (object.data_offset < 0) reader.fail_here("there is no member data, seen");
  if (object.shape[0] < 0) reader.fail_here("there is no member shape, seen");
  return object;
}

const ScalarFacts& scalar_of(const Object& object, const DecodeHints& hints) {
  if (object.dtype.empty()) {
    if (hints.dtype == RCAP_DTYPE_NONE) fail_missing_hint(kForm, "dtype");
    return *scalar_of_dtype(hints.dtype);
  }
  const ScalarFacts* scalar = scalar_named(object.dtype);
  if (scalar == nullptr)
    fail(RCAP_STATUS_UNSUPPORTED, "%s: dtype is '%.32s', known are int8 .. int64 and uint8 .. uint64", kForm, object.dtype.c_str());
  if (hints.dtype != RCAP_DTYPE_NONE) check_agrees(kForm, "dtype", hints.dtype, scalar->dtype);
  return *scalar;
}

}  // namespace

FlatForm prime_form(const RecordGeometry& geometry, const rcap_encode_options& options) {
  const ScalarFacts& scalar = *scalar_of_dtype(geometry.ids_dtype);
  FlatForm form;
  form.name = kForm;
  form.scalar = scalar.scalar;
  form.options = options;
  form.before = "{\"data\":\"";
  char rest[160];
  std::snprintf(rest, sizeof rest, "\",\"shape\":[%" PRId64 ",%" PRId64 ",%d],\"start\":%" PRId64 ",\"dtype\":\"%s\"}", geometry.rows,
                geometry.layers(), geometry.top_k, geometry.start, scalar.name.data());
  form.after = rest;
  return form;
}

void encode_prime(const Record& record, const rcap_encode_options& options, Output& out) {
  encode_flat(record, prime_form(record.geometry(), options), out);
}

Decoded decode_prime(std::span<const std::byte> bytes, const DecodeHints& hints) {
  check_no_turn(kForm, hints);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Object object = read_object(text);
  const ScalarFacts& scalar = scalar_of(object, hints);
  Facts facts;
  set_shape(facts, kForm, object.shape[0], object.shape[1], object.shape[2]);
  facts.start = object.start;
  const auto input = static_cast<std::int64_t>(bytes.size());
  RecordGeometry geometry = resolve(kForm, facts, hints, input);
  // Some JSON writers escape '/', which is a base64 character.
  std::string plain;
  if (object.data.find('\\') != std::string_view::npos) plain = unescaped(JsonReader(kForm, object.data), object.data);
  const std::vector<std::byte> array = decoded_base64(kForm, plain.empty() ? object.data : plain, object.data_offset);
  if (array_bytes(geometry, scalar.scalar) != static_cast<std::int64_t>(array.size())) {
    fail(RCAP_STATUS_CORRUPT, "%s: data has %zu bytes, shape and dtype make it %" PRId64, kForm, array.size(), array_bytes(geometry, scalar.scalar));
  }
  return {record_of_array(kForm, std::move(geometry), {array.data(), scalar.scalar, false}, Holes::kByCell), input};
}

bool looks_like_prime(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos || text[text.find_first_not_of(" \t\r\n")] != '{') return false;
  try {
    read_object(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace routecap::wire
