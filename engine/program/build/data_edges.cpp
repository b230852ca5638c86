// Which tasks wait for which because of what they read: values, what a piece has kept, copies in host memory, transfers.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/program/build/tasks.h"

namespace planscope::build {

namespace {

class DataEdges {
 public:
  DataEdges(const Program& p, bool over_steps, Tasks& tasks) : p_(p), over_steps_(over_steps), t_(tasks) {}

  void data_edges() {
    std::vector<std::vector<SegmentId>> writers(p_.values.size()), readers(p_.values.size());
    std::vector<SegmentId> kept(p_.pieces.size(), -1), backward(p_.pieces.size(), -1), away(p_.pieces.size(), -1),
        back(p_.pieces.size(), -1), frees(p_.values.size(), -1), updates(p_.values.size(), -1),
        senders(p_.transfers.size(), -1);
    const auto note = [](std::vector<SegmentId>& list, SegmentId s) {
      if (list.empty() || list.back() != s) list.push_back(s);
    };
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s)
      for (const Instruction& i : p_.segments[static_cast<std::size_t>(s)].instructions) {
        if (i.code == Code::free) {
          for (const ProgramValueId v : i.in) frees[static_cast<std::size_t>(v)] = s;
          continue;
        }
        if (i.code == Code::offload)  // a state: moved after its last reader
          for (const ProgramValueId v : i.in) frees[static_cast<std::size_t>(v)] = s;
        if (i.code == Code::update) updates[static_cast<std::size_t>(i.out[0])] = s;
        if (i.code == Code::send) senders[static_cast<std::size_t>(i.transfer)] = s;
        if ((i.code == Code::compute || i.code == Code::replay) && i.keep) kept[static_cast<std::size_t>(i.piece)] = s;
        for (const ProgramValueId v : i.in)
          if (v >= 0) note(readers[static_cast<std::size_t>(v)], s);
        if (i.code == Code::wait)
          for (const ProgramValueId v : i.out) note(readers[static_cast<std::size_t>(v)], s);
        if (i.code != Code::update && i.code != Code::wait)
          for (const ProgramValueId v : i.out)
            if (v >= 0) note(writers[static_cast<std::size_t>(v)], s);
      }
    for (std::size_t v = 0; v < p_.values.size(); ++v) {
      for (const SegmentId to : readers[v])
        for (const SegmentId from : writers[v])
          if (from != to) t_.link_segments(from, to, p_.values[v].indexed);
      if (frees[v] >= 0)
        for (const SegmentId r : readers[v])
          if (r != frees[v]) t_.link_segments(r, frees[v], p_.values[v].indexed);
      if (const ProgramValueId before = p_.values[v].refills; before >= 0)  // made again once it has been read and freed
        for (const SegmentId r : readers[static_cast<std::size_t>(before)])
          for (const SegmentId again : writers[v])
            if (r != again && segment(r).phase != Phase::backward && segment(r).phase != Phase::weight)
              t_.link_segments(r, again, segment(r).free_axes);
      if (updates[v] >= 0)  // after its last use
        for (const SegmentId r : readers[v])
          if (r != updates[v]) t_.link_segments(r, updates[v], {});
      if (updates[v] >= 0 && over_steps_)
        for (const SegmentId r : readers[v]) t_.link_segments(updates[v], r, {}, 1 + p_.values[v].lag);
      if (p_.values[v].role == Role::state && frees[v] >= 0 && over_steps_)
        for (const SegmentId back_again : writers[v]) t_.link_segments(frees[v], back_again, {}, 1);
    }
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s) {
      const auto& axes = p_.segments[static_cast<std::size_t>(s)].free_axes;
      for (const Instruction& i : p_.segments[static_cast<std::size_t>(s)].instructions) {
        if (i.code == Code::receive && senders[static_cast<std::size_t>(i.transfer)] >= 0)
          t_.link_segments(
              senders[static_cast<std::size_t>(i.transfer)], s,
              p_.values[static_cast<std::size_t>(p_.transfers[static_cast<std::size_t>(i.transfer)].from[0])].indexed);
        if (i.code == Code::backward && kept[static_cast<std::size_t>(i.piece)] >= 0 &&
            kept[static_cast<std::size_t>(i.piece)] != s)
          t_.link_segments(kept[static_cast<std::size_t>(i.piece)], s, axes);
        if (i.code == Code::offload && i.piece >= 0) {
          t_.link_segments(kept[static_cast<std::size_t>(i.piece)], s, axes);
          away[static_cast<std::size_t>(i.piece)] = s;
        }
        if (i.code == Code::restore && i.piece >= 0) {
          t_.link_segments(away[static_cast<std::size_t>(i.piece)], s, axes);
          back[static_cast<std::size_t>(i.piece)] = s;
        }
        if (i.code != Code::backward) continue;
        if (const SegmentId b = back[static_cast<std::size_t>(i.piece)]; b >= 0)
          t_.link_segments(b, s, axes);
        SegmentId& first = backward[static_cast<std::size_t>(i.piece)];
        if (first >= 0 && first != s) t_.link_segments(first, s, axes);
        if (first < 0) first = s;
      }
    }
  }

  // What is read up to an index while it is put together: after all indices that add to what is read.
  void growing_edges() {
    std::map<ProgramValueId, std::vector<std::pair<SegmentId, Digit>>> terms;  // how they are split
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s)
      for (const Instruction& i : p_.segments[static_cast<std::size_t>(s)].instructions)
        if (i.code == Code::accumulate)
          for (const Split& split : layout_of(i.in[0]).splits)
            if (split.digits.size() == 1 && is_free(split.digits[0])) terms[i.out[0]].emplace_back(s, split.digits[0]);
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s)
      for (const Instruction& i : p_.segments[static_cast<std::size_t>(s)].instructions) {
        if (i.code != Code::local || i.move.kind != MoveKind::slice) continue;
        for (const auto& [from, term] : terms[i.in[0]])
          if (from == s && i.move.digits[0].axis == term.axis) link_growing(s, term, i.move.digits[0]);
      }
  }

 private:
  const Segment& segment(SegmentId s) const { return p_.segments[static_cast<std::size_t>(s)]; }
  const Layout& layout_of(ProgramValueId v) const {
    return p_.layouts[static_cast<std::size_t>(p_.values[static_cast<std::size_t>(v)].layout)];
  }
  bool is_free(const Digit& d) const { return p_.axes[static_cast<std::size_t>(d.axis)].grid < 0; }

  void link_growing(SegmentId s, const Digit& term, const Digit& read) {
    if (!grown_.insert({s, term.axis, term.reach, read.reach}).second) return;
    const auto& axes = p_.segments[static_cast<std::size_t>(s)].free_axes;
    const auto at = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), term.axis) - axes.begin());
    std::int64_t stride = 1;
    for (std::size_t k = at + 1; k < axes.size(); ++k) stride *= t_.count(axes[k]);
    for (int t = t_.first(s); t < t_.first(s + 1); ++t) {
      const std::int64_t i = t_.index_of(t)[at];
      if (read.reach == Reach::prefix && i > 0) t_.link(t - static_cast<int>(stride), t, -1);
      if (term.reach == Reach::prefix && i + 1 < t_.count(term.axis)) t_.link(t + static_cast<int>(stride), t, -1);
    }
  }

  const Program& p_;
  const bool over_steps_;
  Tasks& t_;
  std::set<std::tuple<SegmentId, AxisId, Reach, Reach>> grown_;
};

}  // namespace

void link_data(const Program& p, bool over_steps, Tasks& tasks) {
  DataEdges edges(p, over_steps, tasks);
  edges.data_edges();
  edges.growing_edges();
}

}  // namespace planscope::build
