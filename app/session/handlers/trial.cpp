// Running a plan for real.
#include "app/session/core.h"
#include "app/session/trying.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"

namespace planscope::session {

namespace {

// What is known to be wrong with the text, without waiting for figures: a text with errors is not kept to be run.
std::vector<Diagnostic> faults_of(Core& c, const Document& d, const TrialRequest& r) {
  const Result<plan::Plan> p = plan::parse_plan(r.text, r.name);
  if (!p.value || p.has_errors()) return p.diagnostics;
  const Result<Decided> decided = decide(d.model->graph, *p.value, {}, &c.cache);
  if (!decided.value || decided.has_errors()) return decided.diagnostics;
  if (is_of(d.latest, d, r.text) && d.latest->state == PictureState::refused) return d.latest->diagnostics;
  return {};
}

Result<Done> run(Core& c, const Invocation& i) {
  Document& d = *c.document();
  TrialRequest r{.model = d.model,
                 .text = d.draft.text(),
                 .name = d.path.empty() ? d.name : d.path,
                 .cluster = d.cluster,
                 .workspace = c.settings.workspace,
                 .programs = c.settings.programs};
  if (i.has("procs")) r.procs = std::stoi(i.get("procs"));
  if (i.has("steps")) r.steps = std::stoi(i.get("steps"));
  if (r.steps < 1) return error("steps=" + i.get("steps") + " is no number of steps", "", "1 or more");
  if (i.has("optimizer")) r.optimizer = i.get("optimizer");
  if (r.optimizer != "adamw" && r.optimizer != "sgd")
    return error("there is no optimizer '" + r.optimizer + "'", "", "adamw or sgd");
  if (i.has("seed")) r.seed = std::stoull(i.get("seed"));
  r.inputs = i.get("inputs");
  r.join = i.get("join");
  if (!i.get("address").empty()) r.address = i.get("address");
  if (!i.get("address").empty() && r.join.empty())
    return error("'run' takes an address only with join", "it is where ranks of another launcher reach this host", "join=FILE");
  if (std::vector<Diagnostic> faults = faults_of(c, d, r); has_errors(faults)) return faults;
  if (const Result<Done> kept = keep_version(c, d); !kept.ok()) return kept;
  r.version = *d.version;
  TrialAnswer begun;
  begun.job = try_in_background(*c.jobs, std::move(r), [&c, id = d.id](std::shared_ptr<const TrialAnswer> a) {
    c.update(id, [&](Document& o) {
      if (!o.trial || o.trial->job <= a->job) o.trial = a;
      if (a->measured) o.measured = a->measured;
      if (!a->running) c.read_all();
    });
  });
  d.trial = std::make_shared<const TrialAnswer>(begun);  // the job cannot have said anything yet: it waits for the lock
  return Done{};
}

}  // namespace

void add_trial_handlers(Handlers& all) { all["run"] = run; }

}  // namespace planscope::session
