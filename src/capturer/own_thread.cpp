// SPDX-License-Identifier: Apache-2.0
#include "capturer/own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "capturer/capturer.h"
#include "capturer/output.h"

namespace routecap {

OwnThread::~OwnThread() {
  if (thread_.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    thread_.join();
  }
  if (event_fd_ >= 0) ::close(event_fd_);
}

void OwnThread::start() {
  if (started_.load(std::memory_order_relaxed)) return;
  // The new thread inherits the mask: the host's signals stay with the host's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    fail(RCAP_STATUS_OUT_OF_MEMORY, "finalize_mode OWN_THREAD: the system gives no thread (%s)", error.what());
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  started_.store(true, std::memory_order_relaxed);
}

void OwnThread::enqueue(Block& block, bool accepted) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    block.accepted = accepted;
    if (!block.queued) {
      block.queued = true;
      block.next_queued = nullptr;
      (last_ != nullptr ? last_->next_queued : first_) = &block;
      last_ = &block;
    }
  }
  work_.notify_one();
}

OwnThread::Work OwnThread::next_work() {
  std::unique_lock<std::mutex> lock(mutex_);
  work_.wait(lock, [this] { return stop_ || first_ != nullptr; });
  if (stop_) return {};
  Block* block = first_;
  first_ = block->next_queued;
  if (first_ == nullptr) last_ = nullptr;
  block->queued = false;
  block->working = true;
  return {block, block->accepted};
}

void OwnThread::run() {
  for (Work work = next_work(); work.block != nullptr; work = next_work()) {
    // An accept that comes while the block is copied has queued it again: it is settled then, and not before.
    const Settled settled = capturer_.work_at(*work.block, work.accepted);
    done(*work.block, settled);
    if (settled.settled) capturer_.announce();
  }
}

void OwnThread::done(Block& block, const Settled& settled) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    block.working = false;
    if (settled.settled) {
      // An accept may have queued it again while the device failed it: it is over, and soon another forward's.
      unqueue(block);
      Output* const output = std::exchange(block.output, nullptr);
      const Completion completion{block.sequence, settled.status};
      // Before anybody can know that it is over: whoever does may count on the block for the next forward (R32).
      capturer_.free_block(block);
      if (output != nullptr) output->settle(settled.status, settled.summary);
      complete(completion);
    }
  }
  idle_.notify_all();
  completed_.notify_all();
}

void OwnThread::complete(Completion completion) {
  if (!keep_completions_) return;
  try {
    completions_.push_back(completion);
  } catch (const std::bad_alloc&) {
    completions_lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t one = 1;
  // A full counter (2^64 - 2 unread completions) is the only way for this to fail.
  if (event_fd_ >= 0 && ::write(event_fd_, &one, sizeof one) < 0) completions_lost_.fetch_add(1, std::memory_order_relaxed);
}

OwnThread::Detached OwnThread::detach(Output& output) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (output.settled()) return Detached::kSettled;
  Block* block = output.block();
  if (block->accepted) {
    block->output = nullptr;
    return Detached::kLeft;
  }
  // The thread copies a staged block before it is accepted; it does so in bounded time.
  idle_.wait(lock, [block] { return !block->working; });
  unqueue(*block);
  block->output = nullptr;
  return Detached::kTaken;
}

void OwnThread::unqueue(Block& block) {
  if (!block.queued) return;
  Block** link = &first_;
  Block* before = nullptr;
  while (*link != &block) {
    before = *link;
    link = &before->next_queued;
  }
  *link = block.next_queued;
  if (last_ == &block) last_ = before;
  block.queued = false;
}

std::int32_t OwnThread::completion_fd() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (event_fd_ < 0) {
    event_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_fd_ < 0) fail(RCAP_STATUS_OUT_OF_MEMORY, "completion_fd: the system gives no eventfd (errno %d)", errno);
  }
  keep_completions_ = true;
  return event_fd_;
}

std::optional<Completion> OwnThread::next_completed(Deadline deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  keep_completions_ = true;
  if (!completed_.wait_until(lock, deadline, [this] { return !completions_.empty(); })) return std::nullopt;
  const Completion completion = completions_.front();
  completions_.pop_front();
  return completion;
}

}  // namespace routecap
