#include "app/session/by_hand.h"

#include <algorithm>
#include <set>

#include "app/session/lines.h"
#include "app/workbench/effects.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::session {

namespace {

using Axes = std::set<std::string>;

Axes axes_of(const plan::TransStatement& s) {
  Axes out;
  for (const plan::Choice& c : s.axes) out.insert(c.words.begin(), c.words.end());
  return out;
}

bool about_storage(const plan::AlgorithmStatement& s) {
  const std::string& word = s.algorithm.words.front();
  return word == "recompute" || word == "offload" || word == "keep";
}

std::set<std::string> names_of(const plan::ModelStatement& s) {
  std::set<std::string> out;
  for (const plan::AxisSub& one : s.sizes) out.insert(one.axis);
  return out;
}

// Whether both declare the devices, the same sizes of the model, or something of the same name: one of them is enough.
bool declares_same(const plan::Statement& a, const plan::Statement& b) {
  if (a.body.index() != b.body.index()) return false;
  if (std::holds_alternative<plan::DevicesStatement>(a.body)) return true;
  if (const auto* s = std::get_if<plan::ModelStatement>(&a.body))
    return names_of(*s) == names_of(std::get<plan::ModelStatement>(b.body));
  if (const auto* s = std::get_if<plan::AxisStatement>(&a.body))
    return s->name == std::get<plan::AxisStatement>(b.body).name;
  if (const auto* s = std::get_if<plan::LetStatement>(&a.body))
    return s->name == std::get<plan::LetStatement>(b.body).name;
  if (const auto* s = std::get_if<plan::GridStatement>(&a.body)) {
    const auto& o = std::get<plan::GridStatement>(b.body);
    return s->name == o.name && s->index == o.index;
  }
  return false;
}

// Whether both are about the same selection, and make decisions of one kind.
bool same_kind(const plan::Statement& a, const plan::Statement& b) {
  if (a.body.index() != b.body.index() || !a.where.empty()) return false;
  if (const auto* s = std::get_if<plan::TransStatement>(&a.body)) {
    const auto& o = std::get<plan::TransStatement>(b.body);
    return s->units == o.units && axes_of(*s) == axes_of(o);
  }
  if (const auto* s = std::get_if<plan::AlgorithmStatement>(&a.body)) {
    const auto& o = std::get<plan::AlgorithmStatement>(b.body);
    return s->units == o.units && (s->algorithm == o.algorithm || (about_storage(*s) && about_storage(o)));
  }
  if (const auto* s = std::get_if<plan::AssignStatement>(&a.body))
    return s->units == std::get<plan::AssignStatement>(b.body).units;
  if (const auto* s = std::get_if<plan::RelaxStatement>(&a.body))
    return s->group == std::get<plan::RelaxStatement>(b.body).group;
  return declares_same(a, b);
}

class Insertion {
 public:
  Insertion(const Graph& g, const std::string& file, MaterializeCache& cache) : graph_(g), file_(file), cache_(cache) {}

  Result<WithStatement> run(const std::string& text, const std::string& statement) {
    const Result<plan::Statement> parsed = plan::parse_statement(statement);
    if (!parsed.ok()) return refused(parsed.diagnostics, statement);
    std::vector<std::string> lines = lines_of(text);
    const int last = static_cast<int>(lines.size()) + 1;
    const std::optional<int> old = last_of_kind(text, *parsed);
    if (old && replaces(text, *old, *parsed)) {  // beside the old one it would be an error, or decide nothing
      lines[static_cast<std::size_t>(*old) - 1] = in_place_of(lines[static_cast<std::size_t>(*old) - 1], *parsed, statement);
      const std::string replaced = text_of(lines);
      const Result<Bound> instead = bind(replaced, *old);
      if (!instead.ok()) return refused(instead.diagnostics, statement);
      return WithStatement{replaced, *old};
    }
    lines.push_back(statement);
    const std::string added = text_of(lines);
    const Result<Bound> with = bind(added, last);
    if (!with.ok()) return refused(with.diagnostics, statement);
    const StatementEffect wanted = with->effects.of_line(last);
    if (!wanted.any() && decides(*parsed)) return refused(with->notes, statement);
    if (!old || with->effects.of_line(*old).any()) return WithStatement{added, last};
    lines.pop_back();
    lines[static_cast<std::size_t>(*old) - 1] = in_place_of(lines[static_cast<std::size_t>(*old) - 1], *parsed, statement);
    const std::string replaced = text_of(lines);
    const Result<Bound> instead = bind(replaced, *old);
    const bool same = instead.ok() && instead->effects.of_line(*old) == wanted;
    return same ? WithStatement{replaced, *old} : WithStatement{added, last};
  }

 private:
  struct Bound {
    PlanEffects effects;
    std::vector<Diagnostic> notes;  // of the line that are no errors
  };

  // With the indent and the comment of the line whose place it takes.
  static std::string in_place_of(const std::string& line, const plan::Statement& by, const std::string& statement) {
    const Result<plan::Statement> before = plan::parse_statement(line);
    const std::string comment = before.ok() && by.comment.empty() ? before->comment : "";
    return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size())) + statement + (comment.empty() ? "" : "  " + comment);
  }

  static bool replaces(const std::string& text, int line, const plan::Statement& by) {
    const Result<plan::Plan> p = plan::parse_plan(text, "");
    return std::any_of(p->statements.begin(), p->statements.end(), [&](const plan::Statement& s) {
      return s.line == line && (declares_same(s, by) || std::holds_alternative<plan::RelaxStatement>(s.body));
    });
  }

  static bool decides(const plan::Statement& s) {
    return std::holds_alternative<plan::TransStatement>(s.body) ||
        std::holds_alternative<plan::AlgorithmStatement>(s.body) ||
           std::holds_alternative<plan::AssignStatement>(s.body) ||
               std::holds_alternative<plan::OrderStatement>(s.body);
  }

  static Diagnostic refused(const std::vector<Diagnostic>& diagnostics, const std::string& statement) {
    Diagnostic d = error("it would decide nothing", "", "select operators that it can be about");
    if (!diagnostics.empty()) d = diagnostics.front();
    d.severity = Severity::error;
    d.file.clear();
    d.line = 0;
    d.subject = statement;
    return d;
  }

  // Errors: those of the line alone.
  Result<Bound> bind(const std::string& text, int line) const {
    const Result<plan::Plan> p = plan::parse_plan(text, file_);
    const plan::OpenValues given = plan::given_values(*p.value);
    const Result<plan::InputSizes> sizes = plan::model_sizes(*p.value, model_settings(graph_), given);
    Result<std::shared_ptr<const MaterializeCache::Sized>> sized = cache_.at(graph_,
        sizes.value.value_or(plan::InputSizes{}));
    if (!sized.value) sized = cache_.at(graph_, {});
    const Result<plan::Decisions> d = plan::bind(*p.value, (*sized)->info, given);
    Bound out;
    std::vector<Diagnostic> errors;
    for (const Diagnostic& m : d.diagnostics)
      if (m.line == line) (m.severity == Severity::error ? errors : out.notes).push_back(m);
    if (!errors.empty()) return errors;
    out.effects = plan_effects(*d.value);
    return out;
  }

  static std::optional<int> last_of_kind(const std::string& text, const plan::Statement& s) {
    const Result<plan::Plan> p = plan::parse_plan(text, "");
    for (auto i = p->statements.rbegin(); i != p->statements.rend(); ++i)
      if (same_kind(*i, s)) return i->line;
    return std::nullopt;
  }

  const Graph& graph_;
  const std::string& file_;
  MaterializeCache& cache_;
};

}  // namespace

Result<WithStatement> with_statement(const Graph& g, const std::string& text, const std::string& statement,
    const std::string& file,
                                     MaterializeCache& cache) {
  return Insertion(g, file, cache).run(text, statement);
}

}  // namespace planscope::session
