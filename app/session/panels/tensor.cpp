// How one tensor is cut, by its writer and by each reader, and what lies between; and the same tile by tile.
#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/session/tensors.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr std::int64_t most_listed = 256;  // devices of a tile
constexpr const char* nothing_selected =
    "Shows how a tensor lies on the devices, and the moves between its writer and its readers. Select an operator or "
    "a tensor.";

Json part_json(const std::optional<ValuePart>& part) {
  if (!part) return nullptr;
  Json out = {{"index", part->first}, {"of", part->of}, {"kind", name_of(part->kind)}};
  if (part->last != part->first) out["last"] = part->last;
  return out;
}

std::string part_text(const std::optional<ValuePart>& part) {
  if (!part) return "";
  const std::string of = " of " + std::to_string(part->of) + " (" + std::string(name_of(part->kind)) + ")";
  return std::to_string(part->first + 1) + (part->last != part->first ? "–" + std::to_string(part->last + 1) : "") + of;
}

std::string keys_text(const Graph& g, const TensorTile& t) {
  std::vector<std::string> out;
  for (const KeyBlock& k : t.keys)
    out.push_back(g.tensor_name(k.key) + " in " + std::to_string(k.keys.begin) + ":" + std::to_string(k.keys.end) +
                  ", about " + with_commas(k.expected_rows) + " rows");
  return join(out, "; ");
}

Json tile_json(const Graph& g, const TensorTile& t) {
  Json devices = nullptr, region = Json::array();
  if (t.count <= most_listed) {
    std::vector<std::int64_t> all;
    for (const DeviceGroup& group : t.devices)
      for (const std::int64_t d : members(group, group.size())) all.push_back(d);
    std::sort(all.begin(), all.end());
    devices = all;
  }
  for (const std::vector<Interval>& runs : t.region) {
    region.push_back(Json::array());
    for (const Interval& r : runs) region.back().push_back({r.begin, r.end});
  }
  Json out = {{"devices", devices},
              {"device_count", t.count},
              {"devices_text", devices_text(t.devices)},
              {"region", region},
              {"value_part", part_json(t.part)}};
  if (t.blocks > 1) out["blocks"] = t.blocks;
  if (t.hull) out["with_gaps"] = true;
  for (const KeyBlock& k : t.keys)
    out["keys"].push_back({{"dimension", k.dim},
                           {"key", g.tensor_name(k.key)},
                           {"from", k.keys.begin},
                           {"to", k.keys.end},
                           {"expected_rows", k.expected_rows}});
  return out;
}

Cell tiles_cell(const Graph& g, const Tiling& t) {
  Json all = Json::array();
  for (const TensorTile& tile : t.tiles) all.push_back(tile_json(g, tile));
  return {std::move(all), with_commas(std::ssize(t.tiles)), Tone::plain, with_commas(t.devices) + " devices"};
}

Json path_json(const ExplainedPath& p) {
  Json moves = Json::array();
  for (const ExplainedMove& m : p.moves)
    moves.push_back({{"kind", m.kind}, {"what", m.what}, {"bytes", m.payload.count}, {"us", m.time.count}});
  return {{"moves", moves}, {"us", p.time.count}};
}

Cell moves_cell(const TensorReader& r) {
  Json all = Json::array();
  std::vector<std::string> texts;
  for (const TensorMove& m : r.moves) {
    all.push_back({{"kind", m.move.kind},
                   {"what", m.move.what},
                   {"segment", m.segment},
                   {"group", m.move.group},
                   {"bytes", m.move.payload.count},
                   {"us", m.move.time.count},
                   {"exposed_us", m.exposed_us ? Json(*m.exposed_us) : Json()},
                   {"shared_by", m.shared}});
    texts.push_back(m.move.what + (m.move.payload.count > 0
                                       ? " (" + bytes_text(static_cast<double>(m.move.payload.count)) + ")"
                                       : ""));
  }
  return {std::move(all), texts.empty() ? "–" : join(texts, ", then ")};
}

Cell time_of(const TensorReader& r) {
  double us = 0;
  for (const TensorMove& m : r.moves) us += m.move.time.count;
  return r.moves.empty() ? cell(nullptr) : cell(us, Unit::microseconds);
}

Cell exposed_of(const TensorReader& r) {
  double us = 0;
  for (const TensorMove& m : r.moves) {
    if (!m.exposed_us)
      return cell(nullptr, Unit::none, Tone::plain, "the step is too long for single messages to be recorded");
    us += *m.exposed_us;
  }
  return r.moves.empty() ? cell(nullptr) : cell(us, Unit::microseconds, us > 0 ? Tone::warning : Tone::plain);
}

std::string path_text(const ExplainedPath& p) {
  std::vector<std::string> moves;
  for (const ExplainedMove& m : p.moves) moves.push_back(m.what);
  return join(moves, ", then ") + ": " + time_text(p.time.count);
}

// What was refused stands beside what was chosen for the same hop: a reader's moves may be of several.
Cell refused_of(const TensorReader& r) {
  Json all = Json::array();
  std::vector<std::string> texts;
  for (const Conversion& hop : r.hops) {
    if (hop.refused.empty()) continue;
    std::vector<std::string> paths;
    for (const ExplainedPath& p : hop.refused) {
      all.push_back(path_json(p));
      all.back()["from"] = hop.from;
      all.back()["to"] = hop.to;
      all.back()["instead_of"] = path_json(hop.chosen);
      paths.push_back(path_text(p));
    }
    texts.push_back(join(paths, ", or ") + "; instead of " + path_text(hop.chosen));
  }
  return {std::move(all), texts.empty() ? "–" : join(texts, ". "), Tone::dim};
}

Json side_json(const Graph& g, const TensorSide& s) {
  return {{"operator", s.operators},
          {"place", s.place},
          {"layout", s.layout},
          {"segment", s.segment},
          {"tiles", tiles_cell(g, s.tiling).value},
          {"blocks", s.tiling.blocks}};
}

std::string sizes_text(const TensorFacts& t) {
  std::vector<std::string> out;
  for (std::size_t d = 0; d < t.sizes.size(); ++d) out.push_back(t.dimensions[d] + " " + with_commas(t.sizes[d]));
  return out.empty() ? "a single element" : join(out, " × ");
}

void add_facts(Panel& p, const TensorFacts& t, const Graph& g) {
  p.facts.push_back({"tensor", "Tensor", cell(t.tensor)});
  p.facts.push_back({"sizes", "Sizes", {t.sizes, sizes_text(t)}});
  p.facts.push_back({"dtype", "Type", cell(t.dtype)});
  p.facts.push_back({"gradient", "Gradient", t.has_gradient ? cell(t.gradient) : Cell{t.gradient, "has none"},
                     t.has_gradient ? "gradient" : ""});
  Json indices = Json::array();
  for (const TensorIndex& i : t.indices) {
    indices.push_back({{"axis", i.axis}, {"size", i.size}, {"index", i.index}});
    p.facts.push_back({"index_" + i.axis,
                       "Index of " + i.axis,
                       {i.index, std::to_string(i.index) + " of " + std::to_string(i.size)},
                       "index " + i.axis});
  }
  p.facts.push_back({"indices", "Indices", {std::move(indices), ""}, "", true});
  Json writers = Json::array();
  for (const TensorSide& w : t.writers) {
    writers.push_back(side_json(g, w));
    p.facts.push_back({writers.size() == 1 ? "writer" : "writer_" + std::to_string(writers.size()),
                       t.gradient ? "Wanted by" : "Written by",
                       {writers.back(), w.operators + " on " + w.place + " as " + w.layout + ", " +
                                            with_commas(std::ssize(w.tiling.tiles)) +
                                            (w.tiling.tiles.size() == 1 ? " tile" : " tiles")}});
  }
  p.facts.push_back({"writers", "Writers", {std::move(writers), ""}, "", true});
}

bool says_nothing(Panel& p, const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return true;
  say_whether_current(p, *d);
  return false;
}

}  // namespace

Panel tensor_panel(const State& s) {
  Panel p{.id = "tensor", .title = "Readers and moves", .kind = PanelKind::table};
  p.empty = nothing_selected;
  p.rows_id = "readers";
  p.columns = {{"operator", s.look.gradient ? "Given by" : "Read by"},
               {"place", "On"},
               {"layout", "Layout"},
               {"tiles", "Tiles", Unit::count},
               {"moves", "Moves"},
               {"us", "Time", Unit::microseconds},
               {"exposed_us", "Exposed", Unit::microseconds},
               {"segment", "In"},
               {"refused", "Refused"},
               {"writer_number", "Writer", Unit::none, true}};
  if (says_nothing(p, s)) return p;
  const std::shared_ptr<const TensorFacts> t = tensor_shown(s);
  if (!t) return p;
  const Graph& g = *s.document()->shown->evaluation->made.graph;
  add_facts(p, *t, g);
  const Marked marked(s);
  for (std::size_t k = 0; k < t->readers.size(); ++k) {
    const TensorReader& r = t->readers[k];
    TableRow row{.id = std::to_string(k)};
    row.selected = marked.side(r.ops, r.tiling);
    row.cells = {cell(r.operators), cell(r.place), cell(r.layout), tiles_cell(g, r.tiling), moves_cell(r),
                 time_of(r),        exposed_of(r), cell(r.segment), refused_of(r),          cell(r.writer + 1)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

// The table twin of the tensor's canvas: a row for each of its tiles.
Panel tiles_panel(const State& s) {
  Panel p{.id = "tiles", .title = "Tiles", .kind = PanelKind::table};
  p.empty = nothing_selected;
  p.columns = {{"side", "Side"},        {"operator", "Operator"},
               {"devices", "Devices"},  {"device_count", "Count", Unit::count},
               {"region", "Region"},    {"value_part", "Part of the value"},
               {"keys", "Rows by key"}, {"blocks", "Blocks", Unit::count}};
  if (says_nothing(p, s)) return p;
  const std::shared_ptr<const TensorFacts> t = tensor_shown(s);
  if (!t) return p;
  const Graph& g = *s.document()->shown->evaluation->made.graph;
  const Marked marked(s);
  const auto add = [&](const TensorSide& side, const std::string& what, const std::string& id) {
    for (std::size_t k = 0; k < side.tiling.tiles.size(); ++k) {
      const TensorTile& tile = side.tiling.tiles[k];
      TableRow row{.id = id + "/" + std::to_string(k)};
      row.cells = {cell(what),
                   cell(side.operators),
                   cell(devices_text(tile.devices)),
                   cell(tile.count, Unit::count),
                   cell(region_text(tile.region) + (tile.hull ? ", with gaps" : "")),
                   {part_json(tile.part), part_text(tile.part)},
                   cell(keys_text(g, tile)),
                   cell(tile.blocks, Unit::count)};
      if (!tile.place.empty()) row.command = print(Invocation{"select", {{"tensor", t->tensor}, {"place", tile.place}}});
      row.selected = marked.tile(side.ops, tile);
      p.rows.push_back(std::move(row));
    }
  };
  for (std::size_t k = 0; k < t->writers.size(); ++k)
    add(t->writers[k], t->gradient ? "wanted" : "written", "w" + std::to_string(k));
  for (std::size_t k = 0; k < t->readers.size(); ++k)
    add(t->readers[k], t->gradient ? "given" : "read", "r" + std::to_string(k));
  return p;
}

}  // namespace planscope::session
