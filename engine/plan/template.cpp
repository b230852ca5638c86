#include "engine/plan/template.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/built_in.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"

namespace planscope::plan {

namespace {
constexpr int max_depth = 8;
constexpr std::size_t max_statements = 20'000;  // and as many uses

// The built-in templates as plans, parsed once.
const std::vector<Plan>& built_in_plans() {
  static const std::vector<Plan> plans = [] {
    std::vector<Plan> out;
    for (const BuiltInText& t : built_in_texts()) out.push_back(std::move(*parse_plan(t.text, t.name).value));
    return out;
  }();
  return plans;
}

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

bool plain_name(const Expression& e) { return e.kind == Expression::Kind::name; }

std::set<std::string> let_names(const std::vector<Statement>& statements) {
  std::set<std::string> out;
  for (const Statement& s : statements)
    if (const auto* let = std::get_if<LetStatement>(&s.body)) out.insert(let->name);
  return out;
}

// What a template defines for its own lines: lets, axes and grids.
std::set<std::string> own_names(const std::vector<Statement>& statements) {
  std::set<std::string> out = let_names(statements);
  for (const Statement& s : statements) {
    if (const auto* axis = std::get_if<AxisStatement>(&s.body)) out.insert(axis->name);
    if (const auto* grid = std::get_if<GridStatement>(&s.body)) out.insert(grid->name);
  }
  return out;
}

// Every name that stands somewhere in a statement.
void collect_names(const Statement& s, std::set<std::string>& out) {
  const Rewrite visit{[&](const Expression& e) -> std::optional<Expression> {
                        if (plain_name(e)) out.insert(e.text);
                        return std::nullopt;
                      },
                      [&](const std::string& name, NameUse) {
                        out.insert(name);
                        return name;
                      }};
  rewrite(s, visit);
}

class Expander {
 public:
  Expander(const Plan& plan, bool commented)
      : plan_(plan), commented_(commented), taken_(let_names(plan.statements)), lets_(taken_) {
    for (const Statement& s : plan.statements) collect_names(s, mentioned_);
    for (const Plan& p : built_in_plans()) define(p);
    define(plan);
  }

  Result<Plan> run() {
    result_.file = plan_.file;
    for (std::size_t i = 0; i < plan_.statements.size(); ++i)
      if (!answered(i)) add(plan_.statements[i], 0);
    bound_messages(diagnostics_);
    Result<Plan> out(std::move(result_));
    for (Diagnostic& d : diagnostics_) d.file = plan_.file;
    out.diagnostics = std::move(diagnostics_);
    return out;
  }

 private:
  // `order ?` with the planner's answer behind it says nothing more.
  bool answered(std::size_t i) const {
    const auto* order = std::get_if<OrderStatement>(&plan_.statements[i].body);
    if (!order || !order->open) return false;
    for (++i; i < plan_.statements.size() && plan_.statements[i].automatic; ++i) {
      const StatementBody& body = plan_.statements[i].body;
      if (std::holds_alternative<UseStatement>(body) || std::holds_alternative<OrderStatement>(body)) return true;
    }
    return false;
  }

  // A plan may have a template of its own in place of a built-in one, and no two of one name.
  void define(const Plan& p) {
    std::map<std::string, int> here;  // by name: the line
    for (const Statement& s : p.statements) {
      const auto* t = std::get_if<TemplateStatement>(&s.body);
      if (!t) continue;
      const auto [first, is_new] = here.try_emplace(t->name, s.line);
      if (!is_new) refuse(s, "template '" + t->name + "' is defined already (line " + std::to_string(first->second) + ").");
      definitions_[t->name] = t;
    }
  }

  void refuse(const Statement& s, std::string what) {
    Diagnostic d = error(std::move(what));
    d.line = s.line;
    d.subject = s.from.empty() ? print_code(s) : s.from;
    diagnostics_.push_back(std::move(d));
  }

  void add(const Statement& s, int depth) {
    if (stopped_) return;
    look_at_stop();
    if (const auto* use = std::get_if<UseStatement>(&s.body)) {
      expand_use(s, *use, depth);
      return;
    }
    const bool skipped = std::holds_alternative<EmptyStatement>(s.body) ||
                         std::holds_alternative<TemplateStatement>(s.body) ||
                         std::holds_alternative<UnparsedStatement>(s.body);
    if (commented_ || !skipped) result_.statements.push_back(s);
  }

  const TemplateStatement* find(const Statement& s, const UseStatement& use) {
    const auto it = definitions_.find(use.name);
    if (it == definitions_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, t] : definitions_) names.push_back(name);
      const std::string near = nearest(use.name, names);
      refuse(s, "no template '" + use.name + "'. " +
                    (near.empty() ? "Templates: " + join(names, ", ") + "." : "Did you mean '" + near + "'?"));
      return nullptr;
    }
    const TemplateStatement& t = *it->second;
    if (t.parameters.size() != use.arguments.size()) {
      refuse(s, "template '" + t.name + "' takes " + std::to_string(t.parameters.size()) + " arguments (" +
                    join(t.parameters, ", ") + "), " + std::to_string(use.arguments.size()) + " given.");
      return nullptr;
    }
    if (std::find(open_.begin(), open_.end(), t.name) != open_.end()) {
      refuse(s, "template '" + t.name + "' uses itself.");
      return nullptr;
    }
    return &t;
  }

  std::string fresh(const std::string& name) {
    return first_free(name, next_, [&](const std::string& n) { return taken_.contains(n); });
  }

  // A name for what a template defines: none that the plan uses, so that the plan cannot see it.
  std::string fresh_own(const std::string& name) {
    return first_free(name, next_own_, [&](const std::string& n) { return taken_.contains(n) || mentioned_.contains(n); });
  }

  // Of `name`, `name_2`, …; `next`: what was tried before is taken for ever.
  template <class Taken>
  std::string first_free(const std::string& name, std::map<std::string, int>& next, const Taken& is_taken) {
    int& i = next.try_emplace(name, 1).first->second;
    std::string out;
    do {
      out = i == 1 ? name : name + "_" + std::to_string(i);
      ++i;
    } while (is_taken(out));
    taken_.insert(out);
    return out;
  }

  void expand_use(const Statement& s, const UseStatement& use, int depth) {
    const TemplateStatement* t = find(s, use);
    if (!t) return;
    if (depth >= max_depth || result_.statements.size() > max_statements || ++expanded_ > max_statements) {
      stopped_ = true;
      refuse(s, "templates expand to too much here (more than " + std::to_string(max_depth) + " levels or " +
                    std::to_string(max_statements) + " statements).");
      return;
    }
    const int id = s.use > 0 ? s.use : ++uses_;
    const std::string from = s.from.empty() ? t->name : s.from;
    const auto stamped = [&](Statement made) {
      made.line = s.line;
      made.automatic = s.automatic;
      made.from = from;
      made.use = id;
      made.where.insert(made.where.end(), s.where.begin(), s.where.end());
      return made;
    };
    if (commented_ && depth == 0) {
      Statement shown;
      shown.line = s.line;
      shown.comment = "# " + print(s);
      result_.statements.push_back(std::move(shown));
    }
    std::vector<Statement> prelude;
    if (!bind_arguments(s, *t, use, prelude)) return;
    for (Statement& let : prelude) add(stamped(std::move(let)), depth + 1);
    if (t->body.empty() && !commented_) result_.statements.push_back(stamped({}));  // that it was used is a decision too
    open_.push_back(t->name);
    const Rewrite rewriting{[this](const Expression& e) -> std::optional<Expression> {
                              if (e.kind == Expression::Kind::bars) return inside_bars(e);
                              if (!plain_name(e)) return std::nullopt;
                              const auto it = values_.find(e.text);
                              return it == values_.end() ? std::nullopt : std::optional(it->second);
                            },
                            [this](const std::string& name, NameUse use_of) { return renamed(name, use_of); }};
    const auto outer_names = names_;
    const auto outer_values = values_;
    for (const Statement& line : t->body) {
      outside_.clear();
      Statement made = rewrite(line, rewriting);
      made.comment.clear();
      if (!outside_.empty())
        refuse(s, "template '" + t->name + "' speaks of '" + *outside_.begin() +
                      "', a let of the plan; a template sees its parameters and its own names only.");
      add(stamped(std::move(made)), depth + 1);
      names_ = outer_names;  // a nested use has bound its own
      values_ = outer_values;
    }
    open_.pop_back();
  }

  // Fills names_ and values_ for the lines of `t`: parameters, own lets, and variables that would meet a let.
  bool bind_arguments(const Statement& s, const TemplateStatement& t, const UseStatement& use,
                      std::vector<Statement>& prelude) {
    std::map<std::string, std::string> names;
    std::map<std::string, Expression> values;
    std::vector<std::string> hidden;  // what the plan calls as the template calls a variable
    for (const std::string& variable : variables(t))
      if (taken_.contains(variable)) hidden.push_back(variable);
    for (std::size_t i = 0; i < t.parameters.size(); ++i) {
      const std::string& parameter = t.parameters[i];
      const Expression& argument = use.arguments[i];
      if (argument.kind == Expression::Kind::setting) {
        refuse(s, "'" + print(argument) + "' cannot be an argument of a template.");
        return false;
      }
      if (plain_name(argument)) {
        names[parameter] = argument.text;
        values[parameter] = argument;
      } else if (argument.kind == Expression::Kind::group) {
        Statement let;
        LetStatement body;
        body.name = fresh(parameter);
        body.value = Units{argument.groups, {}};
        names[parameter] = body.name;
        values[parameter] = make_name(body.name);
        let.body = std::move(body);
        prelude.push_back(std::move(let));
      } else {
        values[parameter] = argument;
      }
    }
    for (const std::string& own : own_names(t.body)) {
      if (names.count(own) || values.count(own)) continue;
      names[own] = fresh_own(own);
      values[own] = make_name(names[own]);
    }
    for (const std::string& variable : hidden)
      if (!values.contains(variable)) values[variable] = make_name(fresh(variable));
    names_ = std::move(names);
    values_ = std::move(values);
    return true;
  }

  // Bare names of the template's expressions, but not atoms of |…|, which may be axes.
  static std::set<std::string> variables(const TemplateStatement& t) {
    std::set<std::string> out;
    const Rewrite collect{[&](const Expression& e) -> std::optional<Expression> {
                            if (e.kind == Expression::Kind::bars) return e;
                            if (plain_name(e)) out.insert(e.text);
                            return std::nullopt;
                          },
                          {}};
    for (const Statement& s : t.body)
      if (!std::holds_alternative<UseStatement>(s.body)) rewrite(s, collect);
    return out;
  }

  // |S|: parameters and own lets only.
  std::optional<Expression> inside_bars(const Expression& e) {
    Expression out = e;
    for (Expression& atom : out.operands) {
      if (plain_name(atom)) look_outside(atom.text);
      const Rewrite inner{[this](const Expression& a) -> std::optional<Expression> {
                            const auto it = plain_name(a) ? values_.find(a.text) : values_.end();
                            if (it == values_.end()) return std::nullopt;
                            return it->second;
                          },
                          [this](const std::string& n, NameUse u) { return renamed(n, u); }};
      atom = rewrite(atom, inner);
    }
    return out;
  }

  std::string renamed(const std::string& name, NameUse use) {
    const auto it = names_.find(name);
    if (it != names_.end()) return it->second;
    if (use == NameUse::root || use == NameUse::call) look_outside(name);
    return name;
  }

  void look_outside(const std::string& name) {
    if (!names_.contains(name) && !values_.contains(name) && lets_.contains(name)) outside_.insert(name);
  }

  const Plan& plan_;
  bool commented_;
  std::map<std::string, const TemplateStatement*> definitions_;
  std::set<std::string> taken_;       // let names, of the plan and of what was expanded
  std::map<std::string, int> next_, next_own_;  // numbers behind names that may still be free
  const std::set<std::string> lets_;  // of the plan
  std::set<std::string> mentioned_;   // names that stand in the plan
  std::set<std::string> outside_;     // lets of the plan in the line of a template at work
  std::vector<std::string> open_;
  std::map<std::string, std::string> names_;
  std::map<std::string, Expression> values_;
  int uses_ = 0;
  std::size_t expanded_ = 0;
  bool stopped_ = false;
  Plan result_;
  std::vector<Diagnostic> diagnostics_;
};
}  // namespace

Result<Plan> expand(const Plan& plan) { return Expander(plan, true).run(); }
Result<Plan> expand_statements(const Plan& plan) { return Expander(plan, false).run(); }

const std::vector<BuiltInTemplate>& built_in_templates() {
  static const std::vector<BuiltInTemplate> templates = [] {
    std::vector<BuiltInTemplate> out;
    for (std::size_t i = 0; i < built_in_plans().size(); ++i) {
      std::string about;
      for (const Statement& s : built_in_plans()[i].statements) {
        const auto* t = std::get_if<TemplateStatement>(&s.body);
        if (!t && s.comment.size() > 2) about += (about.empty() ? "" : " ") + s.comment.substr(2);
        if (!t) continue;
        out.push_back({t->name, t->parameters, first_sentence(about), std::string(built_in_texts()[i].text)});
        about.clear();
      }
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return out;
  }();
  return templates;
}

}  // namespace planscope::plan
