#include "planner/search/stages/layer_ranges.h"

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Parameters operator+(Parameters a, const Parameters& b) {
  a.state += b.state;
  a.gradient += b.gradient;
  a.first += b.first;
  a.first_again += b.first_again;
  a.later += b.later;
  a.exchange += b.exchange;
  a.exchange_again += b.exchange_again;
  return a;
}

// What layers before this one, or all, leave to it and those behind.
std::int64_t border(const Ground& ground, int layer) {
  return layer == 0 || layer == static_cast<int>(ground.layers.size()) ? 0 : ground.layers[at(layer)].border;
}

// Of layers [first, end), without what the layers themselves have.
Parameters shared_in(const Ground& ground, int first, int end) {
  Parameters out;
  for (const Shared& s : ground.shared)
    if (s.layer >= first && s.layer < end && s.before < first) out = out + s.parameters;
  return out;
}

std::vector<Sums> sums_of(const std::vector<Layer>& layers) {
  std::vector<Sums> out(1);
  for (const Layer& l : layers) {
    const Sums& s = out.back();
    out.push_back({s.time + l.time_ns, s.forward + l.forward_ns, s.again + l.again_ns, s.kept + l.kept,
                   s.kept_again + std::min(l.kept, l.kept_again), s.reduce + l.reduce_ns, s.gather + l.gather_ns,
                   s.through + l.through_ns, s.adding + l.adding_ns, s.copied + l.copied, s.parameters + l.parameters});
  }
  return out;
}

// By layer: what there is while it is at work, less the gradients that it and all before it make.
std::vector<std::int64_t> at_work(const std::vector<Layer>& layers, const std::vector<Sums>& sums,
                                  std::int64_t Sums::* kept, std::int64_t Layer::* working,
                                  std::int64_t Parameters::* gradients) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < layers.size(); ++i)
    out.push_back(sums[i + 1].*kept + layers[i].*working - (gradients ? sums[i + 1].parameters.*gradients : 0));
  return out;
}

}  // namespace

Room room_of(const PartitionSpec& spec, int s) {
  const std::int64_t under_way = std::min<std::int64_t>(spec.micro_batches, spec.stages - s + spec.more_under_way);
  return {under_way - 1, std::min(under_way, spec.micro_batches - 1) - 1, spec.less.empty() ? 0 : spec.less[at(s)]};
}

std::int64_t stage_memory(const Ground& ground, const PartitionSpec& spec, int s, int first, int end, int again) {
  const Room room = room_of(spec, s);
  const Parameters shared = shared_in(ground, first, end);
  std::int64_t kept = 0, state = shared.state, gradient = shared.gradient, exchange = shared.exchange;
  std::int64_t first_once = 0, first_again = shared.first_again, later_once = 0;  // of the layers behind
  for (int i = first; i < end; ++i) {
    const Layer& l = ground.layers[at(i)];
    const bool twice = i < first + again;
    kept += twice ? std::min(l.kept, l.kept_again) : l.kept;
    state += l.parameters.state;
    gradient += l.parameters.gradient;
    exchange += twice ? l.parameters.exchange_again : l.parameters.exchange;
  }
  kept += border(ground, first);
  std::int64_t first_backward = 0, later = 0, under = kept;  // what this layer and those before it keep
  kept -= border(ground, end);
  for (int i = end - 1; i >= first; --i) {
    const Layer& l = ground.layers[at(i)];
    const bool twice = i < first + again;
    const std::int64_t working = under + (twice ? l.working_again : l.working);
    first_backward = std::max(first_backward, working + (twice ? first_again : first_once));
    later = std::max(later, working + (twice ? 0 : later_once));
    under -= twice ? std::min(l.kept, l.kept_again) : l.kept;
    first_once += l.parameters.first;
    first_again += l.parameters.first_again;
    later_once += l.parameters.later;
  }
  std::int64_t most = std::max(room.others * kept + first_backward, exchange);
  if (room.others_later >= 0) most = std::max(most, gradient + room.others_later * kept + later);
  return state + most;
}

// stage_memory of the range.
class Ranges::Held {
 public:
  Held(const Ranges& r, const Room& room, int first, int end)
      : r_(r), room_(room), first_(first), end_(end), shared_(shared_in(r.ground_, first, end)) {
    const Parameters &a = r.sums_[at(first)].parameters, &b = r.sums_[at(end)].parameters;
    state_ = shared_.state + b.state - a.state;
    gradient_ = shared_.gradient + b.gradient - a.gradient;
    input_ = border(r.ground_, first);
    output_ = border(r.ground_, end);
  }
  std::int64_t with(int again) const {
    if (again == 0) return others(0);
    const int middle = first_ + again;
    const std::int64_t before = r_.sums_[at(first_)].kept_again;
    const std::int64_t behind = shared_.first_again + r_.sums_[at(end_)].parameters.first_again;
    return std::max(others(again), most(kept(again), input_ + r_.again_first_.of(first_, middle) - before + behind,
                                        input_ + r_.again_later_.of(first_, middle) - before));
  }
  // Without what layers that are computed again need at work.
  std::int64_t others(int again) const {
    const int middle = first_ + again;
    const Sums &m = r_.sums_[at(middle)], &e = r_.sums_[at(end_)];
    std::int64_t first = 0, later = 0;
    if (middle < end_) {
      const std::int64_t before = input_ + r_.between(first_, middle).kept_again - m.kept;
      first = before + r_.once_first_.of(middle, end_) + e.parameters.first;
      later = before + r_.once_later_.of(middle, end_) + e.parameters.later;
    }
    const Parameters& f = r_.sums_[at(first_)].parameters;
    const std::int64_t exchange = shared_.exchange + e.parameters.exchange - m.parameters.exchange +
                                  m.parameters.exchange_again - f.exchange_again;
    return std::max(state_ + exchange, most(kept(again), first, later));
  }

 private:
  std::int64_t most(std::int64_t kept, std::int64_t first_backward, std::int64_t later) const {
    const std::int64_t most = room_.others * kept + first_backward;
    if (room_.others_later < 0) return state_ + most;
    return state_ + std::max(most, gradient_ + room_.others_later * kept + later);
  }
  std::int64_t kept(int again) const {
    return r_.between(first_, first_ + again).kept_again + r_.between(first_ + again, end_).kept + input_ - output_;
  }
  const Ranges& r_;
  const Room& room_;
  const int first_, end_;
  const Parameters shared_;
  std::int64_t state_ = 0, gradient_ = 0, input_ = 0, output_ = 0;
};

Ranges::Ranges(const Ground& ground)
    : ground_(ground),
      sums_(sums_of(ground.layers)),
      once_first_(at_work(ground.layers, sums_, &Sums::kept, &Layer::working, &Parameters::first)),
      once_later_(at_work(ground.layers, sums_, &Sums::kept, &Layer::working, &Parameters::later)),
      again_first_(at_work(ground.layers, sums_, &Sums::kept_again, &Layer::working_again, &Parameters::first_again)),
      again_later_(at_work(ground.layers, sums_, &Sums::kept_again, &Layer::working_again, nullptr)) {
  find_runs();
}

int Ranges::least_again(const Room& room, int first, int end) const {
  const int again = least_on_device(room, first, end);
  return again >= 0 && host_fits(room, first, again) ? again : -1;
}

int Ranges::least_on_device(const Room& room, int first, int end) const {
  const Held held(*this, room, first, end);
  const std::int64_t bytes = ground_.memory - room.less;
  if (held.with(0) <= bytes) return 0;
  if (held.others(end - first) > bytes) return -1;
  int no = held.others(0) <= bytes ? -1 : 0, yes = end - first;
  while (yes - no > 1) {
    const int middle = no + (yes - no) / 2;
    (held.others(middle) <= bytes ? yes : no) = middle;
  }
  while (yes <= end - first && held.with(yes) > bytes) ++yes;
  return yes <= end - first ? yes : -1;
}

void Ranges::find_runs() {
  const std::vector<Layer>& layers = ground_.layers;
  std::vector<bool> tied(layers.size(), false);
  for (const Shared& s : ground_.shared) tied[at(s.layer)] = true;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool same = i > 1 && !tied[i] && !tied[i - 1] && layers[i] == layers[i - 1];
    run_.push_back(same ? run_[i - 1] : static_cast<int>(i));
  }
}

}  // namespace planscope::stages
