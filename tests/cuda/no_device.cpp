// SPDX-License-Identifier: Apache-2.0
// The built CUDA plugin on a machine without a device: it loads, says what is lacking, and the host backend goes on as if nothing had been asked.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

std::string plugin() {
  const char* path = std::getenv("ROUTECAP_TEST_CUDA_PLUGIN");
  return path == nullptr ? "" : path;
}

void expect_no_device(const std::string& name, const std::string& begin) {
  rcap_backend* backend = nullptr;
  Error error;
  CHECK(rcap_backend_open(name.c_str(), nullptr, &backend, error) == RCAP_STATUS_NO_DEVICE);
  CHECK(backend == nullptr);
  CAPTURE(error.text());
  CHECK(error.text().find(begin) == 0);
  CHECK(error.text().find("CUDA") != std::string::npos);
}

}  // namespace

TEST_CASE("the CUDA plugin loads without a driver and says NO_DEVICE and why, by name and by path, again and again") {
  for (int i = 0; i < 3; ++i) {
    expect_no_device("cuda", "backend \"cuda\": probe: no CUDA ");
    expect_no_device(plugin(), "backend \"cuda\": probe: no CUDA ");
  }
}

TEST_CASE("rcap_backend_search says that it loads") {
  char text[4096];
  std::int64_t needed = 0;
  REQUIRE(rcap_backend_search("cuda", text, sizeof text, &needed, nullptr) == RCAP_STATUS_OK);
  CHECK(std::string(text).find(plugin() + ": loads\n") != std::string::npos);
}

TEST_CASE("beside a plugin without a device the host captures and reads as ever") {
  Rig before;
  before.store({1}, {10});
  expect_no_device("cuda", "backend \"cuda\": probe: ");
  Rig after;
  after.store({2}, {10});
  CHECK(before.show({10}) == "1");
  CHECK(after.show({10}) == "2");
  CHECK(before.store({3}, {11}).rows_stored == 1);
}

int main(int argc, char** argv) {
  const std::size_t folder = plugin().rfind('/');
  if (folder == std::string::npos) {
    std::fprintf(stderr, "ROUTECAP_TEST_CUDA_PLUGIN names no plugin; packaging/run check cuda sets it\n");
    return EXIT_FAILURE;
  }
  ::setenv("ROUTECAP_BACKEND_PATH", plugin().substr(0, folder).c_str(), 1);
  rcap_backend* backend = nullptr;
  if (rcap_backend_open("cuda", nullptr, &backend, nullptr) == RCAP_STATUS_OK) {
    rcap_backend_destroy(backend);
    std::printf("skipped: this machine has a CUDA device; tests/cuda/run is for it\n");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
