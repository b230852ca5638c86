#pragma once
// Of many partial choices (labels) with one future, the few to go on with. A label that costs no less and needs no less
// than another is dropped. If more than `points` are left, memory is divided into cells, and each cell keeps the label of
// least excess; `lost` says that this dropped a label that was not dominated. Cells are fine (`unit`) around the memory
// that the limit leaves this part of the network, and widen with the distance from it: sums of labels then still come
// close to the limit, and labels far off remain for uneven distributions.
#include <cstdint>
#include <vector>

namespace planscope::layouts {

struct Label {
  double excess = 0;        // above the least value of its entry
  double cost = 0;          // without prices
  std::int32_t a = -1, b = -1;  // labels of the messages counted
  int choice = 0;           // of the eliminated node
};

struct Labels {
  std::vector<Label> labels;
  std::vector<double> memory;  // [label * rows + row]
  std::size_t size() const { return labels.size(); }
};

class Selection {
 public:
  Selection(int rows, int points, std::vector<double> units);
  void aim(std::vector<double> target) { target_ = std::move(target); }  // [row], of the labels to come
  void add(const Label&, const double* memory);
  void move_to(Labels&);  // by excess, least first; empties the selection
  bool lost() const { return lost_; }

 private:
  std::uint64_t cell(const double* memory) const;
  void place(const Label&, const double* memory);
  void rebuild();
  void drop_dominated();
  void reduce(std::size_t to);
  bool no_worse(std::size_t a, std::size_t b) const;  // a than b, in cost and every row
  const double* memory(std::size_t i) const { return &kept_.memory[i * rows_]; }

  const int rows_;
  const std::size_t points_, most_;
  bool lost_ = false;
  const std::vector<double> units_;  // [row]
  std::vector<double> target_;       // [row]
  double width_ = 0;                 // of a cell, on the scale asinh(distance / unit); 0: each memory is a cell
  Labels kept_;
  std::vector<std::uint64_t> cells_;  // [label]
  std::vector<std::int32_t> slots_;   // hash table: label + 1
};

}  // namespace planscope::layouts
