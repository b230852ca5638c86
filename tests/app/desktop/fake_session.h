#pragma once
// A session for tests of the window: a fixed model; a plan of lines `stages N` and `micro_batches N`, anything else is
// an error of its line; the timeline is that of 1F1B. It can be told to be slow and records what it was asked.
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "app/workbench/session_view.h"

namespace planscope {

struct SessionLog {
  std::mutex mutex;
  std::vector<std::string> calls;
  std::atomic<int> delay_ms{0}, cancelled{0};

  std::vector<std::string> copy() {
    const std::lock_guard lock(mutex);
    return calls;
  }
};

std::unique_ptr<Session> fake_session(std::shared_ptr<SessionLog> log);

}  // namespace planscope
