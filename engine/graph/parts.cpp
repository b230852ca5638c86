#include "engine/graph/parts.h"

namespace planscope {

int PartTable::make(std::int64_t size) {
  PartNode n;
  n.size = size;
  nodes_.push_back(n);
  return static_cast<int>(nodes_.size()) - 1;
}

int PartTable::find(int node) {
  int root = node;
  while (nodes_[static_cast<std::size_t>(root)].parent >= 0) root = nodes_[static_cast<std::size_t>(root)].parent;
  while (node != root) {
    const int next = nodes_[static_cast<std::size_t>(node)].parent;
    nodes_[static_cast<std::size_t>(node)].parent = root;
    node = next;
  }
  return root;
}

void PartTable::expand(int node, std::vector<int>& out) {
  const int root = find(node);
  if (nodes_[static_cast<std::size_t>(root)].children.empty()) {
    out.push_back(root);
    return;
  }
  const std::vector<int> children = nodes_[static_cast<std::size_t>(root)].children;
  for (const int c : children) expand(c, out);
}

std::vector<int> PartTable::leaves(const std::vector<int>& list) {
  std::vector<int> out;
  for (const int n : list) expand(n, out);
  return out;
}

bool PartTable::unify(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> left = leaves(a), right = leaves(b);
  while (!left.empty() && !right.empty()) {
    const int l = find(left.back()), r = find(right.back());
    if (!nodes_[static_cast<std::size_t>(l)].children.empty() ||
        !nodes_[static_cast<std::size_t>(r)].children.empty()) {
      // One of them was cut by an earlier round of this loop (a part that stands twice in a list): expand again.
      const std::vector<int> l_leaves = leaves({l}), r_leaves = leaves({r});
      left.pop_back();
      right.pop_back();
      left.insert(left.end(), l_leaves.begin(), l_leaves.end());
      right.insert(right.end(), r_leaves.begin(), r_leaves.end());
      continue;
    }
    const std::int64_t ls = size(l), rs = size(r);
    if (ls == rs) {
      if (l != r) nodes_[static_cast<std::size_t>(r)].parent = l;
      left.pop_back();
      right.pop_back();
    } else if (ls == 1 || rs == 1) {
      (ls == 1 ? left : right).pop_back();
    } else {
      const bool left_larger = ls > rs;
      const std::int64_t large = left_larger ? ls : rs, small = left_larger ? rs : ls;
      if (large % small != 0) return false;
      const int node = left_larger ? l : r;
      const int major = make(large / small), minor = make(small);
      nodes_[static_cast<std::size_t>(node)].children = {major, minor};
      std::vector<int>& list = left_larger ? left : right;
      list.pop_back();
      list.push_back(major);
      list.push_back(minor);
    }
  }
  for (const int n : left)
    if (size(n) != 1) return false;
  for (const int n : right)
    if (size(n) != 1) return false;
  return true;
}

}  // namespace planscope
