// tensordot and inner are equations of einsum, whose rule is the equation; an einsum of three operands or more is one of
// two operands after the other, in the order in which PyTorch computes it: that of its path, else from left to right.
//
//   tensordot([a, b, c], [c, b, d], dims 1 2, 1 0) = einsum("abc,cbd->ad")
//   einsum("bi,ij,bj->b", x, w, y) = einsum("bj,bj->b", einsum("bi,ij->bj", x, w), y)
#include <algorithm>
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/einsum.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

// Letters of both operands, where dimension `of_self[i]` is contracted with `of_other[i]`.
bool contract(Rewriter& rewriter, const Node& node, const std::vector<std::int64_t>& of_self,
              const std::vector<std::int64_t>& of_other) {
  const ValueId self = tensor_argument(node, "self"), other = tensor_argument(node, "other");
  const std::size_t a = rewriter.value(self).sizes.size(), b = rewriter.value(other).sizes.size();
  if (a + b > 26 || of_self.size() != of_other.size()) return false;
  std::string left(a, ' '), right(b, ' ');
  char letter = 'a';
  for (char& c : left) c = letter++;
  for (char& c : right) c = letter++;
  std::string result = left + right;
  for (std::size_t i = 0; i < of_self.size(); ++i) {
    const auto x = wrap_dim(of_self[i], a), y = wrap_dim(of_other[i], b);
    if (!x || !y) return false;
    const char mine = left[static_cast<std::size_t>(*x)];
    char& theirs = right[static_cast<std::size_t>(*y)];
    std::erase_if(result, [&](char c) { return c == mine || c == theirs; });
    theirs = mine;
  }
  const Value out = rewriter.value(node.outputs[0]);
  if (result.size() != out.sizes.size()) return false;
  rewriter.replace(node.outputs[0], rewriter.emit(node, "aten::einsum",
                                                  {{"equation", left + "," + right + "->" + result},
                                                   {"tensors", std::vector<Tensor>{Tensor{self}, Tensor{other}}},
                                                   {"path", None{}}},
                                                  out.dtype, out.sizes));
  return true;
}

struct Factor {
  ValueId id = -1;
  std::string letters;
};

// The letters that stand for dimensions under dots are digits in an Equation: they get letters that nothing else has.
void give_letters_to_dots(Equation& e) {
  std::string all = e.result;
  for (const std::string& o : e.operands) all += o;
  std::map<char, char> names;
  char next = 'a';
  for (const char c : all)
    if (c >= '0' && c <= '9' && !names.contains(c)) {
      while (all.find(next) != std::string::npos) next = next == 'z' ? 'A' : static_cast<char>(next + 1);
      names[c] = next;
      all += next;
    }
  const auto rename = [&](std::string& letters) {
    for (char& c : letters)
      if (const auto name = names.find(c); name != names.end()) c = name->second;
  };
  for (std::string& o : e.operands) rename(o);
  rename(e.result);
}

// The product of two, with the letters of both that `result` or any of `others` has.
Factor product(Rewriter& rewriter, const Node& node, const Factor& x, const Factor& y, const std::string& result,
               const std::vector<Factor>& others) {
  std::map<char, std::int64_t> size;
  for (const Factor* f : {&x, &y})
    for (std::size_t d = 0; d < f->letters.size(); ++d)
      size[f->letters[d]] = std::max(size[f->letters[d]], rewriter.value(f->id).sizes[d]);  // a size of 1 is broadcast
  const auto has = [](const std::string& letters, char c) { return letters.find(c) != std::string::npos; };
  Factor out;
  if (others.empty()) {
    out.letters = result;
  } else {
    for (const char c : x.letters + y.letters) {
      const bool read = has(result, c) || std::any_of(others.begin(), others.end(),
                                                      [&](const Factor& f) { return has(f.letters, c); });
      if (read && !has(out.letters, c)) out.letters += c;
    }
  }
  std::vector<std::int64_t> sizes;
  for (const char c : out.letters) sizes.push_back(size[c]);
  out.id = rewriter.emit(node, "aten::einsum",
                         {{"equation", x.letters + "," + y.letters + "->" + out.letters},
                          {"tensors", std::vector<Tensor>{Tensor{x.id}, Tensor{y.id}}},
                          {"path", None{}}},
                         rewriter.value(node.outputs[0]).dtype, sizes);
  return out;
}

bool in_pairs(Rewriter& rewriter, const Node& node) {
  const auto text = string_argument(node, "equation");
  const auto* tensors = tensors_argument(node, "tensors");
  if (!text || !tensors || tensors->size() < 3 || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
  std::vector<std::size_t> ranks;
  for (const Tensor& t : *tensors) ranks.push_back(rewriter.value(t.id).sizes.size());
  std::optional<Equation> e = parse_equation(*text, ranks);
  if (!e) return false;
  give_letters_to_dots(*e);
  std::vector<Factor> left;
  for (std::size_t i = 0; i < tensors->size(); ++i) left.push_back({(*tensors)[i].id, e->operands[i]});
  const auto* given = ints_argument(node, "path");
  const std::vector<std::int64_t> path = given ? *given : std::vector<std::int64_t>();
  if (given && path.size() != 2 * (left.size() - 1)) return false;
  for (std::size_t k = 0, n = left.size(); k + 1 < n; ++k) {
    const std::int64_t one = given ? path[2 * k] : 0, other = given ? path[2 * k + 1] : 1;
    const std::int64_t a = std::min(one, other), b = std::max(one, other);
    if (a < 0 || a == b || b >= static_cast<std::int64_t>(left.size())) return false;
    const Factor x = left[static_cast<std::size_t>(a)], y = left[static_cast<std::size_t>(b)];
    left.erase(left.begin() + b);
    left.erase(left.begin() + a);
    left.insert(given ? left.end() : left.begin(), product(rewriter, node, x, y, e->result, left));
  }
  rewriter.replace(node.outputs[0], left.front().id);
  return true;
}

}  // namespace

Model contractions(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.target == "aten::einsum") return in_pairs(rewriter, node);
    const bool tensordot = node.target == "aten::tensordot", inner = node.target == "aten::inner";
    if ((!tensordot && !inner) || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const ValueId self = tensor_argument(node, "self"), other = tensor_argument(node, "other");
    if (self < 0 || other < 0 || rewriter.value(self).sizes.empty() || rewriter.value(other).sizes.empty())
      return false;
    if (inner) return contract(rewriter, node, {-1}, {-1});
    const auto *of_self = ints_argument(node, "dims_self"), *of_other = ints_argument(node, "dims_other");
    return of_self && of_other && contract(rewriter, node, *of_self, *of_other);
  });
}

}  // namespace planscope
