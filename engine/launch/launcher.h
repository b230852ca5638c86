#pragma once
// Runs a trial: starts one process per rank, hands each its job, listens, and ends all of them, orderly or not. When
// this returns no process of the trial is left; if planscope itself is killed, the kernel kills them (parent-death
// signal).
//
// A rank that dies, reports a failure, falls silent or waits in a deadlock ends the trial within 5 s of the event (see
// watch.h), with the rank, its instruction and the reason. The stop flag ends it cleanly: ranks are asked to stop, and
// killed if they do not within `stop_limit`.
//
// Blocks; call it on a thread that lives as long as the trial. Callbacks come on that thread and should return soon.
// It does not know what a job or a report means, and it needs no LibTorch.
//
//   LaunchSpec spec{.program = "bin/planscope-worker", .ranks = 4, .job = job_json};
//   LaunchResult r = launch(spec, {.on_report = [&](int rank, const std::string& json) { … }}, stop, processes, clock);
//   if (r.status == LaunchStatus::failed) …r.failure->rank, ->instruction, ->reason…
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/launch/placement.h"
#include "engine/launch/processes.h"
#include "engine/launch/watch.h"

namespace planscope {

struct LaunchSpec {
  std::string program;
  std::vector<std::string> arguments = {};
  int ranks = 1;
  std::string job = "{}";       // JSON text, the same for all; a rank learns its number with it
  std::vector<int> cores = {};  // to run on; empty: all that this process may use
  WatchLimits limits = {};
  Microseconds stop_limit{1e6};  // from the request to stop to the kill
  Microseconds exit_limit{3e6};  // from the last `done` to the kill of a process that does not end
};

struct LaunchEvents {
  std::function<void(int rank, const std::string& json)> on_report = {};
  std::function<void(int rank, const Position& position)> on_position = {};            // at each heartbeat
  std::function<void(int rank, bool is_error, std::string_view text)> on_output = {};  // as it comes
};

enum class LaunchStatus { done, failed, interrupted };
std::string_view to_string(LaunchStatus);

struct RankEnd {
  std::string how;          // "exited with status 0"; empty: never started
  Position last;            // as last heard
  std::string output_tail;  // the last 4 KiB of standard output
  std::string error_tail;   // and of standard error
};

struct LaunchResult {
  LaunchStatus status = LaunchStatus::failed;
  std::optional<LaunchFailure> failure;  // the reason ends with the last lines that the rank wrote to standard error
  std::vector<RankEnd> ranks;
  bool oversubscribed = false;  // more ranks than cores: times are not comparable
  int threads = 1;              // per rank
};

LaunchResult launch(const LaunchSpec& spec, const LaunchEvents& events, const std::atomic<bool>& stop,
                    Processes& processes, const Clock& clock);

}  // namespace planscope
