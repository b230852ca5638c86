#include "app/session/choices.h"

#include <algorithm>

#include "app/session/canvases/canvases.h"
#include "app/session/locator.h"
#include "app/session/panel.h"
#include "app/session/templates.h"
#include "engine/base/text.h"
#include "engine/cluster/fields.h"

namespace planscope::session {

namespace {

std::vector<Choice> entries(const State& s, const std::string& kind) {
  std::vector<Choice> out;
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == kind) out.push_back({e.name, e.about});
  return out;
}

std::vector<Choice> clusters(const State& s) {
  std::vector<Choice> out;
  for (const PresetInfo& p : cluster_presets()) out.push_back({p.name, p.about});
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == "cluster" && changed_name(e.name).changes.empty() && !read_cluster(e.name).value)
      out.push_back({e.name, "of the workspace"});
  for (const Document& d : s.documents) {
    const bool listed = std::any_of(out.begin(), out.end(), [&](const Choice& c) { return c.value == d.cluster; });
    if (!listed) out.push_back({d.cluster, "of the open plan '" + d.name + "'"});
  }
  return out;
}

std::vector<Choice> lines(const std::string& text) {
  std::vector<Choice> out;
  for (const std::string& line : split(text, '\n')) out.push_back({std::to_string(out.size() + 1), line});
  if (!out.empty() && out.back().about.empty()) out.pop_back();
  return out;
}

std::vector<Choice> tensors(const State& s) {
  std::vector<Choice> out;
  for (Target& t : targets(s))
    if (t.command.starts_with("select tensor=")) out.push_back({std::move(t.title), std::move(t.about)});
  return out;
}

// Axes, in the order of their declaration, with the places that they make.
const plan::Decisions* decisions(const Document& d) {
  if (!d.valid) return nullptr;
  return d.valid->evaluation ? &d.valid->evaluation->made.decisions : &d.valid->open->decisions;
}

std::vector<Choice> factors(const State& s) {
  std::vector<Choice> out;
  if (!s.inspection) return out;
  for (const InspectedFactor& f : s.inspection->factors)
    if (f.kind != "frozen") out.push_back({f.name, (f.size > 0 ? with_commas(f.size) : "") + (f.split.empty() ? ""
        : " ÷ " + join(f.split, ", "))});
  return out;
}

std::vector<Choice> axes(const Document& d) {
  std::vector<Choice> out;
  if (const plan::Decisions* all = decisions(d))
    for (const plan::AxisInfo& a : all->axes) out.push_back({a.name, a.free ? "one index after the other"
        : "an axis of devices"});
  return out;
}

constexpr std::int64_t most_places = 64;

std::vector<Choice> places(const Document& d) {
  std::vector<Choice> out;
  const plan::Decisions* all = decisions(d);
  if (!all) return out;
  for (const plan::GridInfo& g : all->grids) {
    out.push_back({g.name, with_commas(static_cast<std::int64_t>(g.devices.size())) + " devices"});
    for (const plan::GridAxis& a : g.axes) {
      const std::string begin = all->axes[static_cast<std::size_t>(a.axis)].name + "=";
      for (std::int64_t i = 0; i < std::min(a.size, most_places); ++i) out.push_back({begin + std::to_string(i), "of " + g.name});
      if (a.size > most_places)
        out.back().about += ", and " + with_commas(a.size - most_places) + " more, up to " + begin + std::to_string(a.size - 1);
    }
  }
  return out;
}

std::vector<Choice> links(const Document& d) {
  std::vector<Choice> out;
  if (!d.shown || !d.shown->study) return out;
  for (const LinkLoad& l : d.shown->study->traffic({})->links) out.push_back({l.name, ""});
  return out;
}

std::vector<Choice> lanes(const Document* d) {
  std::vector<Choice> out;
  if (!d || !d->shown || !d->shown->evaluation) return out;
  const Evaluation& e = *d->shown->evaluation;
  for (std::size_t c = 0; c < e.made.program.classes.size(); ++c)
    out.push_back({e.made.program.classes[c].name, with_commas(e.simulation.classes[c].devices) + " devices"});
  return out;
}

std::vector<Choice> templates(const Document* d) {
  std::vector<Choice> out;
  for (const UsableTemplate& t : usable_templates(d ? d->draft.text() : "", d ? d->name : ""))
    out.push_back({t.call(), t.own ? "of this plan" : t.about});
  return out;
}

constexpr int most_devices = 1 << 14;

// Powers of two up to the devices of the cluster.
std::vector<Choice> device_counts(const Document& d) {
  std::vector<Choice> out;
  const std::int64_t all = d.chosen ? std::max<std::int64_t>(d.chosen->device_count(), 8) : 8;
  for (std::int64_t n = 1; n <= std::min<std::int64_t>(all, most_devices); n *= 2)
    out.push_back({std::to_string(n), ""});
  return out;
}

// Selections that stages, names and templates are mostly about: lists of modules.
void add_lists(const std::vector<ModuleNode>& modules, std::vector<Choice>& to) {
  for (const ModuleNode& m : modules) {
    if (m.path.ends_with(".*") && m.path.find('*') + 1 == m.path.size()) {
      const std::string all = m.path.substr(0, m.path.size() - 2) + "[*]";
      to.push_back({all, with_commas(m.count) + " modules"});
      to.push_back({"cut " + all + " into 2", "two stages"});
    }
    add_lists(m.children, to);
  }
}

std::vector<Choice> lists_of_modules(const Document& d) {
  std::vector<Choice> out;
  add_lists(*d.modules, out);
  return out;
}

std::vector<Choice> input_sizes(const Document& d) {
  std::vector<Choice> out;
  if (const plan::Decisions* all = decisions(d))
    for (const auto& [name, size] : all->input_sizes) out.push_back({name + "=" + std::to_string(size), "as it is"});
  return out;
}

std::vector<Choice> conditions(const Document& d) {
  const std::string memory = d.chosen ? std::to_string(d.chosen->device(0).memory.count >> 30) + "GiB" : "80GiB";
  std::vector<Choice> out = {{"memory(all) <= " + memory, "of every device"}};
  for (const Choice& place : places(d)) out.push_back({"memory(" + place.value + ") <= " + memory, "of its devices"});
  return out;
}

std::vector<Choice> words(std::initializer_list<Choice> all) { return all; }

// What `compare` can put beside the draft: what the planner has found, versions of the plan and its runs, newest first, and the
// other plans of the workspace.
std::vector<Choice> compared(const State& s, const Document& d) {
  std::vector<Choice> out;
  for (const stages::Candidate& c : d.planner ? d.planner->candidates : std::vector<stages::Candidate>())
    out.push_back({"candidate:" + std::to_string(out.size() + 1), c.configuration.name() + ", step " + cell(c.step_us, Unit::microseconds).text});
  for (auto v = d.versions->rbegin(); v != d.versions->rend(); ++v)
    out.push_back({std::to_string(v->id), v->name.empty() ? v->change : v->name + ": " + v->change});
  for (auto r = d.runs->rbegin(); r != d.runs->rend(); ++r)
    out.push_back({"run:" + std::to_string(r->run), r->status + " on " + std::to_string(r->procs) + " processes" + (r->name.empty() ? "" : ", " + r->name)});
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == "plan" && e.name != d.name) out.push_back({e.name, e.about});
  return out;
}

std::vector<Choice> fields(const Cluster& c) {
  std::vector<Choice> out;
  for (const ClusterField& f : cluster_fields(c)) out.push_back({f.id, f.title + (f.text.empty() ? "" : ": " + f.text)});
  return out;
}

// A file that is not there yet, named after the plan.
std::vector<Choice> new_file(const Document& d, const std::string& ending) {
  return {{d.model->model->name + "-" + d.name + ending, "a new file in the current folder"}};
}

std::vector<Choice> pictures() {
  std::vector<Choice> out;
  for (const CanvasInfo& c : canvases()) out.push_back({c.id, c.title});
  return out;
}

}  // namespace

std::int64_t count_places(const Document& d) {
  std::int64_t out = 0;
  const plan::Decisions* all = decisions(d);
  for (const plan::GridInfo& g : all ? all->grids : std::vector<plan::GridInfo>()) {
    ++out;
    for (const plan::GridAxis& a : g.axes) out += a.size;
  }
  return out;
}

std::vector<Choice> choices(const State& s, const std::string& command, const std::string& argument) {
  std::vector<Choice> out;
  const Document* d = s.document();
  if (argument == "cluster" || (command == "cluster" && argument == "name")) return clusters(s);
  if (command == "open") return entries(s, argument);
  if (command == "split" && argument == "factor") return factors(s);
  if (command == "colour") {
    for (const char* by : kColours) out.push_back({by, ""});
    return out;
  }
  if (command == "lanes") {
    for (const char* order : kLaneOrders) out.push_back({order, ""});
    return out;
  }
  if ((command == "lane" && argument == "name") || (command == "select" && argument == "lane")) return lanes(d);
  if (command == "lane") return {{"on", ""}, {"off", ""}};
  if (command == "align")
    return words({{"time", "in real time"}, {"share", "each as long as the longest"}, {"task", "the same stage and micro-batch together"}});
  if (command == "overlay")
    return words({{"runs", "over the prediction of their plan"}, {"all", "over the first one"}, {"none", "each in lanes of its own"}});
  if (command == "difference" || (command.starts_with("seek") && argument == "which"))
    return words({{"next", ""}, {"previous", ""}});
  if (command == "profile") return words({{"links", "the link between two processes, instead of operators"}});
  if (argument == "kind")
    return words({{"model", ""}, {"plan", ""}, {"version", ""}, {"run", ""}, {"cluster", ""}, {"profile", ""}});
  if (command == "set_cluster" && argument == "field" && d && d->chosen) return fields(*d->chosen);
  if (command == "devices" && argument == "count" && d) return device_counts(*d);
  if (command == "devices" && argument == "as" && d)
    return words({{"data=2", "copies of the model"}, {"tensor=2", "parts of operators"}, {"pipe=2", "stages"}});
  if (command == "grid" && argument == "place" && d) return places(*d);
  if (command == "axis" && argument == "name") return words({{"mb", "micro-batches"}, {"c", "pieces of an operator"}});
  if (command == "axis" && argument == "size") return words({{"2", ""}, {"4", ""}, {"8", ""}, {"?c", "to be found"}});
  if (command == "let" && argument == "name") return words({{"L", "layers"}, {"S", "stages"}});
  if (command == "let" && argument == "value" && d) return lists_of_modules(*d);
  if (command == "sizes" && d) return input_sizes(*d);
  if (command == "require" && d) return conditions(*d);
  if (command == "lag") return words({{"1", "the update before"}, {"2", ""}});
  if (argument == "by" && d) return axes(*d);
  if (argument == "whole") return words({{"whole", "from nothing, under the rows of the plan alone"}});
  if (argument == "optimizer") return words({{"adamw", ""}, {"sgd", ""}});
  if (argument == "inputs") return words({{"drawn", "random numbers"}, {"archive", "that the model's file holds"}});
  if (command == "select" && argument == "link" && d) return links(*d);
  if (command == "select" && argument == "tensor") return tensors(s);
  if (command == "compare" && d) return compared(s, *d);
  if (command == "save" && argument == "path" && d) return new_file(*d, ".plan");
  if (command == "export" && argument == "what") return pictures();
  if (command == "export" && argument == "path" && d) return new_file(*d, ".svg");
  if (argument == "colours") return words({{"light", ""}, {"dark", ""}});
  if (command == "gradient") return words({{"on", ""}, {"off", ""}});
  if (command == "assign" && d) return places(*d);
  if (command == "template") return templates(d);
  if (argument == "line" && d) return lines(d->draft.text());
  if (command == "document") {
    for (const Document& o : s.documents) out.push_back({std::to_string(o.id), o.model->model->name + " · " + o.name});
  } else if (command == "version" && d) {
    for (const Version& v : *d->versions) out.push_back({std::to_string(v.id), v.change});
  } else if (command == "restore" || command == "forget") {
    for (const LostDraft& l : s.lost) out.push_back({std::to_string(l.id), l.name + " of " + l.model});
  } else if (command == "cancel") {
    for (const Job& j : s.jobs)
      if (j.state == JobState::queued || j.state == JobState::running) out.push_back({std::to_string(j.id), j.what});
  } else if (command == "select" && argument == "statement" && d) {
    return lines(d->draft.text());
  } else if (command == "prefer" && argument == "name") {
    for (const PreferenceInfo& p : preferences()) out.push_back({p.name, p.about});
  } else if (command == "change" && argument == "part") {
    out = {{"operators", ""}, {"argument", ""}, {"where", ""}};
  } else if (argument == "off") {
    out.push_back({"off", ""});
  } else if (command == "select" && argument == "none") {
    out.push_back({"none", "nothing"});
  } else if (argument == "discard" || argument == "overwrite") {
    out.push_back({"yes", ""});
  }
  return out;
}

}  // namespace planscope::session
