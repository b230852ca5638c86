#include "app/session/recent.h"

#include <filesystem>

#include "app/workbench/workbench.h"
#include "engine/base/text.h"

namespace planscope::session {

std::string recent_file(const std::string& workspace) { return workspace.empty() ? "" : workspace + ".recent"; }

std::vector<Recent> read_recent(const std::string& workspace) {
  std::vector<Recent> out;
  const std::string file = recent_file(workspace);
  std::error_code ec;
  if (file.empty() || !std::filesystem::exists(file, ec)) return out;
  const Result<std::string> text = read_file(file);
  if (!text.ok()) return out;
  for (const std::string& line : split(*text, '\n')) {
    const Result<Invocation> i = parse_invocation(line);
    if (i.ok() && i->id == "open" && std::filesystem::exists(i->get("model"), ec))
      out.push_back({i->get("model"), i->get("plan"), i->get("cluster")});
  }
  return out;
}

void write_recent(const std::string& workspace, const std::vector<Recent>& all) {
  std::string text;
  for (const Recent& r : all) text += print(to_open(r)) + "\n";
  if (!workspace.empty()) write_file(recent_file(workspace), text);
}

const Recent* find_recent(const std::vector<Recent>& all, const std::string& plan) {
  std::error_code ec;
  const std::string file = std::filesystem::absolute(plan, ec).string();
  for (const Recent& r : all)
    if (r.plan == plan || r.plan == file) return &r;
  return nullptr;
}

Invocation to_open(const Recent& r) {
  Invocation i{"open", {{"model", r.model}, {"cluster", r.cluster}}};
  if (!r.plan.empty()) i.arguments["plan"] = r.plan;
  return i;
}

}  // namespace planscope::session
