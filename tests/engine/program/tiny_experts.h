#pragma once
// A small mixture of experts made by hand: an embedding, two residual blocks of four experts (up, relu, down, times a
// gate), and the head and loss of tiny_model.h. In the first block the tokens' experts are computed (argmax of scores), in
// the second one they are an input.
//
//   Graph g = tiny_experts();   // ids, target, expert: [batch 8, seq 6]; hidden 16, ffn 32, vocab 24, 4 experts
#include "tiny_model.h"

namespace planscope::tiny {

inline Graph tiny_experts() {
  constexpr std::int64_t batch = 8, seq = 6, rows = batch * seq, hidden = 16, ffn = 32, vocab = 24, experts = 4;
  Builder b;
  b.m.name = "tiny experts";
  const ValueId ids = b.input("ids", DType::i64, {batch, seq}), target = b.input("target", DType::i64, {batch, seq});
  const ValueId given = b.input("expert", DType::i64, {batch, seq});
  const auto view = [&](const std::string& module, ValueId x, std::vector<std::int64_t> sizes, DType type) {
    return b.node(module, "aten::view", {{"self", Tensor{x}}, {"size", sizes}}, sizes, type);
  };
  ValueId x = b.node("embed", "aten::embedding",
                     {{"weight", Tensor{b.parameter("embed.weight", {vocab, hidden})}}, {"indices", Tensor{ids}}},
                     {batch, seq, hidden});
  for (int l = 0; l < 2; ++l) {
    const std::string path = "layers." + std::to_string(l), own = path + ".experts";
    const ValueId flat = view(path, x, {rows, hidden}, DType::f32);
    ValueId key = -1;
    if (l == 0) {
      const ValueId scores = b.linear(path + ".scores", flat, b.parameter(path + ".scores.weight", {experts, hidden}),
                                      -1, {rows, experts});
      key = b.node(path, "aten::argmax", {{"self", Tensor{scores}}, {"dim", std::int64_t{1}}, {"keepdim", false}},
                   {rows}, DType::i64);
    } else {
      key = view(path + ".given", given, {rows}, DType::i64);
    }
    const auto product = [&](ValueId in, const char* name, std::int64_t from, std::int64_t to) {
      const ValueId weight = b.parameter(own + "." + name, {experts, from, to});
      return b.node(own, "planscope::grouped_mm",
                    {{"self", Tensor{in}}, {"weight", Tensor{weight}}, {"index", Tensor{key}}}, {rows, to});
    };
    const ValueId up = product(flat, "up", hidden, ffn);
    const ValueId down = product(b.node(own, "aten::relu", {{"self", Tensor{up}}}, {rows, ffn}), "down", ffn, hidden);
    const ValueId gate = b.linear(path + ".gate", flat, b.parameter(path + ".gate.weight", {1, hidden}), -1, {rows, 1});
    const ValueId scaled =
        b.node(own, "aten::mul.Tensor", {{"self", Tensor{down}}, {"other", Tensor{gate}}}, {rows, hidden});
    const ValueId back = view(path + ".back", scaled, {batch, seq, hidden}, DType::f32);
    x = b.node(path, "aten::add.Tensor", {{"self", Tensor{x}}, {"other", Tensor{back}}, {"alpha", std::int64_t{1}}},
               {batch, seq, hidden});
  }
  const ValueId head = b.parameter("head.weight", {vocab, hidden});
  add_loss(b, b.linear("head", x, head, -1, {batch, seq, vocab}), target, {batch, seq});
  b.m.digest = 1000;
  return *make_graph(std::make_shared<const Model>(std::move(b.m)));
}

}  // namespace planscope::tiny
