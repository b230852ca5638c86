// What only the whole plan can show: sizes that do not divide, axes that a grid lacks, statements without effect.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "engine/base/text.h"
#include "engine/plan/context.h"
#include "engine/plan/division.h"
#include "engine/plan/forbidden.h"
#include "engine/plan/meeting.h"
#include "engine/plan/printer.h"

namespace planscope::plan {

namespace {
std::string last_module(const std::string& path) {
  std::string last;
  for (const std::string& p : split(path, '.'))
    if (p.find_first_not_of("0123456789") != p.npos) last = p;
  return last;
}

// `model.layers.3.mlp` -> (`layers`, `model.layers.3`); nothing outside of lists.
std::pair<std::string, std::string> member_of(const std::string& path) {
  std::string prefix, list;
  for (const std::string& p : split(path, '.')) {
    const bool number = !p.empty() && p.find_first_not_of("0123456789") == p.npos;
    prefix += (prefix.empty() ? "" : ".") + p;
    if (number && !list.empty()) return {list, prefix};
    list = p;
  }
  return {};
}

class Checker {
 public:
  explicit Checker(Context& c)
      : c_(c),
        d_(c.decisions),
        sizes_(c.decisions.places.size() + 1),
        checked_(static_cast<std::size_t>(c.decisions.operator_count), -1) {
    for (int axis = 0; axis < static_cast<int>(d_.axes.size()); ++axis) may_be_fixed_.push_back(may_be_fixed(d_, axis));
  }

  void run() {
    for (int op = 0; op < d_.operator_count; ++op) check_operator(op);
    report_missing_indices();
    report_missing_axes();
    report_shadowed();
    report_orders();
    report_templates();
  }

 private:
  int line(int statement) const { return d_.plan.statements[static_cast<std::size_t>(statement)].line; }

  // Where an operator is as far as the plan says; nothing if it follows.
  const PlaceInfo* place(int op) const {
    const int p = d_.operator_place[static_cast<std::size_t>(op)];
    return p < 0 ? nullptr : &d_.places[static_cast<std::size_t>(p)];
  }

  struct Cut {
    int factor = -1;
    int part = 0;  // where it begins
    std::int64_t product = 1;
    int statement = -1;
    std::vector<std::pair<int, std::int64_t>> axes;
  };

  // Of the axes, by a place of operators; of one that follows, by -1.
  const std::vector<std::optional<std::int64_t>>& sizes_at(int place) {
    std::vector<std::optional<std::int64_t>>& out = sizes_[static_cast<std::size_t>(place + 1)];
    if (!out.empty()) return out;
    const PlaceInfo everywhere;
    for (int axis = 0; axis < static_cast<int>(d_.axes.size()); ++axis)
      out.push_back(axis_size(d_, place < 0 ? everywhere : d_.places[static_cast<std::size_t>(place)], axis));
    return out;
  }

  void check_operator(int op) {
    const PlaceInfo* at = place(op);
    if (at && at->open()) return;
    int& like = checked_[static_cast<std::size_t>(c_.index->alike[static_cast<std::size_t>(op)])];
    if (like >= 0 && split_alike(like, op)) return;
    const std::vector<std::optional<std::int64_t>>& sizes = sizes_at(d_.operator_place[static_cast<std::size_t>(op)]);
    bool lacks = false;  // an axis
    cuts_.clear();
    for (int axis = 0; axis < static_cast<int>(d_.axes.size()); ++axis) {
      const Split& s = d_.split(op, axis);
      if (s.statement < 0 || s.factor == kNone) continue;
      const std::optional<std::int64_t>& size = sizes[static_cast<std::size_t>(axis)];
      if (!size) {
        if (at) missing_[{s.statement, axis}].push_back(op);
        lacks = true;
        continue;
      }
      if (s.factor < 0 || *size == 0 || may_be_fixed_[static_cast<std::size_t>(axis)] || may_change(s, axis)) continue;
      auto cut = std::find_if(cuts_.begin(), cuts_.end(),
                              [&](const Cut& c) { return c.factor == s.factor && c.part == s.part; });
      if (cut == cuts_.end()) cut = cuts_.insert(cuts_.end(), Cut{s.factor, s.part, 1, -1, {}});
      cut->product = std::min<std::int64_t>(cut->product * *size, std::int64_t{1} << 40);
      cut->statement = std::max(cut->statement, s.statement);
      cut->axes.push_back({axis, *size});
    }
    for (const Cut& cut : cuts_) check_division(op, cut);
    if (!lacks) like = op;
  }

  // Statements that wait may split it anew, or bring other sizes.
  bool may_change(const Split& s, int axis) const {
    return !d_.deferred.empty() && (waits_for_sizes(d_) || may_be_split_anew(d_, s.statement, axis));
  }

  // Whether two operators of equal factors are where the same axes have the same sizes, and are split alike.
  bool split_alike(int a, int b) const {
    if (d_.operator_place[static_cast<std::size_t>(a)] != d_.operator_place[static_cast<std::size_t>(b)]) return false;
    const auto count = static_cast<int>(d_.axes.size());
    for (int axis = 0; axis < count; ++axis)
      if (d_.split(a, axis) != d_.split(b, axis)) return false;
    return true;
  }

  void check_division(int op, const Cut& cut) {
    const FactorInfo& f =
        c_.model.operators[static_cast<std::size_t>(op)].factors[static_cast<std::size_t>(cut.factor)];
    if (cut.product == 1) return;
    for (const auto& [axis, size] : cut.axes) {
      const auto sizes = d_.sizes.find(d_.split(op, axis).statement);
      if (sizes == d_.sizes.end()) continue;
      if (sizes->second.form == Sizes::Form::listed) check_listed(op, cut, f, sizes->first, sizes->second.listed, size);
      return;
    }
    const std::optional<Undivided> left = undivided(f, cut.part, cut.product);
    if (!left) return;
    const auto part = [&](int p) { return f.parts.empty() ? PartInfo{f.size, "", false} : f.parts[static_cast<std::size_t>(p)]; };
    if (!left->used_up) return refuse_division(op, cut, f, part(left->part), left->blocks);
    if (f.parts.size() > 1 && left->part == cut.part + 1 && cut.axes.size() == 1) return refuse_inside(op, cut, f, part(cut.part));
    refuse_division(op, cut, f, part(cut.part), cut.product);
  }

  void check_listed(int op, const Cut& cut, const FactorInfo& f, int statement, const std::vector<std::int64_t>& listed,
                    std::int64_t blocks) {
    const PartInfo whole{f.size, "", false};
    const PartInfo& part = f.parts.empty() ? whole : f.parts[static_cast<std::size_t>(cut.part)];
    const std::int64_t sum = std::accumulate(listed.begin(), listed.end(), std::int64_t{0});
    const bool fits = static_cast<std::int64_t>(listed.size()) == blocks && sum == part.size && cut.axes.size() == 1;
    if (fits || !once(op, cut, part.size)) return;
    const std::string name = part.name.empty() ? f.names[0] : part.name;
    c_.report(
        Severity::error, statement,
        cut.axes.size() > 1
            ? "'sizes' lists the blocks of a whole dimension; " + name + " is split over " + axes_text(op, cut) + "."
            : "sizes lists " + std::to_string(listed.size()) + " blocks of " + std::to_string(sum) + " together; " +
                  axes_text(op, cut) + " needs " + std::to_string(blocks) + " blocks of " + std::to_string(part.size) +
                  " " + name + ".");
  }

  bool once(int op, const Cut& cut, std::int64_t size) {
    return said_
        .insert(
            {cut.statement, cut.product, size,
             c_.model.operators[static_cast<std::size_t>(op)].factors[static_cast<std::size_t>(cut.factor)].names[0]})
        .second;
  }

  // `mb=8 data=2`, major to minor.
  std::string axes_text(int op, const Cut& cut) const {
    std::vector<std::string> out;
    for (const int axis : split_axes(d_, op, cut.factor))
      for (const auto& [a, size] : cut.axes)
        if (a == axis) out.push_back(d_.axes[static_cast<std::size_t>(axis)].name + "=" + std::to_string(size));
    return join(out, " ");
  }

  // `o_proj (linear)`
  std::string operator_text(int op) const {
    const OperatorInfo& o = c_.model.operators[static_cast<std::size_t>(op)];
    const std::string module = last_module(o.module);
    return module.empty() ? o.kind : module + " (" + o.kind + ")";
  }

  // Of a product of several axes: `(mb=8 times data=2)`.
  std::string of_steps(int op, const Cut& cut) const {
    if (cut.axes.size() < 2) return "";
    std::string out = axes_text(op, cut);
    for (std::size_t at = 0; (at = out.find(' ', at)) != out.npos; at += 7) out.replace(at, 1, " times ");
    return " (" + out + ")";
  }

  // What sets the size of an input dimension.
  std::string input_size_hint(const std::string& name) const {
    const auto& inputs = c_.model.inputs;
    const bool known =
        std::any_of(inputs.begin(), inputs.end(), [&](const InputDimension& i) { return i.name == name; });
    return known ? "; 'model " + name + "=N' sets another size" : "";
  }

  void refuse_division(int op, const Cut& cut, const FactorInfo& f, const PartInfo& part, std::int64_t by) {
    const std::string name = part.name.empty() ? f.names[0] : part.name;
    if (!once(op, cut, part.size)) return;
    if (!said_.insert({cut.statement, cut.product, part.size, "of " + name}).second) return;
    std::string hint;
    if (cut.axes.size() == 1 && by <= 8 && by < part.size) {
      std::vector<std::string> sizes;
      for (std::int64_t i = 0; i < by; ++i)
        sizes.push_back(std::to_string(part.size / by + (i < part.size % by ? 1 : 0)));
      hint = "'sizes " + join(sizes, ",") + "' or ";
    }
    std::vector<std::string> dividing;
    for (std::int64_t i = 1; i <= part.size && i <= 4096 && dividing.size() < 12; ++i)
      if (part.size % i == 0) dividing.push_back(std::to_string(i));
    c_.report(Severity::error, cut.statement,
              std::to_string(part.size) + " " + name + " over " + axes_text(op, cut) + ": " + std::to_string(by) +
                  " does not divide " + std::to_string(part.size) + ", so " + operator_text(op) + " has no " +
                  std::to_string(by) + " equal blocks" + of_steps(op, cut) + ". Write " + hint +
                  "'sizes balanced'; dividing sizes: " + join(dividing, ", ") + input_size_hint(name) + ".");
  }

  void refuse_inside(int op, const Cut& cut, const FactorInfo& f, const PartInfo& part) {
    if (!once(op, cut, part.size)) return;
    const OperatorInfo& o = c_.model.operators[static_cast<std::size_t>(op)];
    std::string module = last_module(o.module);
    if (module.empty()) module = o.kind;
    const std::string name = part.name.empty() ? "parts" : part.name;
    const std::size_t blank = name.rfind(' ');
    std::string one = blank == name.npos ? name : name.substr(blank + 1);
    const std::string axis = name.substr(0, name.find(' '));
    // A part without a name of its own has that of the whole.
    const bool unnamed = name == f.names[0] && f.size > part.size;
    const std::string what =
        unnamed ? " of " + std::to_string(f.size) + " is in " + std::to_string(part.size) + " parts of " +
                      std::to_string(f.size / part.size) + ", as another operator reads them"
                : " is " + std::to_string(part.size);
    if (!one.ends_with("s"))  // a size, not things that are counted: `batch`
      return c_.report(Severity::error, cut.statement,
                       operator_text(op) + " over " + axes_text(op, cut) + ": its " + name + what + ", and " +
                           std::to_string(cut.product) + " blocks would cut inside one " +
                           (unnamed ? "of them" : "element of it") + ". Take an axis of at most " +
                           std::to_string(part.size) + " that divides it" + input_size_hint(name) +
                           ", or split the axis in two, " + axis + "=" + std::to_string(part.size) + " rep=" +
                           std::to_string(cut.product / part.size) + ", and write '" + axis + "' behind 'by'.");
    one.pop_back();
    c_.report(Severity::error, cut.statement,
              module + " over " + axes_text(op, cut) + " cuts inside a " + one + " (" + std::to_string(part.size) +
                  " " + name + "). Split the axis: " + axis + "=" + std::to_string(part.size) +
                  " rep=" + std::to_string(cut.product / part.size) + ", " + module + " by " + axis + ".");
  }

  // `G[2] has no axis tensor; the line has no effect on 8 of 32 layers.`
  void report_missing_axes() {
    for (const auto& [key, ops] : missing_) {
      const auto& [statement, axis] = key;
      const auto* s = std::get_if<TransStatement>(&d_.plan.statements[static_cast<std::size_t>(statement)].body);
      const bool any_axis =
          s && std::any_of(s->axes.begin(), s->axes.end(), [](const Choice& c) { return c.words[0] == "*"; });
      if (any_axis) continue;
      std::set<std::string> grids;
      for (const int op : ops) grids.insert(place_text(*place(op)));
      const auto [few, noun] = count(ops);
      const auto [all, same] = count(c_.rows[static_cast<std::size_t>(statement)]);
      const bool layers = noun == same && noun != "operators";
      const std::int64_t n = layers ? few : static_cast<std::int64_t>(ops.size());
      const std::int64_t of = layers ? all : distinct(c_.rows[static_cast<std::size_t>(statement)]);
      c_.report(Severity::note, statement,
                join({grids.begin(), grids.end()}, ", ") + (grids.size() == 1 ? " has" : " have") + " no axis " +
                    d_.axes[static_cast<std::size_t>(axis)].name + "; the line has no effect on " + std::to_string(n) +
                    " of " + std::to_string(of) + " " + (layers ? noun : "operators") + ".");
    }
  }

  std::string place_text(const PlaceInfo& p) const {
    std::string out = d_.grids[static_cast<std::size_t>(p.grid)].name;
    for (const auto& f : p.fixed)
      out += " " + d_.axes[static_cast<std::size_t>(f.axis)].name + "=" + std::to_string(f.value);
    return out;
  }

  static std::int64_t distinct(std::vector<int> ops) {
    std::sort(ops.begin(), ops.end());
    return std::unique(ops.begin(), ops.end()) - ops.begin();
  }

  // Members of one list (`layers`), if all operators are in it; else operators.
  std::pair<std::int64_t, std::string> count(const std::vector<int>& ops) const {
    std::set<std::string> members;
    std::string list;
    for (const int op : ops) {
      auto [name, member] = member_of(c_.model.operators[static_cast<std::size_t>(op)].module);
      if (name.empty() || (!list.empty() && name != list)) return {distinct(ops), "operators"};
      list = name;
      members.insert(member);
    }
    if (!list.ends_with("s")) list += "s";
    return {static_cast<std::int64_t>(members.size()), list};
  }

  // --- statements that others override altogether

  static void mark(const std::vector<Split>& table, std::vector<bool>& seen) {
    for (const Split& s : table)
      if (s.statement >= 0) seen[static_cast<std::size_t>(s.statement)] = true;
  }

  void report_shadowed() {
    std::vector<bool> seen(d_.plan.statements.size(), false);
    mark(d_.operator_splits, seen);
    mark(d_.fetch_splits, seen);
    mark(d_.grad_splits, seen);
    mark(d_.update_splits, seen);
    const auto see_place = [&](int p) {
      if (p >= 0) seen[static_cast<std::size_t>(d_.places[static_cast<std::size_t>(p)].statement)] = true;
    };
    for (int op = 0; op < d_.operator_count; ++op)
      if (d_.operator_indexed[static_cast<std::size_t>(op)] < 0)
        see_place(d_.operator_place[static_cast<std::size_t>(op)]);
      else
        for (const int p : places_of(d_, op)) see_place(p);
    for (const auto* table : {&d_.operator_storage, &d_.operator_gathered, &d_.operator_grad_split, &d_.update_storage})
      for (const int a : *table)
        if (a >= 0) seen[static_cast<std::size_t>(d_.algorithms[static_cast<std::size_t>(a)].statement)] = true;
    for (const Lag& lag : d_.operator_lag)
      if (lag.statement >= 0) seen[static_cast<std::size_t>(lag.statement)] = true;
    std::set<int> live_uses;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i]) live_uses.insert(d_.plan.statements[i].use);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Statement& s = d_.plan.statements[i];
      if (seen[i] || c_.rows[i].empty() || s.automatic || (s.use > 0 && live_uses.count(s.use))) continue;
      report_shadowed(static_cast<int>(i));
    }
  }

  void report_shadowed(int statement) {
    const auto& rows = c_.rows[static_cast<std::size_t>(statement)];
    const Statement& s = d_.plan.statements[static_cast<std::size_t>(statement)];
    std::set<int> owners;
    bool parameters = false;
    for (const int row : rows)
      for (const int owner : owners_of(statement, row, parameters)) owners.insert(owner);
    std::set<int> lines;
    bool answered = false;  // by the planner: the line has its effect there
    for (const int o : owners) {
      lines.insert(d_.plan.statements[static_cast<std::size_t>(o)].line);
      answered = answered || d_.plan.statements[static_cast<std::size_t>(o)].automatic;
    }
    if (lines.empty() || answered) return;
    std::vector<std::string> texts;
    for (const int l : lines) texts.push_back(std::to_string(l));
    const std::int64_t n = distinct(rows);
    const std::string what = (n == 1 ? "its " : "all " + std::to_string(n) + " of its ") +
                             std::string(parameters ? "parameter" : "operator") + (n == 1 ? "" : "s");
    c_.report(Severity::warning, statement,
              "line " + std::to_string(s.line) + " has no effect: " + (texts.size() == 1 ? "line " : "lines ") +
                  join(texts, ", ") + (texts.size() == 1 ? " decides " : " decide ") + what + ".");
  }

  std::vector<int> owners_of(int statement, int row, bool& parameters) const {
    const Statement& s = d_.plan.statements[static_cast<std::size_t>(statement)];
    std::vector<int> out;
    const auto r = static_cast<std::size_t>(row);
    if (std::holds_alternative<AssignStatement>(s.body)) {
      for (const int p : places_of(d_, row)) out.push_back(d_.places[static_cast<std::size_t>(p)].statement);
    } else if (std::holds_alternative<RelaxStatement>(s.body)) {
      out.push_back(d_.operator_lag[r].statement);
    } else if (const auto* a = std::get_if<AlgorithmStatement>(&s.body)) {
      const std::string& w = a->algorithm.words[0];
      parameters = a->units.groups[0].form == Group::Form::phase;
      const auto& table = parameters             ? d_.update_storage
                          : w == "grad_split"    ? d_.operator_grad_split
                          : w == "keep_gathered" ? d_.operator_gathered
                                                 : d_.operator_storage;
      if (table[r] >= 0) out.push_back(d_.algorithms[static_cast<std::size_t>(table[r])].statement);
    } else if (const auto* t = std::get_if<TransStatement>(&s.body)) {
      parameters = t->units.groups[0].form == Group::Form::phase;
      for (const int axis : c_.axes_of.at(statement)) {
        if (!parameters) {
          out.push_back(d_.split(row, axis).statement);
          continue;
        }
        for (const Phase p : {Phase::fetch, Phase::grad, Phase::update})
          if (const int o = d_.parameter_split(p, row, axis).statement; o > statement) out.push_back(o);
      }
    }
    std::erase_if(out, [&](int o) { return o < 0; });
    return out;
  }

  // --- places by index that leave indices out

  // How a statement calls its index of an axis: `m` in `[mb=m]`, else the name of the axis.
  std::string index_name(const AssignStatement& s, int axis) const {
    const std::string& name = d_.axes[static_cast<std::size_t>(axis)].name;
    for (const Group& g : s.units.groups)
      for (const TaskIndex& t : g.index)
        if (t.axis == name && t.index.kind == Index::Kind::one && t.index.begin->kind == Expression::Kind::name)
          return t.index.begin->text;
    return name;
  }

  // All even indices, or all odd ones; empty: neither.
  static std::string parity(const std::vector<std::int64_t>& list, std::size_t all) {
    for (const std::int64_t odd : {0, 1})
      if (list.size() > 1 && list.size() == (all + 1 - static_cast<std::size_t>(odd)) / 2 &&
          std::all_of(list.begin(), list.end(), [&](std::int64_t i) { return i % 2 == odd; }))
        return odd ? "odd" : "even";
    return {};
  }

  static std::string numbers_text(const std::vector<std::int64_t>& list) {
    std::vector<std::string> numbers;
    for (const std::int64_t i : list) numbers.push_back(numbers.size() < 8 ? std::to_string(i) : "…");
    if (numbers.size() > 9) numbers.resize(9);
    return join(numbers, ", ");
  }

  std::string missing_text(const AssignStatement& s, const IndexedPlaces& x) const {
    std::vector<std::int64_t> placed, missing;
    for (std::size_t i = 0; i < x.places.size(); ++i)
      (x.places[i] >= 0 ? placed : missing).push_back(static_cast<std::int64_t>(i));
    std::vector<std::string> names, axes;
    for (const int axis : x.axes) {
      names.push_back(index_name(s, axis));
      axes.push_back(d_.axes[static_cast<std::size_t>(axis)].name);
    }
    const std::string name = join(names, ", "), even = x.axes.size() == 1 ? parity(placed, x.places.size()) : "";
    return print(s.units) + " is placed for " +
           (even.empty() ? name + " = " + numbers_text(placed) : even + " " + name) + " only; " +
           std::to_string(missing.size()) + " of " + std::to_string(x.places.size()) + " " +
           (axes == std::vector<std::string>{"mb"} ? "micro-batches" : "indices of " + join(axes, ", ")) +
           " have no place" + (even.empty() ? " (" + numbers_text(missing) + ")" : "") + ".";
  }

  void report_missing_indices() {
    std::set<int> told;
    for (int op = 0; op < d_.operator_count; ++op) {
      const int id = d_.operator_indexed[static_cast<std::size_t>(op)];
      if (id < 0 || !told.insert(id).second) continue;
      const IndexedPlaces& x = d_.indexed_places[static_cast<std::size_t>(id)];
      const auto first = std::find_if(x.places.begin(), x.places.end(), [](int p) { return p >= 0; });
      if (first == x.places.end() || std::count(x.places.begin(), x.places.end(), -1) == 0) continue;
      const int statement = d_.places[static_cast<std::size_t>(*first)].statement;
      const auto& s = std::get<AssignStatement>(d_.plan.statements[static_cast<std::size_t>(statement)].body);
      c_.report(Severity::error, statement, missing_text(s, x));
    }
  }

  // --- orders between tasks that never meet

  void report_orders() {
    for (const OrderRow& row : d_.order) report_tasks(row);
    std::map<int, bool> useful;
    std::map<int, std::string> example;
    MeetingTasks meeting(d_);
    for (const OrderRow& row : d_.order) {
      bool& meets = useful[row.statement];
      if (meets) continue;
      meets = !meeting.apart(row);
      if (!meets) example.try_emplace(row.statement, task_text(row.chain[0]) + " and " + task_text(row.chain[1]));
    }
    for (const auto& [statement, meets] : useful)
      if (!meets)
        c_.report(Severity::warning, statement, example[statement] + " share no device; the row orders nothing.");
  }

  // A task before itself, and one whose index is a number beyond those of its axis.
  void report_tasks(const OrderRow& row) {
    for (std::size_t i = 0; i < row.chain.size(); ++i) {
      const TaskFamily& f = row.chain[i];
      if (std::find(row.chain.begin(), row.chain.begin() + static_cast<std::ptrdiff_t>(i), f) !=
          row.chain.begin() + static_cast<std::ptrdiff_t>(i))
        c_.report(Severity::error, row.statement, task_text(f) + " cannot run before itself.", {line(row.statement)});
      for (const TaskFamily::AxisIndex& x : f.index) {
        const AxisInfo& axis = d_.axes[static_cast<std::size_t>(x.axis)];
        const Number n = value_of(x.index, {}, {});
        if (!n.ok() || x.end || axis.size == 0 || (n.value >= 0 && n.value < axis.size)) continue;
        c_.report(Severity::warning, row.statement,
                  task_text(f) + "[" + std::to_string(n.value) + "] does not exist: " + axis.name + " has " +
                      std::to_string(axis.size) + (axis.size == 1 ? " index" : " indices") +
                      "; the row leaves it out.");
      }
    }
  }

  std::string task_text(const TaskFamily& f) const {
    return std::string(to_string(f.phase)) + "(" + d_.units[static_cast<std::size_t>(f.units[0])].name +
           (f.units.size() > 1 ? ", …" : "") + ")";
  }

  void report_templates() {
    std::set<int> said;
    for (std::size_t i = 0; i < d_.plan.statements.size(); ++i) {
      const Statement& s = d_.plan.statements[i];
      if (s.use == 0 || c_.use_matched.count(s.use) || !c_.use_problem.count(s.use) || !said.insert(s.use).second)
        continue;
      if (std::holds_alternative<OrderStatement>(s.body)) continue;  // reported by the row
      c_.report(Severity::error, static_cast<int>(i),
                "no line of the template matches anything: " + c_.use_problem[s.use]);
    }
  }

  Context& c_;
  Decisions& d_;
  std::vector<Cut> cuts_;
  std::vector<std::vector<std::optional<std::int64_t>>> sizes_;  // by place and axis
  std::vector<bool> may_be_fixed_;  // by axis
  std::vector<int> checked_;  // by the first operator of equal factors: the last one with all axes that was looked at
  std::map<std::pair<int, int>, std::vector<int>> missing_;  // (statement, axis) -> operators
  std::set<std::tuple<int, std::int64_t, std::int64_t, std::string>> said_;
};
}  // namespace

void check_decisions(Context& c) {
  Checker(c).run();
  check_forbidden(c);
}

}  // namespace planscope::plan
