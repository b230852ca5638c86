#include "planner/cost/profile_items.h"

#include <algorithm>
#include <map>

#include "planner/cost/hidden_blocks.h"

namespace planscope {

namespace {

bool stands_for_all(const Graph& graph, const Program& program, const Piece& piece, const PieceOp& op) {
  return is_uniform(graph, program, piece, op) && seen_share(graph, program, op) == 1;
}

}  // namespace

std::set<std::string> keys_left_out(const Graph& graph, const Program& program) {
  std::set<std::string> out;
  for (const Piece& piece : program.pieces) {
    const std::vector<Bytes> slots = slot_bytes(graph, program, piece);
    for (const PieceOp& op : piece.ops) {
      if (stands_for_all(graph, program, piece, op)) continue;
      out.insert(profile_key(graph, op, forward_work(graph, piece, op, slots).dtype, false));
      if (piece.gradient && has_backward(graph, op.op))
        out.insert(profile_key(graph, op, backward_work(graph, piece, op, slots).dtype, true));
    }
  }
  return out;
}

std::vector<ProfileItem> profile_items(const Graph& graph, const Program& program, const DeviceType& device,
                                       const CostModel& model) {
  std::vector<ProfileItem> out;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (std::size_t p = 0; p < program.pieces.size(); ++p) {
    const Piece& piece = program.pieces[p];
    const std::vector<Bytes> slots = slot_bytes(graph, program, piece);
    for (std::size_t k = 0; k < piece.ops.size(); ++k) {
      const PieceOp& op = piece.ops[k];
      if (!stands_for_all(graph, program, piece, op)) continue;
      const auto consider = [&](const Work& work, bool backward) {
        ProfileItem item;
        item.piece = static_cast<PieceId>(p);
        item.op = static_cast<int>(k);
        item.backward = backward;
        item.key = profile_key(graph, op, work.dtype, backward);
        item.shapes = shapes_key(graph, program, piece, op, backward);
        item.modelled_us = roofline(work, device, model).count;
        const auto [found, fresh] = known.try_emplace({item.key, item.shapes}, out.size());
        if (fresh) out.push_back(std::move(item));
        out[found->second].operators.push_back(op.op);
      };
      consider(forward_work(graph, piece, op, slots), false);
      if (piece.gradient && has_backward(graph, op.op)) consider(backward_work(graph, piece, op, slots), true);
    }
  }
  for (ProfileItem& item : out) {
    std::sort(item.operators.begin(), item.operators.end());
    item.operators.erase(std::unique(item.operators.begin(), item.operators.end()), item.operators.end());
  }
  return out;
}

std::vector<ProfileItem> memory_items(const DeviceType& device, const CostModel& model) {
  std::vector<ProfileItem> out;
  constexpr std::int64_t least = 4 << 10, most = 64 << 20;
  for (const int state : {0, 4, 8}) {
    for (std::int64_t bytes = least; bytes <= most; bytes *= 4) {
      ProfileItem item;
      item.key = state == 0 ? memory_key : update_key(state);
      item.shapes = std::to_string(bytes) + " bytes";
      item.modelled_us = roofline({.bytes = static_cast<double>(bytes), .kernels = 1}, device, model).count;
      item.bytes = bytes;
      item.state = state;
      out.push_back(std::move(item));
    }
  }
  return out;
}

void add(Profile& profile, const std::string& key, ProfileSample sample) {
  std::vector<ProfileSample>& samples = profile.samples[key];
  std::erase_if(samples, [&](const ProfileSample& s) { return s.shapes == sample.shapes; });
  const auto after = std::upper_bound(samples.begin(), samples.end(), sample,
                                      [](const auto& a, const auto& b) { return a.modelled_us < b.modelled_us; });
  samples.insert(after, std::move(sample));
}

}  // namespace planscope
