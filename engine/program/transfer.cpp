#include "engine/program/transfer.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/stop.h"

namespace planscope {

namespace {

const Axis& axis_of(const Program& p, AxisId a) { return p.axes[static_cast<std::size_t>(a)]; }

using AxisPairs = std::vector<std::pair<AxisId, AxisId>>;  // of the sending and the receiving place

AxisPairs common_axes(const Program& p, const Place& from, const Place& to) {
  AxisPairs out;
  for (const AxisId a : free_axes(p, from))
    for (const AxisId b : free_axes(p, to))
      if (axis_of(p, a).name == axis_of(p, b).name) out.emplace_back(a, b);
  return out;
}

// Who sends what, of two places.
class Senders {
 public:
  Senders(const Program& p, const Place& from, const Place& to) : p_(p), from_(from), to_(to) {
    for (const auto& [a, b] : common_axes(p, from, to)) common_.push_back({a, b, axis_of(p, a).size});
  }

  int of(std::span<const int> holders, int receiver) {
    if (std::find(holders.begin(), holders.end(), receiver) != holders.end()) return receiver;
    if (holders.size() == 1 || common_.empty()) return holders.front();
    const Point at = point_of(p_, to_, receiver);
    int best = holders.front();
    std::ptrdiff_t most = -1;
    for (const int holder : holders) {
      const Point& there = point(holder);
      const std::ptrdiff_t equal = std::count_if(common_.begin(), common_.end(), [&](const Common& c) {
        return there[static_cast<std::size_t>(c.from)] == at[static_cast<std::size_t>(c.to)] % c.size;
      });
      if (equal <= most) continue;
      most = equal;
      best = holder;
      if (equal == std::ssize(common_)) break;
    }
    return best;
  }

 private:
  struct Common {
    AxisId from, to;
    std::int64_t size;  // at the sending place
  };

  const Point& point(int holder) {
    Point& at = points_[holder];
    if (at.empty()) at = point_of(p_, from_, holder);
    return at;
  }

  const Program& p_;
  const Place &from_, &to_;
  std::vector<Common> common_;
  std::map<int, Point> points_;
};

using Intervals = std::vector<Interval>;  // of all parts

Intervals intervals(const Graph& g, const Program& p, TensorId t, const Layout& layout, Point at) {
  for (std::size_t a = 0; a < p.axes.size(); ++a)
    if (p.axes[a].grid < 0) at[a] = index_at(p.axes[a], 0);
  Intervals out;
  for (const std::vector<Interval>& dim : region(g, t, layout, at)) out.insert(out.end(), dim.begin(), dim.end());
  return out;
}

std::int64_t common_elements(const Intervals& a, const Intervals& b) {
  std::int64_t n = 1;
  for (std::size_t k = 0; k < a.size() && n > 0; ++k)
    n *= std::max<std::int64_t>(0, std::min(a[k].end, b[k].end) - std::max(a[k].begin, b[k].begin));
  return n;
}

// What the devices of a place hold of a tensor, each block once, found by what it has in common with another region.
class Blocks {
 public:
  struct Block {
    Intervals region;
    std::vector<int> holders;
  };

  Blocks(const Graph& g, const Program& p, const Sending& s) {
    for (const int d : devices(p, s.from)) {
      Intervals held = intervals(g, p, s.tensor, s.sent, point_of(p, s.from, d));
      const auto [it, fresh] = by_begin_.emplace(begin_of(held), blocks_.size());
      if (fresh) blocks_.push_back({std::move(held), {}});
      blocks_[it->second].holders.push_back(d);
    }
    for (std::size_t dim = 0; dim < blocks_.front().region.size(); ++dim) add_cuts(dim);
  }

  // By number, in the order of their first holders.
  const std::vector<std::size_t>& in_common_with(const Intervals& wanted) {
    found_.clear();
    begin_.assign(wanted.size(), 0);
    collect(wanted, 0);
    std::sort(found_.begin(), found_.end());
    return found_;
  }

  const Block& operator[](std::size_t k) const { return blocks_[k]; }

 private:
  // Where blocks are cut along a dimension, by where the pieces begin.
  struct Cuts {
    Intervals pieces;
    std::vector<std::int64_t> furthest;  // end of all pieces up to here
  };

  static std::vector<std::int64_t> begin_of(const Intervals& region) {
    std::vector<std::int64_t> out;
    for (const Interval& i : region) out.push_back(i.begin);
    return out;
  }

  void add_cuts(std::size_t dim) {
    std::map<std::int64_t, Interval> pieces;
    for (const Block& b : blocks_) pieces.emplace(b.region[dim].begin, b.region[dim]);
    Cuts out;
    for (const auto& [begin, piece] : pieces) {
      out.pieces.push_back(piece);
      out.furthest.push_back(std::max(piece.end, out.furthest.empty() ? piece.end : out.furthest.back()));
    }
    cuts_.push_back(std::move(out));
  }

  void collect(const Intervals& wanted, std::size_t dim) {
    if (dim == wanted.size()) {
      if (const auto found = by_begin_.find(begin_); found != by_begin_.end()) found_.push_back(found->second);
      return;
    }
    const Cuts& cuts = cuts_[dim];
    const auto first = std::upper_bound(cuts.furthest.begin(), cuts.furthest.end(), wanted[dim].begin);
    for (auto k = static_cast<std::size_t>(first - cuts.furthest.begin()); k < cuts.pieces.size(); ++k) {
      if (cuts.pieces[k].begin >= wanted[dim].end) break;
      if (cuts.pieces[k].end <= wanted[dim].begin) continue;
      begin_[dim] = cuts.pieces[k].begin;
      collect(wanted, dim + 1);
    }
  }

  std::vector<Block> blocks_;
  std::map<std::vector<std::int64_t>, std::size_t> by_begin_;
  std::vector<Cuts> cuts_;  // by dimension
  std::vector<std::int64_t> begin_;  // of what is looked for
  std::vector<std::size_t> found_;
};

// Axes of equal names and sizes over which messages go between equal coordinates only, and at each alike: such as cut the
// same part on both sides behind the same cuts, and such as cut neither side.
AxisPairs parallel_axes(const Program& p, const Sending& s) {
  AxisPairs common = common_axes(p, s.from, s.to), cut;
  std::erase_if(common, [&](const auto& c) { return axis_of(p, c.first).size != axis_of(p, c.second).size; });
  for (const Split& a : s.sent.splits) {
    const auto b = std::find_if(s.got.splits.begin(), s.got.splits.end(),
                                [&](const Split& x) { return x.dim == a.dim && x.part == a.part && x.part != kByKey; });
    for (std::size_t k = 0; b != s.got.splits.end() && k < std::min(a.digits.size(), b->digits.size()); ++k) {
      const Digit &x = a.digits[k], &y = b->digits[k];
      if (x == y && axis_of(p, x.axis).grid < 0) continue;
      Digit here = x;
      here.axis = y.axis;
      const bool whole = x.size == axis_of(p, x.axis).size && !is_turned(x) && x.reach == Reach::own;
      if (here != y || !whole || std::find(common.begin(), common.end(), std::pair(x.axis, y.axis)) == common.end())
        break;
      cut.emplace_back(x.axis, y.axis);
    }
  }
  const auto cuts = [](const Layout& l, AxisId a) {
    return std::any_of(l.splits.begin(), l.splits.end(), [&](const Split& x) {
      return std::any_of(x.digits.begin(), x.digits.end(), [&](const Digit& d) { return d.axis == a || d.by == a; });
    });
  };
  std::erase_if(common, [&](const auto& c) {
    return std::find(cut.begin(), cut.end(), c) == cut.end() && (cuts(s.sent, c.first) || cuts(s.got, c.second));
  });
  return common;
}

Place with_fixed(Place place, AxisId axis, std::int64_t coordinate) {
  place.fixed.emplace_back(axis, coordinate);
  std::sort(place.fixed.begin(), place.fixed.end());
  return place;
}

}  // namespace

int sender_of(const Program& p, const Place& from, const Place& to, std::span<const int> holders, int receiver) {
  return Senders(p, from, to).of(holders, receiver);
}

ProgramValueId sent_as(const Program& p, const Instruction& receive, ProgramValueId received) {
  const Transfer& t = p.transfers[static_cast<std::size_t>(receive.transfer)];
  const auto k = static_cast<std::size_t>(std::find(t.to.begin(), t.to.end(), received) - t.to.begin());
  return t.from[k < t.from.size() ? k : 0];
}

std::vector<Sending> sendings(const Program& p, const Transfer& t) {
  const auto value = [&](ProgramValueId v) -> const ProgramValue& { return p.values[static_cast<std::size_t>(v)]; };
  const auto place = [&](ProgramValueId v) { return p.places[static_cast<std::size_t>(value(v).place)]; };
  const auto layout = [&](ProgramValueId v) { return p.layouts[static_cast<std::size_t>(value(v).layout)]; };
  std::vector<Sending> out;
  for (std::size_t k = 0; k < t.to.size(); ++k)
    out.push_back({value(t.to[k]).tensor, place(t.from[k]), place(t.to[k]), layout(t.from[k]), layout(t.to[k])});
  return out;
}

bool share_devices(const Program& p, const Place& a, const Place& b) {
  std::vector<int> x = devices(p, a), y = devices(p, b), both;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  return !both.empty();
}

std::vector<PointToPoint> messages(const Graph& g, const Program& p, const Sending& s) {
  const std::int64_t element = byte_size(g.model->values[static_cast<std::size_t>(s.tensor)].dtype);
  Blocks blocks(g, p, s);
  Senders senders(p, s.from, s.to);
  std::vector<PointToPoint> out;
  for (const int receiver : devices(p, s.to)) {
    look_at_stop();
    const Intervals wanted = intervals(g, p, s.tensor, s.got, point_of(p, s.to, receiver));
    std::map<int, std::size_t> of_sender;  // of this receiver's messages
    for (const std::size_t k : blocks.in_common_with(wanted)) {
      const Bytes bytes{common_elements(blocks[k].region, wanted) * element};
      const int sender = senders.of(blocks[k].holders, receiver);
      if (bytes.count == 0 || sender == receiver) continue;
      const auto [known, fresh] = of_sender.emplace(sender, out.size());
      if (fresh)
        out.push_back({sender, receiver, bytes});
      else
        out[known->second].bytes += bytes;
    }
  }
  return out;
}

TransferLoad transfer_load(const Graph& g, const Program& p, const Cluster& cluster, std::span<const Sending> all) {
  AxisPairs parallel;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].from.grid != all[k].to.grid && share_devices(p, all[k].from, all[k].to)) {  // these send to themselves
      parallel.clear();
      break;
    }
    const AxisPairs axes = parallel_axes(p, all[k]);
    if (k == 0) parallel = axes;
    std::erase_if(parallel, [&](const auto& c) { return std::find(axes.begin(), axes.end(), c) == axes.end(); });
  }
  TransferLoad out{{}, std::vector<double>(cluster.levels.size(), 0)};
  double senders = 0;  // of all coordinates that are looked at
  for (const bool last : {false, true}) {
    if (last && parallel.empty()) break;
    std::vector<PointToPoint> sent;
    std::set<int> from;
    for (Sending s : all) {
      for (const auto& [a, b] : parallel) {
        const std::int64_t c = last ? axis_of(p, a).size - 1 : 0;
        s.from = with_fixed(std::move(s.from), a, c);
        s.to = with_fixed(std::move(s.to), b, c);
      }
      const std::vector<PointToPoint> more = messages(g, p, s);
      sent.insert(sent.end(), more.begin(), more.end());
      for (const int d : devices(p, s.from)) from.insert(d);
    }
    senders += static_cast<double>(from.size());
    out.time = std::max(out.time, exchange_time(cluster, sent));
    for (const PointToPoint& m : sent)
      out.sent_by_level[static_cast<std::size_t>(meeting_level(cluster, m.from, m.to))] += static_cast<double>(m.bytes.count);
  }
  for (double& bytes : out.sent_by_level) bytes /= std::max(1.0, senders);
  return out;
}

}  // namespace planscope
