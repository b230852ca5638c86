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
  int make(std::int64_t size);
  std::size_t count() const { return nodes_.size(); }  // of parts, cut or not
  std::int64_t size(int node) const { return nodes_[static_cast<std::size_t>(node)].size; }

  // The uncut parts that a list stands for, major to minor, by their representatives.
  std::vector<int> leaves(const std::vector<int>& list);

  // Refines both lists from the minor end until they agree; parts of size 1 that one side lacks are passed over.
  // False: no common refinement; nothing that was already agreed is undone.
  bool unify(const std::vector<int>& a, const std::vector<int>& b);

 private:
  struct PartNode {
    std::int64_t size = 1;
    int parent = -1;
    std::vector<int> children;
  };
  int find(int node);
  void expand(int node, std::vector<int>& out);
  std::vector<PartNode> nodes_;
};

}  // namespace planscope
