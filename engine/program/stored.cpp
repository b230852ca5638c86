#include "engine/program/stored.h"

#include <algorithm>
#include <map>

#include "engine/graph/element_types.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class StoredBytes {
 public:
  StoredBytes(const Graph& g, const plan::Decisions& d, std::int64_t state_bytes)
      : g_(g), d_(d), state_bytes_(state_bytes) {
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) placed_ = placed_ || !plan::places_of(d, o).empty();
    for (const int s : d.deferred) {
      const plan::StatementBody& body = d.plan.statements[at(s)].body;
      if (const auto* a = std::get_if<plan::AlgorithmStatement>(&body)) {
        for (const std::string& word : a->algorithm.words)
          may_move_ = may_move_ || word == "offload" || word.starts_with("?");
      }
      splits_wait_ = splits_wait_ || std::holds_alternative<plan::TransStatement>(body) ||
                     std::holds_alternative<plan::AssignStatement>(body);
      order_waits_ = order_waits_ || std::holds_alternative<plan::OrderStatement>(body);
    }
  }

  std::vector<Stored> run() {
    std::vector<int> all = d_.grids[0].devices;
    if (all.empty()) return {};
    const bool sized = std::all_of(d_.grids.begin(), d_.grids.end(), [](const plan::GridInfo& g) {
      return std::all_of(g.axes.begin(), g.axes.end(), [](const plan::GridAxis& a) { return a.size > 0; });
    });
    std::int64_t total = 0;
    for (int p = 0; p < static_cast<int>(g_.parameters.size()); ++p) {
      if (g_.tensors[at(g_.parameters[at(p)].tensor)].readers.empty()) continue;
      total += bytes_of(p);
      if (sized && !splits_wait_) add(p);
    }
    std::sort(all.begin(), all.end());
    const std::int64_t share = total / static_cast<std::int64_t>(all.size());
    std::vector<Stored> out = {{std::move(all), share}};
    for (const auto& [devices, own] : sets_) {
      Held held;
      // On average over these devices. Of what more devices share, they may have less than the others.
      for (const auto& [others, there] : sets_)
        if (others == devices)
          held.add(there.any);
        else if (std::includes(others.begin(), others.end(), devices.begin(), devices.end()))
          held.add(there.even);
      out.push_back({devices, held.home + std::max(held.gathered, held.gradients)});
    }
    return out;
  }

 private:
  static constexpr int kEverywhere = -1;

  // Bytes of each device of a set. Beside the homes, in program order: at the turn from forward to backward what is gathered
  // for the whole step and read by backward, at the end of backward the gradients.
  struct Held {
    std::int64_t home = 0, gathered = 0, gradients = 0;
    void add(const Held& o) {
      home += o.home;
      gathered += o.gathered;
      gradients += o.gradients;
    }
  };
  struct Set {
    Held any, even;  // even: in equal parts
  };

  void add(int p) {
    std::map<int, std::vector<OpId>> readers_at;  // by place, kEverywhere
    for (const OpId r : g_.tensors[at(g_.parameters[at(p)].tensor)].readers) {
      const std::vector<int> places = placed_ ? plan::places_of(d_, r) : std::vector<int>{kEverywhere};
      if (places.empty()) return;
      for (const int place : places) readers_at[place].push_back(r);
    }
    std::map<std::vector<int>, Set> homes;
    for (const auto& [number, here] : readers_at) {
      const plan::PlaceInfo place = number == kEverywhere ? plan::PlaceInfo{} : d_.places[at(number)];
      if (place.open()) return;
      const std::int64_t parts = parts_at(p, place, here, plan::Phase::update);
      Set set;
      set.any.home = bytes_of(p) / parts;
      if (in_program_order()) {
        set.any.gathered = gathered(p, place, here);
        set.any.gradients = gradient(p, place, here);
      }
      if (is_even(p, parts)) set.even = set.any;
      const auto [known, fresh] = homes.emplace(devices_of(number, place), set);
      if (!fresh && set.any.home < known->second.any.home) known->second = set;
    }
    for (const auto& [devices, set] : homes) {
      sets_[devices].any.add(set.any);
      sets_[devices].even.add(set.even);
    }
  }

  // Ascending.
  const std::vector<int>& devices_of(int number, const plan::PlaceInfo& place) {
    const auto [known, fresh] = devices_.try_emplace(number);
    if (fresh) known->second = plan::devices_of(d_, place);
    if (fresh) std::sort(known->second.begin(), known->second.end());
    return known->second;
  }

  // One place, and no order is stated.
  bool in_program_order() const { return !placed_ && d_.order.empty() && d_.open_order < 0 && !order_waits_; }

  bool trained(int p) const {
    return g_.parameters[at(p)].trained && g_.tensors[at(g_.parameters[at(p)].tensor)].gradient;
  }

  // At home, on all devices that split it among them.
  std::int64_t bytes_of(int p) const {
    const TensorId t = g_.parameters[at(p)].tensor;
    const int storage = d_.update_storage[at(p)];
    bool moves = may_move_;
    if (storage >= 0) {
      const auto& words = d_.algorithms[at(storage)].alternatives;
      moves = moves || std::find(words.begin(), words.end(), plan::Algorithm::offload) != words.end();
    }
    const std::int64_t state = optimizer_units(g_.model->values[at(t)].dtype) * state_bytes_ * g_.elements(t);
    return g_.bytes(t) + (trained(p) && !moves ? state : 0);
  }

  std::int64_t gathered(int p, const plan::PlaceInfo& place, const std::vector<OpId>& readers) const {
    const TensorId t = g_.parameters[at(p)].tensor;
    if (!trained(p) || !read_by_backward(t, readers)) return 0;
    const auto apart = [&](const plan::GridAxis& axis) {
      return axis.size > 1 && !is_fixed(place, axis.axis) &&
             d_.parameter_split(plan::Phase::update, p, axis.axis).factor >= 0 &&
             !may_split(p, axis.axis, readers, plan::Phase::fetch);
    };
    const std::vector<plan::GridAxis>& axes = d_.grids[at(place.grid)].axes;
    if (g_.tensors[at(t)].dims.empty() || std::none_of(axes.begin(), axes.end(), apart)) return 0;
    const std::int64_t parts = parts_at(p, place, readers, plan::Phase::fetch);
    return g_.bytes(t) / parts;
  }

  std::int64_t gradient(int p, const plan::PlaceInfo& place, const std::vector<OpId>& readers) const {
    if (!trained(p)) return 0;
    const std::int64_t parts = parts_at(p, place, readers, plan::Phase::update);
    const auto summed = [&](const plan::GridAxis& axis) {
      const plan::Split& s = d_.parameter_split(plan::Phase::grad, p, axis.axis);
      return s.statement >= 0 && s.factor != plan::kNone;
    };
    const std::vector<plan::GridAxis>& axes = d_.grids[at(place.grid)].axes;
    if (std::any_of(axes.begin(), axes.end(), summed)) return 0;
    return g_.bytes(g_.parameters[at(p)].tensor) / parts;
  }

  bool read_by_backward(TensorId t, const std::vector<OpId>& readers) const {
    return std::any_of(readers.begin(), readers.end(), [&](OpId r) {
      const Op& op = g_.ops[at(r)];
      return op.backward && std::any_of(op.saves.begin(), op.saves.end(),
                                        [&](int saved) { return saved >= 0 && op.inputs[at(saved)].tensor == t; });
    });
  }

  static bool is_fixed(const plan::PlaceInfo& place, int axis) {
    return std::any_of(place.fixed.begin(), place.fixed.end(),
                       [&](const plan::PlaceInfo::Fixed& f) { return f.axis == axis; });
  }

  // Into at most so many parts.
  std::int64_t parts_at(int p, const plan::PlaceInfo& place, const std::vector<OpId>& readers,
                        plan::Phase phase) const {
    std::int64_t parts = 1;
    for (const plan::GridAxis& axis : d_.grids[at(place.grid)].axes) {
      if (!is_fixed(place, axis.axis) && may_split(p, axis.axis, readers, phase))
        parts *= std::max<std::int64_t>(axis.size, 1);
    }
    return parts;
  }

  bool is_even(int p, std::int64_t parts) const {
    for (const auto& dim : g_.tensors[at(g_.parameters[at(p)].tensor)].dims)
      for (const ClassId c : dim)
        if (g_.classes[at(c)].size % parts != 0) return false;
    return true;
  }

  // By a statement about the parameter in that phase, or because all readers split it.
  bool may_split(int p, int axis, const std::vector<OpId>& readers, plan::Phase phase) const {
    const plan::Split& own = d_.parameter_split(phase, p, axis);
    if (own.statement >= 0 && own.factor != plan::kNone) return true;
    return std::all_of(readers.begin(), readers.end(),
                       [&](OpId r) { return may_read_split(g_.parameters[at(p)].tensor, axis, r); });
  }

  bool may_read_split(TensorId t, int axis, OpId reader) const {
    const plan::Split& s = d_.split(reader, axis);
    if (s.statement < 0) return true;
    if (s.factor == plan::kNone) return false;
    if (s.factor >= 0) return has_factor(t, reader, s.factor);
    if (s.alternatives < 0) return true;
    const std::vector<int>& factors = d_.alternatives[at(s.alternatives)].factors;
    return std::any_of(factors.begin(), factors.end(), [&](int f) { return f >= 0 && has_factor(t, reader, f); });
  }

  bool has_factor(TensorId t, OpId reader, int factor) const {
    const Op& op = g_.ops[at(reader)];
    for (const Operand& in : op.inputs)
      if (in.tensor == t)
        for (const auto& dim : in.map)
          for (const PartRef& part : dim)
            if (part.factor == factor) return true;
    return false;
  }

  const Graph& g_;
  const plan::Decisions& d_;
  const std::int64_t state_bytes_;
  bool placed_ = false;                      // some operator has a place by statement
  bool may_move_ = false, splits_wait_ = false, order_waits_ = false;  // by statements that wait for a value
  std::map<std::vector<int>, Set> sets_;     // by devices
  std::map<int, std::vector<int>> devices_;  // by place, kEverywhere
};

}  // namespace

std::vector<Stored> least_stored(const Graph& g, const plan::Decisions& d, std::int64_t optimizer_state_bytes) {
  return StoredBytes(g, d, optimizer_state_bytes).run();
}

}  // namespace planscope
