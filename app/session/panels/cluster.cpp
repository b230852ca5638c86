#include <algorithm>

#include "app/session/panels/panels.h"
#include "engine/cluster/fields.h"

namespace planscope::session {

namespace {

// As the evaluation has read it, for as many devices as the plan declares; before that, as it was chosen.
std::shared_ptr<const Cluster> cluster_of(const Document& d) {
  if (d.latest && d.latest->cluster && d.latest->cluster_name == d.cluster) return d.latest->cluster;
  return d.chosen;
}

Field choice(const State& s, const Document& d) {
  Field f{.id = "cluster", .title = "Cluster", .cell = cell(d.cluster), .command = "cluster"};
  const auto add = [&](const std::string& name) {
    if (std::find(f.choices.begin(), f.choices.end(), name) == f.choices.end()) f.choices.push_back(name);
  };
  add(d.cluster);
  add(changed_name(d.cluster).base);
  for (const PresetInfo& p : cluster_presets()) add(p.name);
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == "cluster" && changed_name(e.name).changes.empty() && !read_cluster(e.name).value) add(e.name);
  return f;
}

// What the changes do to the plan; nothing where it has been changed since.
void effect(Panel& p, const Document& d) {
  const Figures now = d.current() ? figures_of(*d.shown) : Figures{};
  const auto maybe = [](const auto& v) { return v ? Json(*v) : Json(); };
  p.facts.push_back({"step_us", "Step", cell(maybe(now.step_us), Unit::microseconds)});
  if (!d.unchanged || d.unchanged->text != d.draft.text()) return;
  const Figures& was = d.unchanged->figures;
  p.facts.push_back(
      {"before", "Before", cell(d.unchanged->name, Unit::none, Tone::dim), "cluster " + d.unchanged->name});
  if (!now.step_us || !was.step_us) return;
  const double step = *now.step_us - *was.step_us;
  p.facts.push_back({"step_delta_us",
                     "Δ step",
                     {step, (step < 0 ? "−" : "+") + cell(step < 0 ? -step : step, Unit::microseconds).text,
                      step < 0   ? Tone::good
                      : step > 0 ? Tone::bad
                                 : Tone::plain}});
}

}  // namespace

Panel cluster_panel(const State& s) {
  Panel p{.id = "cluster", .title = "Cluster", .kind = PanelKind::form};
  p.empty =
      "Shows the figures of a cluster, to be changed: what the plan would take on it is seen at once. Open a model "
      "first.";
  const Document* d = s.document();
  if (!d) return p;
  p.fields.push_back(choice(s, *d));
  if (const std::shared_ptr<const Cluster> c = cluster_of(*d)) {
    p.facts.push_back({"devices", "Devices", cell(c->device_count(), Unit::count)});
    const ChangedName changed = changed_name(d->cluster);
    for (const ClusterField& f : cluster_fields(*c)) {
      const bool is_changed =
          std::any_of(changed.changes.begin(), changed.changes.end(), [&](const auto& x) { return x.first == f.id; });
      const Json number = Json::parse(f.value, nullptr, false);
      Cell value{f.value.empty()      ? Json()
                 : number.is_number() ? number
                                      : Json(f.value),
                 f.text, is_changed ? Tone::warning : Tone::plain, f.bounds};
      p.fields.push_back({.id = f.id,
                          .title = (is_changed ? "• " : "") + f.title,
                          .cell = std::move(value),
                          .choices = f.choices,
                          .command = "set_cluster " + f.id});
    }
  }
  effect(p, *d);
  if (!changed_name(d->cluster).changes.empty()) p.facts.push_back({"keep", "Keep", cell("as …"), "keep_cluster"});
  return p;
}

}  // namespace planscope::session
