// planscope-worker: one rank of a trial (started by the launcher, with its control channel as a descriptor), or the
// rule audit of a model.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/graph/import.h"
#include "engine/graph/own_rules.h"
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
  CLI11_PARSE(app, argc, argv);
  if (!model.empty()) return audit(model, as_json);
  if (control < 0) return std::cerr << "planscope-worker is started by planscope; see --help\n", 2;
  auto channel = planscope::ControlChannel::connect(control);
  if (!channel.ok()) return std::cerr << planscope::to_string(channel.diagnostics) << "\n", 2;
  return planscope::run_worker(**channel);
}
