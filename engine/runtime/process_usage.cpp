#include "engine/runtime/process_usage.h"

#include <sys/resource.h>
#include <time.h>

#include <fstream>
#include <string>

namespace planscope {

namespace {

// `VmRSS:   1234 kB` of /proc/self/status.
Bytes status_line(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, name.size(), name) == 0) return {1024 * std::stoll(line.substr(name.size()))};
  }
  return {};
}

Microseconds of(const timeval& t) { return {static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec)}; }

}  // namespace

Bytes resident_bytes() { return status_line("VmRSS:"); }

Bytes peak_resident_bytes() { return status_line("VmHWM:"); }

void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

Microseconds processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return of(usage.ru_utime) + of(usage.ru_stime);
}

Microseconds thread_time() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return {static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3};
}

}  // namespace planscope
