#include "app/session/preferences.h"

#include <algorithm>
#include <filesystem>

#include "app/session/tour.h"
#include "app/workbench/workbench.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr int kMostSeconds = 86'400;

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\r"), to = text.find_last_not_of(" \t\r");
  return from == std::string::npos ? std::string() : text.substr(from, to - from + 1);
}

// The name and the value of a line; nothing: it is a comment or has none.
std::optional<std::pair<std::string, std::string>> entry_of(const std::string& line) {
  const std::size_t equal = line.find('=');
  const std::string name = trimmed(line.substr(0, equal));
  if (equal == std::string::npos || name.empty() || name[0] == '#') return std::nullopt;
  return std::pair(name, trimmed(line.substr(equal + 1)));
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const PreferenceInfo& p : preferences()) out.push_back(p.name);
  return out;
}

}  // namespace

std::span<const PreferenceInfo> preferences() {
  static const std::vector<PreferenceInfo> all = {
      {"theme", "Colours", "system", {"system", "dark", "light"}, "Dark or light; system: as the system is, at once."},
      {"scale",
       "Scale",
       "100 %",
       {"100 %", "125 %", "150 %", "175 %", "200 %", "250 %", "300 %"},
       "The size of texts and of everything else in the window, beside what the screen asks for; a page has its browser's."},
      {"cluster", "Cluster", "local", {}, "The cluster of documents that name none: a preset or a file."},
      {"keep_on_save", "Saving keeps", "no", {"no", "yes"}, "yes: saving a plan keeps it as a version too."},
      {"restore",
       "Restore",
       "yes",
       {"yes", "no"},
       "yes: the window opens at the start what was open in it at the end. A page finds what its server has open; one that is "
       "started again offers what was open lately."},
      {"tour", "Guided tour", "off", {"off", "on"}, "on: its steps tick off as they are done."},
      {"tour_step", "Next step of the tour", tour_steps().front().id, tour_step_ids(), "The step that comes next."},
      {"planner_limit", "Planner's limit", "60", {}, "Seconds that a search for a plan may take, unless it is said."},
  };
  return all;
}

const PreferenceInfo* find_preference(std::string_view name) {
  for (const PreferenceInfo& p : preferences())
    if (name == p.name) return &p;
  return nullptr;
}

std::string Preferences::get(const std::string& name) const {
  if (const auto found = chosen.find(name); found != chosen.end()) return found->second;
  const PreferenceInfo* info = find_preference(name);
  return info ? info->otherwise : "";
}

Result<Done> check_preference(const std::string& name, const std::string& value) {
  const PreferenceInfo* info = find_preference(name);
  if (!info) {
    const std::string near = nearest(name, names());
    return error("there is no preference '" + printable(name) + "'", "there are " + join(names(), ", "),
                 near.empty() ? "" : "did you mean '" + near + "'?");
  }
  const std::vector<std::string> choices(info->choices.begin(), info->choices.end());
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    const std::string near = nearest(value, choices);
    return error("'" + printable(value) + "' is no value of '" + name + "'", "it is one of " + join(choices, ", "),
                 near.empty() ? "" : "did you mean '" + near + "'?");
  }
  if (name == "planner_limit") {
    const bool number =
        !value.empty() && value.size() < 6 && value.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoi(value) < 1 || std::stoi(value) > kMostSeconds)
      return error("'" + printable(value) + "' is no value of '" + name + "'",
                   "it is a number of seconds from 1 to " + with_commas(kMostSeconds));
  }
  if (name == "cluster") {
    const Result<Cluster> cluster = open_cluster(value, 1);
    if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
  }
  return Done{};
}

std::string preferences_file(const std::string& workspace) {
  return workspace.empty() ? "" : workspace + ".preferences";
}

Preferences read_preferences(const std::string& workspace, std::vector<Diagnostic>& told) {
  Preferences out;
  const std::string file = preferences_file(workspace);
  std::error_code ec;
  if (file.empty() || !std::filesystem::exists(file, ec)) return out;
  const Result<std::string> text = read_file(file);
  if (!text.ok()) {
    for (Diagnostic d : text.diagnostics) d.severity = Severity::warning, told.push_back(std::move(d));
    return out;
  }
  int line = 0;
  for (const std::string& one : split(*text, '\n')) {
    ++line;
    const auto entry = entry_of(one);
    if (!entry || !find_preference(entry->first)) continue;
    const Result<Done> checked = check_preference(entry->first, entry->second);
    if (checked.ok()) out.chosen[entry->first] = entry->second;
    for (Diagnostic d : checked.diagnostics) {
      if (checked.ok()) break;
      d.severity = Severity::warning, d.file = file, d.line = line;
      told.push_back(std::move(d));
    }
  }
  return out;
}

Result<Done> write_preferences(const std::string& workspace, const Preferences& p) {
  const std::string file = preferences_file(workspace);
  if (file.empty()) return Done{};
  std::string text;
  std::error_code ec;
  if (std::filesystem::exists(file, ec)) {
    const Result<std::string> now = read_file(file);
    if (!now.ok()) return now.diagnostics;
    for (const std::string& line : split(*now, '\n')) {
      const auto entry = entry_of(line);
      if (!line.empty() && !(entry && find_preference(entry->first))) text += line + "\n";
    }
  }
  for (const auto& [name, value] : p.chosen) text += name + " = " + value + "\n";
  return write_file(file, text);
}

}  // namespace planscope::session
