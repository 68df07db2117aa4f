// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "checks.h"

namespace gpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 30;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double microseconds_since(Clock::time_point begin) { return std::chrono::duration<double, std::micro>(Clock::now() - begin).count(); }

/// Time on the device between two points of a stream.
class Between {
 public:
  Between() {
    must(cudaEventCreate(&begin_), "cudaEventCreate");
    must(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;
  ~Between() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  double microseconds(cudaStream_t stream, const std::function<void()>& work) {
    must(cudaEventRecord(begin_, stream), "cudaEventRecord");
    work();
    must(cudaEventRecord(end_, stream), "cudaEventRecord");
    must(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1000;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

struct Figures {
  std::int64_t tokens;
  double eager_host_per_layer, eager_device_per_layer, graph_device_per_layer;
  double end_forward_host, end_forward_device, copy_device, plain_copy_device, finalize;
};

Figures measure_at(std::int64_t tokens) {
  Engine engine(tokens);
  const Stream stream;
  Between between;
  std::vector<double> host, device, graph_device, end_host, end_device, copied, plain, finalized;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  must(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  engine.capture(stream.get(), tokens);
  must(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  must(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  void* from = nullptr;
  void* to = nullptr;
  const auto bytes = static_cast<std::size_t>(engine.staged_bytes(tokens));
  must(cudaMalloc(&from, bytes), "cudaMalloc");
  must(cudaHostAlloc(&to, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  engine.route(1, stream.get());
  for (int round = 0; round < kRounds; ++round) {
    stream.wait();
    device.push_back(between.microseconds(stream.get(), [&] {
      const auto begin = Clock::now();
      engine.capture(stream.get(), tokens);
      host.push_back(microseconds_since(begin) / kLayers);
    }) / kLayers);
    routecap_test::Output output;
    end_device.push_back(between.microseconds(stream.get(), [&] {
      const auto begin = Clock::now();
      output = engine.end(stream.get(), tokens, 0);
      end_host.push_back(microseconds_since(begin));
    }));
    copied.push_back(between.microseconds(stream.get(), [&] { Engine::copy(output, stream.get()); }));
    plain.push_back(
        between.microseconds(stream.get(), [&] { must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream.get()), "cudaMemcpyAsync"); }));
    stream.wait();
    const auto begin = Clock::now();
    Engine::settle(output);
    finalized.push_back(microseconds_since(begin));
    graph_device.push_back(between.microseconds(stream.get(), [&] { must(cudaGraphLaunch(ready, stream.get()), "cudaGraphLaunch"); }) / kLayers);
    const routecap_test::Output replayed = engine.end(stream.get(), tokens, 0);
    Engine::copy(replayed, stream.get());
    Engine::settle(replayed);
  }
  static_cast<void>(cudaGraphExecDestroy(ready));
  static_cast<void>(cudaGraphDestroy(graph));
  static_cast<void>(cudaFree(from));
  static_cast<void>(cudaFreeHost(to));
  return {tokens,         median(host),  median(device),   median(graph_device), median(end_host), median(end_device),
          median(copied), median(plain), median(finalized)};
}

}  // namespace

std::string measure() {
  std::string json = "[";
  for (const std::int64_t tokens : {1, 64, 256, 8192}) {
    const Figures f = measure_at(tokens);
    char line[1024];
    std::snprintf(
        line, sizeof line,
        "%s\n  {\"tokens\": %lld, \"layers\": %d, \"capture_eager_host_us_per_layer\": %.3f, \"capture_eager_device_us_per_layer\": %.3f, "
        "\"capture_graph_device_us_per_layer\": %.3f, \"end_forward_host_us\": %.2f, \"end_forward_device_us\": %.2f, "
        "\"copy_device_us\": %.2f, \"same_bytes_plain_copy_device_us\": %.2f, \"share_of_copy_bandwidth\": %.3f, \"finalize_host_us\": %.2f}",
        json.size() > 1 ? "," : "", static_cast<long long>(f.tokens), kLayers, f.eager_host_per_layer, f.eager_device_per_layer,
        f.graph_device_per_layer, f.end_forward_host, f.end_forward_device, f.copy_device, f.plain_copy_device, f.plain_copy_device / f.copy_device,
        f.finalize);
    json += line;
    std::printf(
        "figures n=%lld: a layer %.2f us eager (%.2f on the device), %.2f in a graph; end_forward %.1f us (%.1f on the device); copy %.1f us, "
        "%.0f %% of a plain one's speed; finalize %.1f us\n",
        static_cast<long long>(f.tokens), f.eager_host_per_layer, f.eager_device_per_layer, f.graph_device_per_layer, f.end_forward_host,
        f.end_forward_device, f.copy_device, 100 * f.plain_copy_device / f.copy_device, f.finalize);
    std::fflush(stdout);
  }
  return json + "\n]";
}

}  // namespace gpu
