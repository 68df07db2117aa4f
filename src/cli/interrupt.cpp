// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "error.h"

namespace routecap::cli {
namespace {

// A handler may only look at lock-free atomics and what they guard: the path is complete before `armed` is set and not changed while it is.
char temporary_path[4096];
std::atomic<bool> armed{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int number) {
  if (armed.load()) unlink(temporary_path);
  // The default action was restored when this handler was entered: the shell sees what ended the program.
  raise(number);
}

}  // namespace

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // One that the parent ignores (nohup, a background job) stays ignored.
    struct sigaction inherited = {};
    if (sigaction(number, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  // A closed pipe and a limit of a file's size are errors of the write.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void set_temporary(const std::string& path) {
  armed.store(false);
  if (path.empty()) return;
  if (path.size() >= sizeof temporary_path)
    refuse("the output's name has ", path.size(), " bytes, at most ", sizeof temporary_path - 1, " are possible");
  std::memcpy(temporary_path, path.c_str(), path.size() + 1);
  armed.store(true);
}

}  // namespace routecap::cli
