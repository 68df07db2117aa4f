// SPDX-License-Identifier: Apache-2.0
#include "backend/tbb/threads.h"

#include <signal.h>
#include <tbb/info.h>

#include <algorithm>
#include <exception>
#include <new>

namespace routecap::tbb_backend {
namespace {

/// From this many pieces on (1 MiB) a job is worth waking threads for, which takes them about 20 us; smaller ones are over by then. A smaller job
/// that comes soon after another wakes them for the next: an engine that captures layer by layer, with a layer's computation in between, wakes
/// nobody.
#if !defined(ROUTECAP_TBB_WAKING_PIECES)
#define ROUTECAP_TBB_WAKING_PIECES 16
#endif
constexpr std::int64_t kWakingPieces = ROUTECAP_TBB_WAKING_PIECES;

/// Threads begin with the signal mask of whoever starts them: ours take no signals of the host's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::int32_t Threads::limit() { return std::clamp(tbb::info::default_concurrency(), 1, Station::kMostSeats + 1); }

Threads::Threads(std::int32_t count) : count_(count), station_(std::make_shared<Station>(count - 1)), arena_(count, 1) {}

Threads::~Threads() {
  station_->close();
  arena_.terminate();
  if (scheduler_) tbb::finalize(*scheduler_, std::nothrow);
}

rows::Crew Threads::crew(std::int64_t least_bytes) {
  rows::Crew crew;
  crew.run = [](void* self, std::int64_t pieces, Station::Body body, void* context) { static_cast<Threads*>(self)->run(pieces, body, context); };
  crew.self = this;
  crew.threads = count_;
  crew.least_bytes = least_bytes;
  return crew;
}

void Threads::run(std::int64_t pieces, Station::Body body, void* context) noexcept {
  for (std::int64_t first = 0; first < pieces; first += Station::kMostPieces) {
    struct Rest {
      Station::Body body;
      void* context;
      std::int64_t first;
    } rest{body, context, first};
    const auto shifted = [](void* given, std::int64_t piece) {
      const Rest& of = *static_cast<const Rest*>(given);
      of.body(of.context, of.first + piece);
    };
    const std::int64_t count = std::min(pieces - first, Station::kMostPieces);
    const bool whole = pieces <= Station::kMostPieces;
    const Station::Body each = whole ? body : +shifted;
    void* const given = whole ? context : &rest;
    if (count > 1 && count_ > 1 && station_->open(count, each, given)) {
      if (station_->expected() < count_ - 1 && worth_waking(count)) call();
      station_->finish();
    } else {
      for (std::int64_t piece = 0; piece < count; ++piece) each(given, piece);
    }
  }
}

bool Threads::worth_waking(std::int64_t pieces) const {
  return pieces >= kWakingPieces || Station::now_ns() - station_->last_end_ns() < Station::kPatienceNs;
}

void Threads::call() noexcept {
  const SignalsBlocked blocked;
  bool announced = false;
  try {
    if (!scheduler_) scheduler_.emplace(tbb::attach{});
    while (station_->expected() < count_ - 1) {
      station_->announce();
      announced = true;
      arena_.enqueue([station = station_] { station->attend(); });
      announced = false;
    }
  } catch (const std::exception&) {
    // No memory, or no thread: the caller works alone.
    if (announced) station_->cancel();
  }
}

}  // namespace routecap::tbb_backend
