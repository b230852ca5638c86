#include "planner/cost/hidden_blocks.h"

#include <algorithm>
#include <vector>

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using PartDigits = std::vector<std::vector<Digit>>;  // by part of a factor

PartDigits digits_of(const Op& op, const PieceOp& o, int factor) {
  PartDigits out(op.factors[at(factor)].parts.size());
  for (const Binding& b : o.bindings)
    if (b.factor == factor) out[at(b.part)].push_back(b.digit);
  return out;
}

bool is_cut(const PartDigits& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& digits) { return !digits.empty(); });
}

void collect_axes(const PartDigits& parts, std::vector<AxisId>& axes) {
  for (const std::vector<Digit>& digits : parts)
    for (const Digit& d : digits)
      for (const AxisId a : {d.axis, d.by})
        if (a >= 0 && std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
}

// From the first to the last element of a factor that a block has, counted over all of its parts.
Interval extent(const Graph& graph, const Factor& factor, const PartDigits& parts, const Point& point) {
  std::int64_t first = 0, last = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t size = graph.classes[at(factor.parts[p])].size;
    const Interval block = block_of(size, parts[p], point);
    if (block.size() <= 0) return {};
    first = first * size + block.begin;
    last = last * size + block.end - 1;
  }
  return {first, last + 1};
}

// Goes to the next coordinates on these axes; false: these were the last.
bool next(const Program& program, const std::vector<AxisId>& axes, Point& point) {
  for (std::size_t k = axes.size(); k-- > 0;) {
    if (++point[at(axes[k])] < program.axes[at(axes[k])].size) return true;
    point[at(axes[k])] = 0;
  }
  return false;
}

}  // namespace

double seen_share(const Graph& graph, const Program& program, const PieceOp& o) {
  const Op& op = graph.ops[at(o.op)];
  const auto causal = std::find_if(op.factors.begin(), op.factors.end(), [](const Factor& f) { return f.until >= 0; });
  if (causal == op.factors.end()) return 1;
  const Factor &keys = *causal, &queries = op.factors[at(keys.until)];
  const PartDigits key_digits = digits_of(op, o, static_cast<int>(causal - op.factors.begin()));
  const PartDigits query_digits = digits_of(op, o, keys.until);
  if (!is_cut(key_digits)) return 1;

  std::vector<AxisId> axes, devices, indices;
  collect_axes(key_digits, axes);
  collect_axes(query_digits, axes);
  for (const AxisId a : axes) (program.axes[at(a)].grid >= 0 ? devices : indices).push_back(a);
  Point point(program.axes.size(), -1);
  for (const AxisId a : axes) point[at(a)] = 0;

  std::int64_t most = 0, pairs = 1;
  for (const AxisId a : indices) pairs *= program.axes[at(a)].size;
  do {
    std::int64_t seen = 0;
    do {
      const Interval q = extent(graph, queries, query_digits, point), k = extent(graph, keys, key_digits, point);
      seen += q.size() > 0 && k.size() > 0 && k.begin < q.end;
    } while (next(program, indices, point));
    most = std::max(most, seen);
  } while (most < pairs && next(program, devices, point));
  return static_cast<double>(most) / static_cast<double>(pairs);
}

}  // namespace planscope
