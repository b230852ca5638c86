// planscope-worker: one rank of a trial (started by the launcher with its control channel as a descriptor, or by torchrun,
// Slurm, MPI or by hand to join one), or the rule audit of a model.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/graph/import.h"
#include "engine/graph/own_rules.h"
#include "engine/launch/joining.h"
#include "engine/runtime/rule_audit.h"
#include "engine/runtime/worker.h"

namespace {

using nlohmann::json;

json to_json(const std::vector<planscope::AuditFinding>& findings) {
  json out = json::array();
  for (const planscope::AuditFinding& f : findings) {
    out.push_back(
        {{"operator", f.op}, {"target", f.target}, {"factor", f.factor}, {"what", f.what}, {"error", f.error}});
  }
  return out;
}

void print_text(const planscope::AuditReport& report) {
  std::cout << report.signatures << " distinct operators, " << report.tested << " comparisons, " << report.failed.size()
            << " failed, " << report.skipped.size() << " skipped\n";
  for (const auto* list : {&report.failed, &report.skipped}) {
    for (const planscope::AuditFinding& f : *list) {
      std::cout << (list == &report.failed ? "failed  " : "skipped ") << f.op << " (" << f.target << ")"
                << (f.factor.empty() ? "" : " " + f.factor) << ": " << f.what;
      if (f.error > 0) std::cout << " is off by " << f.error;
      std::cout << "\n";
    }
  }
}

int audit(const std::string& path, bool as_json) {
  planscope::Result<planscope::Model> model = planscope::import_model(path);
  if (!model.ok()) return std::cerr << planscope::to_string(model.diagnostics) << "\n", 2;
  const auto shared = std::make_shared<const planscope::Model>(std::move(*model));
  planscope::Result<planscope::Graph> graph = planscope::open_graph(shared);
  if (!graph.ok()) return std::cerr << planscope::to_string(graph.diagnostics) << "\n", 2;
  const planscope::AuditReport report = planscope::audit_rules(*graph);
  if (as_json) {
    std::cout << json{{"signatures", report.signatures},
                      {"tested", report.tested},
                      {"failed", to_json(report.failed)},
                      {"skipped", to_json(report.skipped)}}
                     .dump()
              << "\n";
  } else {
    print_text(report);
  }
  return report.failed.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs one rank of a trial, or audits the rules of a model");
  std::string model;
  bool as_json = false;
  int control = -1;
  app.add_option("--audit", model, "Execute every distinct operator of MODEL whole and in shards, and compare");
  app.add_flag("--json", as_json, "Answer with JSON");
  app.add_option("--control-fd", control, "Descriptor of the control channel");
  std::string file;
  planscope::RankOfMany who;
  double patience = 60;
  auto* join = app.add_option("--join", file, "Join the trial that `planscope run --join FILE` has prepared");
  auto* rank = app.add_option("--rank", who.rank, "Which rank (else: as torchrun, Slurm or MPI say)")->needs(join);
  auto* ranks = app.add_option("--ranks", who.ranks, "Of how many")->needs(rank);
  rank->needs(ranks);
  app.add_option("--patience", patience, "Seconds to wait for the trial")->needs(join)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!model.empty()) return audit(model, as_json);
  planscope::ControlChannelSettings settings;
  if (!file.empty()) {
    if (!*rank) {
      const auto found = planscope::rank_in_environment([](const char* name) { return std::getenv(name); });
      if (!found.ok()) return std::cerr << planscope::to_string(found.diagnostics) << "\n", 2;
      who = *found;
    }
    const auto joined = planscope::join(file, who, planscope::Microseconds{patience * 1e6});
    if (!joined.ok()) return std::cerr << planscope::to_string(joined.diagnostics) << "\n", 2;
    control = *joined;
    settings.end_with_launcher = true;
  }
  if (control < 0) return std::cerr << "planscope-worker is started by planscope, or joins it; see --help\n", 2;
  auto channel = planscope::ControlChannel::connect(control, settings);
  if (!channel.ok()) return std::cerr << planscope::to_string(channel.diagnostics) << "\n", 2;
  return planscope::run_worker(**channel);
}
