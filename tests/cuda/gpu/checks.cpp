// SPDX-License-Identifier: Apache-2.0
#include "checks.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

namespace gpu {

using namespace routecap_test;

namespace {

/// Every layer's capture of the first `tokens` rows, recorded once and replayed with whatever the router writes.
class Graph {
 public:
  Graph(const Engine& engine, cudaStream_t stream, std::int64_t tokens, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(stream, mode), "cudaStreamBeginCapture");
    engine.capture(stream, tokens);
    must(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const cudaError_t error = cudaGraphInstantiate(&ready_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    must(error, "cudaGraphInstantiate");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { static_cast<void>(cudaGraphExecDestroy(ready_)); }
  void launch(cudaStream_t stream) const { must(cudaGraphLaunch(ready_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t ready_ = nullptr;
};

void step_with(Engine& engine, cudaStream_t stream, std::int64_t step, std::int64_t tokens) {
  engine.route(step, stream);
  engine.capture(stream, tokens);
  const Output output = engine.end(stream, tokens, 0);
  Engine::copy(output, stream);
  Engine::settle(output);
  engine.expect(step, tokens, 0);
}

void eager() {
  for (const std::int64_t tokens : {1, 31, 32, 33, 127, 129, 257, 1000}) {
    Engine engine(tokens);
    const Stream stream;
    for (std::int64_t step = 0; step < 3; ++step) step_with(engine, stream.get(), step, tokens);
  }
}

void default_streams() {
  Engine engine(64);
  step_with(engine, nullptr, 1, 64);
  step_with(engine, cudaStreamPerThread, 2, 64);
}

void replayed() {
  Engine engine(64);
  const Stream stream;
  const Graph graph(engine, stream.get(), 64);
  for (std::int64_t step = 0; step < 50; ++step) {
    engine.route(step, stream.get());
    graph.launch(stream.get());
    // R15: the graph has 64 rows, the forward 60; the rest is padding, written and never committed.
    const Output output = engine.end(stream.get(), 60, 0);
    Engine::copy(output, stream.get());
    Engine::settle(output);
    engine.expect(step, 60, 0);
  }
}

void recorded_again() {
  Engine engine(64);
  const Stream stream;
  for (std::int64_t round = 0; round < 5; ++round) {
    const Graph graph(engine, stream.get(), 16 + round);
    for (std::int64_t step = 0; step < 3; ++step) {
      engine.route(10 * round + step, stream.get());
      graph.launch(stream.get());
      const Output output = engine.end(stream.get(), 16 + round, 0);
      Engine::copy(output, stream.get());
      Engine::settle(output);
      engine.expect(10 * round + step, 16 + round, 0);
    }
  }
}

/// Another thread asks for outputs, and makes and destroys capturers, while this one captures a graph in global mode.
void beside_a_capture() {
  Engine engine(64, 8);
  const Stream stream;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> asked{0};
  engine.route(1, stream.get());
  engine.capture(stream.get(), 64);
  const Output output = engine.end(stream.get(), 64, 0);
  Engine::copy(output, stream.get());
  std::string trouble;
  std::thread other([&] {
    try {
      while (!stop) {
        Error error;
        if (const std::int32_t ready = rcap_output_ready(output.get(), error); ready < 0) must(ready, error, "rcap_output_ready");
        if (++asked % 64 == 0) Engine(8);
      }
    } catch (const std::exception& exception) {
      trouble = exception.what();
    }
  });
  try {
    for (int i = 0; i < 50; ++i) Graph(engine, stream.get(), 64);
  } catch (...) {
    stop = true;
    other.join();
    throw;
  }
  stop = true;
  other.join();
  if (!trouble.empty()) fail("the other thread: " + trouble);
  if (asked == 0) fail("the other thread asked for nothing");
  Engine::settle(output);
  engine.expect(1, 64, 0);
}

/// Step t + 1 is captured while step t is on its way to the host on another stream (R30).
void overlapped() {
  constexpr std::int64_t kTokens = 2048;
  Engine engine(kTokens, 4);
  const Stream compute;
  const Stream copies;
  struct Flight {
    std::int64_t step;
    Output output;
  };
  std::deque<Flight> flights;
  for (std::int64_t step = 0; step < 60; ++step) {
    engine.route(step, compute.get());
    engine.capture(compute.get(), kTokens);
    if (flights.size() == 3) {
      Engine::settle(flights.front().output);
      engine.expect(flights.front().step, kTokens, flights.front().step % 4 * kTokens);
      flights.pop_front();
    }
    flights.push_back({step, engine.end(compute.get(), kTokens, step % 4 * kTokens)});
    Engine::copy(flights.back().output, copies.get());
  }
  for (const Flight& flight : flights) {
    Engine::settle(flight.output);
    engine.expect(flight.step, kTokens, flight.step % 4 * kTokens);
  }
}

/// Everything is queued behind work that has not begun, so that only the order of streams can make the rows right.
void in_stream_order() {
  Engine engine(256);
  const Stream compute;
  const Stream copies;
  for (std::int64_t step = 0; step < 5; ++step) {
    const auto dawdle = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    engine.route(step + 1000, compute.get());
    compute.wait();
    must(cudaLaunchHostFunc(compute.get(), dawdle, nullptr), "cudaLaunchHostFunc");
    engine.capture(compute.get(), 256);
    const Output output = engine.end(compute.get(), 256, 0);
    Engine::copy(output, copies.get());
    if (rcap_output_ready(output.get(), nullptr) != 0) fail("an output is ready before its stream has come to it");
    if (rcap_output_finalize(output.get(), nullptr, nullptr) != RCAP_STATUS_NOT_READY) fail("an output is finalized before its copy is complete");
    Engine::settle(output);
    engine.expect(step + 1000, 256, 0);
  }
}

void manners() {
  int devices = 0;
  must(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  int current = -1;
  must(cudaSetDevice(devices - 1), "cudaSetDevice");
  std::size_t stack_before = 0;
  must(cudaDeviceGetLimit(&stack_before, cudaLimitStackSize), "cudaDeviceGetLimit");
  // An error of ours that is pending neither fails the library nor goes away.
  static_cast<void>(cudaEventDestroy(nullptr));
  static_cast<void>(cudaSetDevice(devices + 100));
  const cudaError_t pending = cudaPeekAtLastError();
  if (pending == cudaSuccess) fail("no error is pending where one was made");
  {
    Error error;
    rcap_backend* handle = nullptr;
    must(rcap_backend_open("cuda", nullptr, &handle, error), error, "rcap_backend_open");
    const Backend backend(handle);
    auto info = make<rcap_backend_info>();
    must(rcap_backend_describe(handle, &info, error), error, "rcap_backend_describe");
  }
  if (cudaPeekAtLastError() != pending) fail("the caller's pending error is gone");
  static_cast<void>(cudaGetLastError());
  {
    Engine engine(64);
    const Stream stream;
    if (devices == 1) step_with(engine, stream.get(), 1, 64);
  }
  if (cudaPeekAtLastError() != cudaSuccess) fail("an error is left pending");
  must(cudaGetDevice(&current), "cudaGetDevice");
  if (current != devices - 1) fail("the current device is " + std::to_string(current) + " instead of " + std::to_string(devices - 1));
  std::size_t stack_after = 0;
  must(cudaDeviceGetLimit(&stack_after, cudaLimitStackSize), "cudaDeviceGetLimit");
  if (stack_after != stack_before) fail("a limit of the device was changed");
  must(cudaSetDevice(0), "cudaSetDevice");
}

void given_back() {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t all = 0;
  { const Engine warm(512); }
  must(cudaMemGetInfo(&before, &all), "cudaMemGetInfo");
  for (int i = 0; i < 10; ++i) {
    Engine engine(512);
    const Stream stream;
    step_with(engine, stream.get(), i, 512);
  }
  must(cudaMemGetInfo(&after, &all), "cudaMemGetInfo");
  constexpr std::size_t kSlack = std::size_t{32} << 20;
  if (after + kSlack < before) fail(std::to_string(before - after) + " bytes of the device's memory are gone after ten capturers");
}

}  // namespace

const std::vector<Check>& checks() {
  static const std::vector<Check> all = {
      {"eager captures, sizes around warps and blocks", &eager},
      {"the default stream and the thread's own", &default_streams},
      {"a graph replayed with other data, padded (R15)", &replayed},
      {"a graph recorded again", &recorded_again},
      {"queries and set-up beside a capture in global mode", &beside_a_capture},
      {"the next step captured while this one is copied (R30)", &overlapped},
      {"stream order alone: ready, finalize and rows behind work that waits (R31)", &in_stream_order},
      {"current device, pending error and limits as they were", &manners},
      {"memory given back", &given_back},
  };
  return all;
}

}  // namespace gpu
