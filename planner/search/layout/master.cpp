#include "planner/search/layout/master.h"

#include <algorithm>
#include <cmath>

namespace planscope::layouts {

namespace {

// Variables: a weight per column, then per row a slack and a violation. Basis: rows + 1 of them.
class Simplex {
 public:
  Simplex(const std::vector<MasterColumn>& columns, int rows, double cap)
      : columns_(columns), rows_(rows), size_(rows + 1), cap_(cap) {
    const int seen = static_cast<int>(columns.size());
    for (int r = 0; r < rows; ++r) basis_.push_back(seen + 2 * r + (columns[0].excess[r] > 0 ? 1 : 0));
    basis_.push_back(0);
    for (int r = 0; r < rows; ++r) {
      double most = 1e-300;
      for (const MasterColumn& c : columns) most = std::max(most, std::abs(c.excess[r]));
      scale_.push_back(1 / most);
    }
    for (const MasterColumn& c : columns) largest_cost_ = std::max(largest_cost_, std::abs(c.cost));
  }

  MasterAnswer run() {
    for (int round = 0; round < 1000; ++round) {
      if (!invert()) break;
      price();
      const int entering = choose_entering(round > 200);
      if (entering < 0 || !pivot(entering)) break;
    }
    MasterAnswer a;
    for (int r = 0; r < rows_; ++r) a.prices.push_back(std::clamp(0.0 - dual_[r] * scale_[r], 0.0, cap_));
    a.value = dual_[rows_];
    return a;
  }

 private:
  int seen() const { return static_cast<int>(columns_.size()); }

  double cost(int variable) const {
    if (variable < seen()) return columns_[variable].cost;
    const int k = variable - seen();
    return k % 2 ? cap_ / scale_[k / 2] : 0;
  }

  double coefficient(int variable, int row) const {
    if (variable < seen()) return row == rows_ ? 1 : columns_[variable].excess[row] * scale_[row];
    const int k = variable - seen();
    if (k / 2 != row) return 0;
    return k % 2 ? -1 : 1;
  }

  bool invert() {
    std::vector<std::vector<double>> m(size_, std::vector<double>(2 * size_));
    for (int r = 0; r < size_; ++r) {
      for (int b = 0; b < size_; ++b) m[r][b] = coefficient(basis_[b], r);
      m[r][size_ + r] = 1;
    }
    for (int c = 0; c < size_; ++c) {
      int best = c;
      for (int r = c; r < size_; ++r)
        if (std::abs(m[r][c]) > std::abs(m[best][c])) best = r;
      if (std::abs(m[best][c]) < 1e-13) return false;
      std::swap(m[c], m[best]);
      const double pivot = m[c][c];
      for (double& x : m[c]) x /= pivot;
      for (int r = 0; r < size_; ++r) {
        const double factor = m[r][c];
        if (r == c || factor == 0) continue;
        for (int k = c; k < 2 * size_; ++k) m[r][k] -= factor * m[c][k];
      }
    }
    inverse_.assign(size_, std::vector<double>(size_));
    for (int r = 0; r < size_; ++r)
      for (int c = 0; c < size_; ++c) inverse_[r][c] = m[r][size_ + c];
    return true;
  }

  void price() {
    dual_.assign(size_, 0);
    for (int c = 0; c < size_; ++c)
      for (int b = 0; b < size_; ++b) dual_[c] += cost(basis_[b]) * inverse_[b][c];
  }

  int choose_entering(bool first) const {
    double most = -1e-13 * std::max(1e-300, largest_cost_);
    int best = -1;
    for (int v = 0; v < seen() + 2 * rows_; ++v) {
      double reduced = cost(v);
      for (int r = 0; r < size_; ++r) reduced -= dual_[r] * coefficient(v, r);
      if (reduced >= most) continue;
      most = reduced;
      best = v;
      if (first) break;
    }
    return best;
  }

  bool pivot(int entering) {
    double least = -1;
    int leaving = -1;
    for (int b = 0; b < size_; ++b) {
      double step = 0;
      for (int r = 0; r < size_; ++r) step += inverse_[b][r] * coefficient(entering, r);
      if (step <= 1e-12) continue;
      const double ratio = std::max(0.0, inverse_[b][rows_]) / step;  // right-hand side: 1 for the weights, else 0
      if (leaving >= 0 && (ratio > least || (ratio == least && basis_[b] > basis_[leaving]))) continue;
      least = ratio;
      leaving = b;
    }
    if (leaving < 0) return false;
    basis_[leaving] = entering;
    return true;
  }

  const std::vector<MasterColumn>& columns_;
  const int rows_, size_;
  const double cap_;
  double largest_cost_ = 0;
  std::vector<double> scale_, dual_;
  std::vector<int> basis_;
  std::vector<std::vector<double>> inverse_;
};

}  // namespace

MasterAnswer solve_master(const std::vector<MasterColumn>& columns, int rows, double cap) {
  return Simplex(columns, rows, cap).run();
}

}  // namespace planscope::layouts
