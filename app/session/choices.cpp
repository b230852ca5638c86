#include "app/session/choices.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/cluster/cluster.h"

namespace planscope::session {

namespace {

std::vector<Choice> clusters(const State& s) {
  std::vector<Choice> out;
  for (const PresetInfo& p : cluster_presets()) out.push_back({p.name, p.about});
  for (const Document& d : s.documents) {
    const bool listed = std::any_of(out.begin(), out.end(), [&](const Choice& c) { return c.value == d.cluster; });
    if (!listed) out.push_back({d.cluster, "of the open plan '" + d.name + "'"});
  }
  return out;
}

std::vector<Choice> entries(const State& s, const std::string& kind) {
  std::vector<Choice> out;
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == kind) out.push_back({e.name, e.about});
  return out;
}

std::vector<Choice> lines(const std::string& text) {
  std::vector<Choice> out;
  for (const std::string& line : split(text, '\n')) out.push_back({std::to_string(out.size() + 1), line});
  if (!out.empty() && out.back().about.empty()) out.pop_back();
  return out;
}

}  // namespace

std::vector<Choice> choices(const State& s, const std::string& command, const std::string& argument) {
  std::vector<Choice> out;
  const Document* d = s.document();
  if (argument == "cluster" || (command == "cluster" && argument == "name")) return clusters(s);
  if (command == "open") return entries(s, argument);
  if (command == "document") {
    for (const Document& o : s.documents) out.push_back({std::to_string(o.id), o.model->model->name + " · " + o.name});
  } else if (command == "version" && d) {
    for (const Version& v : *d->versions) out.push_back({std::to_string(v.id), v.change});
  } else if (command == "restore" || command == "forget") {
    for (const LostDraft& l : s.lost) out.push_back({std::to_string(l.id), l.name + " of " + l.model});
  } else if (command == "cancel") {
    for (const Job& j : s.jobs)
      if (j.state == JobState::queued || j.state == JobState::running) out.push_back({std::to_string(j.id), j.what});
  } else if ((argument == "line" || argument == "statement") && d && (command == "replace" || command == "select")) {
    if (command == "select" || argument == "line") return lines(d->draft.text());
  } else if (command == "select" && argument == "none") {
    out.push_back({"none", "nothing"});
  } else if (argument == "discard" || argument == "overwrite") {
    out.push_back({"yes", ""});
  }
  return out;
}

}  // namespace planscope::session
