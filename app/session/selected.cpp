#include "app/session/selected.h"

#include <algorithm>
#include <set>

#include "app/workbench/equal_layers.h"
#include "app/workbench/named.h"
#include "app/workbench/stage_text.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string problem_of(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics)
    if (d.severity == Severity::error)
      return d.what + (d.why.empty() ? "" : "; " + d.why) + (d.hint.empty() ? "" : "; " + d.hint);
  return "nothing is meant";
}

std::vector<int> parameters_read(const Graph& g, const std::vector<OpId>& operators) {
  std::set<TensorId> read;
  for (const OpId op : operators)
    for (const Operand& o : g.ops[at(op)].inputs) read.insert(o.tensor);
  std::vector<int> out;
  for (int p = 0; p < static_cast<int>(g.parameters.size()); ++p)
    if (read.contains(g.parameters[at(p)].tensor)) out.push_back(p);
  return out;
}

class Meaning {
 public:
  Meaning(const Graph& g, const plan::Plan& p, const plan::ModelInfo& info) : graph_(g), plan_(p), info_(info) {}

  Selected run(const Selection& s) {
    if (!s.operators.empty()) operators(s.operators);
    if (!s.tensor.empty()) tensor(s.tensor);
    if (s.statement > 0) statement(s.statement);
    if (!s.place.empty()) place(s.place);
    if (out_.parameters.empty()) out_.parameters = parameters_read(graph_, out_.operators);
    return std::move(out_);
  }

 private:
  void operators(const std::string& text) {
    const Result<NamedRows> named = named_rows(plan_, info_, text);
    if (!named.ok()) {
      out_.problem = problem_of(named.diagnostics);
      return;
    }
    out_.words = text;
    out_.phase = named->phase;
    (named->of_parameters() ? out_.parameters : out_.operators) = named->rows;
    if (!named->tasks) return;
    out_.task = text;
    const Result<plan::Statement> parsed = plan::parse_statement("assign " + text + " to all");
    out_.words = plan::print(std::get<plan::AssignStatement>(parsed->body).units.groups[0].units);
  }

  void tensor(const std::string& name) {
    for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) {
      if (graph_.tensor_name(t) != name) continue;
      const PTensor& tensor = graph_.tensors[at(t)];
      out_.tensors = {t};
      out_.operators = tensor.producer >= 0 ? std::vector<OpId>{tensor.producer} : tensor.readers;
      if (!out_.operators.empty()) out_.words = selection_of(info_, out_.operators);
      for (int p = 0; p < static_cast<int>(graph_.parameters.size()); ++p)
        if (graph_.parameters[at(p)].tensor == t) out_.parameters = {p};
      return;
    }
    std::vector<std::string> names;
    for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) names.push_back(graph_.tensor_name(t));
    const std::string near = nearest(name, names);
    out_.problem = "there is no tensor '" + printable(name) + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?");
  }

  void statement(int line) {
    out_.statement = line;
    const Result<plan::Decisions> bound = plan::bind(plan_, info_, plan::given_values(plan_));
    const StatementEffect e = plan_effects(*bound).of_line(line);
    out_.operators = e.operators;
    out_.parameters = e.parameters;
    if (!out_.operators.empty()) out_.words = selection_of(info_, out_.operators);
  }

  // As the plan language writes it, or as lanes are called: `devices 0:2`, `device 3`.
  void place(std::string text) {
    for (const std::string_view word : {"devices ", "device "})
      if (text.starts_with(word)) text.erase(0, word.size());
    const Result<plan::Statement> parsed = plan::parse_statement("forbid assign * to " + text);
    if (!parsed.ok()) {
      out_.problem = problem_of(parsed.diagnostics);
      return;
    }
    plan::Plan asked = plan_;
    plan::Statement probe = *parsed;
    for (const plan::Statement& s : plan_.statements) probe.line = std::max(probe.line, s.line + 1);
    asked.statements.push_back(probe);
    const Result<plan::Decisions> bound = plan::bind(asked, info_, plan::given_values(asked));
    std::set<int> places;
    for (const plan::ForbidRow& row : bound->forbids)
      if (row.statement == static_cast<int>(bound->plan.statements.size()) - 1)
        for (const plan::ForbiddenPlace& f : row.places) places.insert(f.place);
    for (const int p : places)
      if (!bound->places[at(p)].open()) {
        const std::vector<int> here = plan::devices_of(*bound, bound->places[at(p)]);
        out_.devices.insert(out_.devices.end(), here.begin(), here.end());
      }
    if (!out_.devices.empty()) return;
    std::vector<Diagnostic> own;
    for (const Diagnostic& d : bound.diagnostics)
      if (d.line == probe.line) own.push_back(d);
    out_.problem = problem_of(own);
  }

  const Graph& graph_;
  const plan::Plan& plan_;
  const plan::ModelInfo& info_;
  Selected out_;
};

bool meet(const std::vector<int>& a, const std::vector<int>& b) {  // ascending
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();)
    if (a[i] == b[j])
      return true;
    else
      ++(a[i] < b[j] ? i : j);
  return false;
}

}  // namespace

Selected selected(const Selection& s, const Graph& base, const plan::Plan& p, MaterializeCache& cache) {
  const Result<plan::InputSizes> sizes = plan::model_sizes(p, model_settings(base), plan::given_values(p));
  Result<std::shared_ptr<const MaterializeCache::Sized>> sized =
      cache.at(base, sizes.value.value_or(plan::InputSizes{}));
  if (!sized.value || !*sized.value) sized = cache.at(base, {});
  return selected(s, **sized, p);
}

Selected selected(const Selection& s, const MaterializeCache::Sized& sized, const plan::Plan& p) {
  return Meaning(sized.graph, p, sized.info).run(s);
}

Selection chosen_by(const Invocation& i) {
  Selection s;
  s.operators = i.get("operators"), s.tensor = i.get("tensor"), s.place = i.get("place");
  s.communicator = i.get("communicator");
  if (i.has("lane") && !i.has("time")) s.place = i.get("lane");  // a lane by itself means what runs there
  if (i.has("statement")) s.statement = std::stoi(i.get("statement"));
  return s;
}

Invocation select_command(const Selection& s) {
  Invocation out{"select", {}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.arguments[name] = value;
  };
  add("operators", s.operators);
  add("tensor", s.tensor);
  add("place", s.place);
  add("communicator", s.communicator);
  if (s.statement > 0) out.arguments["statement"] = std::to_string(s.statement);
  if (out.arguments.empty()) out.arguments["none"] = "none";
  return out;
}

std::vector<std::pair<std::string, int>> communicators_named(const TrafficFacts& t, const std::string& names) {
  std::set<std::pair<std::string, int>> out;
  for (const std::string& one : split(names, '\n'))
    for (const Communicator& c : t.communicators)
      for (const CommunicatorPart& part : c.parts)
        if (part.name == one || is_called(c, one)) out.insert({part.name, part.device_class});
  return {out.begin(), out.end()};
}

// The operators that make what is sent; those that read what none makes. With a tensor: of that one alone.
void locate(Selected& out, const Selection& s, const Graph& g, const TrafficFacts& t) {
  out.communicators = communicators_named(t, s.communicator);
  if (out.communicators.empty()) out.problem = "no devices communicate so";
  std::set<TensorId> tensors;
  std::set<OpId> operators;
  std::set<int> classes;
  for (const Communicator& c : t.communicators)
    for (const CommunicatorPart& part : c.parts) {
      if (!std::binary_search(out.communicators.begin(), out.communicators.end(), std::pair(part.name, part.device_class)))
        continue;
      tensors.insert(part.tensors.begin(), part.tensors.end());
      classes.insert(part.device_class);
    }
  out.classes.assign(classes.begin(), classes.end());
  if (!s.tensor.empty()) return;
  for (const TensorId tensor : tensors)
    if (const PTensor& of = g.tensors[at(tensor)]; of.producer >= 0)
      operators.insert(of.producer);
    else
      operators.insert(of.readers.begin(), of.readers.end());
  out.tensors.assign(tensors.begin(), tensors.end());
  out.operators.assign(operators.begin(), operators.end());
  out.parameters = parameters_read(g, out.operators);
}

void locate(Selected& out, const Selection& s, const Graph& g, const Program& p) {
  std::vector<int> here = out.devices;
  std::sort(here.begin(), here.end());
  std::set<OpId> found;
  for (int c = 0; c < static_cast<int>(p.classes.size()); ++c) {
    const std::vector<OpId> runs = operators_of(p, p.classes[at(c)]);
    if (!s.place.empty()) {
      std::vector<int> of_class = devices(p, p.classes[at(c)]);
      std::sort(of_class.begin(), of_class.end());
      if (!meet(of_class, here)) continue;
      found.insert(runs.begin(), runs.end());
    } else if (!meet(runs, out.operators)) {
      continue;
    }
    out.classes.push_back(c);
  }
  const bool of_place = s.operators.empty() && s.tensor.empty() && s.statement == 0;  // alone: what runs there
  if (s.place.empty() || found.empty() || !of_place) return;
  out.operators.assign(found.begin(), found.end());
  out.parameters = parameters_read(g, out.operators);
}

}  // namespace planscope::session
