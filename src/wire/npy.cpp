// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <string>

#include "wire/arrays.h"
#include "wire/codecs.h"
#include "wire/flat_form.h"
#include "wire/text.h"

namespace routecap::wire {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
/// Base64 of the magic: six bytes are two whole groups.
constexpr std::string_view kMagicBase64 = "k05VTVBZ";

/// The header of version 1.0, byte for byte as numpy writes it: room for the first dimension to grow to 21 digits, then up to a multiple of 64.
std::string header_of(const RecordGeometry& geometry, Scalar scalar) {
  const std::string rows = std::to_string(geometry.rows);
  std::string text = "{'descr': '" + std::string(facts_of(scalar).descr) + "', 'fortran_order': False, 'shape': (" + rows + ", " +
                     std::to_string(geometry.layers()) + ", " + std::to_string(geometry.top_k) + "), }";
  text.append(21 - rows.size(), ' ');
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text.push_back('\n');
  std::string header(kMagic);
  header.append({'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)});
  return header + text;
}

/// The header's dictionary, as Python writes it.
class Header {
 public:
  Header(const char* form, std::string_view text, std::size_t offset) : form_(form), text_(text), offset_(offset) {
    expect('{');
    while (!take('}')) {
      read_member();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    space();
    if (at_ != text_.size()) fail_here("something follows the header's dictionary");
    if (scalar_ == nullptr || order_ < 0 || !has_shape_) fail_here("the header lacks descr, fortran_order or shape");
    if (order_ != 0) fail(RCAP_STATUS_UNSUPPORTED, "%s: fortran_order is True, only arrays in C order are read", form_);
  }

  [[nodiscard]] const ScalarFacts& scalar() const { return *scalar_; }
  [[nodiscard]] bool swapped() const { return swapped_; }
  [[nodiscard]] const std::int64_t* shape() const { return shape_; }

 private:
  void read_member() {
    const std::string_view name = string();
    expect(':');
    if (name == "descr" && scalar_ == nullptr) {
      read_descr(string());
    } else if (name == "fortran_order" && order_ < 0) {
      space();
      order_ = text_.substr(at_).starts_with("False") ? 0 : text_.substr(at_).starts_with("True") ? 1 : -1;
      if (order_ < 0) fail_here("fortran_order is neither True nor False");
      at_ += order_ == 0 ? 5 : 4;
    } else if (name == "shape" && !has_shape_) {
      read_shape();
    } else {
      fail_here("the header has an unknown or repeated member");
    }
  }
  void read_descr(std::string_view descr) {
    for (const ScalarFacts& facts : kScalars) {
      if (descr.size() != 3 || descr.substr(1) != facts.descr.substr(1)) continue;
      const char order = descr.front();
      if (order != '<' && order != '=' && order != '>' && !(order == '|' && facts.bytes == 1)) break;
      scalar_ = &facts;
      swapped_ = order == '>';
      return;
    }
    fail(RCAP_STATUS_UNSUPPORTED, "%s: descr is '%.*s', ids are integers of 1, 2, 4 or 8 bytes", form_,
         static_cast<int>(std::min<std::size_t>(descr.size(), 32)), descr.data());
  }
  void read_shape() {
    expect('(');
    std::int64_t dimensions = 0;
    std::int64_t first[3] = {0, 0, 0};
    while (!take(')')) {
      space();
      std::int64_t value = -1;
      const char* begin = text_.data() + at_;
      const auto [behind, status] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (status != std::errc{} || value < 0) fail_here("shape has no number");
      at_ += static_cast<std::size_t>(behind - begin);
      if (dimensions < 3) first[dimensions] = value;
      ++dimensions;
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    if (dimensions != 3) fail(RCAP_STATUS_UNSUPPORTED, "%s: shape has %" PRId64 " dimensions, rows are [rows, layers, top_k]", form_, dimensions);
    has_shape_ = true;
    std::copy(first, first + 3, shape_);
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail_here("the header is not a dictionary as numpy writes it");
  }
  std::string_view string() {
    space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t stop = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (stop == std::string_view::npos) fail_here("a string is missing in the header");
    const std::string_view found = text_.substr(at_ + 1, stop - at_ - 1);
    at_ = stop + 1;
    return found;
  }
  [[noreturn]] void fail_here(const char* what) const { fail(RCAP_STATUS_CORRUPT, "%s: %s, at byte %zu", form_, what, offset_ + at_); }

  const char* form_;
  std::string_view text_;
  std::size_t offset_;
  std::size_t at_ = 0;
  const ScalarFacts* scalar_ = nullptr;
  bool swapped_ = false;
  int order_ = -1;
  bool has_shape_ = false;
  std::int64_t shape_[3] = {0, 0, 0};
};

std::unique_ptr<Record> read_npy(const char* form, std::span<const std::byte> bytes, const DecodeHints& hints, std::int64_t input_bytes) {
  check_no_turn(form, hints);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) fail(RCAP_STATUS_CORRUPT, "%s: it does not begin with the magic of a .npy", form);
  if (text.size() < 8) fail(RCAP_STATUS_CORRUPT, "%s: truncated inside the magic, %zu bytes are there", form, text.size());
  const unsigned major = static_cast<unsigned char>(text[6]);
  const unsigned minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0) fail(RCAP_STATUS_UNSUPPORTED, "%s: version %u.%u, known are 1.0, 2.0 and 3.0", form, major, minor);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && 8 + i < text.size(); ++i) length |= std::size_t{static_cast<unsigned char>(text[8 + i])} << (8 * i);
  const std::size_t begin = 8 + length_bytes;
  if (begin > text.size() || length > text.size() - begin) {
    fail(RCAP_STATUS_CORRUPT, "%s: truncated inside the header, %zu bytes are there", form, text.size());
  }
  const Header header(form, text.substr(begin, length), begin);
  if (hints.dtype != RCAP_DTYPE_NONE) check_agrees(form, "dtype", hints.dtype, header.scalar().dtype);
  Facts facts;
  set_shape(facts, form, header.shape()[0], header.shape()[1], header.shape()[2]);
  RecordGeometry geometry = resolve(form, facts, hints, input_bytes);
  const auto there = static_cast<std::int64_t>(text.size() - begin - length);
  if (array_bytes(geometry, header.scalar().scalar) != there) {
    fail(RCAP_STATUS_CORRUPT, "%s: %" PRId64 " bytes stand behind the header, shape and descr make it %" PRId64, form, there,
         array_bytes(geometry, header.scalar().scalar));
  }
  return record_of_array(form, std::move(geometry), {bytes.data() + begin + length, header.scalar().scalar, header.swapped()}, Holes::kByCell);
}

Scalar scalar_for(const RecordGeometry& geometry, const rcap_encode_options& options) {
  if (options.dtype != RCAP_DTYPE_NONE) return scalar_of_dtype(options.dtype)->scalar;
  // -1 asks for a signed type; int8 is no dtype that engines write.
  if (options.missing == RCAP_MISSING_MINUS_ONE) return geometry.num_experts <= 32768 ? Scalar::kInt16 : Scalar::kInt32;
  return scalar_of_dtype(geometry.ids_dtype)->scalar;
}

FlatForm form_of(const char* name, bool base64, const RecordGeometry& geometry, const rcap_encode_options& options) {
  FlatForm form;
  form.name = name;
  form.scalar = scalar_for(geometry, options);
  form.options = options;
  form.head = header_of(geometry, form.scalar);
  form.base64 = base64;
  return form;
}

}  // namespace

FlatForm npy_form(const RecordGeometry& geometry, const rcap_encode_options& options) { return form_of("npy", false, geometry, options); }
FlatForm vllm_form(const RecordGeometry& geometry, const rcap_encode_options& options) { return form_of("vllm", true, geometry, options); }

void encode_npy(const Record& record, const rcap_encode_options& options, Output& out) {
  encode_flat(record, npy_form(record.geometry(), options), out);
}

Decoded decode_npy(std::span<const std::byte> bytes, const DecodeHints& hints) {
  const auto input = static_cast<std::int64_t>(bytes.size());
  return {read_npy("npy", bytes, hints, input), input};
}

bool looks_like_npy(std::span<const std::byte> bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(kMagic);
}

void encode_vllm(const Record& record, const rcap_encode_options& options, Output& out) {
  encode_flat(record, vllm_form(record.geometry(), options), out);
}

Decoded decode_vllm(std::span<const std::byte> bytes, const DecodeHints& hints) {
  const std::vector<std::byte> file = decoded_base64("vllm", text_of(bytes), 0);
  const auto input = static_cast<std::int64_t>(bytes.size());
  return {read_npy("vllm", file, hints, input), input};
}

bool looks_like_vllm(std::span<const std::byte> bytes) { return text_of(bytes).starts_with(kMagicBase64); }

}  // namespace routecap::wire
