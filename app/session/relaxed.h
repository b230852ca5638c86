#pragma once
// Lines of a plan that contradict each other, and what taking one of them out brings.
//
//   for (int line : lines_in_conflict(picture.diagnostics)) … brings_text(r)   // `step 3.02 ms, peak memory 1.73 MiB`
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope::session {

struct Picture;

struct Relaxed {
  int line = 0;                   // that is taken out
  std::optional<double> step_us;  // of the plan without it; none: `reason`
  std::int64_t peak_bytes = 0;
  std::string reason;
};

// Ascending, each once.
std::vector<int> lines_in_conflict(const std::vector<Diagnostic>&);
std::string without_line(const std::string& text, int line);  // it stays as a comment
Relaxed relaxed(int line, const Picture& without);
std::string brings_text(const Relaxed&);
// As far as it is known by now.
std::string brings_text(const Picture&, int line);

}  // namespace planscope::session
