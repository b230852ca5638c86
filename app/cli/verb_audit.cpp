#include "app/cli/child.h"
#include "app/cli/command.h"

namespace planscope::cli {

Answer audit(const Options& o, const OpenModel& m, Answer a) {
  const std::string worker = o.program_folder + "/planscope-worker";
  const Result<ChildOutput> child = run_child(worker, {"--audit", m.model->path, "--json"});
  if (!child.ok()) {
    std::vector<Diagnostic> problems = child.diagnostics;
    problems.front().hint = "the audit needs LibTorch: './run' sets it up";
    return bad_input(problems);
  }
  Json audit = Json::parse(child->out, nullptr, false);
  if (audit.is_discarded() || !audit.contains("failed"))
    return bad_input(
        {error("the rule audit ended with status " + std::to_string(child->status) + " and no answer", worker)});
  a.text += "\naudit: " + std::to_string(audit.value("tested", 0)) + " comparisons of sharded with whole runs, " +
            std::to_string(audit["failed"].size()) + " failed, " +
            std::to_string(audit.value("skipped", Json::array()).size()) + " skipped\n";
  for (const Json& f : audit["failed"])
    a.text += "  failed " + f.value("operator", "") + " " + f.value("factor", "") + ": " + f.value("what", "") +
              " is off by " +
              (f.value("error", Json()).is_null() ? "more than any number" : f.value("error", Json()).dump()) + "\n";
  a.status = audit["failed"].empty() ? kDone : kNo;
  a.json["audit"] = std::move(audit);
  return a;
}

}  // namespace planscope::cli
