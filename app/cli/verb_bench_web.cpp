// The figures of the page, measured in a real browser by tests/bench/web.mjs.
#include <sstream>

#include "app/cli/child.h"
#include "app/cli/command.h"
#include "engine/base/text.h"

namespace planscope::cli {

Answer bench_web(const Options& o) {
  const Result<ChildOutput> r =
      run_child("/usr/bin/env", {"node", bench_scripts(o) + "/web.mjs", o.program_folder + "/planscope"});
  if (!r.ok()) return bad_input(r.diagnostics);
  if (r->status != 0)
    return bad_input({error("the page cannot be measured", "node has ended with " + std::to_string(r->status),
                            "it needs the built page, node and Chromium: scripts/setup web-tests installs them")});
  Answer a;
  a.json["rows"] = Json::array();
  std::vector<std::vector<std::string>> rows = {{"figure", "goal", "measured"}};
  std::istringstream lines(r->out);
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("name") || !row.contains("goal") || !row.contains("measured")) continue;
    rows.push_back({row["name"].get<std::string>(), "≤ " + row["goal"].dump(), row["measured"].dump()});
    if (row["measured"].get<double>() > row["goal"].get<double>()) a.status = kNo;
    a.json["rows"].push_back(row);
  }
  a.text = table(rows);
  return a;
}

}  // namespace planscope::cli
