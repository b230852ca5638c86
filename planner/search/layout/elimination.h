#pragma once
// Which nodes are eliminated in which order, and which of the messages are equal. Values are not known here.
//
// Order: a node that has at most `free` neighbours costs nothing extra; among these, and among the others of least
// fill-in (min-fill), the one whose messages were made in the fewest rounds goes first. So chains of repeated structure
// are halved round by round instead of being eaten from an end, and equal neighbourhoods are treated alike. Orders with
// several values of `free` are tried; the one with the least work *after* equal messages are counted once is taken.
// A repeated layer thereby becomes powers of its interface matrix, without having been looked for; a lock changes only
// the messages on the way from its node to the root, logarithmically many in the number of layers.
//
// If a table would exceed `largest_table` entries, nodes are eliminated in shares (mini-buckets, Dechter and Rish 2003):
// the messages then bound the minimum from below instead of being it, and `exact()` is false.
#include <unordered_map>

#include "planner/search/layout/certificate.h"

namespace planscope::layouts {

struct EliminationOptions {
  double largest_table = 1e6;  // entries, with the eliminated node
  double work = 2e7;           // table entries, at most, of all distinct messages together: of one evaluation
};

// How a recipe's parts are read: strides of each variable, the eliminated node's last.
struct Shape {
  int axes = 0, entries = 1;  // of the scope
  std::vector<int> strides;   // [part * (axes + 1) + axis]
  int stride(int part, int axis) const { return strides[part * (axes + 1) + axis]; }
  int node_stride(int part) const { return stride(part, axes); }
};

class Elimination {
 public:
  explicit Elimination(const CostNetwork&, const EliminationOptions& = {});

  // Changes the locks: messages that depend on nodes with other locks than before are looked up or added.
  void lock(const CostNetwork&, const Locks&);

  bool exact() const { return exact_; }
  int width() const;    // variables of the largest scope
  double work() const;  // entries of the distinct messages in use
  double table_limit() const { return table_limit_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<int>& recipe_of() const { return recipe_of_; }  // [step]
  const std::vector<Recipe>& recipes() const { return recipes_; }   // parts name recipes; earlier ones only
  const std::vector<Shape>& shapes() const { return shapes_; }      // [recipe]
  std::vector<int> in_use() const;                                  // recipes, ascending
  int root() const { return static_cast<int>(steps_.size()) - 1; }  // the step that all others lead to; -1: none
  int consumer(int step) const { return consumer_[step]; }

 private:
  friend class OrderBuilder;
  Elimination() = default;
  Recipe recipe(const CostNetwork&, const Step&) const;
  Shape shape(const CostNetwork&, const Recipe&) const;
  int intern(const CostNetwork&, std::size_t step);
  void lead_to_one_root();

  std::vector<Step> steps_;
  std::vector<int> recipe_of_, consumer_;
  std::vector<Recipe> recipes_;
  std::vector<Shape> shapes_;
  std::unordered_map<std::string, int> known_;  // by all that a recipe says
  std::vector<std::vector<int>> allowed_;       // [node]
  Locks locks_;
  bool exact_ = true;
  double table_limit_ = 0;
};

}  // namespace planscope::layouts
