// SPDX-License-Identifier: Apache-2.0
//
// What `bench` measures: one capturer, one forward's router output, and a call for each stage of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "library.h"

namespace routecap::cli {

struct BenchShape {
  std::int32_t layers = 58;
  std::int32_t experts = 256;
  std::int32_t top_k = 8;
  std::int64_t tokens = 8192;  ///< of a forward, and of the request that is read
  std::int64_t slots = 65536;
  std::string backend = "host";  ///< a name or a path, as `rcap_backend_open` takes it
  std::int32_t threads = 0;      ///< that the backend may use; 0 = its default
};

/// Stages must be called as an engine calls them: capture, end_forward, copy_to_host, finalize, drop_output; then read, encode, decode as often as
/// wished.
class BenchRig {
 public:
  /// Refuses a shape that cannot be.
  explicit BenchRig(const BenchShape& shape);
  BenchRig(const BenchRig&) = delete;
  BenchRig& operator=(const BenchRig&) = delete;

  /// What the backend says of itself.
  [[nodiscard]] const rcap_backend_info& backend() const { return backend_; }

  /// The ids that the routers of one forward give: int32 [layers, tokens, K].
  [[nodiscard]] std::int64_t input_bytes() const;

  void capture();
  void discard();
  void end_forward();
  void copy_to_host();
  void finalize();
  void drop_output() { output_.reset(); }

  void read_into();
  void encode_slots_base64();
  void encode_frame();
  void decode_frame();

  /// Whether everything that was captured came back out of the frame, id by id.
  [[nodiscard]] bool is_right() const;

 private:
  struct CapturerDeleter {
    void operator()(rcap_capturer* capturer) const { rcap_capturer_destroy(capturer); }
  };
  struct BackendDeleter {
    void operator()(rcap_backend* backend) const { rcap_backend_destroy(backend); }
  };
  using BackendPointer = std::unique_ptr<rcap_backend, BackendDeleter>;
  struct OutputDeleter {
    void operator()(rcap_output* output) const { rcap_output_destroy(output); }
  };

  void fill();
  /// The backend that was asked for. Refuses one whose memory is not the host's.
  [[nodiscard]] BackendPointer open_backend();
  void create();
  void size_buffers();

  BenchShape shape_;
  rcap_backend_info backend_;
  std::int64_t ids_of_layer_;  ///< tokens * K
  std::vector<std::int32_t> given_;
  std::vector<std::int64_t> slots_;  ///< of the forward's tokens, in random order
  std::unique_ptr<rcap_capturer, CapturerDeleter> capturer_;
  std::vector<rcap_tap*> taps_;
  std::unique_ptr<rcap_output, OutputDeleter> output_;
  rcap_capture_layout capture_;
  rcap_forward_layout forward_;
  rcap_read_layout read_;
  rcap_read_info info_;
  rcap_encode_options base64_;
  std::vector<std::byte> ids_;
  std::vector<std::byte> validity_;
  std::vector<char> text_;
  std::vector<char> frame_;
  RecordHandle record_;   ///< read from the slots
  RecordHandle decoded_;  ///< out of the frame
};

}  // namespace routecap::cli
