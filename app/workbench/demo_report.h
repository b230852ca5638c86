#pragma once
// A report folder: an index page (HTML, opens without anything else) with a table of plans, each with its script, its
// timeline and a link to its Chrome trace. The pictures and traces are files beside it; writing them is the caller's.
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
  std::string problem;     // why something is missing
  std::string svg, trace;  // file names in the folder; may be empty
};

std::string report_html(const std::string& title, const std::vector<ReportRow>&);

}  // namespace planscope
