#include "engine/graph/parts.h"

#include <algorithm>

namespace planscope {

int PartTable::make(std::int64_t size, bool loose) {
  PartNode n;
  n.size = size;
  n.loose = loose;
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

namespace {

int& end_of(std::vector<int>& list, bool minor) { return minor ? list.back() : list.front(); }

void drop_end(std::vector<int>& list, bool minor) {
  if (minor)
    list.pop_back();
  else
    list.erase(list.begin());
}

// In place of the part at the end.
void replace_end(std::vector<int>& list, bool minor, const std::vector<int>& by) {
  drop_end(list, minor);
  list.insert(minor ? list.end() : list.begin(), by.begin(), by.end());
}

}  // namespace

bool PartTable::agree(std::vector<int>& left, std::vector<int>& right, bool minor) {
  while (!left.empty() && !right.empty()) {
    const int l = find(end_of(left, minor)), r = find(end_of(right, minor));
    if (!nodes_[static_cast<std::size_t>(l)].children.empty() ||
        !nodes_[static_cast<std::size_t>(r)].children.empty()) {
      // One of them was cut by an earlier round of this loop (a part that stands twice in a list): expand again.
      replace_end(left, minor, leaves({l}));
      replace_end(right, minor, leaves({r}));
      continue;
    }
    const std::int64_t ls = size(l), rs = size(r);
    if (ls == rs) {
      if (l != r) {
        nodes_[static_cast<std::size_t>(r)].parent = l;
        nodes_[static_cast<std::size_t>(l)].loose =
            nodes_[static_cast<std::size_t>(l)].loose && nodes_[static_cast<std::size_t>(r)].loose;
      }
      drop_end(left, minor);
      drop_end(right, minor);
    } else if (ls == 1 || rs == 1) {
      drop_end(ls == 1 ? left : right, minor);
    } else {
      const bool left_larger = ls > rs;
      const std::int64_t large = left_larger ? ls : rs, small = left_larger ? rs : ls;
      if (small == 0 || large % small != 0) return false;
      const int node = left_larger ? l : r;
      const int major = make(minor ? large / small : small), last = make(minor ? small : large / small);
      nodes_[static_cast<std::size_t>(node)].children = {major, last};
      replace_end(left_larger ? left : right, minor, {major, last});
    }
  }
  return true;
}

bool PartTable::unify(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> left = leaves(a), right = leaves(b);
  if (!agree(left, right, true)) {
    agree(left, right, false);
    return false;
  }
  const auto one = [&](int n) { return size(n) == 1; };
  return std::all_of(left.begin(), left.end(), one) && std::all_of(right.begin(), right.end(), one);
}

}  // namespace planscope
