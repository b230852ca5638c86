// The tensor that is looked at, with its tiles and the moves between them.
#include <map>
#include <set>

#include "app/session/canvases/canvases.h"
#include "app/session/marked.h"
#include "app/session/tensors.h"
#include "engine/base/format.h"
#include "engine/base/text.h"
#include "viz/tensor/wire.h"

namespace planscope::session {

namespace {

viz::TileDevices devices_of(const DeviceGroup& g) {
  viz::TileDevices out;
  out.first = g.first;
  for (const GroupAxis& a : g.axes) out.axes.emplace_back(a.size, a.stride);
  out.listed = g.listed;
  return out;
}

std::int64_t first_device(const TensorTile& t) {
  std::int64_t out = -1;
  for (const DeviceGroup& g : t.devices) {
    const std::int64_t first = g.listed.empty() ? g.first : g.listed.front();
    out = out < 0 ? first : std::min(out, first);
  }
  return out;
}

std::string moves_text(const ExplainedPath& p) {
  std::vector<std::string> moves;
  for (const ExplainedMove& m : p.moves) moves.push_back(m.what);
  return join(moves, ", then ");
}

class Builder {
 public:
  Builder(const TensorFacts& f, const Graph& g, const Program& p) : facts_(f), graph_(g) {
    out_.name = f.tensor, out_.dtype = f.dtype, out_.gradient = f.gradient, out_.has_gradient = f.has_gradient;
    out_.devices = p.device_count;
    for (std::size_t d = 0; d < f.sizes.size(); ++d) out_.dimensions.push_back({f.dimensions[d], f.sizes[d]});
    for (const TensorIndex& i : f.indices) out_.axes.push_back({i.axis, i.size, i.index});
  }

  viz::TensorModel run() {
    std::set<std::int64_t> firsts;
    const auto collect = [&](const TensorSide& s) {
      for (const TensorTile& t : s.tiling.tiles) firsts.insert(first_device(t));
    };
    for (const TensorSide& s : facts_.writers) collect(s);
    for (const TensorReader& r : facts_.readers) collect(r);
    for (const std::int64_t d : firsts) colours_.emplace(d, static_cast<std::int32_t>(colours_.size()));
    for (const TensorSide& s : facts_.writers) add(s);
    for (const TensorReader& r : facts_.readers) {
      viz::TensorSide& side = add(r);
      side.writer = r.writer;
      for (const TensorMove& m : r.moves)
        side.moves.push_back({m.move.kind, m.move.what, {static_cast<double>(m.move.payload.count)},
            {m.move.time.count},
                              {m.exposed_us.value_or(-1)}, m.shared});
      for (const Conversion& hop : r.hops)
        for (const ExplainedPath& p : hop.refused)
          side.refused.push_back(time_text(p.time.count) + " instead of " + time_text(hop.chosen.time.count) + ": " +
                                 moves_text(p));
    }
    return std::move(out_);
  }

 private:
  viz::TensorSide& add(const TensorSide& s) {
    viz::TensorSide side;
    side.title = s.operators, side.place = s.place, side.layout = s.layout, side.segment = s.segment;
    side.first = static_cast<std::int32_t>(out_.tiles.size());
    side.tiles = static_cast<std::int32_t>(s.tiling.tiles.size());
    for (const TensorTile& t : s.tiling.tiles) out_.tiles.push_back(tile(t));
    out_.sides.push_back(std::move(side));
    return out_.sides.back();
  }

  viz::Tile tile(const TensorTile& t) const {
    viz::Tile out;
    for (const std::vector<Interval>& runs : t.region) {
      out.runs.emplace_back();
      for (const Interval& r : runs) out.runs.back().push_back({r.begin, r.end});
    }
    for (const DeviceGroup& g : t.devices) out.devices.push_back(devices_of(g));
    out.devices_text = devices_text(t.devices), out.place = t.place, out.count = t.count, out.blocks = t.blocks;
    out.colour = colours_.at(first_device(t));
    if (t.part) {
      out.part = static_cast<std::int32_t>(t.part->first), out.part_last = static_cast<std::int32_t>(t.part->last);
      out.part_of = static_cast<std::int32_t>(t.part->of), out.part_kind = std::string(name_of(t.part->kind));
    }
    for (const KeyBlock& k : t.keys) by_key(k, out);
    return out;
  }

  // Which rows a key selects is not known: they are drawn as a share of all, in the order of the keys.
  void by_key(const KeyBlock& k, viz::Tile& t) const {
    const ClassId domain = graph_.tensors[static_cast<std::size_t>(k.key)].domain;
    const std::int64_t keys = graph_.classes[static_cast<std::size_t>(domain)].size;
    t.keys = (k.keys.size() == 1 ? "key " + std::to_string(k.keys.begin) : "keys " + std::to_string(k.keys.begin) +
        ":" + std::to_string(k.keys.end)) +
             ", ~" + with_commas(k.expected_rows) + " rows";
    std::vector<viz::TileRun>& runs = t.runs[static_cast<std::size_t>(k.dim)];
    if (runs.size() != 1) return;
    const std::int64_t begin = runs[0].begin, size = runs[0].end - begin;
    runs[0] = {begin + size * k.keys.begin / keys, begin + size * k.keys.end / keys};
  }

  const TensorFacts& facts_;
  const Graph& graph_;
  std::map<std::int64_t, std::int32_t> colours_;  // by first device
  viz::TensorModel out_;
};

}  // namespace

CanvasSource tensor_source(const State& s) {
  const std::string name = tensor_of(s);
  if (name.empty()) return {};
  std::string with = name + (s.look.gradient ? "\ngradient" : "");
  for (const auto& [axis, index] : s.look.index) with += "\n" + axis + "=" + std::to_string(index);
  return {s.document()->shown->evaluation, with};
}

Missing missing_tensor(const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown) return {};
  return {s.selection.none() ? "nothing is selected" : "what is selected gives no tensor",
          "select operators=\"SELECTOR\", or select tensor=\"NAME\""};
}

std::string tensor_model(const State& s) {
  const std::shared_ptr<const TensorFacts> t = tensor_shown(s);
  if (!t) return viz::encode(viz::TensorModel{});
  const Evaluation& e = *s.document()->shown->evaluation;
  return viz::encode(Builder(*t, *e.made.graph, e.made.program).run());
}

std::vector<std::string> tensor_marks(const State& s) {
  const std::shared_ptr<const TensorFacts> t = tensor_shown(s);
  if (!t) return {};
  const Marked marked(s);
  std::vector<std::string> out;
  int sides = 0, tiles = 0;
  const auto add = [&](const TensorSide& side) {
    std::size_t here = 0;
    for (const TensorTile& tile : side.tiling.tiles) {
      if (marked.tile(side.ops, tile)) out.push_back("tile " + std::to_string(tiles)), ++here;
      ++tiles;
    }
    if (here > 0 && here == side.tiling.tiles.size()) out.push_back("side " + std::to_string(sides));
    ++sides;
  };
  for (const TensorSide& w : t->writers) add(w);
  for (const TensorReader& r : t->readers) add(r);
  return out;
}

}  // namespace planscope::session
