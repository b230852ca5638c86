// Batches: what one segment sends to another one of another place goes as one message, with the last of it, and is
// received with the first, up to kBucketBytes. Segments wait for no segment that comes behind them, so nothing that a
// message holds back is needed for the rest of it.
#include <map>

#include "engine/program/bucket.h"
#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Batches {
 public:
  explicit Batches(Work& w) : w_(w), p_(w.p), receivers_(w.p.transfers.size(), -1), into_(w.p.transfers.size()) {}

  void run() {
    for (std::size_t t = 0; t < into_.size(); ++t) into_[t] = static_cast<int>(t);
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      for (const Instruction& i : p_.segments[s].instructions)
        if (i.code == Code::receive) receivers_[static_cast<std::size_t>(i.transfer)] = static_cast<SegmentId>(s);
    for (const Segment& s : p_.segments) gather(s);
    if (!fused_) return;
    for (Segment& s : p_.segments) {
      fuse_sends(s);
      fuse_receives(s);
    }
    number();
  }

 private:
  // Where a message goes, at which indices, and of which type.
  using Way = std::tuple<SegmentId, PlaceId, std::vector<AxisId>, DType>;
  struct Batch {
    int transfer = -1;
    std::int64_t bytes = 0;
  };

  const ProgramValue& value(ProgramValueId v) const { return p_.values[static_cast<std::size_t>(v)]; }
  Transfer& transfer(int t) { return p_.transfers[static_cast<std::size_t>(t)]; }

  void gather(const Segment& s) {
    std::map<Way, Batch> open;
    for (const Instruction& i : s.instructions) {
      if (i.code != Code::send) continue;
      const ProgramValue &from = value(transfer(i.transfer).from[0]), &to = value(transfer(i.transfer).to[0]);
      const DType type = w_.g.model->values[static_cast<std::size_t>(from.tensor)].dtype;
      const std::int64_t bytes = w_.whole_bytes(from.tensor);
      Batch& batch = open[{receivers_[static_cast<std::size_t>(i.transfer)], to.place, to.indexed, type}];
      if (batch.transfer < 0 || batch.bytes + bytes > kBucketBytes) {
        batch = {i.transfer, bytes};
        continue;
      }
      batch.bytes += bytes;
      into_[static_cast<std::size_t>(i.transfer)] = batch.transfer;
      Transfer& all = transfer(batch.transfer);
      all.from.push_back(transfer(i.transfer).from[0]);
      all.to.push_back(transfer(i.transfer).to[0]);
      fused_ = true;
    }
  }

  // The last send of a message stays, with all values.
  void fuse_sends(Segment& s) {
    std::map<int, std::size_t> left;
    for (const Instruction& i : s.instructions)
      if (i.code == Code::send) ++left[into_[static_cast<std::size_t>(i.transfer)]];
    std::erase_if(s.instructions, [&](Instruction& i) {
      if (i.code != Code::send) return false;
      i.transfer = into_[static_cast<std::size_t>(i.transfer)];
      i.in = transfer(i.transfer).from;
      return --left[i.transfer] > 0;
    });
  }

  // The first receive stays.
  void fuse_receives(Segment& s) {
    std::set<int> known;
    std::erase_if(s.instructions, [&](Instruction& i) {
      if (i.code != Code::receive) return false;
      i.transfer = into_[static_cast<std::size_t>(i.transfer)];
      i.out = transfer(i.transfer).to;
      return !known.insert(i.transfer).second;
    });
  }

  // Without those that have gone into others.
  void number() {
    std::vector<int> number(into_.size(), -1);
    std::vector<Transfer> kept;
    for (std::size_t t = 0; t < into_.size(); ++t) {
      if (into_[t] != static_cast<int>(t)) continue;
      number[t] = static_cast<int>(kept.size());
      kept.push_back(std::move(p_.transfers[t]));
    }
    p_.transfers = std::move(kept);
    for (Segment& s : p_.segments)
      for (Instruction& i : s.instructions)
        if (i.transfer >= 0) i.transfer = number[static_cast<std::size_t>(i.transfer)];
  }

  Work& w_;
  Program& p_;
  std::vector<SegmentId> receivers_;  // by transfer
  std::vector<int> into_;             // by transfer: the one that takes its values
  bool fused_ = false;
};

}  // namespace

bool fuse_transfers(Work& w) {
  Batches(w).run();
  return true;
}

}  // namespace planscope::build
