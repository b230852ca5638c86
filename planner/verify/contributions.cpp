#include <algorithm>
#include <optional>

#include "engine/base/enumeration.h"
#include "planner/verify/algebra.h"
#include "planner/verify/pieces.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

// Indices of one whole axis: all of them, which are not written out (there may be billions), or those listed.
struct Indices {
  std::optional<std::vector<std::int64_t>> listed;
  std::int64_t size = 0;

  std::int64_t count() const { return listed ? static_cast<std::int64_t>(listed->size()) : size; }
};

// Those that a restriction leaves.
Indices indices(const Program& p, const Restriction& r, AxisId whole) {
  for (const AxisId a : r)
    if (at(p.axes, a).of == whole) return {at(p.axes, a).indices, at(p.axes, whole).size};
  return {std::nullopt, at(p.axes, whole).size};
}

Indices common(const Indices& a, const Indices& b) {
  if (!a.listed) return b;
  if (!b.listed) return a;
  Indices out{std::vector<std::int64_t>{}, a.size};
  std::set_intersection(a.listed->begin(), a.listed->end(), b.listed->begin(), b.listed->end(),
                        std::back_inserter(*out.listed));
  return out;
}

using Box = std::vector<Indices>;  // by whole axis

Box common(const Box& a, const Box& b) {
  Box out;
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(common(a[k], b[k]));
  return out;
}

bool is_empty(const Box& b) {
  return std::any_of(b.begin(), b.end(), [](const Indices& i) { return i.count() == 0; });
}

// Nothing where the number has no 64 bits.
std::optional<std::int64_t> volume(const Box& b) {
  std::int64_t n = 1;
  for (const Indices& i : b)
    if (__builtin_mul_overflow(n, i.count(), &n)) return std::nullopt;
  return n;
}

}  // namespace

Restriction restriction(const Program& p, const std::vector<Binding>& bindings) {
  Restriction out;
  for (const Binding& b : bindings)
    if (at(p.axes, b.digit.axis).of >= 0) out.push_back(b.digit.axis);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Tiling tiling(const Program& p, const std::vector<Restriction>& members, const Restriction& within) {
  std::vector<AxisId> whole;
  const auto note = [&](const Restriction& r) {
    for (const AxisId a : r) whole.push_back(at(p.axes, a).of);
  };
  note(within);
  for (const Restriction& r : members) note(r);
  std::sort(whole.begin(), whole.end());
  whole.erase(std::unique(whole.begin(), whole.end()), whole.end());
  const auto box = [&](const Restriction& r) {
    Box b;
    for (const AxisId a : whole) b.push_back(indices(p, r, a));
    return b;
  };
  const Box all = box(within);
  Tiling out;
  std::vector<Box> inside;
  for (const Restriction& r : members) {
    Box b = common(box(r), all);
    out.outside = out.outside || is_empty(b);
    for (const Box& other : inside) out.twice = out.twice || !is_empty(common(b, other));
    inside.push_back(std::move(b));
  }
  // Boxes that lie inside and do not meet are all of it if they have its volume.
  std::optional<std::int64_t> left = volume(all);
  for (const Box& b : inside)
    if (const auto part = volume(b); left && (!part || __builtin_sub_overflow(*left, *part, &*left))) left.reset();
  out.exact = !out.outside && !out.twice && left == 0;
  return out;
}

Contributions::Contributions(const Graph& g, const Program& p) : g_(g), p_(p), all_(g.tensors.size()) {
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    const Op& op = at(g.ops, o);
    first_.push_back(seed_);
    if (op.backward)
      for (int k = 0; k < static_cast<int>(op.inputs.size()); ++k) {
        const TensorId t = at(op.inputs, k).tensor;
        if (at(g.tensors, t).gradient) all_[static_cast<std::size_t>(t)].push_back(seed_ + k);
      }
    seed_ += static_cast<int>(op.inputs.size());
  }
  if (g.model->loss >= 0) all_[static_cast<std::size_t>(g.model->loss)].push_back(seed_);
  for (const Piece& piece : p.pieces)
    for (const PieceOp& o : piece.ops) {
      const Restriction r = restriction(p, o.bindings);
      if (r.empty()) continue;
      for (int k = 0; k < static_cast<int>(o.inputs.size()); ++k) {
        const auto [it, fresh] =
            ids_.emplace(std::make_pair(at(first_, o.op) + k, r), seed_ + 1 + static_cast<int>(restricted_.size()));
        if (fresh) restricted_.push_back(it->first);
        note_summed(o, k);
      }
    }
}

void Contributions::note_summed(const PieceOp& o, int input) {
  const Operand& operand = at(at(g_.ops, o.op).inputs, input);
  for (const Binding& b : o.bindings) {
    const AxisId whole = at(p_.axes, b.digit.axis).of;
    if (whole < 0 || b.factor < 0 || has_part(at(g_.ops, o.op), operand, b.factor, b.part)) continue;
    std::vector<AxisId>& list = summed_[at(first_, o.op) + input];
    if (std::find(list.begin(), list.end(), whole) == list.end()) list.push_back(whole);
  }
}

// Of where a tensor is, what limits a contribution: not the indices over which this is a sum.
Restriction Contributions::limits(int contribution, const Restriction& within) const {
  const auto found = summed_.find(contribution);
  if (found == summed_.end()) return within;
  Restriction out;
  for (const AxisId a : within)
    if (std::find(found->second.begin(), found->second.end(), at(p_.axes, a).of) == found->second.end())
      out.push_back(a);
  return out;
}

int Contributions::id(OpId op, int input, const Restriction& r) const {
  const int whole = at(first_, op) + input;
  return r.empty() ? whole : ids_.at({whole, r});
}

const Restriction& Contributions::restriction_of(int id) const {
  static const Restriction none;
  return id <= seed_ ? none : restricted_[static_cast<std::size_t>(id - seed_ - 1)].second;
}

std::string Contributions::name(int id) const {
  if (id == seed_) return "the loss itself";
  const auto op = std::upper_bound(first_.begin(), first_.end(), id) - first_.begin() - 1;
  // Operators without inputs share their first number with the next one; upper_bound gives the last of them.
  return verification::name(g_, static_cast<OpId>(op));
}

std::string Contributions::problem(const std::vector<int>& sum, TensorId t, const Restriction& within) const {
  const std::vector<int>& wanted = of(t);
  if (sum == wanted) return {};
  std::map<int, std::vector<Restriction>> found;
  for (const int id : sum) found[unrestricted(id)].push_back(restriction_of(id));
  std::vector<int> lacks;
  for (const int c : wanted) {
    const auto it = found.find(c);
    if (it == found.end()) {
      lacks.push_back(c);
      continue;
    }
    const Tiling tiles = tiling(p_, it->second, limits(c, within));
    if (tiles.outside) return "that of " + name(c) + " at indices of another place";
    if (tiles.twice) return "that of " + name(c) + " twice at one index";
    if (!tiles.exact) return "that of " + name(c) + " is missing at some indices";
  }
  if (lacks.empty()) return found.size() > wanted.size() ? "more than the graph has" : std::string();
  return and_more("that of " + name(lacks.front()), lacks.size() - 1) + (lacks.size() > 1 ? " are missing" : " is missing");
}

}  // namespace planscope::verification
