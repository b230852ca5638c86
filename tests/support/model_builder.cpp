#include "tests/support/model_builder.h"

#include <cmath>

#include "engine/graph/value_names.h"

namespace planscope::testing {

ValueId ModelBuilder::value(const std::string& name, std::vector<std::int64_t> sizes, DType type, ValueKind kind) {
  Value v;
  v.name = name;
  v.kind = kind;
  v.dtype = type;
  v.sizes = std::move(sizes);
  v.requires_grad = kind == ValueKind::parameter;
  m_.values.push_back(std::move(v));
  return static_cast<ValueId>(m_.values.size()) - 1;
}

ValueId ModelBuilder::input(const std::string& name, std::vector<std::int64_t> sizes, DType type) {
  const ValueId v = value(name, std::move(sizes), type, ValueKind::input);
  m_.inputs.push_back(v);
  return v;
}

ValueId ModelBuilder::parameter(const std::string& name, std::vector<std::int64_t> sizes) {
  for (std::size_t v = 0; v < m_.values.size(); ++v)
    if (m_.values[v].kind == ValueKind::parameter && m_.values[v].name == name) return static_cast<ValueId>(v);
  return value(name, std::move(sizes), DType::f32, ValueKind::parameter);
}

ValueId ModelBuilder::node(const std::string& module, const std::string& target, std::vector<NamedArgument> arguments,
                           std::vector<std::int64_t> sizes, DType type, std::string kind) {
  Node n;
  n.module = module;
  n.target = target;
  const std::string base = target.substr(target.find(':') + 2);
  n.kind = kind.empty() ? base.substr(0, base.find('.')) : std::move(kind);
  n.ordinal = ordinals_[module + ":" + n.kind]++;
  n.arguments = std::move(arguments);
  n.outputs = {
      value(module + "." + n.kind + std::to_string(m_.nodes.size()), std::move(sizes), type, ValueKind::computed)};
  m_.nodes.push_back(std::move(n));
  return m_.nodes.back().outputs[0];
}

ValueId ModelBuilder::embedding(const std::string& module, ValueId ids, std::int64_t vocab, std::int64_t hidden) {
  std::vector<std::int64_t> out = sizes(ids);
  out.push_back(hidden);
  const ValueId w = parameter(module + ".weight", {vocab, hidden});
  return node(module, "aten::embedding",
              {{"weight", Tensor{w}},
               {"indices", Tensor{ids}},
               {"padding_idx", std::int64_t{-1}},
               {"scale_grad_by_freq", false},
               {"sparse", false}},
              out);
}

ValueId ModelBuilder::linear(const std::string& module, ValueId x, std::int64_t out, bool bias) {
  std::vector<std::int64_t> s = sizes(x);
  const ValueId w = parameter(module + ".weight", {out, s.back()});
  s.back() = out;
  Argument b = None{};
  if (bias) b = Tensor{parameter(module + ".bias", {out})};
  return node(module, "aten::linear", {{"input", Tensor{x}}, {"weight", Tensor{w}}, {"bias", b}}, s);
}

ValueId ModelBuilder::norm(const std::string& module, ValueId x) {
  const std::int64_t h = sizes(x).back();
  const ValueId w = parameter(module + ".weight", {h}), b = parameter(module + ".bias", {h});
  return node(module, "aten::layer_norm",
              {{"input", Tensor{x}},
               {"normalized_shape", std::vector<std::int64_t>{h}},
               {"weight", Tensor{w}},
               {"bias", Tensor{b}},
               {"eps", 1e-5},
               {"cudnn_enable", true}},
              sizes(x));
}

ValueId ModelBuilder::view(const std::string& module, ValueId x, std::vector<std::int64_t> s) {
  const DType type = m_.values[static_cast<std::size_t>(x)].dtype;
  return node(module, "aten::view", {{"self", Tensor{x}}, {"size", s}}, s, type);
}

ValueId ModelBuilder::permute(const std::string& module, ValueId x, std::vector<std::int64_t> dims) {
  std::vector<std::int64_t> out;
  for (const std::int64_t d : dims) out.push_back(sizes(x)[static_cast<std::size_t>(d)]);
  return node(module, "aten::permute", {{"self", Tensor{x}}, {"dims", dims}}, out);
}

ValueId ModelBuilder::add(const std::string& module, ValueId a, ValueId b) {
  return node(module, "aten::add.Tensor", {{"self", Tensor{a}}, {"other", Tensor{b}}, {"alpha", std::int64_t{1}}},
              sizes(a));
}

ValueId ModelBuilder::multiply(const std::string& module, ValueId a, ValueId b) {
  return node(module, "aten::mul.Tensor", {{"self", Tensor{a}}, {"other", Tensor{b}}}, sizes(a));
}

ValueId ModelBuilder::dropout(const std::string& module, ValueId x, double p) {
  const ValueId y = node(module, "aten::dropout", {{"input", Tensor{x}}, {"p", p}, {"train", true}}, sizes(x));
  m_.nodes.back().random = true;
  return y;
}

ValueId ModelBuilder::experts(const std::string& module, const std::string& weight, ValueId rows, ValueId index,
                              std::int64_t count, std::int64_t out) {
  const ValueId w = parameter(module + "." + weight, {count, sizes(rows)[1], out});
  return node(module, "planscope::grouped_mm",
              {{"self", Tensor{rows}}, {"weight", Tensor{w}}, {"index", Tensor{index}}}, {sizes(rows)[0], out});
}

ValueId ModelBuilder::gelu(const std::string& module, ValueId x) {
  return node(module, "aten::gelu", {{"self", Tensor{x}}, {"approximate", std::string("none")}}, sizes(x));
}

ValueId ModelBuilder::attention(const std::string& module, ValueId q, ValueId k, ValueId v, std::int64_t groups,
                                bool causal, ValueId mask) {
  const double scale = 1 / std::sqrt(static_cast<double>(sizes(q).back()));
  const ValueId result = node(module, "planscope::attention",
                              {{"query", Tensor{q}},
                               {"key", Tensor{k}},
                               {"value", Tensor{v}},
                               {"attn_mask", mask < 0 ? Argument{None{}} : Argument{Tensor{mask}}},
                               {"is_causal", causal},
                               {"scale", scale},
                               {"groups", groups}},
                              sizes(q), DType::f32, "scaled_dot_product_attention");
  const std::vector<std::int64_t> rows(sizes(q).begin(), sizes(q).end() - 1);
  m_.nodes.back().outputs.push_back(value(module + ".log_sums", rows, DType::f32, ValueKind::computed));
  return result;
}

ValueId ModelBuilder::cross_entropy(ValueId logits, ValueId labels) {
  const std::vector<std::int64_t> n = sizes(labels);
  std::vector<std::int64_t> all;
  for (std::size_t d = 0; d < n.size(); ++d) all.push_back(static_cast<std::int64_t>(d));
  const std::string kind = "cross_entropy_loss";
  const std::int64_t ignore = -100;
  const ValueId lse =
      node("", "planscope::lse", {{"self", Tensor{logits}}, {"dim", static_cast<std::int64_t>(n.size())}}, n,
           DType::f32, kind);
  const ValueId pick =
      node("", "planscope::pick", {{"self", Tensor{logits}}, {"target", Tensor{labels}}, {"ignore_index", ignore}}, n,
           DType::f32, kind);
  const ValueId sub =
      node("", "aten::sub.Tensor", {{"self", Tensor{lse}}, {"other", Tensor{pick}}, {"alpha", std::int64_t{1}}}, n,
           DType::f32, kind);
  const ValueId mask =
      node("", "planscope::token_mask", {{"target", Tensor{labels}}, {"ignore_index", ignore}, {"dtype", DType::f32}},
           n, DType::f32, kind);
  const ValueId masked =
      node("", "aten::mul.Tensor", {{"self", Tensor{sub}}, {"other", Tensor{mask}}}, n, DType::f32, kind);
  const auto sum = [&](ValueId v) {
    return node("", "aten::sum.dim_IntList", {{"self", Tensor{v}}, {"dim", all}, {"keepdim", false}, {"dtype", None{}}},
                {}, DType::f32, kind);
  };
  const ValueId total = sum(masked), count = sum(mask);
  return node("", "aten::div.Tensor", {{"self", Tensor{total}}, {"other", Tensor{count}}}, {}, DType::f32, kind);
}

std::shared_ptr<const Model> ModelBuilder::model(ValueId loss) {
  Model m = m_;
  m.name = "built";
  m.loss = loss;
  m.outputs = {loss};
  m.output_names = {"loss"};
  name_values(m);
  return std::make_shared<const Model>(std::move(m));
}

Graph ModelBuilder::graph(ValueId loss) { return std::move(*make_graph(model(loss)).value); }

namespace {

class Transformer {
 public:
  explicit Transformer(const TransformerSizes& s) : s(s) {}

  Graph make() {
    const ValueId ids = b.input("input_ids", {s.batch, s.seq}, DType::i64);
    labels_ = b.input("labels", {s.batch, s.seq}, DType::i64);
    ValueId x = b.embedding("wte", ids, s.vocab, s.hidden);
    if (s.positions) x = b.add("wpe", x, b.parameter("wpe.weight", {s.seq, s.hidden}));
    x = dropped("wte", x);
    ValueId early = -1;
    for (std::int64_t l = 0; l < s.layers; ++l) {
      x = layer(l, x);
      if (l == 0) early = x;
    }
    x = b.norm("norm", x);
    const ValueId head = s.tied ? b.node("lm_head", "aten::linear",
                                         {{"input", Tensor{x}},
                                          {"weight", Tensor{b.parameter("wte.weight", {s.vocab, s.hidden})}},
                                          {"bias", None{}}},
                                         {s.batch, s.seq, s.vocab})
                                : b.linear("lm_head", x, s.vocab, false);
    ValueId total = loss(head);
    if (s.two_losses) total = b.add("", total, loss(b.linear("aux_head", early, s.vocab, s.bias)));
    if (s.contrastive) {
      const ValueId own = b.input("pairs", {s.batch}, DType::i64);
      total = b.add("", total, b.cross_entropy(similar("", pooled("", x)), own));
    }
    return b.graph(total);
  }

 private:
  ValueId dropped(const std::string& module, ValueId x) { return s.dropout > 0 ? b.dropout(module, x, s.dropout) : x; }

  ValueId loss(ValueId logits) {
    const ValueId flat = b.view("", logits, {s.batch * s.seq, s.vocab});
    return b.cross_entropy(flat, b.view("", labels_, {s.batch * s.seq}));
  }

  ValueId pooled(const std::string& at, ValueId x) {
    return b.node(at, "aten::mean.dim",
                  {{"self", Tensor{x}},
                   {"dim", std::vector<std::int64_t>{1}},
                   {"keepdim", false},
                   {"dtype", None{}}},
                  {s.batch, s.hidden});
  }

  // Of every example to every other one, [batch, batch].
  ValueId similar(const std::string& at, ValueId p) {
    return b.node(at, "aten::matmul", {{"self", Tensor{p}}, {"other", Tensor{b.permute(at, p, {1, 0})}}},
                  {s.batch, s.batch});
  }

  ValueId mixed(const std::string& at, ValueId x) {
    const ValueId p = pooled(at, x);
    const ValueId weights = b.node(
        at, "aten::softmax.int", {{"self", Tensor{similar(at, p)}}, {"dim", std::int64_t{1}}, {"dtype", None{}}},
        {s.batch, s.batch});
    const ValueId mean = b.node(at, "aten::matmul", {{"self", Tensor{weights}}, {"other", Tensor{p}}}, {s.batch, s.hidden});
    const ValueId rows =
        b.node(at, "aten::unsqueeze", {{"self", Tensor{mean}}, {"dim", std::int64_t{1}}}, {s.batch, 1, s.hidden});
    return b.add(at, x, rows);
  }

  ValueId layer(std::int64_t l, ValueId x) {
    const std::string at = "layers." + std::to_string(l);
    if (s.mixed) x = mixed(at + ".mix", x);
    const ValueId n1 = b.norm(at + ".norm1", x);
    const ValueId between = b.add(at, x, attention(at + ".attn", n1));
    const ValueId n2 = s.parallel ? n1 : b.norm(at + ".norm2", between);
    const bool experts = s.experts > 0 && l % 2 == 0;
    return b.add(at, between, experts ? chosen(at + ".mlp", n2) : feed_forward(at + ".mlp", n2));
  }

  ValueId attention(const std::string& at, ValueId x) {
    const std::int64_t head_dim = s.hidden / s.heads;
    const auto heads = [&](const std::string& name, std::int64_t count) {
      const ValueId y = b.linear(at + "." + name, x, count * head_dim, s.bias);
      return b.permute(at, b.view(at, y, {s.batch, s.seq, count, head_dim}), {0, 2, 1, 3});
    };
    const ValueId q = heads("q", s.heads), k = heads("k", s.kv_heads), v = heads("v", s.kv_heads);
    const ValueId mask = s.biased ? b.parameter("scores.bias", {s.heads, s.seq, s.seq}) : -1;
    const ValueId a = b.permute(at, b.attention(at, q, k, v, s.heads / s.kv_heads, s.causal, mask), {0, 2, 1, 3});
    return dropped(at, b.linear(at + ".o", b.view(at, a, {s.batch, s.seq, s.hidden}), s.hidden, s.bias));
  }

  ValueId feed_forward(const std::string& at, ValueId x) {
    ValueId up = b.linear(at + ".up", x, s.ffn, s.bias);
    up = s.gated ? b.multiply(at, b.gelu(at, b.linear(at + ".gate", x, s.ffn, s.bias)), up) : b.gelu(at, up);
    return dropped(at, b.linear(at + ".down", up, s.hidden, s.bias));
  }

  // The expert with the largest score for each token.
  ValueId chosen(const std::string& at, ValueId x) {
    const std::int64_t rows = s.batch * s.seq;
    const ValueId flat = b.view(at, x, {rows, s.hidden});
    const ValueId scores = b.linear(at + ".router", flat, s.experts, false);
    const ValueId index =
        b.node(at, "aten::argmax", {{"self", Tensor{scores}}, {"dim", std::int64_t{1}}, {"keepdim", false}}, {rows},
               DType::i64);
    const ValueId up = b.gelu(at, b.experts(at, "up", flat, index, s.experts, s.ffn));
    const ValueId down = b.experts(at, "down", up, index, s.experts, s.hidden);
    const ValueId weighted = b.multiply(at, down, b.linear(at + ".weight", flat, 1, false));
    return dropped(at, b.view(at, weighted, {s.batch, s.seq, s.hidden}));
  }

  const TransformerSizes& s;
  ModelBuilder b;
  ValueId labels_ = -1;
};

}  // namespace

Graph transformer(const TransformerSizes& s) { return Transformer(s).make(); }

}  // namespace planscope::testing
