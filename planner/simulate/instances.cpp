#include "planner/simulate/instances.h"

#include <algorithm>

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Instances::Instances(const Program& program, Steps& out)
    : program_(program),
      out_(out),
      handles_(program.values.size(), -1),
      transfer_handles_(program.transfers.size(), -1),
      copy_handles_(program.pieces.size() + program.values.size(), -1) {}

int Instances::handle(ProgramValueId id, int& slot) {
  if (slot >= 0) return slot;
  std::int64_t count = 1;
  for (AxisId a : program_.values[at(id)].indexed) count *= program_.axes[at(a)].size;
  slot = static_cast<int>(out_.instances.size());
  out_.instances.push_back(count);
  out_.handle_value.push_back(id);
  return slot;
}

Instance Instances::instance(const Segment& s, ProgramValueId id, int handle_of_it) const {
  Instance out{.handle = handle_of_it, .terms = {}, .constant = 0};
  std::int64_t factor = 1;
  const std::vector<AxisId>& indexed = program_.values[at(id)].indexed;
  for (std::size_t k = indexed.size(); k-- > 0;) {
    const auto found = std::find(s.free_axes.begin(), s.free_axes.end(), indexed[k]);
    const std::int64_t size = program_.axes[at(indexed[k])].size;
    if (found != s.free_axes.end())
      out.terms.push_back({static_cast<int>(found - s.free_axes.begin()), factor});
    else
      out.constant += (size - 1) * factor;
    factor *= size;
  }
  return out;
}

Instance Instances::of_host_copy(const Segment& s, std::size_t what) {
  int& handle = copy_handles_[what];
  const bool fresh = handle < 0;
  if (fresh) {
    handle = static_cast<int>(out_.instances.size());
    out_.instances.push_back(1);
    out_.handle_value.push_back(-1);
  }
  std::vector<AxisId> axes = s.free_axes;
  std::sort(axes.begin(), axes.end());
  Instance out{.handle = handle, .terms = {}, .constant = 0};
  std::int64_t factor = 1;
  for (const AxisId a : axes) {
    const auto position = std::find(s.free_axes.begin(), s.free_axes.end(), a) - s.free_axes.begin();
    out.terms.push_back({static_cast<int>(position), factor});
    factor *= program_.axes[at(a)].size;
  }
  if (fresh) out_.instances.back() = factor;
  return out;
}

Instance Instances::of_value(const Segment& s, ProgramValueId id) {
  return instance(s, id, handle(id, handles_[at(id)]));
}

std::int64_t instance_of(const Instance& i, const std::vector<std::int64_t>& index) {
  std::int64_t n = i.constant;
  for (const InstanceTerm& t : i.terms) n += index[at(t.position)] * t.factor;
  return n;
}

Instance Instances::of_transfer(const Segment& s, int transfer) {
  const ProgramValueId from = program_.transfers[at(transfer)].from.at(0);
  return instance(s, from, handle(from, transfer_handles_[at(transfer)]));
}

}  // namespace planscope
