// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <routecap/routecap.h>

/// Thin RAII over the public C API, so that a test reads as the calls an engine makes. Nothing here knows the inside of the library.
namespace routecap_test {

inline void init(rcap_error& value) { rcap_error_init(&value, sizeof value); }
inline void init(rcap_build_info& value) { rcap_build_info_init(&value, sizeof value); }
inline void init(rcap_backend_options& value) { rcap_backend_options_init(&value, sizeof value); }
inline void init(rcap_backend_info& value) { rcap_backend_info_init(&value, sizeof value); }
inline void init(rcap_capturer_config& value) { rcap_capturer_config_init(&value, sizeof value); }
inline void init(rcap_capturer_plan& value) { rcap_capturer_plan_init(&value, sizeof value); }
inline void init(rcap_tap_options& value) { rcap_tap_options_init(&value, sizeof value); }
inline void init(rcap_capture_layout& value) { rcap_capture_layout_init(&value, sizeof value); }
inline void init(rcap_capturer_stats& value) { rcap_capturer_stats_init(&value, sizeof value); }
inline void init(rcap_forward_layout& value) { rcap_forward_layout_init(&value, sizeof value); }
inline void init(rcap_accept_layout& value) { rcap_accept_layout_init(&value, sizeof value); }
inline void init(rcap_summary& value) { rcap_summary_init(&value, sizeof value); }
inline void init(rcap_slots_layout& value) { rcap_slots_layout_init(&value, sizeof value); }
inline void init(rcap_slot_info& value) { rcap_slot_info_init(&value, sizeof value); }
inline void init(rcap_read_layout& value) { rcap_read_layout_init(&value, sizeof value); }
inline void init(rcap_read_info& value) { rcap_read_info_init(&value, sizeof value); }
inline void init(rcap_record_layout& value) { rcap_record_layout_init(&value, sizeof value); }
inline void init(rcap_record_info& value) { rcap_record_info_init(&value, sizeof value); }
inline void init(rcap_encode_options& value) { rcap_encode_options_init(&value, sizeof value); }
inline void init(rcap_decode_hints& value) { rcap_decode_hints_init(&value, sizeof value); }
inline void init(rcap_compare_report& value) { rcap_compare_report_init(&value, sizeof value); }
inline void init(rcap_fill_layout& value) { rcap_fill_layout_init(&value, sizeof value); }
inline void init(rcap_partition_layout& value) { rcap_partition_layout_init(&value, sizeof value); }

/// A struct of the C API as its `init` leaves it.
template <class T>
[[nodiscard]] T make() {
  T value;
  init(value);
  return value;
}

/// Where a call puts its error; passes as `rcap_error*`.
class Error {
 public:
  Error() { init(value_); }
  operator rcap_error*() { return &value_; }  // NOLINT(google-explicit-constructor): an argument of every call
  [[nodiscard]] std::int32_t code() const { return value_.code; }
  [[nodiscard]] std::int64_t detail() const { return value_.detail; }
  [[nodiscard]] std::string text() const { return value_.text; }

 private:
  rcap_error value_;
};

struct Destroy {
  void operator()(rcap_backend* handle) const { rcap_backend_destroy(handle); }
  void operator()(rcap_capturer* handle) const { rcap_capturer_destroy(handle); }
  void operator()(rcap_output* handle) const { rcap_output_destroy(handle); }
  void operator()(rcap_record* handle) const { rcap_record_destroy(handle); }
};
using Backend = std::unique_ptr<rcap_backend, Destroy>;
using Capturer = std::unique_ptr<rcap_capturer, Destroy>;
using Output = std::unique_ptr<rcap_output, Destroy>;
using Record = std::unique_ptr<rcap_record, Destroy>;

/// Name of a status, so that a failing comparison says `RCAP_STATUS_BUSY == RCAP_STATUS_OK`.
[[nodiscard]] inline std::string name(std::int32_t status) { return rcap_status_name(status); }

}  // namespace routecap_test
