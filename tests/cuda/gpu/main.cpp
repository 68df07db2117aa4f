// SPDX-License-Identifier: Apache-2.0
//
//   cuda_gpu_checks [--json FILE]     every check, then the figures
//   cuda_gpu_checks --checks          the checks alone, for a sanitizer
//
// Exit code 0: all passed; 1: a check failed; 3: this machine has no CUDA device.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

#include "checks.h"

int main(int argc, char** argv) {
  const char* json = nullptr;
  bool figures = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--checks") == 0) figures = false;
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) json = argv[++i];
  }
  rcap_backend* handle = nullptr;
  routecap_test::Error error;
  const std::int32_t status = rcap_backend_open("cuda", nullptr, &handle, error);
  const routecap_test::Backend backend(handle);
  if (status != RCAP_STATUS_OK) {
    std::printf("no device: %s\n", error.text().c_str());
    return status == RCAP_STATUS_NO_DEVICE ? 3 : 1;
  }
  auto info = routecap_test::make<rcap_backend_info>();
  if (rcap_backend_describe(handle, &info, error) == RCAP_STATUS_OK) std::printf("device: %s\n", info.description);
  std::string results;
  int failed = 0;
  for (const gpu::Check& check : gpu::checks()) {
    const auto begin = std::chrono::steady_clock::now();
    std::string why;
    try {
      check.run();
    } catch (const std::exception& exception) {
      why = exception.what();
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%-7s %5.1f s  %s%s%s\n", why.empty() ? "ok" : "FAILED", seconds, check.name, why.empty() ? "" : ": ", why.c_str());
    std::fflush(stdout);
    results +=
        std::string(results.empty() ? "" : ",") + "\n  {\"check\": \"" + check.name + "\", \"passed\": " + (why.empty() ? "true" : "false") + "}";
    failed += why.empty() ? 0 : 1;
  }
  std::string measured = "[]";
  if (figures && failed == 0) {
    try {
      measured = gpu::measure();
    } catch (const std::exception& exception) {
      std::printf("FAILED  figures: %s\n", exception.what());
      failed = 1;
    }
  }
  if (json != nullptr) {
    std::FILE* file = std::fopen(json, "w");
    if (file == nullptr) {
      std::printf("FAILED  %s cannot be written\n", json);
      return 1;
    }
    std::fprintf(file, "{\"device\": \"%s\",\n\"checks\": [%s\n],\n\"figures\": %s}\n", info.description, results.c_str(), measured.c_str());
    std::fclose(file);
  }
  return failed == 0 ? 0 : 1;
}
