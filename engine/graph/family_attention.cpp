// planscope::attention: query [b.., h, i, d], key [b.., hk, j, d], value [b.., hk, j, e], mask -> [b.., h, i, e] and the
// log-sum-exps of the scores [b.., h, i]; h = hk x groups. Linear in the value alone. The mask is broadcast against
// [b.., h, i, j]. Blocks of keys give averages of their own, which the log-sum-exps weigh (Milakov, Gimelshein, "Online
// normalizer calculation for softmax", 2018); backward reads the whole results.
#include "engine/graph/draft.h"

namespace planscope {

namespace {

// Ties the mask's dimensions, aligned to the right, to the factors of [b.., h, i, j] where the sizes say so.
bool tie_mask(RuleContext& c, int mask, const std::vector<int>& scores) {
  const int rank = static_cast<int>(c.sizes(c.draft.inputs[static_cast<std::size_t>(mask)].tensor).size());
  for (int d = 0; d < rank; ++d) {
    const int at = static_cast<int>(scores.size()) - rank + d;
    if (at < 0) return false;
    if (!c.tie_or_broadcast(mask, d, scores[static_cast<std::size_t>(at)])) return false;
  }
  return true;
}

}  // namespace

bool apply_attention(RuleContext& c) {
  if (c.node.target != "planscope::attention" || c.node.outputs.size() != 2) return false;
  const int q = c.input("query"), k = c.input("key"), v = c.input("value"), mask = c.input("attn_mask");
  if (q < 0 || k < 0 || v < 0) return false;
  const AskedSizes qs = c.sizes(c.draft.inputs[static_cast<std::size_t>(q)].tensor);
  const int rank = static_cast<int>(qs.size());
  if (rank < 3) return false;
  const std::int64_t groups = c.integer("groups", 1);
  const std::int64_t heads = qs[static_cast<std::size_t>(rank - 3)];
  const AskedSizes ks = c.sizes(c.draft.inputs[static_cast<std::size_t>(k)].tensor);
  if (groups < 1 || static_cast<int>(ks.size()) != rank || ks[static_cast<std::size_t>(rank - 3)] * groups != heads)
    return false;

  std::vector<int> scores;  // factors of [b.., h, i, j]
  for (int d = 0; d < rank - 3; ++d) {
    const int f = c.factor("", FactorKind::free, c.parts_of(q, d));
    if (!c.tie(q, d, f) || !c.tie(k, d, f) || !c.tie(v, d, f)) return false;
    scores.push_back(f);
  }
  const int h_dim = rank - 3, row = rank - 2, col = rank - 1;
  std::vector<int> head_nodes = c.parts_of(k, h_dim);
  const std::vector<int> group_nodes = c.fresh(groups);
  const std::size_t key_nodes = head_nodes.size();
  head_nodes.insert(head_nodes.end(), group_nodes.begin(), group_nodes.end());
  const int h = c.factor("heads", FactorKind::free, head_nodes);
  if (!c.tie(q, h_dim, h)) return false;
  if (!c.agree(c.parts_of(k, h_dim), c.parts_of(v, h_dim))) return false;
  for (const int operand : {k, v})
    for (std::size_t n = 0; n < key_nodes; ++n)
      c.draft.inputs[static_cast<std::size_t>(operand)].dims[static_cast<std::size_t>(h_dim)].push_back(
          {h, static_cast<int>(n)});
  const int i = c.factor("queries", FactorKind::free, c.parts_of(q, row));
  const int j = c.factor("keys", FactorKind::softmax, c.parts_of(k, row), "softmax over them");
  const int d = c.factor("head_dim", FactorKind::frozen, c.parts_of(q, col), "contracted before the softmax");
  const int e = c.factor("value_dim", FactorKind::free, c.parts_of(v, col));
  if (!c.tie(q, row, i) || !c.tie(q, col, d) || !c.tie(k, row, j) || !c.tie(k, col, d) || !c.tie(v, row, j) ||
      !c.tie(v, col, e))
    return false;
  scores.insert(scores.end(), {h, i, j});
  if (mask >= 0 && !tie_mask(c, mask, scores)) return false;
  c.begin_outputs();
  for (int b = 0; b < rank - 3; ++b) c.output_dim(0, scores[static_cast<std::size_t>(b)]);
  c.output_dim(0, h);
  c.output_dim(0, i);
  c.output_dim(0, e);
  for (int b = 0; b < rank - 3; ++b) c.output_dim(1, scores[static_cast<std::size_t>(b)]);
  c.output_dim(1, h);
  c.output_dim(1, i);
  c.name(head_nodes, "heads");
  if (!group_nodes.empty()) c.name(group_nodes, "groups");
  c.name(c.parts_of(q, col), "head_dim");
  c.draft.rule = "attention: b.. h i d, b.. h' j d, b.. h' j e, mask -> b.. h i e, b.. h i";
  c.draft.linear.push_back({v});
  c.draft.saves = {q, k, v, -1};
  c.draft.log_sums = 1;
  c.draft.product = true;
  return true;
}

}  // namespace planscope
