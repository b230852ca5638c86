#include "engine/plan/printer.h"

#include <type_traits>

#include "engine/base/text.h"
#include "engine/plan/selection.h"

namespace planscope::plan {

namespace {
template <class T, class F>
std::string list(const std::vector<T>& values, std::string_view separator, F&& f) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) out += separator;
    out += f(values[i]);
  }
  return out;
}
constexpr auto printed = [](const auto& x) { return print(x); };

enum Precedence { sum_level, product_level, unary_level, primary_level };

Precedence precedence(const Expression& e) {
  using K = Expression::Kind;
  if (e.kind == K::add || e.kind == K::subtract) return sum_level;
  if (e.kind == K::multiply || e.kind == K::divide || e.kind == K::modulo) return product_level;
  return e.kind == K::negate ? unary_level : primary_level;
}

std::string print_at(const Expression& e, Precedence least) {
  return precedence(e) < least ? "(" + print(e) + ")" : print(e);
}

std::string print_binary(const Expression& e, std::string_view sign) {
  const Precedence p = precedence(e);
  return print_at(e.operands[0], p) + std::string(sign) + print_at(e.operands[1], static_cast<Precedence>(p + 1));
}

std::string print_index(const Index& i) {
  if (i.kind == Index::Kind::all) return "*";
  std::string out = i.begin ? print(*i.begin) : "";
  if (i.kind == Index::Kind::one) return out;
  out += ":";
  if (i.end) out += print(*i.end);
  if (i.step) out += ":" + print(*i.step);
  return out;
}

std::string print_name(const Name& n) {
  std::string out = written_glob(n.glob);
  for (const auto& bracket : n.brackets) out += "[" + list(bracket, ",", print_index) + "]";
  return out;
}

std::string print_call_number(const Expression& e) {
  using K = Expression::Kind;
  return e.kind == K::number || e.kind == K::name ? print(e) : "(" + print(e) + ")";
}

std::string print_sub(const Sub& s) {
  if (!s.indices.empty()) return "[" + list(s.indices, ",", print_index) + "]";
  return list(s.alternatives, "|", printed);
}

std::string print_axes(const std::vector<AxisSub>& axes, std::string_view separator) {
  return list(axes, separator, [](const AxisSub& a) { return a.axis + "=" + print_sub(a.sub); });
}

std::string print_as(const std::vector<AxisSub>& axes) { return axes.empty() ? "" : " as " + print_axes(axes, " "); }

std::string print_sizes(const Sizes& s) {
  if (s.form == Sizes::Form::equal) return "";
  return " sizes " + (s.form == Sizes::Form::balanced ? "balanced" : list(s.listed, ",", printed));
}

struct BodyPrinter {
  std::string operator()(const EmptyStatement& s) const { return std::string(static_cast<std::size_t>(s.lines - 1), '\n'); }
  std::string operator()(const UnparsedStatement& s) const { return s.text; }
  std::string operator()(const DevicesStatement& s) const { return "devices " + print(s.count) + print_as(s.axes); }
  std::string operator()(const GridStatement& s) const {
    const std::string index = s.index ? "[" + print(*s.index) + "]" : "";
    return "grid " + s.name + index + " = " + print(s.place) + print_as(s.axes);
  }
  std::string operator()(const ModelStatement& s) const { return "model " + print_axes(s.sizes, " "); }
  std::string operator()(const AxisStatement& s) const { return "axis " + s.name + "=" + print_sub(s.size); }
  std::string operator()(const LetStatement& s) const {
    std::string out = "let " + s.name + (s.function ? "(" + join(s.parameters, ",") + ")" : "") + " = ";
    if (const auto* cut = std::get_if<Cut>(&s.value))
      return out + "cut " + print(cut->units) + " into " + list(cut->into, ",", printed);
    if (const auto* units = std::get_if<Units>(&s.value)) return out + print(*units);
    return out + print(std::get<Expression>(s.value));
  }
  std::string operator()(const TransStatement& s) const {
    return "trans " + print(s.units) + " " + print(s.factor) + " by " + list(s.axes, ", ", printed) +
           (s.at ? " at " + print(*s.at) : "") + print_sizes(s.sizes);
  }
  std::string operator()(const AlgorithmStatement& s) const {
    return "trans " + print(s.units) + " " + print(s.algorithm);
  }
  std::string operator()(const AssignStatement& s) const {
    return "assign " + print(s.units) + " to " + list(s.places, "|", printed);
  }
  std::string operator()(const OrderStatement& s) const {
    return s.open ? "order ?" : "order " + list(s.chain, " < ", printed);
  }
  std::string operator()(const RequireStatement& s) const { return "require " + print(s.condition); }
  std::string operator()(const ForbidStatement& s) const { return "forbid " + std::visit(*this, s.primitive); }
  std::string operator()(const RelaxStatement& s) const { return "relax " + print(s.group) + " lag " + print(s.lag); }
  std::string operator()(const UseStatement& s) const {
    return "use " + s.name + "(" + list(s.arguments, ", ", printed) + ")";
  }
  std::string operator()(const TemplateStatement& s) const {
    return "template " + s.name + "(" + join(s.parameters, ", ") + ")";
  }
};
}  // namespace

std::string print(const Expression& e) {
  using K = Expression::Kind;
  switch (e.kind) {
    case K::number:
      return std::to_string(e.number) + e.text;
    case K::name:
      return e.text;
    case K::open:
      return "?" + e.text + (e.operands.empty() ? "" : "[" + list(e.operands, ",", printed) + "]");
    case K::bars:
      return "|" + list(e.operands, " & ", printed) + "|";
    case K::call:
      return e.text + "(" + list(e.operands, ", ", printed) + ")";
    case K::negate:
      return "-" + print_at(e.operands[0], unary_level);
    case K::add:
      return print_binary(e, "+");
    case K::subtract:
      return print_binary(e, "-");
    case K::multiply:
      return print_binary(e, "*");
    case K::divide:
      return print_binary(e, "/");
    case K::modulo:
      return print_binary(e, "%");
    case K::group:
      return list(e.groups, ", ", printed);
    case K::setting:
      return e.text + "=" + print(e.operands[0]);
  }
  return {};
}

std::string print(const Condition& c) {
  using K = Condition::Kind;
  const auto nested = [](const Condition& part) {
    return part.kind == K::both || part.kind == K::either ? "(" + print(part) + ")" : print(part);
  };
  switch (c.kind) {
    case K::compare: {
      std::string out = print(c.terms[0]);
      for (std::size_t i = 0; i < c.relations.size(); ++i)
        out += " " + std::string(to_string(c.relations[i])) + " " + print(c.terms[i + 1]);
      return out;
    }
    case K::in:
      return print(c.terms[0]) + " in {" + list(c.set, ",", printed) + "}";
    case K::both:
      return list(c.parts, " and ", nested);
    case K::either:
      return list(c.parts, " or ", nested);
    case K::negation:
      return "not " + nested(c.parts[0]);
  }
  return {};
}

std::string print(const Path& p) {
  std::string out = list(p.names, ".", print_name);
  if (p.call) out += "@" + print_call_number(*p.call);
  if (!p.kind.empty()) out += ":" + written_glob(p.kind, true);
  if (p.ordinal) out += "#" + print(*p.ordinal);
  return out;
}

std::string print(const Group& g) {
  std::string out;
  if (g.form == Group::Form::path) out = print(g.path);
  if (g.form == Group::Form::phase) out = std::string(to_string(g.phase)) + "(" + print(g.units) + ")";
  if (g.form == Group::Form::call) out = g.name + "(" + list(g.arguments, ",", printed) + ")";
  if (g.index.empty()) return out;
  return out + "[" +
         list(g.index, ",",
              [](const TaskIndex& t) { return (t.axis.empty() ? "" : t.axis + "=") + print_index(t.index); }) +
         "]";
}

std::string print(const Units& u) {
  return list(u.groups, ", ", printed) + (u.except.empty() ? "" : " except " + list(u.except, ", ", printed));
}

std::string print(const Place& p) {
  const std::string subscript = p.subscript.empty() ? "" : "[" + list(p.subscript, ",", printed) + "]";
  switch (p.form) {
    case Place::Form::axes:
      return print_axes(p.axes, ", ");
    case Place::Form::name:
      return p.name + subscript;
    case Place::Form::open:
      return "?" + p.name + subscript;
    case Place::Form::devices:
      return list(p.devices, ",", print_index);
    case Place::Form::host:
      return "host";
  }
  return {};
}

std::string print(const Choice& c) { return join(c.words, "|"); }

std::string print_code(const Statement& s) {
  std::string out = (s.automatic ? "auto " : "") + std::visit(BodyPrinter{}, s.body);
  if (!s.where.empty()) out += " where " + list(s.where, ", ", printed);
  return out;
}

std::string print(const Statement& s) {
  const auto commented = [](std::string code, const std::string& comment) {
    if (comment.empty()) return code;
    return code.empty() ? comment : code + "  " + comment;
  };
  std::string out = commented(print_code(s), s.comment);
  if (const auto* t = std::get_if<TemplateStatement>(&s.body)) {
    for (const Statement& line : t->body) out += "\n" + print(line);
    out += "\n" + commented("end", t->end_comment);
  }
  return out;
}

std::string print(const Plan& plan) {
  std::string out;
  for (const Statement& s : plan.statements) out += print(s) + "\n";
  return out;
}

}  // namespace planscope::plan
