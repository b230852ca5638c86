// The cluster that a plan is for: another one, the same with other figures, and keeping it.
#include <algorithm>

#include "app/session/core.h"
#include "app/workbench/profiling.h"
#include "engine/base/text.h"
#include "engine/cluster/fields.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

Result<Done> plan_for(Core& c, Document& d, const std::string& name) {
  const Result<Cluster> cluster = open_cluster(name, 1, c.readable());
  if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
  d.cluster = name;
  d.chosen = std::make_shared<const Cluster>(*cluster.value);
  c.read_versions(d);
  return Done{};
}

// For the next document, where nothing is open.
Result<Done> choose(Core& c, const Invocation& i) {
  Document nobody;
  Document* const d = c.document();
  Result<Done> done = plan_for(c, d ? *d : nobody, i.get("name"));
  if (done.ok() && d) d->unchanged.reset();
  if (done.ok() && !d) c.state.next_cluster = i.get("name");
  return done;
}

// The value as a cluster's name has it: a bare number; a level that has gone has none.
std::string canonical(const Cluster& c, const std::string& field) {
  for (const ClusterField& f : cluster_fields(c))
    if (f.id == field) return f.value.empty() ? "0" : f.value;
  return "0";
}

// Of the text as it stands, which may not have been evaluated yet.
Figures figures_now(Core& c, const Document& d) {
  if (d.current()) return figures_of(*d.shown);
  Figures out;
  const Result<plan::Plan> p = plan::parse_plan(d.draft.text(), d.name);
  if (!p.ok()) return out;
  const Result<Cluster> cluster = open_cluster(d.cluster, *p, c.readable());
  if (!cluster.ok()) return out;
  std::vector<Diagnostic> said;
  SimulationOptions options{.costs = stored_costs(c.readable(), *cluster, said), .window = {}};
  const Result<Evaluation> e = evaluate(d.model->graph, *p, *cluster, c.cache, options);
  if (e.ok()) out.step_us = e->simulation.step_us();
  return out;
}

Result<Done> set(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const std::string field = i.get("field");
  ChangedName name = changed_name(d.cluster);
  const Result<Cluster> now = open_cluster(d.cluster, 1, c.readable());
  if (!now.value || now.has_errors()) return now.diagnostics;
  const Result<Cluster> next = with_field(*now.value, field, i.get("value"));
  if (!next.ok()) return next.diagnostics;
  const std::string value = canonical(*next.value, field);
  const Result<Cluster> base = open_cluster(name.base, 1, c.readable());
  const bool as_it_was = base.ok() && canonical(*base.value, field) == value;
  const auto known =
      std::find_if(name.changes.begin(), name.changes.end(), [&](const auto& change) { return change.first == field; });
  if (known != name.changes.end() && as_it_was)
    name.changes.erase(known);
  else if (known != name.changes.end())
    known->second = value;
  else if (!as_it_was)
    name.changes.emplace_back(field, value);
  const OtherCluster before{d.cluster, d.draft.text(), d.unchanged ? Figures{} : figures_now(c, d)};
  const bool first = !d.unchanged;
  const Result<Done> done = plan_for(c, d, print(name));
  if (!done.ok()) return done;
  if (name.changes.empty())
    d.unchanged.reset();
  else if (first)
    d.unchanged = before;
  return Done{};
}

Result<Done> keep(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const std::string name = i.get("name");
  if (!c.workspace || c.settings.workspace.empty())
    return error("the cluster cannot be kept", "there is no workspace to keep it in");
  if (name.empty() || name.find_first_of("/:,= ") != std::string::npos || name.ends_with(".json"))
    return error("'" + name + "' is no name for a cluster",
                 "a name has no spaces and none of / : , =, and does not end with .json");
  if (read_cluster(name).value) return error("'" + name + "' is the name of a preset", "", "choose another name");
  Result<Cluster> cluster =
      open_cluster(d.cluster, declared_devices(d.latest ? d.latest->plan : plan::Plan{}), c.readable());
  if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
  cluster->name = name;
  const std::string digest = hex(cluster->digest());
  const Result<std::optional<ClusterRow>> same = c.workspace->find_cluster(name);
  if (same.ok() && same->has_value() && (*same)->digest != digest)
    return error("there is a cluster '" + name + "' already", "it has other figures",
                 "choose another name, or delete that one");
  const Result<RowId> row = c.workspace->put_cluster({.digest = digest, .name = name, .json = print_cluster(*cluster)});
  if (!row.ok()) return c.failed(row.diagnostics);
  if (const Result<Done> named = c.workspace->rename(EntryKind::cluster, *row, name); !named.ok())
    return c.failed(named.diagnostics);
  const Result<Done> done = plan_for(c, d, name);
  c.read_all();
  return done;
}

}  // namespace

void add_cluster_handlers(Handlers& all) {
  all["cluster"] = choose;
  all["set_cluster"] = set;
  all["keep_cluster"] = keep;
}

}  // namespace planscope::session
