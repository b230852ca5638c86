#include "planner/constraint/lines.h"

#include <algorithm>

#include "engine/plan/printer.h"

namespace planscope::constraint {
namespace {

template <class T>
bool is(const plan::Statement& s) {
  return std::holds_alternative<T>(s.body);
}

// Puts tasks in order; `order ?` does not.
bool is_order(const plan::Statement& s) {
  if (const auto* order = std::get_if<plan::OrderStatement>(&s.body)) return !order->open;
  const auto* forbid = std::get_if<plan::ForbidStatement>(&s.body);
  return forbid && std::holds_alternative<plan::OrderStatement>(forbid->primitive);
}

bool is_row(const plan::Statement& s) {
  return is<plan::RequireStatement>(s) || is<plan::ForbidStatement>(s) || is_order(s);
}

// Statements that others build on: only their conditions can go.
bool declares(const plan::Statement& s) {
  return is<plan::DevicesStatement>(s) || is<plan::GridStatement>(s) || is<plan::AxisStatement>(s) ||
         is<plan::LetStatement>(s) || is<plan::ModelStatement>(s);
}

bool has_place(const plan::Statement& s) { return !is<plan::EmptyStatement>(s) && !is<plan::TemplateStatement>(s); }

// Whether a condition speaks of open values alone, so that it can stand anywhere.
bool stands_alone(const plan::Condition& c) {
  bool alone = true;
  plan::for_each(c, [&](const plan::Expression& e) {
    alone = alone && e.kind != plan::Expression::Kind::name &&
            (e.operands.empty() || e.kind != plan::Expression::Kind::open);
  });
  return alone;
}

// The row that a declaration's `where` is.
std::optional<plan::Statement> row_behind(const plan::Statement& s) {
  if (!declares(s) || s.where.empty() || !std::all_of(s.where.begin(), s.where.end(), stands_alone))
    return std::nullopt;
  plan::RequireStatement row;
  if (s.where.size() == 1) {
    row.condition = s.where[0];
  } else {
    row.condition.kind = plan::Condition::Kind::both;
    row.condition.parts = s.where;
  }
  plan::Statement out;
  out.body = std::move(row);
  return out;
}

void add(Joined& out, const plan::Plan& from, bool own, bool keep_automatic) {
  for (plan::Statement s : from.statements) {
    if (s.automatic && !keep_automatic) continue;
    const int joint = static_cast<int>(out.lines.size());
    out.lines.push_back({from.file, s.line, plan::print_code(s)});
    s.line = joint;
    if (own) out.own.push_back(joint);
    if (auto* t = std::get_if<plan::TemplateStatement>(&s.body))
      for (plan::Statement& inner : t->body) {
        const int number = static_cast<int>(out.lines.size());
        out.lines.push_back({from.file, inner.line, plan::print_code(inner)});
        inner.line = number;
      }
    out.bound.statements.push_back(s);
    if (std::optional<plan::Statement> row = row_behind(s)) {
      out.bound.statements.back().where.clear();
      row->line = static_cast<int>(out.lines.size());
      out.lines.push_back(out.at(joint));
      if (own) out.own.push_back(row->line);
      out.bound.statements.push_back(std::move(*row));
    }
    out.plan.statements.push_back(std::move(s));
  }
}

const plan::Statement* find(const Joined& joined, int line) {
  const auto& all = joined.bound.statements;
  const auto found = std::find_if(all.begin(), all.end(), [&](const plan::Statement& s) { return s.line == line; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

Joined join_lines(const plan::Plan& plan, const std::vector<plan::Plan>& rows, bool keep_automatic) {
  Joined out;
  out.plan.file = out.bound.file = plan.file;
  out.lines.push_back({plan.file, 0, {}});
  add(out, plan, false, keep_automatic);
  for (const plan::Plan& r : rows) add(out, r, true, keep_automatic);
  return out;
}

std::vector<Diagnostic> located(const Joined& joined, std::vector<Diagnostic> diagnostics) {
  for (Diagnostic& d : diagnostics) {
    if (d.line <= 0 || static_cast<std::size_t>(d.line) >= joined.lines.size()) continue;
    const PlanLine& l = joined.at(d.line);
    d.file = l.file;
    d.line = l.line;
    for (int& line : d.lines) line = joined.at(line).line;
  }
  return diagnostics;
}

Rows rows_of(const Joined& joined) {
  Rows out;
  for (const plan::Statement& s : joined.bound.statements)
    if (is_row(s)) out.push_back(s.line);
  return out;
}

Rows order_rows_of(const Joined& joined) {
  Rows out;
  for (const plan::Statement& s : joined.bound.statements)
    if (is_order(s)) out.push_back(s.line);
  return out;
}

bool leaves_order(const Joined& joined) {
  return std::any_of(joined.bound.statements.begin(), joined.bound.statements.end(),
                     [](const plan::Statement& s) { return is<plan::OrderStatement>(s) && !is_order(s); });
}

bool can_drop(const Joined& joined, int line) {
  const plan::Statement* s = find(joined, line);
  return s && has_place(*s) && !declares(*s) && !is_row(*s);
}

Joined without(const Joined& joined, int line) {
  Joined out = joined;
  for (plan::Plan* p : {&out.plan, &out.bound})
    std::erase_if(p->statements, [&](const plan::Statement& s) { return s.line == line; });
  return out;
}

plan::Plan carried_out(const Joined& joined, const std::set<int>& lines) {
  plan::Plan out;
  out.file = joined.bound.file;
  for (const plan::Statement& s : joined.bound.statements)
    if (!is_row(s) || (!is<plan::RequireStatement>(s) && lines.contains(s.line))) out.statements.push_back(s);
  return out;
}

plan::Plan unjoined(const Joined& joined, const plan::Plan& completed, const std::string& file) {
  plan::Plan out;
  out.file = file;
  const std::set<int> own(joined.own.begin(), joined.own.end());
  for (plan::Statement s : completed.statements) {
    if (own.contains(s.line)) {
      if ((is_row(s) && !is_order(s) && !s.automatic) || is<plan::EmptyStatement>(s)) continue;
      s.automatic = true;
      s.line = 0;
    } else if (s.line > 0) {
      s.line = joined.at(s.line).line;
    }
    out.statements.push_back(std::move(s));
  }
  return out;
}

}  // namespace planscope::constraint
