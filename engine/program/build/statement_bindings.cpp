#include "engine/program/build/statement_bindings.h"

#include <algorithm>
#include <numeric>

#include "engine/program/build/prefix.h"

namespace planscope::build {

namespace {

// The sizes that a statement lists, where they are not those of blocks as equal as possible.
std::vector<std::int64_t> listed_sizes(const Work& w, int statement) {
  const auto found = w.d.sizes.find(statement);
  if (found == w.d.sizes.end() || found->second.form != plan::Sizes::Form::listed) return {};
  const std::vector<std::int64_t>& sizes = found->second.listed;
  const std::int64_t size = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] != block(size, static_cast<std::int64_t>(sizes.size()), static_cast<std::int64_t>(k)).size())
      return sizes;
  return {};
}

plan::Turn turn_of(const Work& w, int statement, int axis) {
  const auto found = w.d.turns.find({statement, axis});
  return found == w.d.turns.end() ? plan::Turn{} : found->second;
}

void refuse_turn(Work& w, OpId o, int statement) {
  Diagnostic d = error("'at' counts the blocks of one part",
                       "the axis is larger than the part of " + w.g.node(o).name() +
                           " that it begins to cut, and goes on "
                           "in the next one",
                       "take an axis that divides the part");
  d.file = w.d.plan.file;
  d.line = w.d.plan.statements[static_cast<std::size_t>(statement)].line;
  w.diagnostics.push_back(std::move(d));
}

// Blocks of queries that come one after the other, and keys of which each may need all.
void warn_of_whole_keys(Work& w, OpId o, int axis, int factor, int statement) {
  const Op& op = w.op(o);
  if (!w.d.axes[static_cast<std::size_t>(axis)].free || op.factors[static_cast<std::size_t>(factor)].name != "queries")
    return;
  bool whole = false;
  for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
    const Factor& keys = op.factors[static_cast<std::size_t>(f)];
    whole = whole || (keys.kind == FactorKind::softmax && keys.until < 0 && !splits_factor(w, o, f));
  }
  if (!whole) return;
  Diagnostic d = warning("the mask of " + w.g.node(o).name() + " is not shown to be causal; reading whole keys",
                         "the blocks of its keys come one after the other, and all have to be there before the first "
                         "is read");
  d.file = w.d.plan.file;
  d.line = w.d.plan.statements[static_cast<std::size_t>(statement)].line;
  const auto told = [&](const Diagnostic& x) { return x.line == d.line && x.why == d.why; };
  if (std::none_of(w.diagnostics.begin(), w.diagnostics.end(), told)) w.diagnostics.push_back(std::move(d));
}

// By axis.
std::vector<AxisBinding> bound_by_statements(Work& w, OpId o) {
  std::vector<AxisBinding> out(w.d.axes.size());
  const Op& op = w.op(o);
  const PlaceId place = w.op_place[static_cast<std::size_t>(o)];
  for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
    const std::vector<int> axes = plan::split_axes(w.d, o, f);
    const std::vector<ClassId>& parts = op.factors[static_cast<std::size_t>(f)].parts;
    if (axes.empty() || parts.empty()) continue;
    std::vector<std::int64_t> left;
    for (const ClassId c : parts) left.push_back(w.g.classes[static_cast<std::size_t>(c)].size);
    for (const int a : axes) {
      AxisBinding& b = out[static_cast<std::size_t>(a)];
      b.origin = Origin::statement;
      const plan::Split& s = w.d.split(o, a);
      b.statement = s.statement;
      if (const std::int64_t n = w.size_at(place, a); n > 1)
        bind_axis(w.g, b, a, n, f, static_cast<std::size_t>(s.part), parts, left, listed_sizes(w, s.statement),
                  turn_of(w, s.statement, a));
      if (const auto prefix = prefix_of(w, op, a, b.factors)) {
        b.factors.push_back(*prefix);
        continue;
      }
      if (w.size_at(place, a) > 1) warn_of_whole_keys(w, o, a, f, s.statement);
      if (b.factors.size() > 1 && turn_of(w, s.statement, a) != plan::Turn{}) refuse_turn(w, o, s.statement);
    }
  }
  for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a) {
    const plan::Split& s = w.d.split(o, a);
    if (s.statement >= 0 && s.factor == plan::kNone) {
      out[static_cast<std::size_t>(a)].origin = Origin::statement;
      out[static_cast<std::size_t>(a)].statement = s.statement;
    }
  }
  return out;
}

}  // namespace

bool bind_statements(Work& w) {
  w.kinds = operator_kinds(w);
  w.binding_ids.assign(w.g.ops.size() * w.d.axes.size(), 0);
  std::vector<OpId> first(w.g.ops.size(), -1);  // by kind
  for (OpId o = 0; o < static_cast<OpId>(w.g.ops.size()); ++o) {
    if (w.op(o).parameter_free) continue;
    OpId& like = first[static_cast<std::size_t>(w.kinds[static_cast<std::size_t>(o)])];
    if (like >= 0) {
      for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a) w.binding_id(o, a) = w.binding_id(like, a);
      continue;
    }
    like = o;
    const std::vector<AxisBinding> stated = bound_by_statements(w, o);
    for (int a = 0; a < static_cast<int>(stated.size()); ++a)
      w.binding_id(o, a) = w.intern(stated[static_cast<std::size_t>(a)]);
  }
  return !has_errors(w.diagnostics);
}

}  // namespace planscope::build
