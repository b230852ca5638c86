#pragma once
// A Program as one device sees it: which block of which tensor it holds at which index of the free axes, with whom it
// communicates in a move, and which blocks it gives and gets in a transfer. Pure look-ups; no tensors, no transport.
#include <map>
#include <optional>

#include "engine/runtime/blocks.h"

namespace planscope {

// One block of a point-to-point transfer.
struct TransferBlock {
  int from = -1, to = -1;  // devices
  Region region;
};

class Site {
 public:
  Site(const Graph& graph, const Program& program, int device) : graph_(graph), program_(program), device_(device) {}

  int device() const { return device_; }
  const Program& program() const { return program_; }
  const Graph& graph() const { return graph_; }

  // The device's coordinates at a place with the indices of free axes set; empty: it is not in the place.
  Point point(PlaceId place, int device, const Point& free_indices) const;

  // The block of a value that a device holds. Of a value that holds every index of an axis: all of them; its tensor is flat,
  // one block behind the other.
  Region region(ProgramValueId, int device, const Point& free_indices) const;
  std::vector<Region> regions(ProgramValueId, int device, const Point& free_indices) const;
  bool is_one_region(ProgramValueId) const;

  // Devices that differ from this one in nothing but the digits, in ascending order, this one included.
  std::vector<int> group(PlaceId, const std::vector<Digit>&, int device) const;

  // All groups of all collective moves, over all devices; without those of a single member.
  std::vector<std::vector<int>> all_groups() const;

  // Who sends what to `receiver` of the k-th value of a transfer (program.h: Transfer).
  std::vector<TransferBlock> blocks_to(const Transfer&, std::size_t k, int receiver, const Point& free_indices) const;

 private:
  const Graph& graph_;
  const Program& program_;
  int device_;
};

}  // namespace planscope
