#include <chrono>

#include "app/cli/command.h"
#include "engine/base/text.h"
#include "engine/plan/template.h"

namespace planscope::cli {

Answer templates(const Options& o) {
  Answer a;
  a.json["templates"] = Json::array();
  std::vector<std::string> names;
  for (const plan::BuiltInTemplate& t : plan::built_in_templates()) {
    names.push_back(t.name);
    if (!o.name.empty() && t.name != o.name) continue;
    Json entry = {{"name", t.name}, {"parameters", t.parameters}, {"about", t.about}};
    if (o.expand) entry["text"] = t.text;
    a.json["templates"].push_back(std::move(entry));
    a.text += t.name + "(" + join(t.parameters, ", ") + ")  " + t.about + "\n";
    if (o.expand) a.text += t.text + "\n";
  }
  if (!o.name.empty() && a.json["templates"].empty()) {
    const std::string near = nearest(o.name, names);
    return bad_input({error("no template '" + o.name + "'", "there are " + join(names, ", "),
                            near.empty() ? "" : "Did you mean '" + near + "'?")});
  }
  return a;
}

Answer clusters(const Options&) {
  Answer a;
  a.json["clusters"] = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const PresetInfo& p : cluster_presets()) {
    a.json["clusters"].push_back({{"name", p.name}, {"about", p.about}});
    rows.push_back({p.name, p.about});
  }
  a.text = table(rows);
  return a;
}

}  // namespace planscope::cli
