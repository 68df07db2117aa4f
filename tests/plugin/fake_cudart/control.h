// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// How tests look at and steer the fake CUDA runtime, beside the controls of the fake device that it runs on. The CUDA plugin that is built with it
/// exports a table of these.
extern "C" {

/// The fake device that a context stands for.
struct rcap_plugin_device;

/// What a caller of CUDA has to itself in a thread.
struct fake_cudart_thread {
  std::int32_t contexts;      ///< pushed and not popped
  std::int32_t last_error;    ///< pending, 0 = none
  std::int32_t capture_mode;  ///< a cudaStreamCaptureMode
};

/// Work that was captured.
struct fake_cudart_graph;

struct fake_cudart_control {
  fake_cudart_thread (*thread)();
  /// Leaves an error pending, as a call of the caller's own would.
  void (*set_last_error)(std::int32_t error);
  /// From here on work on the stream is captured. Until `end_capture` a call of any thread that is not allowed beside a capture in global mode spoils
  /// it.
  void (*begin_capture)(void* stream);
  /// Null where the capture was spoilt.
  fake_cudart_graph* (*end_capture)(void* stream);
  /// Replays it on a stream.
  void (*launch_graph)(rcap_plugin_device* device, fake_cudart_graph* graph, void* stream);
  void (*destroy_graph)(fake_cudart_graph* graph);
  /// Devices that are there from now on, and why not where that is an error; 2 and 0 at first.
  void (*set_devices)(std::int32_t count, std::int32_t error);
  /// Whether the plugin's code runs on the devices.
  void (*set_kernels)(std::int32_t are_there);
  /// Kernels loaded, and kernels queued without having been.
  std::int64_t (*kernels_loaded)();
  std::int64_t (*kernels_not_loaded)();
};

const fake_cudart_control* fake_cudart_control_1(void);
}
