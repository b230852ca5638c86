#include <sstream>

#include "engine/base/text.h"
#include "engine/program/program.h"

namespace planscope {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

// `(ring+cp)%4`; `|half|`: every index; `..tok`: its block and all before it
std::string turned_text(const Program& p, const Digit& d) {
  const auto term = [](std::int64_t n, const std::string& of) { return n == 1 ? of : std::to_string(n) + "*" + of; };
  std::string out = d.start ? std::to_string(d.start) + "+" : "";
  out += term(d.step, at(p.axes, d.axis).name);
  if (d.by >= 0 && d.turn) out += "+" + term(d.turn, at(p.axes, d.by).name);
  if (d.by >= 0 && d.cross) out += "+" + term(d.cross, at(p.axes, d.axis).name + "*" + at(p.axes, d.by).name);
  return "(" + out + ")%" + std::to_string(d.size);
}

std::string digit_text(const Program& p, const Digit& d) {
  const Axis& axis = at(p.axes, d.axis);
  if (d.reach == Reach::every) return "|" + axis.name + "|";
  if (d.reach == Reach::prefix) return ".." + axis.name;
  if (is_turned(d)) return turned_text(p, d);
  if (d.size == axis.size) return axis.name;
  return axis.name + "(" + std::to_string(d.size) + (d.stride == 1 ? "" : "x" + std::to_string(d.stride)) + ")";
}

std::string digits_text(const Program& p, const std::vector<Digit>& digits) {
  std::vector<std::string> out;
  for (const Digit& d : digits) out.push_back(digit_text(p, d));
  return join(out, ",");
}

std::string axes_text(const Program& p, const std::vector<AxisId>& axes) {
  std::vector<std::string> out;
  for (const AxisId a : axes) out.push_back(at(p.axes, a).name);
  return join(out, ",");
}

std::string value_text(const Program& p, const Graph& g, ProgramValueId id) {
  if (id < 0) return "-";
  const ProgramValue& v = at(p.values, id);
  std::string out = "%" + std::to_string(id) + " ";
  if (v.role == Role::gradient) out += "d ";
  if (v.role == Role::home) out += "home ";
  if (v.role == Role::state) out += "state ";
  out += g.tensor_name(v.tensor);
  if (!v.indexed.empty()) out += "[" + axes_text(p, v.indexed) + "]";
  return out;
}

std::string values_text(const Program& p, const Graph& g, const std::vector<ProgramValueId>& ids) {
  std::vector<std::string> out;
  for (const ProgramValueId v : ids) out.push_back(value_text(p, g, v));
  return join(out, ", ");
}

std::string part_text(const Graph& g, TensorId t, int dim, int part) {
  const auto& dims = at(g.tensors, t).dims;
  if (dim < 0 || dim >= static_cast<int>(dims.size())) return "?";
  const auto& classes = at(dims, dim);
  const std::string name =
      part >= 0 && part < static_cast<int>(classes.size()) ? at(g.classes, at(classes, part)).name : "?";
  return name.empty() ? "dim" + std::to_string(dim) : name;
}

// What a key numbers: `expert`.
std::string domain_text(const Graph& g, TensorId key) {
  const ClassId domain = at(g.tensors, key).domain;
  const std::string name = domain < 0 ? "" : at(g.classes, domain).name;
  return name.empty() ? g.tensor_name(key) : name;
}

std::string move_text(const Program& p, const Graph& g, const Move& m, TensorId t) {
  std::string out = std::string(to_string(m.kind)) + " over " + digits_text(p, m.digits);
  const auto side = [&](int dim, int part) {
    return part == kByKey && m.key >= 0 ? domain_text(g, m.key) : part_text(g, t, dim, part);
  };
  if (m.from_dim >= 0) out += " from " + side(m.from_dim, m.from_part);
  if (m.dim >= 0) out += " at " + side(m.dim, m.part);
  if (m.kind == MoveKind::rotate || m.kind == MoveKind::rotate_back) out += " by " + digit_text(p, m.turned);
  return out;
}

void print_piece(std::ostream& out, const Program& p, const Graph& g, int id) {
  const Piece& piece = at(p.pieces, id);
  out << "piece " << id << (piece.gradient ? " with backward" : "") << "\n";
  const auto slot = [&](int s) {
    const PieceSlot& x = at(piece.slots, s);
    return "#" + std::to_string(s) + " " + g.tensor_name(x.tensor) + " " +
           describe(p, g, at(p.layouts, x.layout), x.tensor);
  };
  for (int s = 0; s < piece.leaves; ++s) out << "  leaf " << slot(s) << "\n";
  for (const PieceOp& op : piece.ops) {
    std::vector<std::string> in, bound;
    for (const int s : op.inputs) in.push_back("#" + std::to_string(s));
    const Op& rule = at(g.ops, op.op);
    for (const Binding& b : op.bindings)
      bound.push_back(
          (b.factor < 0 ? "pass" : at(rule.factors, b.factor).name + (b.part ? "." + std::to_string(b.part) : "")) +
          "/" + digit_text(p, b.digit));
    out << "  " << g.node(op.op).name() << "(" << join(in, " ") << ")";
    if (!bound.empty()) out << " {" << join(bound, " ") << "}";
    for (std::size_t k = 0; k < rule.outputs.size(); ++k)
      out << (k ? ", " : " -> ") << slot(op.first_output + static_cast<int>(k));
    out << "\n";
  }
  std::vector<std::string> outputs;
  for (const int s : piece.outputs) outputs.push_back("#" + std::to_string(s));
  out << "  gives " << join(outputs, " ") << "\n";
}

void print_class(std::ostream& out, const Program& p, const DeviceClass& c) {
  out << "devices " << c.name << "\n";
  for (const Loop& loop : c.loops) {
    out << "  " << loop.count << " x";
    for (const SlotStep& s : loop.body) {
      const Segment& segment = at(p.segments, s.segment);
      out << " " << segment.name;
      std::vector<std::string> index;
      if (s.ahead > 0) index.push_back("step+" + std::to_string(s.ahead));
      for (std::size_t k = 0; k < s.base.size(); ++k)
        index.push_back(std::to_string(s.base[k]) + (s.step[k] ? "+" + std::to_string(s.step[k]) + "n" : ""));
      if (!index.empty()) out << "[" << join(index, ",") << "]";
    }
    out << "\n";
  }
}

}  // namespace

std::string describe(const Program& p, const Graph& g, const Move& m, TensorId t) { return move_text(p, g, m, t); }

std::string describe(const Program& p, const Place& place) {
  std::vector<std::string> fixed;
  for (const auto& [a, c] : place.fixed) fixed.push_back(at(p.axes, a).name + "=" + std::to_string(c));
  const std::string& name = at(p.grids, place.grid).name;
  return fixed.empty() ? name : name + "[" + join(fixed, ",") + "]";
}

std::string describe(const Program& p, const Graph& g, const Layout& layout, TensorId t) {
  std::vector<std::string> dims;
  const auto& parts = at(g.tensors, t).dims;
  for (int d = 0; d < static_cast<int>(parts.size()); ++d) {
    std::vector<std::string> names;
    for (int k = 0; k < static_cast<int>(at(parts, d).size()); ++k) {
      const PartClass& c = at(g.classes, at(at(parts, d), k));
      std::string name = c.name.empty() ? std::to_string(c.size) : c.name;
      for (const Split& s : layout.splits)
        if (s.dim == d && s.part == k) name += "/" + digits_text(p, s.digits);
      names.push_back(std::move(name));
    }
    dims.push_back(names.empty() ? "1" : join(names, "*"));
    for (const Split& s : layout.splits)
      if (s.dim == d && s.part == kByKey)
        dims.back() += " of " + domain_text(g, s.key) + "/" + digits_text(p, s.digits);
  }
  std::string out = "[" + join(dims, ", ") + "]";
  for (const auto& [kind, word] : {std::pair(PartialKind::sum, "partial"), std::pair(PartialKind::merge, "merge"),
                                   std::pair(PartialKind::softmax, "softmax")}) {
    std::vector<Digit> digits;
    for (const Partial& x : layout.partials)
      if (x.kind == kind) digits.push_back(x.digit);
    if (!digits.empty()) out += std::string(" ") + word + "(" + digits_text(p, digits) + ")";
  }
  return out;
}

std::string describe(const Program& p, const Graph& g, const Instruction& i) {
  std::string out(to_string(i.code));
  if (i.code == Code::issue || i.code == Code::local)
    out += " " + move_text(p, g, i.move, i.in.empty() ? -1 : at(p.values, i.in.front()).tensor);
  if (i.piece >= 0) out += " piece " + std::to_string(i.piece);
  if (i.transfer >= 0) out += " #" + std::to_string(i.transfer);
  if (!i.in.empty()) out += " " + values_text(p, g, i.in);
  if (!i.out.empty()) out += " -> " + values_text(p, g, i.out);
  if (i.keep) out += " keep";
  if (i.last) out += " last";
  return out;
}

std::string print(const Program& p, const Graph& g) {
  std::ostringstream out;
  out << "program on " << p.device_count << (p.device_count == 1 ? " device\n" : " devices\n");
  for (const Axis& a : p.axes)
    out << "axis " << a.name << "=" << a.size
        << (a.of >= 0    ? " free, a part of " + at(p.axes, a.of).name
            : a.grid < 0 ? " free"
                         : " of " + at(p.grids, a.grid).name)
        << "\n";
  for (const Grid& grid : p.grids) out << "grid " << grid.name << " (" << axes_text(p, grid.axes) << ")\n";
  for (int v = 0; v < static_cast<int>(p.values.size()); ++v) {
    const ProgramValue& x = at(p.values, v);
    out << "value " << value_text(p, g, v) << " " << describe(p, g, at(p.layouts, x.layout), x.tensor) << " on "
        << describe(p, at(p.places, x.place));
    if (x.refills >= 0) out << " refills %" << x.refills;
    if (x.lag > 0) out << " read " << x.lag << (x.lag == 1 ? " update" : " updates") << " old";
    out << "\n";
  }
  for (int k = 0; k < static_cast<int>(p.pieces.size()); ++k) print_piece(out, p, g, k);
  for (const Segment& s : p.segments) {
    out << "segment " << s.name << " on " << describe(p, at(p.places, s.place));
    if (!s.free_axes.empty()) out << " [" << axes_text(p, s.free_axes) << "]";
    out << "\n";
    for (const Instruction& i : s.instructions) {
      out << "  " << describe(p, g, i);
      if (i.statement >= 0) out << "  # line " << at(p.statements, i.statement).line;
      out << "\n";
    }
  }
  for (const DeviceClass& c : p.classes) print_class(out, p, c);
  if (p.loss >= 0) out << "loss " << value_text(p, g, p.loss) << "\n";
  return out.str();
}

}  // namespace planscope
