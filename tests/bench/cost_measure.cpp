// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_measure.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

namespace routecap_bench {
namespace {

constexpr int kRounds = 3;
constexpr std::size_t kFewest = 5;  ///< calls of a round
constexpr std::size_t kMost = 2000;
constexpr double kRoundMicroseconds = 25'000;
constexpr double kLong = 100;  ///< microseconds

double wall_microseconds() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

double thread_microseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double microseconds(const std::function<void()>& prepare, const std::function<void()>& run) {
  prepare();
  const double probed = wall_microseconds();
  run();
  const auto now = wall_microseconds() - probed > kLong ? thread_microseconds : wall_microseconds;
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    prepare();
    run();
    std::vector<double> times;
    double sum = 0;
    while (times.size() < kFewest || (sum < kRoundMicroseconds && times.size() < kMost)) {
      prepare();
      const double start = now();
      run();
      times.push_back(now() - start);
      sum += times.back();
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    best = std::min(best, times[times.size() / 2]);
  }
  return best;
}

void point(const char* curve, const char* what, std::int64_t x, double value, double units, const char* unit) {
  std::printf("{\"curve\": \"%s\", \"what\": \"%s\", \"x\": %lld, \"value\": %.4f, \"units\": %.0f, \"unit\": \"%s\"}\n", curve, what,
              static_cast<long long>(x), value, units, unit);
  std::fflush(stdout);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t pages = 0;
  if (!(file >> all >> pages)) throw std::runtime_error("/proc/self/statm cannot be read");
  return pages * sysconf(_SC_PAGESIZE);
}

std::int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::int64_t kilobytes = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  throw std::runtime_error("/proc/meminfo says nothing of MemAvailable");
}

Work::Work(const Shape& shape, std::int64_t most_tokens) : stride_(most_tokens * shape.top_k) {
  std::mt19937_64 random(1);
  ids_.resize(static_cast<std::size_t>(shape.layers * stride_));
  for (std::int32_t& id : ids_) id = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(shape.experts));
  order_.resize(static_cast<std::size_t>(shape.slots));
  std::iota(order_.begin(), order_.end(), 0);
  std::shuffle(order_.begin(), order_.end(), random);
}

const std::int64_t* Work::walk(std::int64_t tokens) {
  if (at_ + tokens > std::ssize(order_)) at_ = 0;
  const std::int64_t* slots = order_.data() + at_;
  at_ += tokens;
  return slots;
}

void Work::fill(Engine& engine, std::int64_t tokens) const {
  for (std::int64_t first = 0; first < std::ssize(order_); first += tokens) {
    engine.store(ids(), stride(), order_.data() + first, std::min(tokens, std::ssize(order_) - first));
  }
}

}  // namespace routecap_bench
