#include "engine/graph/rule_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/draft.h"
#include "engine/graph/print.h"

namespace planscope {

namespace {

std::string trimmed(std::string_view s) {
  const std::size_t b = s.find_first_not_of(' '), e = s.find_last_not_of(' ');
  return b == std::string_view::npos ? std::string() : std::string(s.substr(b, e - b + 1));
}

std::vector<std::string> words(std::string_view s) {
  std::vector<std::string> out;
  for (const std::string& w : split(s, ' '))
    if (!w.empty()) out.push_back(w);
  return out;
}

PatternOperand parse_operand(const std::string& text, bool named) {
  PatternOperand o;
  std::vector<std::string> ws = words(text);
  std::size_t i = 0;
  if (named && !ws.empty()) o.argument = ws[i++];
  for (; i < ws.size(); ++i) {
    std::string w = ws[i];
    if (w.front() == '+') {
      o.added = true;
      w.erase(0, 1);
    }
    PatternDim d;
    d.many = w.size() > 2 && w.compare(w.size() - 2, 2, "..") == 0;
    d.factor = d.many ? w.substr(0, w.size() - 2) : w;
    o.dims.push_back(d);
  }
  return o;
}

bool parse_factor(const std::string& text, PatternFactor& f) {
  const std::size_t quote = text.find('"');
  const std::vector<std::string> ws = words(text.substr(0, quote));
  if (ws.size() != 2) return false;
  static const std::map<std::string, FactorKind> kinds = {{"free", FactorKind::free},
                                                          {"sum", FactorKind::sum},
                                                          {"merge", FactorKind::merge},
                                                          {"frozen", FactorKind::frozen}};
  const auto kind = kinds.find(ws[0]);
  if (kind == kinds.end()) return false;
  f.kind = kind->second;
  f.kind_given = true;
  const std::vector<std::string> pair = split(ws[1], '=');
  f.symbol = pair[0];
  f.name = pair.size() > 1 ? pair[1] : "";
  if (quote != std::string::npos) f.reason = text.substr(quote + 1, text.rfind('"') - quote - 1);
  return true;
}

// The clauses after the second `;`.
bool parse_clause(const std::string& clause, TextRule& r) {
  const std::vector<std::string> ws = words(clause);
  if (ws.empty()) return true;
  if (ws[0] == "product") {
    r.product = true;
  } else if (ws[0] == "linear" && ws.size() == 2) {
    for (const std::string& set : split(ws[1], '|')) r.linear.push_back(split(set, '+'));
  } else if (ws[0] == "keyed" && ws.size() == 6 && ws[2] == "by" && ws[4] == "over") {
    r.keys.push_back({ws[1], ws[3], ws[5]});
  } else if (ws[0] == "arguments" && ws.size() > 1) {
    for (std::size_t k = 1; k < ws.size(); ++k) {
      const std::size_t equals = ws[k].find('=');
      r.arguments.push_back({ws[k].substr(0, equals), {}});
      if (equals != std::string::npos) r.arguments.back().values = split(ws[k].substr(equals + 1), '|');
    }
  } else if (ws[0] == "saves") {
    r.saves.assign(ws.begin() + 1, ws.end());
  } else if (ws[0] == "shard" && ws.size() == 2) {
    static const std::map<std::string, ShardForm> forms = {{"same", ShardForm::same},
                                                           {"output_sizes", ShardForm::output_sizes},
                                                           {"offset_range", ShardForm::offset_range},
                                                           {"offset_index", ShardForm::offset_index},
                                                           {"global_mean", ShardForm::global_mean}};
    const auto form = forms.find(ws[1]);
    if (form == forms.end()) return false;
    r.shard = form->second;
  } else if (ws[0] == "free" || ws[0] == "sum" || ws[0] == "merge" || ws[0] == "frozen") {
    for (const std::string& part : split(clause, ',')) {
      PatternFactor f;
      if (!parse_factor(trimmed(part), f)) return false;
      r.factors.push_back(f);
    }
  } else {
    return false;
  }
  return true;
}

// Names that say what a dimension is wherever it goes; `in` and `out` say it for one operator only.
bool names_class(const std::string& name) { return name == "vocab" || name == "hidden" || name == "expert"; }

const PatternFactor* declared(const TextRule& r, const std::string& symbol) {
  for (const PatternFactor& f : r.factors)
    if (f.symbol == symbol) return &f;
  return nullptr;
}

// Matches one rule against a node.
class Matcher {
 public:
  Matcher(const TextRule& rule, RuleContext& context) : rule_(rule), c_(context) {}

  bool match() {
    if (!ranks_fit() || !values_fit()) return false;
    for (const PatternOperand& o : rule_.inputs)
      if (!bind_operand(o)) return false;
    if (!make_outputs()) return false;
    finish();
    return true;
  }

 private:
  static std::string symbol(const PatternDim& d, int k) { return d.many ? d.factor + std::to_string(k) : d.factor; }

  bool values_fit() {
    c_.stated.clear();
    for (const PatternArgument& a : rule_.arguments) {
      const Argument* given = c_.argument(a.name);
      const std::string value = given ? to_string(*given) : "";
      if (!given || a.values.empty() || std::find(a.values.begin(), a.values.end(), value) != a.values.end()) continue;
      c_.unfit = a.name + "=" + value;
      return false;
    }
    c_.unfit = unstated_value(c_.node, c_.stated);
    return !c_.unfit;
  }

  bool ranks_fit() {
    std::size_t matched = 0;
    for (const PatternOperand& o : rule_.inputs) {
      const int i = c_.input(o.argument);
      if (i < 0) continue;
      ++matched;
      const int rank = static_cast<int>(c_.sizes(c_.draft.inputs[static_cast<std::size_t>(i)].tensor).size());
      const bool any = std::any_of(o.dims.begin(), o.dims.end(), [](const PatternDim& d) { return d.many; });
      const int fixed = static_cast<int>(o.dims.size()) - (any ? 1 : 0);
      if (rank < fixed || (!any && rank != fixed)) return false;
      if (any) many_ = std::max(many_, rank - fixed);
    }
    return matched == c_.draft.inputs.size();
  }

  // Positions of an operand's dimensions: symbols by dimension; `b..` is aligned to the right.
  std::vector<std::string> symbols(const PatternOperand& o, int rank) const {
    std::vector<std::string> out;
    for (const PatternDim& d : o.dims) {
      if (!d.many) {
        out.push_back(d.factor);
        continue;
      }
      const int count = rank - (static_cast<int>(o.dims.size()) - 1);
      for (int k = many_ - count; k < many_; ++k) out.push_back(symbol(d, k));
    }
    return out;
  }

  int factor_of(const std::string& s, const std::string& base, const std::vector<int>& nodes) {
    const auto found = factors_.find(s);
    if (found != factors_.end()) return found->second;
    const PatternFactor* d = declared(rule_, base);
    const int f = c_.factor(d ? d->name : "", d ? d->kind : FactorKind::free, nodes, d ? d->reason : "");
    factors_[s] = f;
    order_.push_back(s);
    if (d && d->kind_given) given_.push_back(f);
    return f;
  }

  bool bind_operand(const PatternOperand& o) {
    const int i = c_.input(o.argument);
    if (i < 0) return true;
    DraftOperand& operand = c_.draft.inputs[static_cast<std::size_t>(i)];
    operand.added = o.added;
    const AskedSizes sizes = c_.sizes(operand.tensor);
    const std::vector<std::string> s = symbols(o, static_cast<int>(sizes.size()));
    for (std::size_t d = 0; d < s.size(); ++d) {
      const std::vector<int> own = c_.parts_of(i, static_cast<int>(d));
      const int f = factor_of(s[d], base(s[d]), own);
      std::vector<int>& nodes = c_.draft.factors[static_cast<std::size_t>(f)].nodes;
      if (nodes.empty() && !own.empty()) nodes = own;  // the operand before was broadcast
      if (sizes[d] == 1 && total(nodes) != 1) {
        c_.untied(i, static_cast<int>(d));
        continue;
      }
      if (!c_.tie(i, static_cast<int>(d), f)) return false;
    }
    return true;
  }

  std::int64_t total(const std::vector<int>& nodes) const {
    std::int64_t n = 1;
    for (const int node : nodes) n *= c_.parts.size(node);
    return n;
  }

  std::string base(const std::string& s) const {
    for (const PatternOperand& o : rule_.inputs)
      for (const PatternDim& d : o.dims)
        if (!d.many && d.factor == s) return s;
    for (const PatternOperand& o : rule_.outputs)
      for (const PatternDim& d : o.dims)
        if (!d.many && d.factor == s) return s;
    return s.substr(0, s.find_first_of("0123456789"));
  }

  bool make_outputs() {
    c_.begin_outputs();
    if (rule_.outputs.size() > c_.node.outputs.size()) return false;
    for (std::size_t o = 0; o < c_.node.outputs.size(); ++o) {
      const PatternOperand& pattern = rule_.outputs[std::min(o, rule_.outputs.size() - 1)];
      const AskedSizes sizes = c_.output_sizes(static_cast<int>(o));
      const bool any = std::any_of(pattern.dims.begin(), pattern.dims.end(), [](const PatternDim& d) { return d.many; });
      if (sizes.size() != pattern.dims.size() + static_cast<std::size_t>(any ? many_ - 1 : 0)) return false;
      const std::vector<std::string> s = symbols(pattern, static_cast<int>(sizes.size()));
      for (std::size_t d = 0; d < s.size(); ++d) {
        const int f = factor_of(s[d], base(s[d]), c_.fresh(sizes[d]));
        if (total(c_.draft.factors[static_cast<std::size_t>(f)].nodes) != sizes[d]) return false;
        c_.output_dim(static_cast<int>(o), f);
        in_output_.push_back(f);
      }
    }
    return true;
  }

  void finish() {
    Draft& d = c_.draft;
    for (std::size_t f = 0; f < d.factors.size(); ++f) {
      const int id = static_cast<int>(f);
      if (std::find(given_.begin(), given_.end(), id) == given_.end() &&
          std::find(in_output_.begin(), in_output_.end(), id) == in_output_.end())
        d.factors[f].kind = FactorKind::sum;
    }
    for (const auto& [s, f] : factors_) {
      const PatternFactor* declared_factor = declared(rule_, base(s));
      if (declared_factor && names_class(declared_factor->name))
        c_.name(d.factors[static_cast<std::size_t>(f)].nodes, declared_factor->name);
    }
    for (const PatternKey& k : rule_.keys) {
      const auto factor = factors_.find(k.factor), rows = factors_.find(k.rows);
      if (factor == factors_.end() || rows == factors_.end()) continue;
      d.factors[static_cast<std::size_t>(factor->second)].key = c_.input(k.argument);
      d.factors[static_cast<std::size_t>(factor->second)].rows = rows->second;
    }
    for (const auto& set : rule_.linear) {
      std::vector<int> inputs;
      for (const std::string& name : set)
        if (c_.input(name) >= 0) inputs.push_back(c_.input(name));
      if (!inputs.empty()) d.linear.push_back(inputs);
    }
    for (const std::string& s : rule_.saves) {
      if (s.front() == '~')
        d.saves.push_back(-1 - std::stoi(s.substr(1)));
      else if (c_.input(s) >= 0)
        d.saves.push_back(c_.input(s));
    }
    d.rule = rule_.text;
    d.shard = rule_.shard;
    d.product = rule_.product;
  }

  const TextRule& rule_;
  RuleContext& c_;
  int many_ = 0;
  std::map<std::string, int> factors_;
  std::vector<std::string> order_;
  std::vector<int> given_, in_output_;
};

const std::multimap<std::string, TextRule>& rules_by_target() {
  static const std::multimap<std::string, TextRule> rules = [] {
    std::multimap<std::string, TextRule> out;
    for (const std::string& line : text_rule_lines()) {
      Result<TextRule> r = parse_text_rule(line);
      if (!r.value) throw std::logic_error("built-in rule does not parse: " + line);
      out.emplace(r->target, std::move(*r));
    }
    return out;
  }();
  return rules;
}

}  // namespace

namespace {

// What a clause speaks of and the pattern does not have.
std::optional<Diagnostic> unknown_name(const TextRule& r) {
  std::set<std::string> symbols, operands;
  for (const auto* list : {&r.inputs, &r.outputs})
    for (const PatternOperand& o : *list) {
      operands.insert(o.argument);
      for (const PatternDim& d : o.dims) symbols.insert(d.factor);
    }
  const auto of_rule = [&](std::string what) { return error("rule of " + r.target + ": " + std::move(what)); };
  if (r.target.empty() || r.outputs.empty()) return of_rule("a target and a result are wanted");
  if (symbols.count("")) return of_rule("a dimension without a name");
  std::set<std::string> made;
  for (const PatternOperand& o : r.outputs)
    for (const PatternDim& d : o.dims) made.insert(d.factor);
  for (const PatternFactor& f : r.factors) {
    if (!symbols.count(f.symbol)) return of_rule("no operand has a dimension '" + f.symbol + "'");
    if ((f.kind == FactorKind::sum || f.kind == FactorKind::merge) && made.count(f.symbol))
      return of_rule("'" + f.symbol + "' is summed, but a result has it");
  }
  for (const auto& set : r.linear)
    for (const std::string& name : set)
      if (!operands.count(name) || name.empty()) return of_rule("'linear' speaks of no operand '" + name + "'");
  for (const std::string& s : r.saves) {
    const std::string number = s.front() == '~' ? s.substr(1) : "";
    const bool result = !number.empty() && number.size() < 3 && number.find_first_not_of("0123456789") == number.npos &&
                        std::stoul(number) < r.outputs.size();
    if (!result && !operands.count(s)) return of_rule("'saves' speaks of no operand '" + s + "'");
  }
  for (const PatternArgument& a : r.arguments)
    if (!has_argument(r.target, a.name)) return of_rule("'arguments' speaks of no argument '" + a.name + "'");
  for (const PatternKey& k : r.keys)
    if (!symbols.count(k.factor) || !symbols.count(k.rows) || !operands.count(k.argument))
      return of_rule("'keyed' speaks of what the rule does not have");
  return std::nullopt;
}

}  // namespace

Result<TextRule> parse_text_rule(const std::string& line) {
  TextRule r;
  const std::size_t colon = line.find(" : "), arrow = line.find("->");
  if (colon == std::string::npos || arrow == std::string::npos || arrow < colon)
    return error("not a rule: '" + line + "'", "a rule is 'target : operand, operand -> output ; clauses'");
  r.target = trimmed(line.substr(0, colon));
  const std::size_t semicolon = std::min(line.find(';', arrow), line.size());
  r.text = trimmed(line.substr(colon + 3, semicolon - colon - 3));
  for (const std::string& o : split(line.substr(colon + 3, arrow - colon - 3), ','))
    r.inputs.push_back(parse_operand(o, true));
  for (const std::string& o : split(line.substr(arrow + 2, semicolon - arrow - 2), ','))
    r.outputs.push_back(parse_operand(trimmed(o), false));
  if (semicolon < line.size())
    for (const std::string& clause : split(line.substr(semicolon + 1), ';'))
      if (!parse_clause(trimmed(clause), r))
        return error("rule of " + r.target + ": unknown clause '" + trimmed(clause) + "'", "",
                     "known: free sum merge frozen, keyed, linear, saves, shard, product, arguments");
  if (auto unknown = unknown_name(r)) return *unknown;
  return r;
}

bool apply_own_rule(RuleContext& c) {
  for (std::size_t k = 0; c.own && k < c.own->size(); ++k) {
    if ((*c.own)[k].target != c.node.target) continue;
    c.draft = Draft{};
    c.add_inputs();
    if (!Matcher((*c.own)[k], c).match()) continue;
    c.own_rule = static_cast<int>(k);
    return true;
  }
  return false;
}

bool apply_text_rule(RuleContext& c) {
  const auto [begin, end] = rules_by_target().equal_range(c.node.target);
  for (auto it = begin; it != end; ++it) {
    c.draft = Draft{};
    c.add_inputs();
    if (Matcher(it->second, c).match()) return true;
  }
  return false;
}

}  // namespace planscope
