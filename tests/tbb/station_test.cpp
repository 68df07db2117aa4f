// SPDX-License-Identifier: Apache-2.0
// The station by itself, with plain threads in place of oneTBB's: what the thread sanitizer can look into.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "backend/tbb/station.h"

using routecap::tbb_backend::Station;

namespace {

/// Threads that come to the station again and again, as those of an arena do.
class Attendants {
 public:
  Attendants(Station& station, int count) : station_(station) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!stop_) {
          station_.announce();
          station_.attend();
        }
      });
    }
  }
  Attendants(const Attendants&) = delete;
  Attendants& operator=(const Attendants&) = delete;
  ~Attendants() {
    stop_ = true;
    station_.close();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  Station& station_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

/// A job that counts: plain memory for what the station must order, one number a piece.
struct Job {
  explicit Job(std::int64_t pieces) : done(static_cast<std::size_t>(pieces), 0), by(static_cast<std::size_t>(pieces)) {}
  static void body(void* context, std::int64_t piece) {
    Job& job = *static_cast<Job*>(context);
    ++job.done[static_cast<std::size_t>(piece)];
    job.by[static_cast<std::size_t>(piece)] = std::this_thread::get_id();
    if (job.pause.count() != 0) std::this_thread::sleep_for(job.pause);
  }
  [[nodiscard]] bool each_once() const {
    for (const int count : done) {
      if (count != 1) return false;
    }
    return true;
  }
  std::vector<int> done;
  std::vector<std::thread::id> by;
  std::chrono::microseconds pause{0};
};

}  // namespace

TEST_CASE("a job without anyone else is its caller's alone") {
  Station station(3);
  for (const std::int64_t pieces : {1, 2, 63, 64}) {
    Job job(pieces);
    REQUIRE(station.open(pieces, &Job::body, &job));
    station.finish();
    CHECK(job.each_once());
    for (const std::thread::id& by : job.by) CHECK(by == std::this_thread::get_id());
  }
}

TEST_CASE("every piece is done once, and all of it before finish returns") {
  Station station(2);
  const Attendants attendants(station, 2);
  for (int round = 0; round < 3000; ++round) {
    Job job(1 + round % 64);
    REQUIRE(station.open(std::ssize(job.done), &Job::body, &job));
    station.finish();
    REQUIRE(job.each_once());
  }
}

TEST_CASE("whoever is there takes part") {
  Station station(1);
  const Attendants attendants(station, 1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool helped = false;
  while (!helped && std::chrono::steady_clock::now() < until) {
    Job job(8);
    job.pause = std::chrono::microseconds(500);
    REQUIRE(station.open(8, &Job::body, &job));
    station.finish();
    REQUIRE(job.each_once());
    for (const std::thread::id& by : job.by) helped = helped || by != std::this_thread::get_id();
  }
  CHECK(helped);
}

TEST_CASE("of two jobs at once the second is refused, and the first is not disturbed") {
  Station station(1);
  Job first(4);
  REQUIRE(station.open(4, &Job::body, &first));
  Job second(4);
  CHECK_FALSE(station.open(4, &Job::body, &second));
  station.finish();
  CHECK(first.each_once());
  REQUIRE(station.open(4, &Job::body, &second));
  station.finish();
  CHECK(second.each_once());
}

TEST_CASE("several callers, each with jobs of its own") {
  Station station(2);
  const Attendants attendants(station, 2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  std::atomic<int> shared{0};
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) {
        Job job(5);
        if (!station.open(5, &Job::body, &job)) continue;
        station.finish();
        ++shared;
        if (!job.each_once()) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
  CHECK(shared > 0);
}

TEST_CASE("a thread leaves when nothing has come for a while, and at once when the station closes") {
  Station station(1);
  station.announce();
  CHECK(station.expected() == 1);
  const std::int64_t begin = Station::now_ns();
  std::thread([&] { station.attend(); }).join();
  CHECK(Station::now_ns() - begin >= Station::kPatienceNs);
  CHECK(station.expected() == 0);
  station.close();
  station.announce();
  std::thread([&] { station.attend(); }).join();
  CHECK(station.expected() == 0);
}

TEST_CASE("a station that closes waits for whoever is there") {
  for (int round = 0; round < 200; ++round) {
    auto station = std::make_unique<Station>(1);
    station->announce();
    std::thread thread([&] { station->attend(); });
    Job job(3);
    REQUIRE(station->open(3, &Job::body, &job));
    station->finish();
    station->close();
    thread.join();
    REQUIRE(job.each_once());
  }
}
