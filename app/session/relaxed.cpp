#include "app/session/relaxed.h"

#include <algorithm>
#include <set>

#include "app/session/lines.h"
#include "app/session/state.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

std::string still_in_the_way(const std::vector<Diagnostic>& all) {
  const auto e = std::find_if(all.begin(), all.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (e == all.end()) return "not known";
  std::vector<std::string> lines;
  for (const int line : e->lines) lines.push_back(std::to_string(line));
  const std::string at = e->line > 0 ? "line " + std::to_string(e->line) + ": " : "";
  return "still in the way: " + (lines.empty() ? at + e->what : "lines " + join(lines, ", "));
}

}  // namespace

std::vector<int> lines_in_conflict(const std::vector<Diagnostic>& all) {
  std::set<int> lines;
  for (const Diagnostic& d : all)
    if (d.severity == Severity::error) lines.insert(d.lines.begin(), d.lines.end());
  return {lines.begin(), lines.end()};
}

std::string without_line(const std::string& text, int line) {
  std::vector<std::string> lines = lines_of(text);
  const std::size_t k = static_cast<std::size_t>(line) - 1;
  if (line > 0 && k < lines.size()) lines[k] = switched_off(lines[k]);
  return text_of(lines);
}

Relaxed relaxed(int line, const Picture& without) {
  const Figures f = figures_of(without);
  if (f.step_us && f.peak_bytes) return {line, f.step_us, *f.peak_bytes, ""};
  const bool open = without.state == PictureState::open;
  return {line, std::nullopt, 0, open ? "leaves arguments open" : still_in_the_way(without.diagnostics)};
}

std::string brings_text(const Relaxed& r) {
  if (!r.step_us) return r.reason;
  return "step " + time_text(*r.step_us) + ", peak memory " + bytes_text(static_cast<double>(r.peak_bytes));
}

std::string brings_text(const Picture& p, int line) {
  for (const Relaxed& r : p.relaxed)
    if (r.line == line) return brings_text(r);
  return p.relaxing ? "being tried" : "takes it out of the plan";
}

}  // namespace planscope::session
