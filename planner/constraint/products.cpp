#include "planner/constraint/products.h"

#include <algorithm>
#include <variant>

namespace planscope::constraint {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The axes that cut one part of a factor of one operator.
struct Cut {
  int factor = -1, part = 0;
  bool any_sizes = false;  // blocks need not be equal
  Product product;
};

class Products {
 public:
  Products(const plan::Decisions& d, const plan::ModelInfo& model, std::set<std::string> fixed)
      : d_(d), model_(model), fixed_(std::move(fixed)) {}

  std::vector<Product> run() {
    for (int op = 0; op < d_.operator_count; ++op) look_at(op);
    return {found_.begin(), found_.end()};
  }

 private:
  void look_at(int op) {
    const int place = d_.operator_place[at(op)];
    if (place >= 0 && d_.places[at(place)].open()) return;
    cuts_.clear();
    for (int axis = 0; axis < static_cast<int>(d_.axes.size()); ++axis) {
      const plan::Split& s = d_.split(op, axis);
      if (s.statement < 0 || s.factor < 0) continue;
      const std::optional<std::int64_t> size = size_of(axis, place);
      if (!size || *size == 1) continue;
      auto cut = std::find_if(cuts_.begin(), cuts_.end(),
                              [&](const Cut& c) { return c.factor == s.factor && c.part == s.part; });
      if (cut == cuts_.end()) cut = cuts_.insert(cuts_.end(), Cut{s.factor, s.part, false, {}});
      add(*cut, s, axis, *size);
    }
    for (Cut& cut : cuts_) {
      Product& p = cut.product;
      if (cut.any_sizes || p.axes.empty()) continue;
      std::sort(p.lines.begin(), p.lines.end());
      p.lines.erase(std::unique(p.lines.begin(), p.lines.end()), p.lines.end());
      p.size = model_.operators[at(op)].factors[at(cut.factor)].size;
      found_.insert(std::move(p));
    }
  }

  void add(Cut& cut, const plan::Split& s, int axis, std::int64_t size) const {
    cut.any_sizes = cut.any_sizes || d_.sizes.contains(s.statement);
    cut.product.lines.push_back(d_.plan.statements[at(s.statement)].line);
    if (size == 0)
      cut.product.axes.push_back(axis);
    else
      cut.product.constant = std::min<std::int64_t>(cut.product.constant * size, std::int64_t{1} << 40);
  }

  // 0: open; nothing: the axis is not there, or lines that wait may fix it, wherever the operator is by now.
  std::optional<std::int64_t> size_of(int axis, int place) const {
    if (fixed_.contains(d_.axes[at(axis)].name)) return std::nullopt;
    return plan::axis_size(d_, place < 0 ? plan::PlaceInfo{} : d_.places[at(place)], axis);
  }

  const plan::Decisions& d_;
  const plan::ModelInfo& model_;
  const std::set<std::string> fixed_;
  std::vector<Cut> cuts_;
  std::set<Product> found_;
};

}  // namespace

std::optional<std::set<std::string>> fixed_later(const plan::Decisions& d) {
  if (d.grids.size() != 1) return std::nullopt;
  std::set<std::string> out;
  for (const int statement : d.deferred) {
    const plan::StatementBody& body = d.plan.statements[at(statement)].body;
    if (std::holds_alternative<plan::LetStatement>(body) || std::holds_alternative<plan::OrderStatement>(body) ||
        std::holds_alternative<plan::RequireStatement>(body) || std::holds_alternative<plan::ForbidStatement>(body) ||
        std::holds_alternative<plan::ModelStatement>(body))
      continue;
    const auto* assign = std::get_if<plan::AssignStatement>(&body);
    if (!assign) return std::nullopt;
    for (const plan::Place& p : assign->places) {
      if (p.form != plan::Place::Form::axes) return std::nullopt;
      for (const plan::AxisSub& a : p.axes) out.insert(a.axis);
    }
  }
  return out;
}

std::vector<Product> products(const plan::Decisions& d, const plan::ModelInfo& model) {
  const std::optional<std::set<std::string>> fixed = fixed_later(d);
  return fixed ? Products(d, model, *fixed).run() : std::vector<Product>{};
}

}  // namespace planscope::constraint
