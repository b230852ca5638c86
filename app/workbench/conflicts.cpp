// Lines that contradict each other, and what taking one out comes to, as text and JSON.
#include "app/workbench/conflicts.h"

#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope {
namespace {

using Json = nlohmann::ordered_json;
using constraint::Answer;
using constraint::ConflictLine;
using constraint::ConflictLines;

std::string_view word(constraint::Answer a) { return a == Answer::yes ? "yes" : a == Answer::no ? "no" : "unknown"; }

std::string bytes(std::int64_t n) { return bytes_text(static_cast<double>(n)); }

Json need_json(const constraint::MemoryNeed& n) {
  return {{"bytes", n.bytes}, {"limit_bytes", n.limit_bytes}, {"where", n.where}, {"proven", n.proven}};
}

Json line_json(const ConflictLine& l) {
  Json out = {{"file", l.line.file}, {"line", l.line.line}, {"text", l.line.text}};
  Json without = {{"possible", word(l.without.possible)}};
  if (const auto& o = l.without.optimum) {
    without["step_us"] = o->step_us;
    without["peak_bytes"] = o->peak_bytes;
    without["optimal"] = o->proven;
    if (o->lower_bound_us > 0) without["lower_bound_us"] = o->lower_bound_us;
  }
  if (!l.without.conflicts.empty()) without["conflicts"] = l.without.conflicts;
  if (l.without.bytes) without["needs_bytes"] = *l.without.bytes;
  out["without"] = std::move(without);
  if (l.needs) out["needs"] = need_json(*l.needs);
  return out;
}

std::string name(const ConflictLine& l, const std::string& file) {
  return (l.line.file == file ? "" : l.line.file + ":") + std::to_string(l.line.line);
}

std::string cannot_hold(const ConflictLines& set, bool tried) {
  const std::string& file = set.lines[0].line.file;
  std::vector<std::string> lines;
  for (const ConflictLine& l : set.lines) lines.push_back(name(l, file) + " (" + shortened(l.line.text, 200) + ")");
  const std::string last = lines.back(), where = tried ? " among the plans that were tried" : "";
  lines.pop_back();
  if (lines.empty()) return file + ": line " + last + " cannot hold" + where + ".";
  return file + ": lines " + join(lines, ", ") + " and " + last + " cannot " + (lines.size() == 1 ? "both" : "all") +
         " hold" + where + ".";
}

// `needs at least 93.1 GiB on pipe=2 under these rows, cap 80 GiB; without line 7: 71.4 GiB`
std::string need_text(const ConflictLines& set, const constraint::MemoryNeed& n) {
  std::string out = (n.proven ? "needs at least " : "needs, of what was tried, at least ") + bytes(n.bytes) +
                    (n.where.empty() ? "" : " on " + n.where) + " under these rows, cap " + bytes(n.limit_bytes);
  for (const ConflictLine& l : set.lines)
    if (l.without.bytes) out += "; without line " + name(l, set.lines[0].line.file) + ": " + bytes(*l.without.bytes);
  return out + ".";
}

// ` (not below 1.1 s)`
std::string at_least(const constraint::Optimum& o) {
  return o.lower_bound_us > 0 ? " (not below " + time_text(o.lower_bound_us) + ")" : "";
}

}  // namespace

std::string relaxed_text(const ConflictLine& l, const Conflicts& all) {
  if (const auto& o = l.without.optimum)
    return "step " + time_text(o->step_us) + (o->proven ? "" : " or less" + at_least(*o)) + ", peak memory " +
           bytes(o->peak_bytes);
  if (l.without.possible == Answer::yes) return "there is a plan";
  if (l.without.possible == Answer::unknown) return "not known";
  if (l.without.conflicts.empty()) return "others still contradict each other";
  std::vector<std::string> still;
  for (int c : l.without.conflicts) {
    std::vector<std::string> lines;
    for (const ConflictLine& other : all[static_cast<std::size_t>(c)].lines) lines.push_back(name(other, l.line.file));
    still.push_back((lines.size() == 1 ? "line " : "lines ") + join(lines, ", "));
  }
  return "still in the way: " + join(still, "; ");
}

nlohmann::ordered_json conflicts_json(const Conflicts& conflicts) {
  Json out = Json::array();
  for (const ConflictLines& set : conflicts) {
    Json one = Json::array();
    for (const ConflictLine& l : set.lines) one.push_back(line_json(l));
    out.push_back(std::move(one));
  }
  return out;
}

nlohmann::ordered_json scarce_memory_json(const Conflicts& conflicts) {
  Json out = Json::array();
  for (const ConflictLines& set : conflicts) out.push_back(set.memory ? need_json(*set.memory) : Json());
  return out;
}

std::string conflicts_text(const Conflicts& conflicts, bool impossible, bool all, bool sizes_of_data) {
  std::string out;
  bool memory = false;
  for (const ConflictLines& set : conflicts) {
    if (set.lines.empty()) continue;
    out += "# " + cannot_hold(set, !impossible) + "\n";
    if (set.memory) out += "#   A device: " + need_text(set, *set.memory) + "\n", memory = true;
    for (const ConflictLine& l : set.lines)
      if (l.needs) memory = true, out += "#   Line " + name(l, set.lines[0].line.file) + ": " + need_text(set, *l.needs) + "\n";
    out += set.lines.size() == 1 ? "#   Relax it:\n" : "#   Relax any one of:\n";
    for (const ConflictLine& l : set.lines)
      out += "#     line " + name(l, set.lines[0].line.file) + ": " + relaxed_text(l, conflicts) + "\n";
  }
  if (memory && sizes_of_data)
    out += "# Sizes that depend on data are counted at their largest: a step whose sizes are smaller needs less.\n";
  if (impossible && !all && !out.empty()) out += "# There may be more: time did not suffice to look for all of them.\n";
  return out;
}

}  // namespace planscope
