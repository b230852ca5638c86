#include "planner/cost/operator_cost.h"

#include <algorithm>

#include "engine/graph/element_types.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double bytes_of(const std::vector<Bytes>& slots, int slot) { return static_cast<double>(slots[at(slot)].count); }

DType dtype_of(const Graph& graph, TensorId tensor) { return graph.model->values[at(tensor)].dtype; }

// The type that the arithmetic runs in: that of the first floating or complex operand, else of the first such result.
DType arithmetic_type(const Graph& graph, const Op& op) {
  for (const std::vector<Operand>* list : {&op.inputs, &op.outputs})
    for (const Operand& o : *list)
      if (const DType type = dtype_of(graph, o.tensor); carries_gradient(type)) return real_type(type);
  return DType::f32;
}

bool wants_gradient(const Graph& graph, const Operand& operand) { return graph.tensors[at(operand.tensor)].gradient; }

double output_bytes(const Op& op, const PieceOp& piece_op, const std::vector<Bytes>& slots) {
  double sum = 0;
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    sum += bytes_of(slots, piece_op.first_output + static_cast<int>(i));
  return sum;
}

double saved_bytes(const Op& op, const PieceOp& piece_op, const std::vector<Bytes>& slots) {
  double sum = 0;
  for (int s : op.saves) sum += bytes_of(slots, s >= 0 ? piece_op.inputs[at(s)] : piece_op.first_output - 1 - s);
  return sum;
}

}  // namespace

std::string_view to_string(FigureSource s) {
  return s == FigureSource::measured ? "measured" : s == FigureSource::interpolated ? "interpolated" : "modelled";
}

std::vector<Bytes> slot_bytes(const Graph& graph, const Program& program, const Piece& piece) {
  std::vector<Bytes> out;
  out.reserve(piece.slots.size());
  for (const PieceSlot& s : piece.slots)
    out.push_back(
        {local_elements(graph, s.tensor, program.layouts[at(s.layout)]) * byte_size(dtype_of(graph, s.tensor))});
  return out;
}

Bytes value_bytes(const Graph& graph, const Program& program, ProgramValueId id) {
  const ProgramValue& v = program.values[at(id)];
  return {local_elements(graph, v.tensor, program.layouts[at(v.layout)]) * byte_size(dtype_of(graph, v.tensor))};
}

double local_share(const Graph& graph, const PieceOp& piece_op) {
  const Op& op = graph.ops[at(piece_op.op)];
  std::map<std::pair<int, int>, std::int64_t> blocks;  // (factor, part) -> into how many it is cut
  double share = 1;
  for (const Binding& b : piece_op.bindings) {
    const double n = static_cast<double>(b.digit.size);
    if (b.digit.reach == Reach::prefix)
      share *= (n + 1) / (2 * n);  // of 1, 2, … n blocks
    else if (b.factor >= 0)
      blocks.try_emplace({b.factor, b.part}, 1).first->second *= b.digit.size;
  }
  for (const auto& [part, count] : blocks) {
    const std::int64_t size = graph.classes[at(op.factors[at(part.first)].parts[at(part.second)])].size;
    if (size > 0) share *= static_cast<double>((size + count - 1) / count) / static_cast<double>(size);
  }
  return share;
}

Work forward_work(const Graph& graph, const Piece&, const PieceOp& piece_op, const std::vector<Bytes>& slots,
                  double seen) {
  const Op& op = graph.ops[at(piece_op.op)];
  Work w;
  w.kind = classify(graph, piece_op.op);
  w.dtype = arithmetic_type(graph, op);
  if (w.kind == OperatorClass::view) return w;
  w.kernels = 1;
  w.flops = op.flops * local_share(graph, piece_op);
  const double written = output_bytes(op, piece_op, slots);
  w.bytes = written;
  for (std::size_t i = 0; i < piece_op.inputs.size(); ++i) {
    const double read = bytes_of(slots, piece_op.inputs[i]);
    // A table is read only where its rows are chosen.
    w.bytes += w.kind == OperatorClass::index && i == 0 ? std::min(read, written) : read;
  }
  w.flops *= seen;
  w.bytes *= seen;
  return w;
}

Work backward_work(const Graph& graph, const Piece&, const PieceOp& piece_op, const std::vector<Bytes>& slots,
                   double seen) {
  const Op& op = graph.ops[at(piece_op.op)];
  Work w;
  w.kind = classify(graph, piece_op.op);
  w.dtype = arithmetic_type(graph, op);
  if (!op.backward) return w;
  int wanted = 0, multiplied = 0;
  double gradients = 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!wants_gradient(graph, op.inputs[i])) continue;
    ++wanted;
    multiplied += op.inputs[i].added ? 0 : 1;
    gradients += bytes_of(slots, piece_op.inputs[i]);
  }
  if (wanted == 0) return w;
  const double given = output_bytes(op, piece_op, slots);
  const double forward = seen * op.flops * local_share(graph, piece_op);
  if (w.kind == OperatorClass::view && given == gradients) return w;  // its backward is a view as well
  w.bytes = seen * (given + gradients + saved_bytes(op, piece_op, slots));
  w.kernels = w.kind == OperatorClass::product ? wanted : 1;
  w.flops = w.kind == OperatorClass::product     ? forward * multiplied
            : w.kind == OperatorClass::attention ? 2.5 * forward
                                                 : 2 * forward;
  return w;
}

Microseconds roofline(const Work& w, const DeviceType& device, const CostModel& model) {
  if (w.kernels == 0) return {};
  const Efficiency& e = model.efficiency[static_cast<std::size_t>(w.kind)];
  const double peak = device.rate(to_string(w.dtype));
  const double compute = peak > 0 ? w.flops / (peak * e.compute) * 1e6 : 0;
  const double memory = w.bytes / (device.memory_bandwidth * e.memory) * 1e6;
  return Microseconds{std::max(compute, memory)} + static_cast<double>(w.kernels) * device.launch;
}

namespace {

const Profile* profile_of(const CostModel& model, const DeviceType& device) {
  const auto found = model.profiles.find(device.name);
  return found == model.profiles.end() || found->second.samples.empty() ? nullptr : &found->second;
}

}  // namespace

Figure memory_time(double bytes, const DeviceType& device, const CostModel& model) {
  const Microseconds modelled = roofline({.bytes = bytes, .kernels = 1}, device, model);
  const Profile* profile = profile_of(model, device);
  return profile ? look_up(*profile, memory_key, "", modelled) : Figure{modelled};
}

Figure accumulation_time(double bytes, const DeviceType& device, const CostModel& model) {
  return memory_time(3 * bytes, device, model);
}

std::string update_key(std::int64_t state) { return "update with " + std::to_string(state) + " bytes of state"; }

Figure update_time(double bytes, std::int64_t state, const DeviceType& device, const CostModel& model) {
  const Microseconds modelled = roofline({.bytes = bytes, .kernels = 1}, device, model);
  const Profile* profile = profile_of(model, device);
  return profile ? look_up(*profile, update_key(state), "", modelled) : Figure{modelled};
}

bool has_backward(const Graph& graph, OpId id) {
  const Op& op = graph.ops[at(id)];
  return op.backward &&
         std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& o) { return wants_gradient(graph, o); });
}

bool is_uniform(const Graph& graph, const Program& program, const Piece& piece, const PieceOp& piece_op) {
  const Op& op = graph.ops[at(piece_op.op)];
  const auto keyed = [&](int slot) { return is_keyed(program.layouts[at(piece.slots[at(slot)].layout)]); };
  if (std::any_of(piece_op.inputs.begin(), piece_op.inputs.end(), keyed)) return false;
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (keyed(piece_op.first_output + static_cast<int>(i))) return false;
  return std::none_of(piece_op.bindings.begin(), piece_op.bindings.end(), [&](const Binding& b) {
    if (b.digit.reach != Reach::own || !b.digit.sizes.empty()) return true;
    return b.factor >= 0 && op.factors[at(b.factor)].kind == FactorKind::softmax;
  });
}

std::string profile_key(const Graph& graph, const PieceOp& piece_op, DType dtype, bool backward) {
  const Node& node = graph.node(piece_op.op);
  std::string key = node.target;
  for (const NamedArgument& a : node.arguments)
    if (const bool* flag = std::get_if<bool>(&a.value); flag && *flag) key += " " + a.name;
  return key + " " + std::string(to_string(dtype)) + (backward ? " backward" : " forward");
}

std::string shapes_key(const Graph& graph, const Program& program, const Piece& piece, const PieceOp& piece_op,
                       bool backward) {
  const Op& op = graph.ops[at(piece_op.op)];
  std::string key;
  const auto add = [&](int slot, bool wanted) {
    const PieceSlot& s = piece.slots[at(slot)];
    std::string shape;
    for (const std::int64_t size : local_sizes(graph, s.tensor, program.layouts[at(s.layout)]))
      shape += (shape.empty() ? "" : "x") + std::to_string(size);
    key += (key.empty() ? "" : " ") + (shape.empty() ? "1" : shape) + (wanted ? "*" : "");
  };
  for (std::size_t i = 0; i < piece_op.inputs.size(); ++i)
    add(piece_op.inputs[i], backward && wants_gradient(graph, op.inputs[i]));
  key += " >";
  for (std::size_t i = 0; i < op.outputs.size(); ++i) add(piece_op.first_output + static_cast<int>(i), false);
  return key;
}

namespace {

// A view: the time is that of all others, whatever their sizes.
Figure of_views(const std::vector<ProfileSample>& samples) {
  double sum = 0;
  int count = 0;
  for (const ProfileSample& s : samples)
    if (s.modelled_us == 0) sum += s.measured_us, ++count;
  return count > 0 ? Figure{{sum / count}, FigureSource::interpolated} : Figure{};
}

}  // namespace

Figure look_up(const Profile& profile, const std::string& key, const std::string& shapes, Microseconds modelled) {
  const auto found = profile.samples.find(key);
  if (found == profile.samples.end() || found->second.empty()) return {modelled, FigureSource::modelled};
  const std::vector<ProfileSample>& samples = found->second;
  for (const ProfileSample& s : samples)
    if (s.shapes == shapes) return {{s.measured_us}, FigureSource::measured};
  if (modelled.count == 0) return of_views(samples);
  const auto ratio = [](const ProfileSample& s) { return s.measured_us / s.modelled_us; };
  const auto first = std::find_if(samples.begin(), samples.end(), [](const auto& s) { return s.modelled_us > 0; });
  if (first == samples.end()) return {modelled, FigureSource::modelled};
  const auto above = std::lower_bound(first, samples.end(), modelled.count,
                                      [](const ProfileSample& s, double us) { return s.modelled_us < us; });
  double factor = 0;
  if (above == first || above == samples.end() || above->modelled_us == modelled.count) {
    factor = ratio(above == samples.end() ? samples.back() : *above);
  } else {
    const ProfileSample& below = *(above - 1);
    const double position = (modelled.count - below.modelled_us) / (above->modelled_us - below.modelled_us);
    factor = ratio(below) + position * (ratio(*above) - ratio(below));
  }
  return {modelled * factor, FigureSource::interpolated};
}

namespace {

Figure timed(const Graph& graph, const Program& program, const Piece& piece, const PieceOp& op,
             const DeviceType& device, const CostModel& model, const Work& work, double seen, bool backward) {
  const Microseconds modelled = roofline(work, device, model);
  const Profile* profile = profile_of(model, device);
  if (!profile) return {modelled, FigureSource::modelled};
  const std::string shapes =
      seen == 1 && is_uniform(graph, program, piece, op) ? shapes_key(graph, program, piece, op, backward) : "";
  return look_up(*profile, profile_key(graph, op, work.dtype, backward), shapes, modelled);
}

}  // namespace

Figure forward_time(const Graph& graph, const Program& program, const Piece& piece, const PieceOp& op,
                    const std::vector<Bytes>& slots, const DeviceType& device, const CostModel& model, double seen) {
  const Work work = forward_work(graph, piece, op, slots, seen);
  return timed(graph, program, piece, op, device, model, work, seen, false);
}

Figure backward_time(const Graph& graph, const Program& program, const Piece& piece, const PieceOp& op,
                     const std::vector<Bytes>& slots, const DeviceType& device, const CostModel& model, double seen) {
  if (!has_backward(graph, op.op)) return {};
  const Work work = backward_work(graph, piece, op, slots, seen);
  return timed(graph, program, piece, op, device, model, work, seen, true);
}

}  // namespace planscope
