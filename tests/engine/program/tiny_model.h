#pragma once
// A small language model made by hand, for tests that need a Graph but no file: an embedding, `layers` residual blocks
// (up, relu, down), a head tied to the embedding, cross entropy from log-sum-exp and pick, and its mean.
//
//   Graph g = tiny_graph(2);   // ids, target: [batch 8, seq 6]; hidden 16, ffn 32, vocab 24
#include <memory>
#include <string>

#include "engine/graph/graph.h"

namespace planscope::tiny {

class Builder {
 public:
  ValueId value(std::string name, ValueKind kind, DType dtype, std::vector<std::int64_t> sizes) {
    Value v;
    v.name = std::move(name);
    v.kind = kind;
    v.dtype = dtype;
    v.sizes = std::move(sizes);
    v.requires_grad = kind == ValueKind::parameter;
    m.values.push_back(std::move(v));
    return static_cast<ValueId>(m.values.size()) - 1;
  }
  ValueId input(std::string name, DType dtype, std::vector<std::int64_t> sizes) {
    m.inputs.push_back(value(std::move(name), ValueKind::input, dtype, std::move(sizes)));
    return m.inputs.back();
  }
  ValueId parameter(std::string name, std::vector<std::int64_t> sizes) {
    return value(std::move(name), ValueKind::parameter, DType::f32, std::move(sizes));
  }
  ValueId node(std::string module, std::string target, std::vector<NamedArgument> arguments,
               std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
    Node n;
    n.module = std::move(module);
    const std::size_t colon = target.rfind(':');
    n.kind = target.substr(colon + 1, target.find('.') - colon - 1);
    n.module_type = n.kind;
    n.target = std::move(target);
    n.arguments = std::move(arguments);
    for (const Node& o : m.nodes) n.ordinal += o.module == n.module && o.kind == n.kind;
    n.outputs = {
        value(n.module + "." + n.kind + std::to_string(m.values.size()), ValueKind::computed, dtype, std::move(sizes))};
    m.nodes.push_back(std::move(n));
    return m.nodes.back().outputs[0];
  }
  ValueId linear(std::string module, ValueId x, ValueId w, ValueId b, std::vector<std::int64_t> sizes) {
    const Argument bias = b < 0 ? Argument{None{}} : Argument{Tensor{b}};
    return node(std::move(module), "aten::linear", {{"input", Tensor{x}}, {"weight", Tensor{w}}, {"bias", bias}},
                std::move(sizes));
  }
  Model m;
};

// Cross entropy from log-sum-exp and pick, and its mean.
inline void add_loss(Builder& b, ValueId logits, ValueId target, const std::vector<std::int64_t>& sizes) {
  const ValueId lse = b.node("loss", "planscope::lse", {{"self", Tensor{logits}}, {"dim", std::int64_t{2}}}, sizes);
  const ValueId picked =
      b.node("loss", "planscope::pick",
             {{"self", Tensor{logits}}, {"target", Tensor{target}}, {"ignore_index", std::int64_t{-100}}}, sizes);
  const ValueId each = b.node("loss", "aten::sub.Tensor",
                              {{"self", Tensor{lse}}, {"other", Tensor{picked}}, {"alpha", std::int64_t{1}}}, sizes);
  b.m.loss = b.node(
      "loss", "aten::mean.dim",
      {{"self", Tensor{each}}, {"dim", std::vector<std::int64_t>{0, 1}}, {"keepdim", false}, {"dtype", None{}}}, {});
  b.m.outputs = {b.m.loss};
}

inline std::shared_ptr<const Model> tiny_model(int layers) {
  constexpr std::int64_t batch = 8, seq = 6, hidden = 16, ffn = 32, vocab = 24;
  Builder b;
  b.m.name = "tiny";
  const ValueId ids = b.input("ids", DType::i64, {batch, seq}), target = b.input("target", DType::i64, {batch, seq});
  const ValueId table = b.parameter("embed.weight", {vocab, hidden});
  ValueId x =
      b.node("embed", "aten::embedding", {{"weight", Tensor{table}}, {"indices", Tensor{ids}}}, {batch, seq, hidden});
  for (int l = 0; l < layers; ++l) {
    const std::string path = "layers." + std::to_string(l);
    const ValueId up = b.parameter(path + ".up.weight", {ffn, hidden}), bias = b.parameter(path + ".up.bias", {ffn});
    const ValueId down = b.parameter(path + ".down.weight", {hidden, ffn}),
                  shift = b.parameter(path + ".down.bias", {hidden});
    const ValueId h = b.linear(path + ".up", x, up, bias, {batch, seq, ffn});
    const ValueId r = b.node(path, "aten::relu", {{"self", Tensor{h}}}, {batch, seq, ffn});
    const ValueId o = b.linear(path + ".down", r, down, shift, {batch, seq, hidden});
    x = b.node(path, "aten::add.Tensor", {{"self", Tensor{x}}, {"other", Tensor{o}}, {"alpha", std::int64_t{1}}},
               {batch, seq, hidden});
  }
  const ValueId logits = b.linear("head", x, table, -1, {batch, seq, vocab});
  add_loss(b, logits, target, {batch, seq});
  b.m.digest = static_cast<std::uint64_t>(layers);
  return std::make_shared<const Model>(std::move(b.m));
}

inline Graph tiny_graph(int layers) { return *make_graph(tiny_model(layers)); }

}  // namespace planscope::tiny
