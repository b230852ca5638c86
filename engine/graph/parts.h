#pragma once
// Part classes while a graph is being built: a union-find over parts in which a part can also be cut into smaller ones.
// Unifying two lists of parts refines both until they agree: [768] with [12, 64] cuts 768 into 12 x 64, and every other
// dimension that shares the 768 is cut with it.
//
//   PartTable t;
//   int hidden = t.make(768), heads = t.make(12), head_dim = t.make(64);
//   t.unify({hidden}, {heads, head_dim});      // true; t.leaves({hidden}) == t.leaves({heads, head_dim})
#include <cstdint>
#include <string>
#include <vector>

namespace planscope {

class PartTable {
 public:
  // `loose`: of size 1 by a literal, which may be the batch of a file that was exported at batch 1.
  int make(std::int64_t size, bool loose = false);
  bool loose(int node) { return nodes_[static_cast<std::size_t>(find(node))].loose; }
  std::size_t count() const { return nodes_.size(); }  // of parts, cut or not
  std::int64_t size(int node) const { return nodes_[static_cast<std::size_t>(node)].size; }

  // The uncut parts that a list stands for, major to minor, by their representatives.
  std::vector<int> leaves(const std::vector<int>& list);

  // Refines both lists from the minor end until they agree; parts of size 1 that one side lacks are passed over, parts
  // of size 0 agree with their equals alone.
  // False: no common refinement; what is in front and behind of the parts that do not fit is agreed all the same.
  bool unify(const std::vector<int>& a, const std::vector<int>& b);

 private:
  struct PartNode {
    std::int64_t size = 1;
    int parent = -1;
    std::vector<int> children;
    bool loose = false;
  };
  int find(int node);
  // From the minor end, or from the major one; what is left of the lists is what could not be agreed.
  bool agree(std::vector<int>& left, std::vector<int>& right, bool minor);
  void expand(int node, std::vector<int>& out);
  std::vector<PartNode> nodes_;
};

}  // namespace planscope
