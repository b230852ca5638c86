#pragma once
// Plan: the statements of a plan script as values. The language is described in docs/plan-language.md.
//
// A Plan is a list of statements, one a source line; blank lines, comments and lines that do not parse are statements
// too, so that printing a plan loses nothing. Two plans are equal if they say the same in the same order: line numbers
// do not count, comments do.
//
//   Result<Plan> p = parse_plan("devices 4 as data=4\ntrans * batch by data\n", "a.plan");   // parser.h
//   for (const Statement& s : p->statements) std::cout << print(s) << "\n";                  // printer.h
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/plan/expression.h"

namespace planscope::plan {

// `4`, `2|4|8` (one of), or `[0:2]` (indices).
struct Sub {
  std::vector<Expression> alternatives;
  std::vector<Index> indices;
  bool operator==(const Sub&) const = default;
};

struct AxisSub {
  std::string axis;
  Sub sub;
  bool operator==(const AxisSub&) const = default;
};

// Where: axes of a grid, a grid by name, an open value, listed devices, or host memory.
struct Place {
  enum class Form : std::uint8_t { axes, name, open, devices, host };
  Form form = Form::axes;
  std::vector<AxisSub> axes;          // axes: `pipe=i, data=0`
  std::string name;                   // name: `all`, `G[1]`; open: `?x`, `?x[i]` without the question mark
  std::vector<Expression> subscript;  // name, open
  std::vector<Index> devices;         // devices: `0:4`, `7,5,3,1`
  bool operator==(const Place&) const = default;
};

// One of several words: a factor or an axis, `*`, `none`, or an open value `?x`.
struct Choice {
  std::vector<std::string> words;
  bool operator==(const Choice&) const = default;
};

struct Sizes {
  enum class Form : std::uint8_t { equal, balanced, listed };
  Form form = Form::equal;  // equal: nothing was written
  std::vector<Expression> listed;
  bool operator==(const Sizes&) const = default;
};

struct DevicesStatement {
  Expression count;
  std::vector<AxisSub> axes;
  bool operator==(const DevicesStatement&) const = default;
};
struct GridStatement {
  std::string name;
  std::optional<Expression> index;  // G[0]
  Place place;
  std::vector<AxisSub> axes;
  bool operator==(const GridStatement&) const = default;
};
struct ModelStatement {
  std::vector<AxisSub> sizes;  // each with one alternative
  bool operator==(const ModelStatement&) const = default;
};
struct AxisStatement {
  std::string name;
  Sub size;
  bool operator==(const AxisStatement&) const = default;
};
struct Cut {
  Units units;
  std::vector<Expression> into;
  bool operator==(const Cut&) const = default;
};
struct LetStatement {
  std::string name;
  bool function = false;  // `let f() = …` differs from `let f = …`
  std::vector<std::string> parameters;
  std::variant<Expression, Units, Cut> value;  // a bare name or a call is an Expression, whatever it turns out to mean
  bool operator==(const LetStatement&) const = default;
};
struct TransStatement {  // trans.h
  Units units;
  Choice factor;
  std::vector<Choice> axes;
  std::optional<Expression> at;
  Sizes sizes;
  bool operator==(const TransStatement&) const = default;
};
struct AlgorithmStatement {  // recompute, offload, keep, keep_gathered, grad_split: trans.h
  Units units;
  Choice algorithm;
  bool operator==(const AlgorithmStatement&) const = default;
};
struct AssignStatement {  // assign.h
  Units units;
  std::vector<Place> places;
  bool operator==(const AssignStatement&) const = default;
};
struct OrderStatement {      // order.h
  bool open = false;         // `order ?`
  std::vector<Group> chain;  // two or more otherwise
  bool operator==(const OrderStatement&) const = default;
};
struct RequireStatement {
  Condition condition;
  bool operator==(const RequireStatement&) const = default;
};
struct ForbidStatement {
  std::variant<TransStatement, AlgorithmStatement, AssignStatement, OrderStatement> primitive;
  bool operator==(const ForbidStatement&) const = default;
};
struct RelaxStatement {
  Group group;
  Expression lag;
  bool operator==(const RelaxStatement&) const = default;
};
struct UseStatement {
  std::string name;
  std::vector<Expression> arguments;
  bool operator==(const UseStatement&) const = default;
};
struct EmptyStatement {  // blank lines, or a comment alone
  int lines = 1;
  bool operator==(const EmptyStatement&) const = default;
};
struct UnparsedStatement {  // a line that the parser refused, as it stands
  std::string text;
  bool operator==(const UnparsedStatement&) const = default;
};

struct Statement;
struct TemplateStatement {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<Statement> body;
  std::string end_comment;  // behind `end`
  bool operator==(const TemplateStatement&) const;
};

using StatementBody =
    std::variant<EmptyStatement, UnparsedStatement, DevicesStatement, GridStatement, ModelStatement, AxisStatement,
                 LetStatement, TransStatement, AlgorithmStatement, AssignStatement, OrderStatement, RequireStatement,
                 ForbidStatement, RelaxStatement, UseStatement, TemplateStatement>;

struct Statement {
  int line = 0;            // in the source, from 1; 0: made by a program
  bool automatic = false;  // written `auto`: the planner's, dropped when it plans again
  StatementBody body;
  std::vector<Condition> where;
  std::string comment;  // with its `#`; empty: none
  std::string from;     // the template that this statement was expanded from; empty: written as it stands
  int use = 0;          // which `use`, from 1, counted in the order of expansion; 0: written as it stands

  // Everything but the line and the origin.
  bool operator==(const Statement& o) const {
    return automatic == o.automatic && body == o.body && where == o.where && comment == o.comment;
  }
};

inline bool TemplateStatement::operator==(const TemplateStatement& o) const {
  return name == o.name && parameters == o.parameters && body == o.body && end_comment == o.end_comment;
}

struct Plan {
  std::string file;  // for diagnostics; does not count in ==
  std::vector<Statement> statements;
  bool operator==(const Plan& o) const { return statements == o.statements; }
};

}  // namespace planscope::plan
