// tensordot and inner are equations of einsum, whose rule is the equation; an einsum of three operands or more is one of
// two operands after the other, in the order in which PyTorch computes it: that of its path, else from left to right. A letter
// that is neither in the result nor in another operand is summed before, as PyTorch does; of one operand no more is left than
// a sum and a permutation. A letter twice in one operand is its diagonal.
//
//   tensordot([a, b, c], [c, b, d], dims 1 2, 1 0) = einsum("abc,cbd->ad")
//   einsum("bi,ij,bj->b", x, w, y) = einsum("bj,bj->b", einsum("bi,ij->bj", x, w), y)
//   einsum("bij,bk->bk", x, y) = einsum("b,bk->bk", sum(x, [1, 2]), y)
//   einsum("bii,ij->bj", x, y) = einsum("bi,ij->bj", diagonal(x, 1, 2), y)
#include <algorithm>
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/einsum.h"
#include "engine/graph/element_types.h"
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

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// The operand with each letter once: the diagonal of two dimensions comes last.
Factor diagonals(Rewriter& rewriter, const Node& node, Factor f) {
  for (std::size_t a = 0; a < f.letters.size(); ++a) {
    const std::size_t b = f.letters.find(f.letters[a], a + 1);
    if (b == std::string::npos) continue;
    const Value value = rewriter.value(f.id);
    std::vector<std::int64_t> sizes = value.sizes;
    sizes.push_back(sizes[a]);
    f.letters += f.letters[a];
    for (const std::size_t d : {b, a}) {
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d));
      f.letters.erase(d, 1);
    }
    f.id = rewriter.emit(node, "aten::diagonal",
                         {{"self", Tensor{f.id}},
                          {"offset", std::int64_t{0}},
                          {"dim1", static_cast<std::int64_t>(a)},
                          {"dim2", static_cast<std::int64_t>(b)}},
                         value.dtype, sizes);
    return diagonals(rewriter, node, std::move(f));
  }
  return f;
}

// Dimensions of at least `least` elements whose letters are not among those read elsewhere.
std::vector<std::int64_t> alone(const Rewriter& rewriter, const Factor& f, const std::string& read, std::int64_t least) {
  const Value& value = rewriter.value(f.id);
  std::vector<std::int64_t> dims;
  if (carries_gradient(value.dtype))  // a sum of integers has another type
    for (std::size_t d = 0; d < f.letters.size(); ++d)
      if (!has(read, f.letters[d]) && value.sizes[d] >= least) dims.push_back(static_cast<std::int64_t>(d));
  return dims;
}

// The operand with what nothing else reads summed.
Factor summed(Rewriter& rewriter, const Node& node, const Factor& f, const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return f;
  const Value value = rewriter.value(f.id);
  Factor out;
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < f.letters.size(); ++d) {
    if (std::count(dims.begin(), dims.end(), static_cast<std::int64_t>(d))) continue;
    out.letters += f.letters[d];
    sizes.push_back(value.sizes[d]);
  }
  out.id = rewriter.emit(node, "aten::sum.dim_IntList",
                         {{"self", Tensor{f.id}}, {"dim", dims}, {"keepdim", false}, {"dtype", None{}}}, value.dtype, sizes);
  return out;
}

// An operand by itself, in the order of the result.
bool of_one(Rewriter& rewriter, const Node& node, const Factor& f, const std::string& result) {
  const Factor left = summed(rewriter, node, f, alone(rewriter, f, result, 0));
  if (left.letters.size() != result.size()) return false;
  std::vector<std::int64_t> order;
  for (const char c : result) order.push_back(static_cast<std::int64_t>(left.letters.find(c)));
  rewriter.replace(node.outputs[0],
                   left.letters == result ? left.id : rewriter.emit_permute(node, left.id, order));
  return true;
}

// The product of two, with the letters of both that `result` or any of `others` has.
Factor product(Rewriter& rewriter, const Node& node, Factor x, Factor y, const std::string& result,
               const std::vector<Factor>& others) {
  std::string elsewhere = result;
  for (const Factor& f : others) elsewhere += f.letters;
  const auto of_x = alone(rewriter, x, elsewhere + y.letters, 2), of_y = alone(rewriter, y, elsewhere + x.letters, 2);
  x = summed(rewriter, node, x, of_x);
  y = summed(rewriter, node, y, of_y);
  std::map<char, std::int64_t> size;
  for (const Factor* f : {&x, &y})
    for (std::size_t d = 0; d < f->letters.size(); ++d)
      size[f->letters[d]] = std::max(size[f->letters[d]], rewriter.value(f->id).sizes[d]);  // a size of 1 is broadcast
  Factor out;
  if (others.empty()) {
    out.letters = result;
  } else {
    for (const char c : x.letters + y.letters)
      if (has(elsewhere, c) && !has(out.letters, c)) out.letters += c;
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
  if (!text || !tensors || tensors->empty() || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
  std::vector<std::size_t> ranks;
  for (const Tensor& t : *tensors) ranks.push_back(rewriter.value(t.id).sizes.size());
  const bool plain = parse_equation(*text, ranks).has_value();
  std::optional<Equation> e = parse_equation(*text, ranks, true);
  if (!e) return false;
  give_letters_to_dots(*e);
  std::vector<Factor> left;
  for (std::size_t i = 0; i < tensors->size(); ++i)
    left.push_back(diagonals(rewriter, node, {(*tensors)[i].id, e->operands[i]}));
  if (left.size() == 1) return of_one(rewriter, node, left[0], e->result);
  if (plain && left.size() == 2 && alone(rewriter, left[0], e->result + left[1].letters, 2).empty() &&
      alone(rewriter, left[1], e->result + left[0].letters, 2).empty())
    return false;
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
