#pragma once
// A report of plans as one page of HTML that needs nothing else and can be mailed: a table that is sorted and filtered, with
// what was measured against what was predicted, and of each plan its script, its timeline and its Chrome trace; of a large
// trace the name of its file, which the caller writes.
#include <optional>
#include <string>
#include <vector>

namespace planscope {

struct ReportRow {
  std::string model, plan;
  std::string text;     // the complete plan
  std::string verdict;  // "equivalent", …, or "refused"
  std::optional<double> predicted_us, step_us;
  bool oversubscribed = false;                            // step_us: the processes shared cores
  std::optional<std::int64_t> peak_bytes;                 // measured, of the fullest process
  std::vector<std::int64_t> rank_peaks, predicted_peaks;  // per process
  std::optional<bool> equal;
  std::optional<double> max_relative_error;
  std::string problem;  // why something is missing
  std::string svg;      // of the timeline; may be empty
  std::string trace_file, trace;  // its name and what it holds; may be empty
};

std::string report_html(const std::string& title, const std::vector<ReportRow>&);

}  // namespace planscope
