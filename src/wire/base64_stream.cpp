// SPDX-License-Identifier: Apache-2.0
#include "wire/base64_stream.h"

#include <algorithm>

#include "wire/base64.h"

namespace routecap {

void Base64Stream::put(const std::byte* bytes, std::int64_t count) {
  if (carried_count_ > 0) {
    const std::int64_t taken = std::min(3 - carried_count_, count);
    std::copy_n(bytes, taken, carried_ + carried_count_);
    carried_count_ += taken;
    bytes += taken;
    count -= taken;
    if (carried_count_ < 3) return;
    base64_encode(carried_, 3, out_);
    out_ += 4;
  }
  const std::int64_t whole = count / 3 * 3;
  base64_encode(bytes, whole, out_);
  out_ += whole / 3 * 4;
  carried_count_ = count - whole;
  std::copy_n(bytes + whole, carried_count_, carried_);
}

char* Base64Stream::finish() {
  base64_encode(carried_, carried_count_, out_);
  out_ += base64_encoded_size(carried_count_);
  carried_count_ = 0;
  return out_;
}

}  // namespace routecap
