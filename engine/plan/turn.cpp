// `at`: which block of a factor an operator takes at a coordinate of the axis that splits it.
#include <algorithm>
#include <optional>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/printer.h"
#include "engine/plan/trans.h"

namespace planscope::plan {

namespace {

constexpr std::int64_t most_points = 1 << 22;  // of the axis and the one that turns it

// Of one axis: blocks of a free axis, which the coordinate on one of devices may turn. Of two, a free one and one of
// devices: their digits together name the block; the first one says which of the larger blocks it is in.
class TurnBinder {
 public:
  TurnBinder(Context& c, const TransStatement& s, const std::vector<int>& axes)
      : c_(c), s_(s), axis_(axes[0]), other_(axes.size() > 1 ? axes[1] : -1), pair_(axes.size() > 1) {}

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
    c_.decisions.turns[{c_.statement, axis_}] = first_;
    if (pair_) c_.decisions.turns[{c_.statement, other_}] = second_;
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
      if (a == axis_ || (pair_ && a == other_)) continue;
      if (a < 0) return refuse("'" + n + "' is no axis and no let.");
      if (pair_) return refuse("a block follows from the coordinates on " + name(axis_) + " and " + name(other_) + ".");
      if (c_.decisions.axes[static_cast<std::size_t>(a)].free || other_ >= 0)
        return refuse("a block follows from " + name(axis_) + " and the coordinate on one axis of devices.");
      other_ = a;
    }
    return true;
  }

  bool known_sizes() {
    if (other_ < 0) sizes_ = {1};
    for (const GridInfo& g : c_.decisions.grids)
      for (const GridAxis& a : g.axes)
        if (a.axis == other_ && std::find(sizes_.begin(), sizes_.end(), a.size) == sizes_.end())
          sizes_.push_back(a.size);
    return std::find(sizes_.begin(), sizes_.end(), 0) == sizes_.end();
  }

  Number block(std::int64_t own, std::int64_t other) const {
    return evaluate(expression_, [&](const Expression& leaf) -> Number {
      if (leaf.kind == Expression::Kind::name) return {leaf.text == name(axis_) ? own : other, {}};
      return {0, EvaluationError{EvaluationError::Kind::unsupported, print(leaf)}};
    });
  }

  // Every block once: on each device, or, of two axes, on all of them together.
  bool check(std::int64_t own, std::int64_t other) {
    if (own > most_points / other) return refuse("its axes are too large.");
    const std::int64_t blocks = pair_ ? own * other : own;
    std::vector<int> read;
    for (std::int64_t c = 0; c < other; ++c) {
      if (!pair_ || c == 0) read.assign(static_cast<std::size_t>(blocks), 0);
      for (std::int64_t i = 0; i < own; ++i) {
        const Number n = block(i, c);
        if (!n.ok()) return refuse("it has no value at " + name(axis_) + "=" + std::to_string(i) + ".");
        if (n.value < 0 || n.value >= blocks)
          return refuse("it is " + std::to_string(n.value) + " at " + at(i, c) + "; blocks are 0 to " +
                        std::to_string(blocks - 1) + ".");
        ++read[static_cast<std::size_t>(n.value)];
      }
      if (!pair_ && !every_block(read, other_ < 0 ? "" : " on " + on(c))) return false;
    }
    return pair_ ? every_block(read, "") && fit_pair(own, other) : fit(own, other);
  }

  std::string at(std::int64_t i, std::int64_t c) const {
    return name(axis_) + "=" + std::to_string(i) + (other_ < 0 ? "" : ", " + on(c));
  }
  std::string on(std::int64_t c) const { return name(other_) + "=" + std::to_string(c); }

  bool every_block(const std::vector<int>& read, const std::string& where) {
    const auto often = std::find_if(read.begin(), read.end(), [](int n) { return n > 1; });
    if (often == read.end()) return true;
    const auto never = std::find(read.begin(), read.end(), 0);
    const std::string times = *often == 2 ? "twice" : std::to_string(*often) + " times";
    c_.refuse(print(*s_.at) + " reads " + factor() + "block " + std::to_string(often - read.begin()) + " " + times +
              " and block " + std::to_string(never - read.begin()) + " never" + where + ".");
    return false;
  }

  // `key ` of a choice `keys`.
  std::string factor() const {
    const std::string& word = s_.factor.words[0];
    if (s_.factor.words.size() > 1 || word == "*" || word[0] == '?') return "";
    return (word.size() > 1 && word.back() == 's' ? word.substr(0, word.size() - 1) : word) + " ";
  }

  // The turn of `own` blocks that a function of its coordinate i and another one c is; nothing: it is none.
  template <class F>
  static std::optional<Turn> turn_of(int by, std::int64_t own, std::int64_t other, F&& number) {
    const auto modulo = [&](std::int64_t n) { return ((n % own) + own) % own; };
    Turn t{by, 1, 0, number(0, 0), 0};
    if (own > 1) t.step = modulo(number(1, 0) - t.start);
    if (other > 1) t.turn = modulo(number(0, 1) - t.start);
    if (own > 1 && other > 1) t.cross = modulo(number(1, 1) - t.start - t.step - t.turn);
    for (std::int64_t i = 0; i < own; ++i)
      for (std::int64_t c = 0; c < other; ++c)
        if (number(i, c) != modulo(t.start + t.step * i + t.turn * c + t.cross * i * c)) return std::nullopt;
    if (t.turn == 0 && t.cross == 0) t.by = -1;
    return t;
  }

  bool fit(std::int64_t own, std::int64_t other) {
    const auto turn = turn_of(other_, own, other, [&](std::int64_t i, std::int64_t c) { return block(i, c).value; });
    if (!turn) {
      c_.unsupported("'at " + print(*s_.at) + "': a block index that is not a + b*" + name(axis_) +
                     (other_ < 0 ? "" : " + c*" + name(other_)) + " modulo " + std::to_string(own));
      return false;
    }
    return keep(*turn, {});
  }

  bool fit_pair(std::int64_t own, std::int64_t other) {
    const auto major = turn_of(-1, own, 1, [&](std::int64_t h, std::int64_t) { return block(h, 0).value / other; });
    const auto minor =
        turn_of(axis_, other, own, [&](std::int64_t c, std::int64_t h) { return block(h, c).value % other; });
    bool nested = major && minor;
    for (std::int64_t h = 0; h < own && nested; ++h)
      for (std::int64_t c = 0; c < other && nested; ++c)
        nested = block(h, c).value / other == block(h, 0).value / other;
    if (!nested) {
      c_.unsupported("'at " + print(*s_.at) + "': blocks of one " + name(axis_) + " that are not " +
                     std::to_string(other) + " neighbours, turned or mirrored along " + name(other_));
      return false;
    }
    return keep(*major, *minor);
  }

  bool keep(const Turn& first, const Turn& second) {
    if (checked_ && (first != first_ || second != second_)) {
      c_.unsupported("'at' over grids in which " + name(other_) + " has different sizes");
      return false;
    }
    checked_ = true;
    first_ = first;
    second_ = second;
    return true;
  }

  Context& c_;
  const TransStatement& s_;
  int axis_, other_;
  bool pair_;
  Expression expression_;
  Turn first_, second_;  // of axis_; of other_, where both name a block together
  bool checked_ = false;
  std::vector<std::int64_t> sizes_;
};

// The devices of an axis the other way round, as a grid names them: `3,2,1,0 as cp=4`.
std::string turned_round(const Decisions& d, int axis) {
  std::int64_t size = 0;  // open
  for (const GridInfo& g : d.grids)
    for (const GridAxis& a : g.axes)
      if (a.axis == axis) size = std::max(size, a.size);
  constexpr std::int64_t most = 8;
  std::vector<std::string> devices;
  for (std::int64_t i = size; i-- > std::max<std::int64_t>(0, size - most);) devices.push_back(std::to_string(i));
  if (size == 0 || size > most) devices.push_back("…");
  return join(devices, ",") + " as " + d.axes[static_cast<std::size_t>(axis)].name + "=" +
         (size == 0 ? "…" : std::to_string(size));
}

}  // namespace

bool take_turn(Context& c, const TransStatement& s, const std::vector<int>& axes, bool of_parameters) {
  const auto is_free = [&](int a) { return c.decisions.axes[static_cast<std::size_t>(a)].free; };
  if (axes.size() > 2 || (axes.size() == 2 && (!is_free(axes[0]) || is_free(axes[1])))) {
    c.unsupported("'at' over several axes that are not a free one and one of devices, in this order,");
    return false;
  }
  if (!is_free(axes[0])) {
    const std::string axis = c.decisions.axes[static_cast<std::size_t>(axes[0])].name;
    c.refuse("'at' over '" + axis +
             "' alone only exchanges its devices. Name them in that order: 'grid G = " +
             turned_round(c.decisions, axes[0]) + "', and assign the operators to G.");
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
  return TurnBinder(c, s, axes).run();
}

}  // namespace planscope::plan
