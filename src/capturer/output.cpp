// SPDX-License-Identifier: Apache-2.0
#include "capturer/output.h"

namespace routecap {

void Output::begin(Block& block) {
  sequence_ = block.sequence;
  block_.store(&block, std::memory_order_relaxed);
  status_ = RCAP_STATUS_OK;
  settled_.store(false, std::memory_order_relaxed);
  revive();
}

void Output::settle(Status status, const rcap_summary& summary) {
  status_ = status;
  summary_ = summary;
  block_.store(nullptr, std::memory_order_relaxed);
  settled_.store(true, std::memory_order_release);
}

Output& OutputPool::acquire() {
  Output* output = free_.load(std::memory_order_acquire);
  while (output != nullptr && !free_.compare_exchange_weak(output, output->next_free_, std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  if (output == nullptr) {
    auto made = std::make_unique<Output>(*this);
    output = made.get();
    outputs_.push_back(std::move(made));
  }
  references_.fetch_add(1, std::memory_order_relaxed);
  return *output;
}

void OutputPool::release(Output& output) {
  output.end();
  Output* head = free_.load(std::memory_order_relaxed);
  do {
    output.next_free_ = head;
  } while (!free_.compare_exchange_weak(head, &output, std::memory_order_acq_rel, std::memory_order_relaxed));
  drop_reference();
}

void OutputPool::close() {
  closed_.store(true, std::memory_order_release);
  drop_reference();
}

void OutputPool::drop_reference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace routecap
