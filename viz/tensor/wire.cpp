#include "viz/tensor/wire.h"

#include "viz/canvas/wire.h"

namespace planscope::viz {

namespace {
constexpr std::uint32_t version = 1;
}

template <class Archive>
void fields(Archive& a, TensorDimension& d) {
  a(d.name, d.size);
}
template <class Archive>
void fields(Archive& a, TensorAxis& x) {
  a(x.name, x.size, x.index);
}
template <class Archive>
void fields(Archive& a, TileRun& r) {
  a(r.begin, r.end);
}
template <class Archive>
void fields(Archive& a, TileDevices& d) {
  a(d.first, d.axes, d.listed);
}
template <class Archive>
void fields(Archive& a, Tile& t) {
  a(t.runs, t.devices, t.devices_text, t.place, t.count, t.blocks, t.part, t.part_last, t.part_of, t.part_kind, t.keys,
      t.colour);
}
template <class Archive>
void fields(Archive& a, MoveChip& m) {
  a(m.kind, m.what, m.bytes, m.time, m.exposed, m.shared);
}
template <class Archive>
void fields(Archive& a, TensorSide& s) {
  a(s.title, s.place, s.layout, s.segment, s.first, s.tiles, s.writer, s.moves, s.refused);
}
template <class Archive>
void fields(Archive& a, TensorModel& m) {
  a(m.name, m.dtype, m.gradient, m.has_gradient, m.devices, m.dimensions, m.axes, m.sides, m.tiles);
}

std::string encode(const TensorModel& m) { return encode("TENS", version, m); }

std::optional<TensorModel> decode_tensor(std::string_view bytes) {
  std::optional<TensorModel> out = decode<TensorModel>("TENS", version, bytes);
  return out && first_problem(*out).empty() ? std::move(out) : std::nullopt;
}

}  // namespace planscope::viz
