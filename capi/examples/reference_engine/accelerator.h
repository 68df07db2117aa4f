// SPDX-License-Identifier: Apache-2.0
//
// The engine's memory on its accelerator. This engine has none of its own: what a real one allocates and fills with its kernels is uploaded here, and
// without an accelerator the host's arrays stand for it.
#pragma once

#include <routecap/routecap.h>

#include <cstdint>
#include <span>

namespace engine {

class Accelerator {
 public:
  Accelerator() = default;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;
  virtual ~Accelerator() = default;

  /// What every capturer is made with.
  [[nodiscard]] virtual rcap_backend* backend() = 0;
  /// A copy of the bytes in device memory.
  [[nodiscard]] virtual void* upload(const void* data, std::int64_t bytes) = 0;
  /// Gives it back when everything queued so far has run.
  virtual void give_back(void* memory) = 0;
};

/// An array where a kernel would have left it.
template <class T>
class DeviceArray {
 public:
  DeviceArray(Accelerator* accelerator, std::span<const T> values) : accelerator_(accelerator), data_(values.data()), bytes_(values.size_bytes()) {
    if (accelerator_ == nullptr || values.empty()) return;
    uploaded_ = accelerator_->upload(values.data(), bytes());
    data_ = static_cast<const T*>(uploaded_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() {
    if (uploaded_ != nullptr) accelerator_->give_back(uploaded_);
  }

  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_); }

 private:
  Accelerator* accelerator_;
  const T* data_;
  std::size_t bytes_;
  void* uploaded_ = nullptr;
};

}  // namespace engine
