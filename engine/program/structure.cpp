#include "engine/program/structure.h"

#include <algorithm>
#include <functional>

#include "engine/program/bucket.h"

namespace planscope {

namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 31;  // of devices, coordinates and indices
constexpr int most_devices = 1 << 20;
constexpr std::int64_t most_slots = std::int64_t{1} << 23;  // of all device classes together

bool in(std::int64_t n, std::size_t count) { return n >= 0 && n < static_cast<std::int64_t>(count); }
bool in_or_none(std::int64_t n, std::size_t count) { return n == -1 || in(n, count); }

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

class Checker {
 public:
  Checker(const Program& p, const Graph& g) : p_(p), g_(g) {}

  std::vector<Diagnostic> run() {
    each("axes", p_.axes, [&](const Axis& a) {
      need(a.size >= 1 && a.size < largest_count, "its size is " + std::to_string(a.size));
      need(in_or_none(a.grid, p_.grids.size()), "it belongs to no grid of the program");
    });
    each("axes", p_.axes, [&](const Axis& a) { axis_part(a); });
    need(p_.device_count >= 1 && p_.device_count <= most_devices,
         "it has " + std::to_string(p_.device_count) + " devices");
    each("grids", p_.grids, [&](const Grid& x) { grid(x); });
    each("axes", p_.axes, [&](const Axis& a) {
      if (a.grid < 0) return;
      const std::vector<AxisId>& there = at(p_.grids, a.grid).axes;
      const bool has = std::find(there.begin(), there.end(), static_cast<AxisId>(item_)) != there.end();
      need(has, "its grid has no such axis");
    });
    each("places", p_.places, [&](const Place& x) { place(x); });
    each("layouts", p_.layouts, [&](const Layout& x) { layout(x); });
    each("values", p_.values, [&](const ProgramValue& x) { value(x); });
    each("pieces", p_.pieces, [&](const Piece& x) { piece(x); });
    each("transfers", p_.transfers, [&](const Transfer& t) {
      need(!t.from.empty() && t.from.size() == t.to.size(), "its values are not pairs");
      for (const auto* list : {&t.from, &t.to})
        for (const ProgramValueId v : *list) need(in(v, p_.values.size()), "it names a value that does not exist");
    });
    each("segments", p_.segments, [&](const Segment& x) { segment(x); });
    each("classes", p_.classes, [&](const DeviceClass& x) { device_class(x); });
    one_class_each();
    each("relaxations", p_.relaxations, [&](const Relaxation& r) {
      need(in(r.op, g_.ops.size()), "its operator does not exist");
      need(r.lag >= 0 && r.lag <= most_lag, "its lag is " + std::to_string(r.lag));
      need(in_or_none(r.statement, p_.statements.size()), "a statement does not exist");
    });
    where_.clear();
    need(in_or_none(p_.loss, p_.values.size()), "the loss is a value that does not exist");
    return std::move(found_);
  }

 private:
  // Later lists are looked at only if those that they refer to are sound.
  template <class T, class F>
  void each(const char* name, const std::vector<T>& list, F check) {
    if (!found_.empty()) return;
    for (std::size_t k = 0; k < list.size() && found_.size() < 5; ++k) {
      where_ = name;
      item_ = k;
      check(list[k]);
    }
  }
  bool need(bool good, const std::string& why) {
    if (good) return true;
    const std::string place = where_.empty() ? "" : where_ + "[" + std::to_string(item_) + "]: ";
    found_.push_back(error("the program is damaged", place + why));
    return false;
  }
  bool need(bool good, const char* why) { return good || need(false, std::string(why)); }

  void axes_in(const std::vector<AxisId>& axes, bool free, const char* why) {
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (!need(in(axes[k], p_.axes.size()) && (at(p_.axes, axes[k]).grid < 0) == free &&
                    std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(k), axes[k]) ==
                        axes.begin() + static_cast<std::ptrdiff_t>(k),
                why))
        return;
  }

  // A part of a free axis has some of its indices, once each.
  void axis_part(const Axis& x) {
    if (x.of < 0 && x.indices.empty()) return;
    if (!need(in(x.of, p_.axes.size()), "the axis of which it is a part does not exist")) return;
    const Axis& whole = at(p_.axes, x.of);
    need(x.grid < 0 && whole.grid < 0 && whole.of < 0 && whole.size == x.size, "it is no part of a free axis");
    need(!x.indices.empty() && x.indices.front() >= 0 && x.indices.back() < x.size &&
             std::adjacent_find(x.indices.begin(), x.indices.end(), std::greater_equal<>()) == x.indices.end(),
         "its indices are not ascending ones of the whole axis");
  }

  void grid(const Grid& x) {
    axes_in(x.axes, false, "an axis does not exist, is free or stands twice");
    if (!found_.empty()) return;
    std::int64_t count = 1, last = x.first;
    for (std::size_t k = 0; k < x.axes.size(); ++k) {
      const Axis& a = at(p_.axes, x.axes[k]);
      need(a.grid == static_cast<GridId>(item_), "its axis '" + a.name + "' belongs to another grid");
      count *= a.size;
      if (!need(count <= p_.device_count, "it has more coordinates than there are devices")) return;
      if (!x.devices.empty()) continue;
      if (!need(x.strides.size() == x.axes.size() && x.strides[k] >= 0 && x.strides[k] < largest_count,
                "its strides do not fit its axes"))
        return;
      last += (a.size - 1) * x.strides[k];
      if (!need(last <= largest_count * 2, "its strides are too large")) return;
    }
    if (x.devices.empty()) {
      need(x.first >= 0 && x.first < p_.device_count && last < p_.device_count,
           "it names a device that does not exist");
    } else {
      need(static_cast<std::int64_t>(x.devices.size()) == count, "its device list does not fit its axes");
      for (const int d : x.devices)
        if (!need(d >= 0 && d < p_.device_count, "it names a device that does not exist")) return;
    }
    if (found_.empty())
      distinct(devices(p_, {static_cast<GridId>(item_), {}}), "two of its coordinates are one device");
  }

  void distinct(std::vector<int> list, const char* why) {
    std::sort(list.begin(), list.end());
    need(std::adjacent_find(list.begin(), list.end()) == list.end(), why);
  }

  void place(const Place& x) {
    if (!need(in(x.grid, p_.grids.size()), "its grid does not exist")) return;
    for (std::size_t k = 0; k < x.fixed.size(); ++k) {
      const auto& [axis, c] = x.fixed[k];
      if (!need(in(axis, p_.axes.size()) && at(p_.axes, axis).grid == x.grid && c >= 0 && c < at(p_.axes, axis).size,
                "a fixed coordinate does not fit its grid"))
        return;
      if (k > 0) need(x.fixed[k - 1].first < axis, "its fixed axes are not sorted");
    }
  }

  bool digit(const Digit& d) {
    return need(in(d.axis, p_.axes.size()) && d.size >= 1 && d.stride >= 1 && d.size <= at(p_.axes, d.axis).size &&
                    d.stride <= at(p_.axes, d.axis).size && at(p_.axes, d.axis).size % (d.size * d.stride) == 0,
                "a digit does not fit its axis") &&
           need(d.sizes.empty() || (d.sizes.size() == static_cast<std::size_t>(d.size) &&
                                    std::all_of(d.sizes.begin(), d.sizes.end(), [](auto n) { return n >= 0; })),
                "a digit lists sizes that are not those of its blocks") &&
           turn(d);
  }

  bool turn(const Digit& d) {
    const auto below = [&](std::int64_t n) { return n >= 0 && n < std::max<std::int64_t>(d.size, 2); };
    const bool whole = d.stride == 1 && d.size == at(p_.axes, d.axis).size && d.sizes.empty();
    const bool free = at(p_.axes, d.axis).grid < 0;
    return need(d.reach == Reach::own ||
                    (whole && free && at(p_.axes, d.axis).of < 0 && (d.reach == Reach::every || !is_turned(d))),
                "a digit reaches over several indices of what is not a whole free axis") &&
           (!is_turned(d) || need(whole && below(d.step) && below(d.turn) && below(d.start) && below(d.cross) &&
                                      in_or_none(d.by, p_.axes.size()) &&
                                      (d.by < 0 ? d.turn == 0 && d.cross == 0 : free == (at(p_.axes, d.by).grid >= 0)),
                                  "a digit is turned that is not a whole axis, or by what does not turn it"));
  }

  void layout(const Layout& x) {
    for (std::size_t k = 0; k < x.splits.size(); ++k) {
      const Split& s = x.splits[k];
      need(s.dim >= 0 && s.part >= kByKey && !s.digits.empty(), "a split is empty");
      need((s.part == kByKey) == (s.key >= 0) && in_or_none(s.key, g_.tensors.size()),
           "a split by key names no key, or another one does");
      if (k > 0)
        need(std::pair(x.splits[k - 1].dim, x.splits[k - 1].part) < std::pair(s.dim, s.part),
             "its splits are not sorted");
      for (const Digit& d : s.digits) digit(d);
    }
    for (std::size_t k = 0; k < x.partials.size(); ++k) {
      digit(x.partials[k].digit);
      need(x.partials[k].digit == plain(x.partials[k].digit), "a partial digit lists block sizes, or is turned");
      if (k > 0) need(x.partials[k - 1].digit < x.partials[k].digit, "its partial digits are not sorted");
    }
  }

  bool part(TensorId t, int dim, int part, TensorId key) {
    const auto& dims = at(g_.tensors, t).dims;
    if (!in(dim, dims.size())) return false;
    return part == kByKey ? selects(key, at(dims, dim)) : in(part, at(dims, dim).size());
  }

  // A key has an element for each index of the dimension, and a domain.
  bool selects(TensorId key, const std::vector<ClassId>& rows) {
    if (!in(key, g_.tensors.size())) return false;
    const PTensor& k = at(g_.tensors, key);
    return in(k.domain, g_.classes.size()) && k.dims.size() == 1 && k.dims[0] == rows;
  }

  bool tensor_layout(TensorId t, LayoutId l) {
    if (!need(in(t, g_.tensors.size()), "its tensor does not exist") ||
        !need(in(l, p_.layouts.size()), "its layout does not exist"))
      return false;
    for (const Split& s : at(p_.layouts, l).splits)
      if (!need(part(t, s.dim, s.part, s.key), "its layout splits a dimension that its tensor lacks") ||
          !need(blocks_fit(t, s), "block sizes of its layout are not those of the part"))
        return false;
    return true;
  }

  // Listed sizes are those of the first digit of a part, and add up to it.
  bool blocks_fit(TensorId t, const Split& s) const {
    for (std::size_t k = 1; k < s.digits.size(); ++k)
      if (!s.digits[k].sizes.empty()) return false;
    const std::vector<std::int64_t>& sizes = s.digits[0].sizes;
    const ClassId cut = s.part == kByKey ? at(g_.tensors, s.key).domain : at(at(at(g_.tensors, t).dims, s.dim), s.part);
    const std::int64_t size = at(g_.classes, cut).size;
    std::int64_t left = size;
    for (const std::int64_t n : sizes) left -= std::min(n, left + 1);
    return sizes.empty() || left == 0;
  }

  void value(const ProgramValue& x) {
    tensor_layout(x.tensor, x.layout);
    need(in(x.place, p_.places.size()), "its place does not exist");
    axes_in(x.indexed, true, "it is indexed by an axis that is not free or stands twice");
    need(std::is_sorted(x.indexed.begin(), x.indexed.end()), "its axes are not sorted");
    need(in_or_none(x.refills, p_.values.size()), "it refills a value that does not exist");
    need(x.lag >= 0 && x.lag <= most_lag, "it is " + std::to_string(x.lag) + " updates old");
    need(x.lag == 0 || x.role == Role::home, "only a stored parameter has older versions");
  }

  void piece(const Piece& x) {
    for (const PieceSlot& s : x.slots)
      if (!tensor_layout(s.tensor, s.layout)) return;
    if (!need(x.leaves >= 0 && x.leaves <= static_cast<int>(x.slots.size()), "it has more leaves than slots")) return;
    int next = x.leaves;
    for (const PieceOp& o : x.ops) {
      if (!need(in(o.op, g_.ops.size()), "an operator does not exist")) return;
      const Op& op = at(g_.ops, o.op);
      if (!need(o.inputs.size() == op.inputs.size(), "an operator has the wrong number of inputs")) return;
      if (!need(
              o.first_output == next && next + static_cast<int>(op.outputs.size()) <= static_cast<int>(x.slots.size()),
              "the results of its operators are not in order"))
        return;
      for (std::size_t k = 0; k < op.inputs.size(); ++k)
        if (!need(o.inputs[k] >= 0 && o.inputs[k] < next, "an operator reads a slot before it is written") ||
            !need(at(x.slots, o.inputs[k]).tensor == op.inputs[k].tensor, "an operator reads a slot of another tensor"))
          return;
      for (std::size_t k = 0; k < op.outputs.size(); ++k, ++next)
        if (!need(at(x.slots, next).tensor == op.outputs[k].tensor, "an operator writes a slot of another tensor"))
          return;
      for (const Binding& b : o.bindings) binding(b, op);
    }
    need(next == static_cast<int>(x.slots.size()), "it has slots that nothing writes");
    for (const int s : x.outputs)
      if (!need(in(s, x.slots.size()), "an output does not exist")) return;
  }

  void binding(const Binding& b, const Op& op) {
    digit(b.digit);
    if (b.factor < 0)
      need(b.factor == -1 && in(b.part, op.linear.size()), "a binding names a linear set that does not exist");
    else
      need(in(b.factor, op.factors.size()) && in(b.part, at(op.factors, b.factor).parts.size()),
           "a binding names a factor that does not exist");
    need(in_or_none(b.statement, p_.statements.size()), "a statement does not exist");
  }

  void segment(const Segment& x) {
    need(in(x.place, p_.places.size()), "its place does not exist");
    axes_in(x.free_axes, true, "an axis does not exist, is not free or stands twice");
    for (const Instruction& i : x.instructions) {
      instruction(i);
      if (!found_.empty()) return;
    }
  }

  struct Arity {
    std::size_t least_in, most_in, least_out, most_out;
    bool piece, transfer;
  };
  static Arity arity(const Instruction& i) {
    constexpr std::size_t any = static_cast<std::size_t>(-1);
    switch (i.code) {
      case Code::load:
      case Code::seed:
        return {0, 0, 1, 1, false, false};
      case Code::compute:
      case Code::replay:
      case Code::backward:
        return {0, any, 0, any, true, false};
      case Code::add:
        return {1, any, 1, 1, false, false};
      case Code::accumulate:
        return {1, any, 1, 2, false, false};  // by key: with the keys
      case Code::local:
        return {1, 2, 1, 1, false, false};  // by key: with the key
      case Code::issue:
        return {1, any, 1, any, false, false};  // a bucket has several
      case Code::wait:
        return {0, any, 0, any, false, false};
      case Code::send:
        return {1, any, 0, 0, false, true};
      case Code::receive:
        return {0, 0, 1, any, false, true};
      case Code::update:
        return {2, 3, 1, 1, false, false};
      case Code::free:
        return {0, any, 0, 0, false, false};
      case Code::offload:
        return {0, 1, 0, 0, i.piece >= 0, false};
      case Code::restore:
        return {0, 0, 0, 1, i.piece >= 0, false};
      case Code::write:
        return {1, 1, 0, 0, false, false};
    }
    return {0, 0, 0, 0, false, false};
  }

  void instruction(const Instruction& i) {
    const std::string name(to_string(i.code));
    const Arity a = arity(i);
    need(i.in.size() >= a.least_in && i.in.size() <= a.most_in && i.out.size() >= a.least_out &&
             i.out.size() <= a.most_out,
         name + " has the wrong number of values");
    need(a.piece ? in(i.piece, p_.pieces.size()) : i.piece == -1, name + ": its piece does not exist");
    need(a.transfer ? in(i.transfer, p_.transfers.size()) : i.transfer == -1, name + ": its transfer does not exist");
    need(i.code != Code::accumulate || i.out.size() == 1 || i.in.size() == 2, name + " has the wrong number of values");
    need(in_or_none(i.statement, p_.statements.size()), "a statement does not exist");
    const bool sums = i.code == Code::issue || i.code == Code::local || i.code == Code::add || i.code == Code::wait ||
                      i.code == Code::free;
    const bool writes = i.code == Code::write;  // every run may have what is written: each has the same
    need(!i.last || sums || writes, name + " cannot wait for the last run of its segment");
    const bool gaps = i.code == Code::backward;  // gradients that are not there or not wanted
    for (const auto* list : {&i.in, &i.out})
      for (const ProgramValueId v : *list)
        need(gaps ? in_or_none(v, p_.values.size()) : in(v, p_.values.size()),
             name + " names a value that does not exist");
    if (!found_.empty()) return;
    for (const auto* list : {&i.in, &i.out})
      for (const ProgramValueId v : *list)
        need(!i.last || writes || at(p_.values, v).indexed.empty(), name + " of the last run names a value that each run has");
    if (i.code == Code::offload || i.code == Code::restore)
      need((i.piece >= 0) != (i.in.size() + i.out.size() == 1), name + " moves what a piece keeps or one value");
    if (a.piece && a.most_out > 0 && i.code != Code::restore) {
      const Piece& piece = at(p_.pieces, i.piece);
      const bool back = i.code == Code::backward;
      const std::size_t wholes = back ? softmax_outputs(g_, p_, piece).size() : 0;
      need((back ? i.out : i.in).size() == static_cast<std::size_t>(piece.leaves) &&
               (back ? i.in : i.out).size() == piece.outputs.size() + wholes,
           name + ": its values do not fit its piece");
    }
    if (i.code != Code::local && i.code != Code::issue) return;
    if (i.out.size() > 1 && !(need(i.in.size() == i.out.size(), name + ": its values are not pairs") &&
                              need(makes_buckets(i.move), name + ": only sums move several values")))
      return;
    need(i.out.size() > 1 || i.in.size() <= 2, name + " has the wrong number of values");
    for (std::size_t k = 0; k < i.out.size(); ++k) move(i.move, at(p_.values, i.in[k]).tensor);
  }

  void move(const Move& m, TensorId t) {
    for (const Digit& d : m.digits) digit(d);
    if (m.kind == MoveKind::rotate || m.kind == MoveKind::rotate_back)
      need(communicator(m).size() == 1, "a rotation is over one axis") && digit(m.turned);
    const bool to = m.kind != MoveKind::all_reduce && m.kind != MoveKind::to_partial;
    need(to ? part(t, m.dim, m.part, m.key) : m.dim >= -1 && m.part >= -1,
         "a move names a dimension that its tensor lacks");
    if (m.kind == MoveKind::all_to_all)
      need(part(t, m.from_dim, m.from_part, m.key) && (m.part != kByKey || m.from_part != kByKey),
           "a move names a dimension that its tensor lacks");
    const bool keyed = (to && m.part == kByKey) || (m.kind == MoveKind::all_to_all && m.from_part == kByKey);
    need(keyed == (m.key >= 0), "a move names a key and no rows that it selects, or rows and no key");
  }

  // A device runs the slots of one class.
  void one_class_each() {
    if (!found_.empty()) return;
    std::vector<bool> taken(static_cast<std::size_t>(p_.device_count), false);
    each("classes", p_.classes, [&](const DeviceClass& x) {
      for (const int d : devices(p_, x)) {
        if (!need(!taken[static_cast<std::size_t>(d)], "device " + std::to_string(d) + " is in two classes")) return;
        taken[static_cast<std::size_t>(d)] = true;
      }
    });
  }

  void device_class(const DeviceClass& x) {
    if (x.devices.empty()) place(x.place);
    for (const int d : x.devices)
      if (!need(d >= 0 && d < p_.device_count, "it names a device that does not exist")) return;
    for (const Loop& loop : x.loops) {
      if (!need(loop.count >= 0 && loop.count < largest_count, "a loop has no sensible count")) return;
      slots_ += loop.count * static_cast<std::int64_t>(loop.body.size());
      if (!need(slots_ <= most_slots, "it has too many slots")) return;
      for (const SlotStep& s : loop.body)
        if (!slot(s, loop.count)) return;
    }
  }

  bool slot(const SlotStep& s, std::int64_t count) {
    if (!need(in(s.segment, p_.segments.size()), "a slot runs a segment that does not exist")) return false;
    const Segment& segment = at(p_.segments, s.segment);
    if (!need(s.base.size() == segment.free_axes.size() && s.step.size() == s.base.size(),
              "a slot has the wrong number of indices") ||
        !need(s.ahead >= 0 && s.ahead <= most_lag, "a slot is ahead by no sensible number of steps"))
      return false;
    for (std::size_t k = 0; k < s.base.size(); ++k) {
      const std::int64_t size = at(p_.axes, segment.free_axes[k]).size;
      if (count == 0) continue;
      if (!need(s.base[k] >= 0 && s.base[k] < size && s.step[k] > -largest_count && s.step[k] < largest_count,
                "a slot has an index out of range") ||
          !need(in(s.base[k] + s.step[k] * (count - 1), static_cast<std::size_t>(size)),
                "a slot has an index out of range"))
        return false;
    }
    return true;
  }

  const Program& p_;
  const Graph& g_;
  std::string where_;
  std::size_t item_ = 0;
  std::int64_t slots_ = 0;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> check_structure(const Program& p, const Graph& g) { return Checker(p, g).run(); }

}  // namespace planscope
