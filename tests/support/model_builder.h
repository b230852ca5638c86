#pragma once
// Models made in code, for tests: the canonical operators of engine/graph/canonical without a file.
//
//   ModelBuilder b;
//   ValueId x = b.input("input_ids", {8, 16}, DType::i64);
//   ValueId y = b.embedding("embed", x, 64, 32);
//   Graph g = b.graph(b.cross_entropy(...));
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope::testing {

class ModelBuilder {
 public:
  ValueId input(const std::string& name, std::vector<std::int64_t> sizes, DType type = DType::f32);
  ValueId parameter(const std::string& name, std::vector<std::int64_t> sizes);
  // A node with one output of the given sizes; `arguments` in schema order.
  ValueId node(const std::string& module, const std::string& target, std::vector<NamedArgument> arguments,
               std::vector<std::int64_t> sizes, DType type = DType::f32, std::string kind = {});

  ValueId embedding(const std::string& module, ValueId ids, std::int64_t vocab, std::int64_t hidden);
  ValueId linear(const std::string& module, ValueId x, std::int64_t out, bool bias);
  ValueId norm(const std::string& module, ValueId x);
  ValueId view(const std::string& module, ValueId x, std::vector<std::int64_t> sizes);
  ValueId permute(const std::string& module, ValueId x, std::vector<std::int64_t> dims);
  ValueId add(const std::string& module, ValueId a, ValueId b);
  ValueId multiply(const std::string& module, ValueId a, ValueId b);
  ValueId gelu(const std::string& module, ValueId x);
  ValueId dropout(const std::string& module, ValueId x, double p);
  // Rows [n, h] times the matrix [h, out] of their expert; index [n].
  ValueId experts(const std::string& module, const std::string& weight, ValueId rows, ValueId index, std::int64_t count,
                  std::int64_t out);
  ValueId attention(const std::string& module, ValueId q, ValueId k, ValueId v, std::int64_t groups,
                    bool causal = false, ValueId mask = -1);
  ValueId cross_entropy(ValueId logits, ValueId labels);  // logits [n.., c], labels [n..]

  std::shared_ptr<const Model> model(ValueId loss);
  Graph graph(ValueId loss);

 private:
  const std::vector<std::int64_t>& sizes(ValueId v) const { return m_.values[static_cast<std::size_t>(v)].sizes; }
  ValueId value(const std::string& name, std::vector<std::int64_t> sizes, DType type, ValueKind kind);
  Model m_;
  std::map<std::string, int> ordinals_;
};

struct TransformerSizes {
  std::int64_t batch = 8, seq = 16, hidden = 32, heads = 4, kv_heads = 4, ffn = 64, vocab = 96, layers = 2;
  bool bias = true;   // GPT-2 has biases, Llama none
  bool tied = false;  // the head uses the embedding's weight
  bool causal = false;
  bool positions = false;    // wpe: an embedding of positions
  bool biased = false;       // T5: one table [heads, seq, seq] is added to the scores of every layer
  bool parallel = false;     // GPT-J: attention and feed-forward read the same norm
  bool gated = false;        // Llama: gelu(gate) times up
  std::int64_t experts = 0;  // > 0: the feed-forward of every second layer is one of these for each token
  bool two_losses = false;   // a head of its own behind the first layer
  bool mixed = false;        // every layer adds an attention of the examples of the batch to each other
  bool contrastive = false;  // a term that compares the examples of the batch with each other
  double dropout = 0;        // behind wte, attn.o and mlp
};
// wte, wpe, layers[i].{norm1, attn.{q,k,v,o}, norm2, mlp.{up,gate,down}, mix}, norm, lm_head, aux_head, loss.
Graph transformer(const TransformerSizes&);

}  // namespace planscope::testing
