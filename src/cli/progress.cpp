// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace routecap::cli {
namespace {

using std::chrono::steady_clock;
// Work that ends sooner gets no bar: it would only flicker.
constexpr std::chrono::milliseconds kPatience{400};
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::int64_t kWidth = 30;

bool off = false;

}  // namespace

Progress::Progress(const char* what, std::int64_t total)
    : what_(what), total_(total), wanted_(!off && total > 0 && isatty(STDERR_FILENO) == 1), next_(steady_clock::now() + kPatience) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::turn_off() { off = true; }

void Progress::advance(std::int64_t amount) {
  done_ += amount;
  if (!wanted_) return;
  const auto now = steady_clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  draw();
}

void Progress::draw() {
  drawn_ = true;
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const auto full = static_cast<std::size_t>(share * kWidth);
  const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
  std::fprintf(stderr, "\r%s [%s] %3d %%\x1b[K", what_, bar.c_str(), static_cast<int>(share * 100));
  std::fflush(stderr);
}

}  // namespace routecap::cli
