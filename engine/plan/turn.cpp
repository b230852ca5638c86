// `at`: which block of a factor an operator takes at a coordinate of the axis that splits it.
#include <algorithm>
#include <set>

#include "engine/plan/printer.h"
#include "engine/plan/trans.h"

namespace planscope::plan {

namespace {

constexpr std::int64_t most_points = 1 << 22;  // of the axis and the one that turns it

class TurnBinder {
 public:
  TurnBinder(Context& c, const TransStatement& s, int axis) : c_(c), s_(s), axis_(axis) {}

  bool run() {
    const auto resolved = c_.resolve(*s_.at, axis_names());
    if (!resolved) return false;
    expression_ = *resolved;
    if (mentions_open(expression_)) {
      c_.defer();
      return false;
    }
    if (!find_other()) return false;
    const std::int64_t own = c_.decisions.axes[static_cast<std::size_t>(axis_)].size;
    if (own == 0 || !known_sizes()) {
      c_.defer();
      return false;
    }
    for (const std::int64_t other : sizes_)
      if (!check(own, other)) return false;
    c_.decisions.turns[c_.statement] = turn_;
    return true;
  }

 private:
  bool refuse(const std::string& why) {
    c_.refuse("'at " + print(*s_.at) + "': " + why);
    return false;
  }

  std::vector<std::string> axis_names() const {
    std::vector<std::string> out;
    for (const AxisInfo& a : c_.decisions.axes) out.push_back(a.name);
    return out;
  }

  const std::string& name(int axis) const { return c_.decisions.axes[static_cast<std::size_t>(axis)].name; }

  bool find_other() {
    std::set<std::string> names;
    for_each(expression_, [&](const Expression& e) {
      if (e.kind == Expression::Kind::name) names.insert(e.text);
    });
    for (const std::string& n : names) {
      const int a = c_.axis(n);
      if (a == axis_) continue;
      if (a < 0) return refuse("'" + n + "' is no axis and no let.");
      if (c_.decisions.axes[static_cast<std::size_t>(a)].free || turn_.by >= 0)
        return refuse("a block follows from " + name(axis_) + " and the coordinate on one axis of devices.");
      turn_.by = a;
    }
    return true;
  }

  bool known_sizes() {
    if (turn_.by < 0) sizes_ = {1};
    for (const GridInfo& g : c_.decisions.grids)
      for (const GridAxis& a : g.axes)
        if (a.axis == turn_.by && std::find(sizes_.begin(), sizes_.end(), a.size) == sizes_.end())
          sizes_.push_back(a.size);
    return std::find(sizes_.begin(), sizes_.end(), 0) == sizes_.end();
  }

  Number block(std::int64_t own, std::int64_t other) const {
    return evaluate(expression_, [&](const Expression& leaf) -> Number {
      if (leaf.kind == Expression::Kind::name) return {leaf.text == name(axis_) ? own : other, {}};
      return {0, EvaluationError{EvaluationError::Kind::unsupported, print(leaf)}};
    });
  }

  bool check(std::int64_t own, std::int64_t other) {
    if (own > most_points / other) return refuse("its axes are too large.");
    for (std::int64_t c = 0; c < other; ++c) {
      std::vector<int> read(static_cast<std::size_t>(own), 0);
      for (std::int64_t i = 0; i < own; ++i) {
        const Number n = block(i, c);
        if (!n.ok()) return refuse("it has no value at " + name(axis_) + "=" + std::to_string(i) + ".");
        if (n.value < 0 || n.value >= own)
          return refuse("it is " + std::to_string(n.value) + " at " + at(i, c) + "; blocks are 0 to " +
                        std::to_string(own - 1) + ".");
        ++read[static_cast<std::size_t>(n.value)];
      }
      if (!every_block(read, c)) return false;
    }
    return fit(own, other);
  }

  std::string at(std::int64_t i, std::int64_t c) const {
    return name(axis_) + "=" + std::to_string(i) + (turn_.by < 0 ? "" : ", " + on(c));
  }
  std::string on(std::int64_t c) const { return name(turn_.by) + "=" + std::to_string(c); }

  bool every_block(const std::vector<int>& read, std::int64_t c) {
    const auto often = std::find_if(read.begin(), read.end(), [](int n) { return n > 1; });
    if (often == read.end()) return true;
    const auto never = std::find(read.begin(), read.end(), 0);
    const std::string times = *often == 2 ? "twice" : std::to_string(*often) + " times";
    c_.refuse(print(*s_.at) + " reads " + factor() + "block " + std::to_string(often - read.begin()) + " " + times +
              " and block " + std::to_string(never - read.begin()) + " never" +
              (turn_.by < 0 ? "." : " on " + on(c) + "."));
    return false;
  }

  // `key ` of a choice `keys`.
  std::string factor() const {
    const std::string& word = s_.factor.words[0];
    if (s_.factor.words.size() > 1 || word == "*" || word[0] == '?') return "";
    return (word.size() > 1 && word.back() == 's' ? word.substr(0, word.size() - 1) : word) + " ";
  }

  bool fit(std::int64_t own, std::int64_t other) {
    const auto modulo = [&](std::int64_t n) { return ((n % own) + own) % own; };
    Turn turn{turn_.by, 1, 0, block(0, 0).value};
    if (own > 1) turn.step = modulo(block(1, 0).value - turn.start);
    if (other > 1) turn.turn = modulo(block(0, 1).value - turn.start);
    for (std::int64_t i = 0; i < own; ++i)
      for (std::int64_t c = 0; c < other; ++c)
        if (block(i, c).value != modulo(turn.start + turn.step * i + turn.turn * c)) {
          c_.unsupported("'at " + print(*s_.at) + "': a block index that is not a + b*" + name(axis_) +
                         (turn_.by < 0 ? "" : " + c*" + name(turn_.by)) + " modulo " + std::to_string(own));
          return false;
        }
    if (checked_ && turn != turn_) {
      c_.unsupported("'at' over grids in which " + name(turn_.by) + " has different sizes");
      return false;
    }
    checked_ = true;
    turn_ = turn;
    return true;
  }

  Context& c_;
  const TransStatement& s_;
  int axis_;
  Expression expression_;
  Turn turn_;
  bool checked_ = false;
  std::vector<std::int64_t> sizes_;
};

}  // namespace

bool take_turn(Context& c, const TransStatement& s, const std::vector<int>& axes, bool of_parameters) {
  if (axes.size() != 1) {
    c.unsupported("'at' over several axes");
    return false;
  }
  if (!c.decisions.axes[static_cast<std::size_t>(axes[0])].free) {
    c.unsupported("'at' over an axis of devices");
    return false;
  }
  if (of_parameters) {
    c.refuse("what belongs to parameters is stored block by block; 'at' says which block an operator takes.");
    return false;
  }
  if (s.sizes.form == Sizes::Form::listed) {
    c.unsupported("'at' with listed sizes");
    return false;
  }
  return TurnBinder(c, s, axes[0]).run();
}

}  // namespace planscope::plan
