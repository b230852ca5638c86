#include <sys/resource.h>

#include <chrono>

#include "app/cli/command.h"
#include "app/workbench/materials.h"
#include "engine/program/program_json.h"

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

// A program from a file, on the model at the sizes that it was made for.
Answer verify_program(const Options& o, const Workspace* workspace) {
  const auto begin = std::chrono::steady_clock::now();
  Result<OpenModel> m = open_model(o.model, workspace);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  Result<std::string> text = read_file(o.program);
  if (!text.ok()) return bad_input(text.diagnostics);
  Graph graph = m->graph;
  Result<Program> p = program_from_json(*text, graph);
  if (p.value && !p->sizes.empty()) {
    Result<Graph> sized = resize(graph, p->sizes);
    if (!sized.value || sized.has_errors()) return bad_input(sized.diagnostics);
    graph = std::move(*sized.value);
  }
  for (Diagnostic& d : p.diagnostics)
    if (d.file.empty()) d.file = o.program;
  if (!p.value || p.has_errors()) return bad_input(p.diagnostics);
  report(p.diagnostics);
  if (p->graph_digest != graph.digest)
    return bad_input(
        {error("the program was made for another model", o.program + " has another graph digest than " + o.model,
               "materialize it again with 'planscope plan'")});
  return answer(planscope::verify(graph, *p), since(begin));
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
  const Answer a = answer(r, since(begin));
  if (workspace) {
    std::vector<Diagnostic> problems;
    const Recorded rows = record(&*workspace, m->model, m->plan, m->cluster, problems);
    if (rows.plan) {
      VerificationRow row;
      row.plan = rows.plan;
      row.verdict = std::string(to_string(r.verdict));
      row.json = dump(a.json);
      const auto added = workspace->add_verification(row);
      problems.insert(problems.end(), added.diagnostics.begin(), added.diagnostics.end());
    }
    report(problems);
  }
  return a;
}

}  // namespace planscope::cli
