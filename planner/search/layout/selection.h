#pragma once
// Of many partial choices (labels) with one future, the few to go on with. A label that costs no less and needs no less
// than another is dropped. If more than `points` are left, one stays for each cell of a grid over memory, that of least
// excess; `lost` says that labels were dropped that were not dominated. Without a target the cells widen until there are
// few enough; with one they have the size of a unit, and those labels stay that have least excess plus a little for each
// unit of memory away from the target.
#include <cstdint>
#include <vector>

namespace planscope::layouts {

struct Label {
  double excess = 0;            // above the least value of its entry
  double cost = 0;              // without prices
  std::int32_t a = -1, b = -1;  // labels of the messages counted
  int choice = 0;               // of the eliminated node
};

struct Labels {
  std::vector<Label> labels;
  std::vector<double> memory;  // [label * rows + row]
  std::size_t size() const { return labels.size(); }
  void add(const Label& label, const double* m, int rows) {
    labels.push_back(label);
    for (int r = 0; r < rows; ++r) memory.push_back(m[r]);
  }
  void reserve(std::size_t count, int rows) {
    labels.reserve(count);
    memory.reserve(count * static_cast<std::size_t>(rows));
  }
  void clear() {
    labels.clear();
    memory.clear();
  }
};

// Per memory row.
struct Aim {
  double unit = 1;      // memory differences below it do not matter
  double distance = 0;  // what one away from the target counts as excess; 0 in all rows: there is no target
  double target = 0;
};

class Selection {
 public:
  Selection(int rows, int points) : rows_(rows), points_(static_cast<std::size_t>(points)) {}
  void aim(std::vector<Aim>);  // of the labels to come
  void add(const Label&, const double* memory);
  void move_to(Labels&);  // by excess, least first; empties the selection
  bool lost() const { return lost_; }

 private:
  void keep_staying();
  bool below_stairs(const Label&, const double* memory) const;
  void drop_dominated();
  std::size_t cells(double widen) const;
  void drop_near(double widen);
  void drop_worst();
  void reduce();
  double score(const Label&, const double* memory) const;
  bool no_worse(std::size_t a, std::size_t b) const;  // a than b, in cost and every row
  const double* memory(std::size_t i) const { return &kept_.memory[i * rows_]; }

  const int rows_;
  const std::size_t points_;
  bool lost_ = false;
  std::size_t stairs_ = 0, next_ = 128;  // labels that dominated ones are held against; labels at which to reduce
  double refused_ = 0;                   // score from which labels are not looked at; 0: none
  std::vector<Aim> aim_;
  bool targeted_ = false;
  Labels kept_, left_;  // left_, and what follows: made once, used again and again
  struct Ordered {
    double cost, memory;  // of the first row
    std::size_t label;
  };
  struct Placed {
    std::uint64_t cell;
    double excess;
    std::size_t label;
  };
  std::vector<Ordered> ordered_;
  std::vector<Placed> placed_;
  std::vector<std::size_t> stay_, least_;
};

}  // namespace planscope::layouts
