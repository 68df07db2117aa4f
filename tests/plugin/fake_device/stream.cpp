// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace fake_device {
namespace {

std::int64_t now_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void Pace::announce() {
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

void Pace::fail() {
  failing_.store(true, std::memory_order_seq_cst);
  announce();
}

void Pace::hold(bool held) {
  held_.store(held, std::memory_order_release);
  announce();
}

bool Pace::wait_until_free(const std::atomic<bool>& stop) {
  if (!held()) return !failing();
  wait([&] { return !held() || failing() || stop; });
  return !failing();
}

bool Pace::begin() {
  // Counted before the look at `failing`: whoever sees the device failing and nobody running knows that nobody will be.
  running_.fetch_add(1, std::memory_order_seq_cst);
  if (failing_.load(std::memory_order_seq_cst)) {
    end();
    return false;
  }
  if (works_.fetch_add(1, std::memory_order_relaxed) != work_to_fail_.load(std::memory_order_relaxed)) return true;
  end();
  fail();
  return false;
}

std::chrono::nanoseconds Dawdler::pause() {
  if (delay_ns_ == 0) return {};
  const std::uint64_t draw = random_();
  const std::int64_t longest = (draw & 7) == 0 ? delay_ns_ : (draw & 7) < 4 ? delay_ns_ / 16 : 0;
  return std::chrono::nanoseconds(longest == 0 ? 0 : static_cast<std::int64_t>((draw >> 8) % static_cast<std::uint64_t>(longest + 1)));
}

void Event::reach(std::int64_t number, std::chrono::nanoseconds late) {
  visible_ns_.store(late.count() == 0 ? 0 : now_ns() + late.count(), std::memory_order_relaxed);
  std::int64_t before = reached_.load(std::memory_order_relaxed);
  while (before < number && !reached_.compare_exchange_weak(before, number, std::memory_order_acq_rel)) {
  }
}

bool Event::seen() const {
  if (!reached(recorded())) return false;
  const std::int64_t visible = visible_ns_.load(std::memory_order_relaxed);
  return visible == 0 || now_ns() >= visible;
}

Stream::Stream(std::shared_ptr<Pace> pace)
    : pace_(std::move(pace)), dawdler_(pace_->next_seed(), pace_->delay_ns()), host_dawdler_(pace_->next_seed(), pace_->delay_ns()) {
  // As any plugin's: its threads take no signals of the host's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  pace_->announce();
  thread_.join();
}

void Stream::queue(std::function<void()> work) { add({std::move(work), false}); }
void Stream::queue_always(std::function<void()> work) { add({std::move(work), true}); }

void Stream::add(Work work) {
  {
    const std::lock_guard lock(mutex_);
    works_.push_back(std::move(work));
    queued_.fetch_add(1, std::memory_order_release);
  }
  changed_.notify_all();
}

std::chrono::nanoseconds Stream::lateness() { return dawdler_.pause(); }

bool Stream::coin() {
  const std::lock_guard lock(host_mutex_);
  return host_dawdler_.coin();
}

void Stream::run() {
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !works_.empty(); });
      if (works_.empty()) return;
      work = std::move(works_.front());
      works_.pop_front();
    }
    const auto pause = dawdler_.pause();
    if (pause.count() != 0 && !pace_->failing()) std::this_thread::sleep_for(pause);
    if (work.always) {
      pace_->wait_until_free(stop_);
      work.run();
    } else if (pace_->wait_until_free(stop_) && pace_->begin()) {
      work.run();
      pace_->end();
    }
    // What the work held, memory above all, goes before it counts as done.
    work = {};
    done_.fetch_add(1, std::memory_order_release);
    pace_->announce();
  }
}

}  // namespace fake_device
