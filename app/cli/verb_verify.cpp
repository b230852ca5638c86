#include <sys/resource.h>

#include <chrono>

#include "app/cli/command.h"
#include "app/workbench/materials.h"

namespace planscope::cli {

namespace {

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

Json to_json(const StatementRef& s) {
  return s.line ? Json({{"file", s.file}, {"line", s.line}, {"text", s.text}}) : Json();
}

Answer answer(const VerifyReport& r, double seconds) {
  Answer a;
  Json failures = Json::array();
  for (const Failure& f : r.failures) {
    failures.push_back({{"kind", to_string(f.kind)},
                        {"operator", f.op},
                        {"tensor", f.tensor},
                        {"region", f.region},
                        {"device", f.device < 0 ? Json() : Json(f.device)},
                        {"wanted", f.wanted},
                        {"there", f.there},
                        {"devices", f.devices},
                        {"expected", f.expected},
                        {"got", f.got},
                        {"statement", to_json(f.statement)}});
    a.text += "  " + to_string(f) + "\n";
  }
  Json staleness = Json::array();
  for (const Staleness& s : r.staleness) {
    staleness.push_back({{"devices", s.devices},
                         {"lag", s.lag},
                         {"parameters", s.parameters},
                         {"first", s.first},
                         {"statement", to_json(s.statement)}});
    a.text += "  " + to_string(s) + "\n";
  }
  a.json = {{"verdict", to_string(r.verdict)},   {"obligations", r.obligations}, {"failures", failures},
            {"failure_count", r.failure_count},  {"staleness", staleness},       {"seconds", seconds},
            {"peak_rss_bytes", peak_rss_bytes()}};
  char head[160];
  std::snprintf(head, sizeof head, "%s: %lld checks in %.3f s%s\n", std::string(to_string(r.verdict)).c_str(),
                static_cast<long long>(r.obligations), seconds,
                r.failures.empty() ? " (floating-point reassociation aside)" : "");
  a.text = head + a.text;
  a.status = r.verdict == Verdict::equivalent ? kDone : r.verdict == Verdict::unknown ? kUnknown : kNo;
  return a;
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Answer verify_program(const Options& o, const Workspace* workspace) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<OpenProgram> p = open_program(o.model, o.program, workspace);
  if (!p.value || p.has_errors()) return bad_input(p.diagnostics);
  report(p.diagnostics);
  return answer(planscope::verify(*p->graph, p->program), since(begin));
}

}  // namespace

Answer verify(const Options& o) {
  if (o.plan.empty() == o.program.empty())
    return bad_input(
        {error("verify needs a plan or '--program FILE'", o.plan.empty() ? "neither was given" : "both were given")});
  std::optional<Workspace> workspace = open_workspace(o);
  if (!o.program.empty()) return verify_program(o, workspace ? &*workspace : nullptr);
  const auto begin = std::chrono::steady_clock::now();
  Result<Materials> m = open_materials(o.model, o.plan, o.cluster, "verify", workspace ? &*workspace : nullptr);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  report(m.diagnostics);
  report(broken_memory_rows(*m));
  const VerifyReport r = planscope::verify(*m->result.graph, m->result.program);
  Answer a = answer(r, since(begin));
  Recording found = recording_of(m->model, m->plan, m->cluster);
  found.verification.emplace();
  found.verification->verdict = std::string(to_string(r.verdict));
  found.verification->json = dump(a.json);
  a.json["recorded"] = record(o, workspace, found);
  return a;
}

}  // namespace planscope::cli
