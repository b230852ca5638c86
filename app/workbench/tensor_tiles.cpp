#include "app/workbench/tensor_tiles.h"

#include <algorithm>
#include <limits>

#include "engine/base/text.h"

namespace planscope {

namespace {

constexpr std::size_t most_runs = 64;

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

using Runs = std::vector<Interval>;

void join_runs(Runs& runs) {
  std::erase_if(runs, [](const Interval& i) { return i.size() <= 0; });
  std::sort(runs.begin(), runs.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Runs out;
  for (const Interval& i : runs) {
    if (!out.empty() && i.begin <= out.back().end)
      out.back().end = std::max(out.back().end, i.end);
    else
      out.push_back(i);
  }
  runs = std::move(out);
}

// Indices of a dimension: those of its parts, major to minor, put together.
Runs runs_of(const std::vector<Interval>& parts, const std::vector<std::int64_t>& sizes, bool& hull) {
  Runs runs = {{0, 1}};
  std::int64_t whole = 1;  // of the parts so far
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Runs next;
    const bool all = parts[k].begin == 0 && parts[k].end == sizes[k];
    for (const Interval& r : runs) {
      if (all) {
        next.push_back({r.begin * sizes[k], r.end * sizes[k]});
        continue;
      }
      if (next.size() + static_cast<std::size_t>(r.size()) > most_runs) {
        hull = true;
        next.push_back({r.begin * sizes[k] + parts[k].begin, (r.end - 1) * sizes[k] + parts[k].end});
        continue;
      }
      for (std::int64_t i = r.begin; i < r.end; ++i)
        next.push_back({i * sizes[k] + parts[k].begin, i * sizes[k] + parts[k].end});
    }
    runs = std::move(next);
    join_runs(runs);
    whole *= sizes[k];
  }
  return runs;
}

class Cutter {
 public:
  Cutter(const Graph& g, const Program& p, TensorId t, const Layout& l, const Place& place, const Point& index)
      : g_(g), p_(p), t_(t), layout_(l), index_(index), digits_(all_digits(l)), coordinates_(p, place, digits_) {}

  Tiling cut(std::int64_t most) {
    const std::vector<Component>& told = coordinates_.told();
    group_.assign(told.size(), 1);
    Tiling out;
    out.blocks = 1;
    for (const Component& c : told) out.blocks *= c.size;
    out.devices = out.blocks * coordinates_.copies();
    fold(most);
    std::vector<std::int64_t> at(told.size(), 0);
    for (bool more = true; more;) {
      add(at, out.tiles);
      more = false;
      for (std::size_t k = told.size(); k-- > 0 && !more;) {
        more = ++at[k] < kept(k);
        if (!more) at[k] = 0;
      }
    }
    std::stable_sort(out.tiles.begin(), out.tiles.end(),
        [](const TensorTile& a, const TensorTile& b) { return key(a) < key(b); });
    return out;
  }

 private:
  static std::vector<Digit> all_digits(const Layout& l) {
    std::vector<Digit> out;
    for (const Split& s : l.splits) out.insert(out.end(), s.digits.begin(), s.digits.end());
    for (const Partial& x : l.partials) out.push_back(x.digit);
    return out;
  }

  static std::vector<std::int64_t> key(const TensorTile& t) {
    std::vector<std::int64_t> out;
    for (const Runs& r : t.region)
      out.push_back(r.empty() ? std::numeric_limits<std::int64_t>::max() : r.front().begin);
    for (const KeyBlock& k : t.keys) out.push_back(k.keys.begin);
    out.push_back(t.part ? t.part->first : 0);
    return out;
  }

  std::int64_t kept(std::size_t k) const {
    const std::int64_t size = coordinates_.told()[k].size;
    return (size + group_[k] - 1) / group_[k];
  }

  // A component may be folded where those that cut further within its blocks are folded already.
  bool minor_most(std::size_t k) const {
    for (const Split& s : layout_.splits) {
      bool behind = false;
      for (const Digit& d : s.digits) {
        for (std::size_t c = 0; c < coordinates_.told().size(); ++c) {
          const Component& x = coordinates_.told()[c];
          const bool of_digit = x.axis == d.axis && x.stride >= d.stride && x.stride < d.stride * d.size;
          if (behind && of_digit && c != k && kept(c) > 1) return false;
        }
        const Component& x = coordinates_.told()[k];
        behind |= x.axis == d.axis && x.stride >= d.stride && x.stride < d.stride * d.size;
      }
    }
    return true;
  }

  // Also where all would be few enough, more than half of `most` along one component cannot be told apart.
  void fold(std::int64_t most) {
    for (std::size_t k = 0; k < group_.size(); ++k)
      if (kept(k) > most / 2 && minor_most(k)) fold(k, most / 8);
    for (;;) {
      std::int64_t product = 1;
      for (std::size_t k = 0; k < group_.size(); ++k) product *= kept(k);
      if (product <= most) return;
      std::size_t largest = group_.size();
      for (const bool careful : {true, false}) {
        for (std::size_t k = 0; k < group_.size(); ++k)
          if (kept(k) > 1 && (!careful || minor_most(k)) && (largest == group_.size() || kept(k) > kept(largest)))
            largest = k;
        if (largest < group_.size()) break;
      }
      fold(largest, kept(largest) * most / product);
    }
  }

  void fold(std::size_t component, std::int64_t wanted) {
    wanted = std::max<std::int64_t>(1, wanted);
    group_[component] = (coordinates_.told()[component].size + wanted - 1) / wanted;
  }

  // What is held with these coordinates.
  struct Held {
    std::vector<Runs> region;
    std::int64_t part = 0;
    std::vector<KeyBlock> keys;
    bool hull = false;
  };

  Held held(const std::vector<std::int64_t>& coordinates) const {
    Point point = coordinates_.point(coordinates);
    for (std::size_t a = 0; a < point.size(); ++a)
      if (p_.axes[a].grid < 0) point[a] = index_[a];
      else if (point[a] < 0) point[a] = 0;
    Held out;
    const auto& dims = at(g_.tensors, t_).dims;
    out.region.resize(dims.size());
    for (const auto& region : regions(g_, t_, p_, layout_, point))
      for (std::size_t d = 0; d < dims.size(); ++d) {
        std::vector<std::int64_t> sizes;
        for (const ClassId c : dims[d]) sizes.push_back(at(g_.classes, c).size);
        for (const Interval& r : runs_of(region[d], sizes, out.hull)) out.region[d].push_back(r);
      }
    for (Runs& r : out.region) join_runs(r);
    for (const Partial& x : layout_.partials)
      out.part = out.part * x.digit.size + std::max<std::int64_t>(0, digit_value(x.digit, point));
    for (const Split& s : layout_.splits) {
      if (s.part != kByKey) continue;
      const std::int64_t keys = at(g_.classes, at(g_.tensors, s.key).domain).size;
      out.keys.push_back({s.dim, s.key, block_of(keys, s.digits, point),
          at(local_sizes(g_, t_, layout_, point), s.dim)});
    }
    return out;
  }

  void add(const std::vector<std::int64_t>& at_kept, std::vector<TensorTile>& out) const {
    const std::vector<Component>& told = coordinates_.told();
    std::vector<Coordinates::Range> ranges;
    std::vector<std::int64_t> first, last;
    std::int64_t blocks = 1;
    for (std::size_t k = 0; k < told.size(); ++k) {
      const std::int64_t begin = at_kept[k] * group_[k], count = std::min(group_[k], told[k].size - begin);
      ranges.push_back({begin, count});
      first.push_back(begin), last.push_back(begin + count - 1);
      blocks *= count;
    }
    TensorTile tile;
    const Held a = held(first);
    tile.region = a.region, tile.hull = a.hull, tile.keys = a.keys;
    std::int64_t last_part = a.part;
    if (blocks > 1) {
      const Held b = held(last);
      for (std::size_t d = 0; d < tile.region.size(); ++d) {
        Runs& runs = tile.region[d];
        if (runs == b.region[d]) continue;
        runs.insert(runs.end(), b.region[d].begin(), b.region[d].end());
        join_runs(runs);
        if (!runs.empty()) runs = {{runs.front().begin, runs.back().end}};
      }
      for (std::size_t k = 0; k < tile.keys.size(); ++k) {
        tile.keys[k].expected_rows *= tile.keys[k].keys == b.keys[k].keys ? 1 : blocks;
        tile.keys[k].keys =
            {std::min(tile.keys[k].keys.begin, b.keys[k].keys.begin),
            std::max(tile.keys[k].keys.end, b.keys[k].keys.end)};
      }
      last_part = b.part;
    }
    if (!layout_.partials.empty()) {
      std::int64_t of = 1;
      for (const Partial& x : layout_.partials) of *= x.digit.size;
      tile.part = ValuePart{std::min(a.part, last_part), std::max(a.part, last_part), of, layout_.partials[0].kind};
    }
    if (tile.empty()) tile.region.assign(tile.region.size(), {});
    const DeviceGroup devices = coordinates_.devices(ranges);
    tile.devices = {devices}, tile.count = devices.size(), tile.blocks = blocks;
    tile.place = blocks == 1 ? coordinates_.text(first) : "";
    const auto same = std::find_if(out.begin(), out.end(), [&](const TensorTile& o) {
      return o.region == tile.region && o.part == tile.part && o.keys == tile.keys && o.hull == tile.hull;
    });
    if (same == out.end()) return out.push_back(std::move(tile));
    same->devices.push_back(devices);
    same->count += tile.count;
    same->blocks = std::max(same->blocks, tile.blocks);
    same->place.clear();
  }

  const Graph& g_;
  const Program& p_;
  TensorId t_;
  const Layout& layout_;
  const Point& index_;
  std::vector<Digit> digits_;
  Coordinates coordinates_;
  std::vector<std::int64_t> group_;  // by told component: coordinates that are told as one
};

}  // namespace

bool TensorTile::empty() const {
  return std::any_of(region.begin(), region.end(), [](const Runs& r) { return r.empty(); });
}

Tiling tiles(const Graph& g, const Program& p, TensorId t, const Layout& l, const Place& place, const Point& index,
    std::int64_t most) {
  return Cutter(g, p, t, l, place, index).cut(most);
}

std::string region_text(const std::vector<Runs>& region) {
  if (region.empty()) return "a single element";
  std::vector<std::string> dims;
  for (const Runs& runs : region) {
    if (runs.empty()) return "nothing";
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < runs.size() && k < 4; ++k)
      parts.push_back(std::to_string(runs[k].begin) + ":" + std::to_string(runs[k].end));
    if (runs.size() > 4)
      parts.back() = "… " + std::to_string(runs.size()) + " runs to " + std::to_string(runs.back().end);
    dims.push_back(join(parts, "+"));
  }
  return join(dims, ", ");
}

std::string_view name_of(PartialKind k) {
  return k == PartialKind::sum ? "sum" : k == PartialKind::merge ? "merge" : "softmax";
}

std::vector<std::string> dimension_names(const Graph& g, TensorId t) {
  std::vector<std::string> out;
  const auto& dims = at(g.tensors, t).dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::vector<std::string> parts;
    for (const ClassId c : dims[d])
      if (!at(g.classes, c).name.empty()) parts.push_back(at(g.classes, c).name);
    out.push_back(parts.empty() ? "dim " + std::to_string(d) : join(parts, "·"));
  }
  return out;
}

}  // namespace planscope
