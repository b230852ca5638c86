#include <chrono>

#include "app/cli/command.h"
#include "engine/base/text.h"

namespace planscope::cli {

namespace {

std::string loss_text(const ModelSummary& s) {
  if (!s.has_loss) return "none: it can be looked at, not trained";
  if (s.scalar_outputs.size() < 2) return "yes";
  std::vector<std::string> others;
  for (const std::string& name : s.scalar_outputs)
    if (name != s.loss) others.push_back(name);
  return s.loss + "; " + join(others, ", ") + (others.size() == 1 ? " is" : " are") +
         " not trained on ('model loss=" + others[0] + "' in a plan chooses)";
}

std::string text_of(const ModelSummary& s, double seconds) {
  std::string out = s.name + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"  operators", std::to_string(s.operators)},
      {"  parameters",
       count_text(static_cast<double>(s.parameters)) + " (" + bytes_text(static_cast<double>(s.parameter_bytes)) + ")" +
           (s.unused_parameters
                ? ", " + count_text(static_cast<double>(s.unused_parameters)) + " more that no operator reads"
                : "")},
      {"  weights", s.has_weights ? "in the file" : "none in the file (exported without)"},
      {"  loss", loss_text(s)},
      {"  FLOPs forward", count_text(s.flops)},
      {"  kept for backward", bytes_text(static_cast<double>(s.activation_bytes))},
      {"  rules", std::to_string(s.split) + " can be split, " + std::to_string(s.replicate_only) + " only whole, " +
                      std::to_string(s.unknown) + " unknown"}};
  std::vector<std::string> dims;
  for (const auto& [name, size] : s.inputs) dims.push_back(name + "=" + std::to_string(size));
  rows.push_back({"  input dimensions", join(dims, " ")});
  if (!s.unread_inputs.empty())
    rows.push_back({"  inputs that nothing reads",
                    join(s.unread_inputs, ", ") + " (was one tensor given for two inputs at the export?)"});
  for (const std::vector<std::string>& names : s.tied) rows.push_back({"  one parameter", join(names, " = ")});
  out += table(rows) + "\n";
  std::vector<std::vector<std::string>> modules = {{"  module", "operators", "FLOPs"}};
  for (const ModuleCount& m : s.modules)
    modules.push_back({"  " + m.module, std::to_string(m.operators), count_text(m.flops)});
  out += table(modules) + "\n";
  std::vector<std::vector<std::string>> kinds = {{"  kind", "operators"}};
  for (std::size_t k = 0; k < s.kinds.size() && k < 15; ++k)
    kinds.push_back({"  " + s.kinds[k].first, std::to_string(s.kinds[k].second)});
  out += table(kinds);
  if (s.kinds.size() > 15) out += "  and " + std::to_string(s.kinds.size() - 15) + " more\n";
  char took[48];
  std::snprintf(took, sizeof took, "\nopened in %.3f s\n", seconds);
  return out + took;
}

}  // namespace

Answer info(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  Result<OpenModel> m = open_model(o.model, nullptr);
  if (!m.value) {
    const std::optional<Workspace> workspace = open_workspace(o);
    m = open_model(o.model, workspace ? &*workspace : nullptr);
  }
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  const ModelSummary s = summarize(m->graph);
  std::vector<Diagnostic> warnings;  // notes of operators without a rule are rows of the answer
  for (const Diagnostic& d : m.diagnostics)
    if (d.severity == Severity::warning) warnings.push_back(d);
  report(warnings);
  Answer a;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Json whole = Json::array();
  for (const OperatorRule& r : s.whole)
    whole.push_back({{"operator", r.op}, {"target", r.target}, {"reason", r.reason}});
  Json kinds = Json::object(), modules = Json::array(), inputs = Json::object();
  for (const auto& [kind, n] : s.kinds) kinds[kind] = n;
  for (const ModuleCount& c : s.modules)
    modules.push_back({{"module", c.module}, {"operators", c.operators}, {"flops", c.flops}});
  for (const auto& [name, size] : s.inputs) inputs[name] = size;
  a.json = {{"name", s.name},
            {"operators", s.operators},
            {"parameters", s.parameters},
            {"unused_parameters", s.unused_parameters},
            {"parameter_bytes", s.parameter_bytes},
            {"flops", s.flops},
            {"activation_bytes", s.activation_bytes},
            {"has_weights", s.has_weights},
            {"has_loss", s.has_loss},
            {"rules", {{"split", s.split}, {"replicate_only", s.replicate_only}, {"unknown", s.unknown}}},
            {"replicate_only", whole},
            {"kinds", kinds},
            {"modules", modules},
            {"inputs", inputs},
            {"unread_inputs", s.unread_inputs},
            {"tied_parameters", s.tied},
            {"loss", s.loss},
            {"scalar_outputs", s.scalar_outputs},
            {"seconds", seconds}};
  a.text = text_of(s, seconds);
  return a;
}

Answer rules(const Options& o) {
  const std::optional<Workspace> workspace = open_workspace(o);
  Result<OpenModel> m = open_model(o.model, workspace ? &*workspace : nullptr);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  Answer a;
  a.json["operators"] = Json::array();
  const Graph& g = m->graph;
  for (OpId op = 0; op < static_cast<OpId>(g.ops.size()); ++op) {
    const Op& x = g.ops[static_cast<std::size_t>(op)];
    Json factors = Json::array();
    for (int f = 0; f < static_cast<int>(x.factors.size()); ++f) {
      const Factor& factor = x.factors[static_cast<std::size_t>(f)];
      if (factor.parts.empty()) continue;
      std::int64_t size = 1;
      Json parts = Json::array();
      for (const ClassId c : factor.parts) {
        size *= g.classes[static_cast<std::size_t>(c)].size;
        parts.push_back(g.classes[static_cast<std::size_t>(c)].size);
      }
      Json entry = {{"name", factor.name},
                    {"size", size},
                    {"kind", to_string(factor.kind)},
                    {"names", factor_names(g, op, f)},
                    {"parts", parts}};
      if (!factor.reason.empty()) entry["reason"] = factor.reason;
      factors.push_back(std::move(entry));
    }
    a.json["operators"].push_back(
        {{"name", g.node(op).name()}, {"target", g.node(op).target}, {"rule", x.rule}, {"factors", factors}});
    a.text += g.node(op).name() + "  " + g.node(op).target + "\n    " + describe(g, op) +
              (x.parameter_free ? "  (no parameter reaches it)" : "") + "\n";
  }
  if (o.audit) return audit(o, *m, std::move(a));
  return a;
}

}  // namespace planscope::cli
