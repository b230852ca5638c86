#pragma once
// What a device holds of a tensor, from the words of a layout alone, as `[batch/data, heads/tensor*head_dim] partial(pipe)`
// (describe() of engine/program/program.h): an own reading of them, beside which drawn tiles are put.
//
//   held_by_text("[batch/data, hidden]", graph, program, tensor, point).indices[0]   // {0, 1, 2, 3}
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

struct HeldByText {
  std::vector<std::vector<int>> indices;  // by dimension, ascending
  int by_key = -1;                        // the dimension of which a key chooses the indices
  std::string keys;                       // `key 1`, `keys 0:2`; empty: no key does
  int part = -1, parts = 1;               // of the value; -1: the whole
  std::string part_kind;
};

namespace layout_text {

// At signs that stand in no parentheses and no brackets.
inline std::vector<std::string> pieces(const std::string& text, const std::string& sign) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (std::size_t k = 0; k < text.size();) {
    if (depth == 0 && text.compare(k, sign.size(), sign) == 0) {
      out.emplace_back();
      k += sign.size();
      continue;
    }
    depth += text[k] == '(' || text[k] == '[' ? 1 : text[k] == ')' || text[k] == ']' ? -1 : 0;
    out.back() += text[k++];
  }
  return out;
}

inline int axis_of(const Program& p, const Point& point, const std::string& name) {
  int found = -1;
  for (std::size_t a = 0; a < p.axes.size(); ++a)
    if (p.axes[a].name == name && (found < 0 || point[a] >= 0)) found = static_cast<int>(a);
  return found;
}

inline std::int64_t coordinate(const Program& p, const Point& point, const std::string& name) {
  const int a = axis_of(p, point, name);
  return a < 0 ? -1 : point[static_cast<std::size_t>(a)];
}

// One of how many blocks, and whether those before it are meant too.
struct Block {
  std::int64_t value = 0, of = 1;
  bool prefix = false;
};

inline Block block_of_text(std::string text, const Program& p, const Point& point) {
  Block out;
  if (text.starts_with("|")) text = text.substr(1, text.size() - 2);
  if (text.starts_with("..")) text = text.substr(2), out.prefix = true;
  if (text.starts_with("(")) {  // `(1+2*ring+cp)%4`
    const std::size_t end = text.find(")%");
    out.of = std::atoll(text.c_str() + end + 2);
    for (const std::string& term : pieces(text.substr(1, end - 1), "+")) {
      std::int64_t product = 1;
      for (const std::string& factor : pieces(term, "*"))
        product *= axis_of(p, point, factor) < 0 ? std::atoll(factor.c_str()) : coordinate(p, point, factor);
      out.value += product;
    }
    out.value = (out.value % out.of + out.of) % out.of;
    return out;
  }
  const std::string name = text.substr(0, text.find('('));
  const int a = axis_of(p, point, name);
  std::int64_t stride = 1;
  out.of = a < 0 ? 1 : p.axes[static_cast<std::size_t>(a)].size;
  if (name.size() < text.size()) {  // `data(2x4)`
    out.of = std::atoll(text.c_str() + name.size() + 1);
    if (const std::size_t times = text.find('x', name.size()); times != text.npos) stride = std::atoll(text.c_str() + times + 1);
  }
  const std::int64_t c = coordinate(p, point, name);
  out.value = c < 0 ? -1 : c / stride % out.of;
  return out;
}

// Each digit cuts the block of those before it; blocks are as equal as possible, the larger ones first.
inline Interval interval_of_text(std::int64_t size, const std::string& digits, const Program& p, const Point& point) {
  Interval out{0, size};
  for (const std::string& digit : pieces(digits, ",")) {
    const Block b = block_of_text(digit, p, point);
    if (b.value < 0) continue;
    const std::int64_t whole = out.size(), small = whole / b.of, larger = whole % b.of;
    const std::int64_t begin = b.value * small + std::min(b.value, larger);
    const std::int64_t end = begin + small + (b.value < larger ? 1 : 0);
    out = {out.begin + (b.prefix ? 0 : begin), out.begin + end};
  }
  return out;
}

// Axes of which every index is meant, each by itself.
inline std::vector<std::string> every_axis(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t from = text.find('|'); from != text.npos;) {
    const std::size_t to = text.find('|', from + 1);
    const std::string name = text.substr(from + 1, to - from - 1);
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    from = text.find('|', to + 1);
  }
  return out;
}

// Where the bracket closes that opens the text; an axis may have some in its name, as `mb[0:3:2]`.
inline std::size_t end_of_dimensions(const std::string& layout) {
  int depth = 0;
  for (std::size_t k = 0; k < layout.size(); ++k) {
    depth += layout[k] == '[' ? 1 : layout[k] == ']' ? -1 : 0;
    if (depth == 0) return k;
  }
  return layout.size() - 1;
}

// As it is once a device has put together what the indices of free axes gave, which is no conversion.
inline std::string accumulated(const std::string& layout, const Program& p) {
  const auto without_free = [&](const std::string& digits, const std::string& before, const std::string& behind) {
    std::string kept;
    for (const std::string& digit : pieces(digits, ","))
      if (std::none_of(p.axes.begin(), p.axes.end(), [&](const Axis& a) { return a.grid < 0 && a.name == digit; }))
        kept += (kept.empty() ? "" : ",") + digit;
    return kept.empty() ? kept : before + kept + behind;
  };
  const std::size_t end = end_of_dimensions(layout), open = layout.find('(', end);
  std::string out = "[";
  for (const std::string& dim : pieces(layout.substr(1, end - 1), ", ")) {
    out += out.size() == 1 ? "" : ", ";
    std::string parts;
    for (const std::string& part : pieces(dim, "*")) {
      const std::size_t slash = part.find('/');
      parts += (parts.empty() ? "" : "*") + part.substr(0, slash);
      if (slash != std::string::npos) parts += without_free(part.substr(slash + 1), "/", "");
    }
    out += parts;
  }
  out += "]";
  if (open == std::string::npos) return out;
  return out + without_free(layout.substr(open + 1, layout.rfind(')') - open - 1), layout.substr(end + 1, open - end), ")");
}

}  // namespace layout_text

inline HeldByText held_by_text(const std::string& layout, const Graph& g, const Program& p, TensorId tensor, const Point& at) {
  using namespace layout_text;
  HeldByText out;
  const std::size_t end = end_of_dimensions(layout);
  const std::string dims = layout.substr(1, end - 1), behind = layout.substr(end + 1);
  const auto& classes = g.tensors[static_cast<std::size_t>(tensor)].dims;
  const std::vector<std::string> texts = classes.empty() ? std::vector<std::string>{} : pieces(dims, ", ");
  std::vector<Point> points = {at};
  for (const std::string& name : every_axis(dims)) {
    std::vector<Point> all;
    const auto a = static_cast<std::size_t>(axis_of(p, at, name));
    for (Point one : points)
      for (std::int64_t i = 0; i < p.axes[a].size; ++i) one[a] = i, all.push_back(one);
    points = std::move(all);
  }
  for (std::size_t d = 0; d < texts.size(); ++d) {
    const std::string cut = texts[d].substr(0, texts[d].find(" of "));
    std::vector<std::string> parts = pieces(cut, "*");
    std::int64_t size = 1;
    std::vector<std::int64_t> sizes;
    for (const ClassId c : classes[d]) sizes.push_back(g.classes[static_cast<std::size_t>(c)].size), size *= sizes.back();
    std::vector<char> held(static_cast<std::size_t>(size), 0);
    for (const Point& point : points)
      for (std::int64_t i = 0; i < size; ++i) {
        bool inside = true;
        std::int64_t rest = i;
        for (std::size_t k = sizes.size(); k-- > 0; rest /= sizes[k]) {
          const std::size_t slash = parts[k].find('/');
          if (slash == std::string::npos) continue;
          const Interval one = interval_of_text(sizes[k], parts[k].substr(slash + 1), p, point);
          inside = inside && rest % sizes[k] >= one.begin && rest % sizes[k] < one.end;
        }
        if (inside) held[static_cast<std::size_t>(i)] = 1;
      }
    out.indices.emplace_back();
    for (std::size_t i = 0; i < held.size(); ++i)
      if (held[i]) out.indices.back().push_back(static_cast<int>(i));
    if (cut.size() == texts[d].size()) continue;
    const std::string key = texts[d].substr(cut.size() + 4);  // `expert/data`
    const std::size_t slash = key.find('/');
    out.by_key = static_cast<int>(d);
    for (const PartClass& c : g.classes)
      if (c.name == key.substr(0, slash)) {
        const Interval k = interval_of_text(c.size, key.substr(slash + 1), p, at);
        out.keys = k.size() == 1 ? "key " + std::to_string(k.begin)
                                 : "keys " + std::to_string(k.begin) + ":" + std::to_string(k.end);
        break;
      }
  }
  if (behind.empty()) return out;
  const std::size_t open = behind.find('(');
  const std::string word = behind.substr(1, open - 1);
  out.part_kind = word == "partial" ? "sum" : word;
  out.part = 0;
  for (const std::string& digit : pieces(behind.substr(open + 1, behind.rfind(')') - open - 1), ",")) {
    const Block b = block_of_text(digit, p, at);
    out.part = out.part * static_cast<int>(b.of) + static_cast<int>(std::max<std::int64_t>(0, b.value));
    out.parts *= static_cast<int>(b.of);
  }
  return out;
}

}  // namespace planscope
