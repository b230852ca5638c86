#pragma once
// Small models as binding sees them, with the modules, operators and factor names of well-known families.
//
//   ModelInfo m = llama({.layers = 4});   // model.embed_tokens, model.layers[0:4], model.norm, lm_head, loss
#include <string>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::plan {

struct Sizes0 {
  int layers = 4;
  std::int64_t batch = 8, seq = 16, hidden = 64, heads = 8, kv_heads = 2, ffn = 96, vocab = 128;
};

class ModelMaker {
 public:
  explicit ModelMaker(const Sizes0& s) : s_(s) { info_.inputs = {{"batch", s.batch}, {"seq", s.seq}}; }

  using Factors = std::vector<FactorInfo>;
  static FactorInfo free(std::string name, std::int64_t size) {
    return {{std::move(name)}, size, FactorKind::free, "", {}};
  }
  static FactorInfo sum(std::string name, std::int64_t size) {
    return {{std::move(name)}, size, FactorKind::sum, "", {}};
  }
  static FactorInfo softmax(std::string name, std::int64_t size) {
    return {{std::move(name)}, size, FactorKind::softmax, "", {}};
  }
  static FactorInfo merge(std::string name, std::int64_t size) {
    return {{std::move(name)}, size, FactorKind::merge, "", {}};
  }
  static FactorInfo frozen(std::string name, std::int64_t size, std::string why) {
    return {{std::move(name)}, size, FactorKind::frozen, std::move(why), {}};
  }

  // What `tp` splits: between a product that gives it and one that sums over it.
  static FactorInfo inner(FactorInfo f) {
    f.names.emplace_back("inner");
    return f;
  }

  int op(const std::string& module, const std::string& kind, Factors factors, bool parameter_free = false,
         int call = -1) {
    OperatorInfo o;
    o.module = module;
    o.kind = kind;
    o.call = call;
    for (const OperatorInfo& other : info_.operators)
      if (other.module == module && other.kind == kind && other.call == call) ++o.ordinal;
    o.parameter_free = parameter_free;
    o.has_backward = !parameter_free;
    o.factors = std::move(factors);
    info_.operators.push_back(std::move(o));
    return static_cast<int>(info_.operators.size()) - 1;
  }
  void parameter(const std::string& name, int reader, std::vector<std::int64_t> dims) {
    info_.operators[static_cast<std::size_t>(reader)].has_weight_gradient = true;
    ParameterInfo p;
    p.name = name;
    p.readers = {reader};
    for (std::size_t i = 0; i < dims.size(); ++i) p.factors.push_back(free("dim" + std::to_string(i), dims[i]));
    info_.parameters.push_back(std::move(p));
  }
  Factors tokens(Factors more = {}) const {
    Factors f{free("batch", s_.batch), free("seq", s_.seq)};
    f.insert(f.end(), more.begin(), more.end());
    return f;
  }
  FactorInfo headed(std::string name, std::int64_t heads, std::string part, FactorKind kind = FactorKind::free) const {
    const std::int64_t dim = s_.hidden / s_.heads;
    return {{std::move(name), "heads", "inner"},
            heads * dim,
            kind,
            "",
            {{heads, std::move(part), false}, {dim, "head_dim", true}}};
  }
  int linear(const std::string& module, FactorInfo out, FactorInfo in, int call = -1) {
    in.kind = FactorKind::sum;
    const std::vector<std::int64_t> dims{out.size, in.size};
    const int o = op(module, "linear", {std::move(in), std::move(out), free("batch", s_.batch), free("seq", s_.seq)},
                     false, call);
    parameter(module + ".weight", o, dims);
    return o;
  }
  void norm(const std::string& module, const std::string& kind) {
    const int o = op(module, kind, tokens({frozen("hidden", s_.hidden, "normalized over")}));
    parameter(module + ".weight", o, {s_.hidden});
  }
  Factors hidden() const { return tokens({free("hidden", s_.hidden)}); }

  Sizes0 s_;
  ModelInfo info_;
};

inline ModelInfo llama(const Sizes0& s = {}) {
  ModelMaker m(s);
  const auto free = ModelMaker::free;
  m.op("model", "arange", {free("seq", s.seq)}, true);
  m.op("model", "le", {free("seq", s.seq), free("keys", s.seq)}, true);
  const int e =
      m.op("model.embed_tokens", "embedding", m.tokens({ModelMaker::sum("vocab", s.vocab), free("hidden", s.hidden)}));
  m.parameter("model.embed_tokens.weight", e, {s.vocab, s.hidden});
  m.op("model.rotary_emb", "cos", {free("seq", s.seq)}, true);
  for (int i = 0; i < s.layers; ++i) {
    const std::string l = "model.layers." + std::to_string(i), a = l + ".self_attn";
    m.norm(l + ".input_layernorm", "rms_norm");
    m.linear(a + ".q_proj", m.headed("out", s.heads, "heads"), free("in", s.hidden));
    m.linear(a + ".k_proj", m.headed("out", s.kv_heads, "kv heads"), free("in", s.hidden));
    m.linear(a + ".v_proj", m.headed("out", s.kv_heads, "kv heads"), free("in", s.hidden));
    m.op(a, "add", m.tokens({free("heads", s.heads)}));
    m.op(a, "scaled_dot_product_attention",
         m.tokens({ModelMaker::inner(free("heads", s.heads)), ModelMaker::softmax("keys", s.seq),
                   ModelMaker::frozen("head_dim", s.hidden / s.heads, "scaled over")}));
    m.linear(a + ".o_proj", free("out", s.hidden), m.headed("in", s.heads, "heads"));
    m.op(l, "add", m.hidden());
    m.norm(l + ".post_attention_layernorm", "rms_norm");
    m.linear(l + ".mlp.gate_proj", {{"out", "ffn", "inner"}, s.ffn, FactorKind::free, "", {}}, free("in", s.hidden));
    m.op(l + ".mlp.act_fn", "silu", m.tokens({free("ffn", s.ffn)}));
    m.linear(l + ".mlp.up_proj", {{"out", "ffn", "inner"}, s.ffn, FactorKind::free, "", {}}, free("in", s.hidden));
    m.op(l + ".mlp", "mul", m.tokens({free("ffn", s.ffn)}));
    m.linear(l + ".mlp.down_proj", free("out", s.hidden), {{"in", "ffn", "inner"}, s.ffn, FactorKind::sum, "", {}});
    m.op(l, "add", m.hidden());
  }
  m.norm("model.norm", "rms_norm");
  m.linear("lm_head", {{"out", "vocab"}, s.vocab, FactorKind::free, "", {}}, free("in", s.hidden));
  m.op("", "cross_entropy_loss", m.tokens({ModelMaker::merge("vocab", s.vocab)}));
  return m.info_;
}

inline ModelInfo gpt2(const Sizes0& s = {}) {
  ModelMaker m(s);
  const auto free = ModelMaker::free;
  m.op("transformer", "arange", {free("seq", s.seq)}, true);
  const int e =
      m.op("transformer.wte", "embedding", m.tokens({ModelMaker::sum("vocab", s.vocab), free("hidden", s.hidden)}));
  m.parameter("transformer.wte.weight", e, {s.vocab, s.hidden});
  for (int i = 0; i < s.layers; ++i) {
    const std::string h = "transformer.h." + std::to_string(i);
    const std::int64_t dim = s.hidden / s.heads;
    m.norm(h + ".ln_1", "layer_norm");
    const FactorInfo fused{{"heads", "inner"},
                           3 * s.hidden,
                           FactorKind::free,
                           "",
                           {{3, "", true}, {s.heads, "heads", false}, {dim, "head_dim", true}}};
    m.op(h + ".attn.c_attn", "view", m.hidden());
    m.linear(h + ".attn.c_attn", fused, free("in", s.hidden));
    m.op(h + ".attn", "scaled_dot_product_attention",
         m.tokens({ModelMaker::inner(free("heads", s.heads)), ModelMaker::softmax("keys", s.seq)}));
    m.linear(h + ".attn.c_proj", free("out", s.hidden), m.headed("in", s.heads, "heads"));
    m.op(h + ".attn.resid_dropout", "dropout", m.hidden());
    m.op(h, "add", m.hidden());
    m.norm(h + ".ln_2", "layer_norm");
    m.linear(h + ".mlp.c_fc", ModelMaker::inner(free("out", s.ffn)), free("in", s.hidden));
    m.op(h + ".mlp.act", "gelu", m.tokens({free("out", s.ffn)}));
    m.linear(h + ".mlp.c_proj", free("out", s.hidden), ModelMaker::inner(free("in", s.ffn)));
    m.op(h, "add", m.hidden());
  }
  m.norm("transformer.ln_f", "layer_norm");
  m.linear("lm_head", free("vocab", s.vocab), free("in", s.hidden));
  m.info_.parameters.back().name = "transformer.wte.weight";  // tied
  m.op("", "cross_entropy_loss", m.tokens({ModelMaker::sum("vocab", s.vocab)}));
  return m.info_;
}

inline ModelInfo t5(const Sizes0& s = {}) {
  ModelMaker m(s);
  const auto free = ModelMaker::free;
  const auto embed = [&](int call) {
    const int e = m.op("shared", "embedding", m.tokens({ModelMaker::sum("vocab", s.vocab), free("hidden", s.hidden)}),
                       false, call);
    if (call == 0)
      m.parameter("shared.weight", e, {s.vocab, s.hidden});
    else
      m.info_.parameters[0].readers.push_back(e);
  };
  const auto attention = [&](const std::string& a) {
    for (const char* p : {".q", ".k", ".v"}) m.linear(a + p, m.headed("out", s.heads, "heads"), free("in", s.hidden));
    m.op(a, "softmax", m.tokens({ModelMaker::inner(free("heads", s.heads)), ModelMaker::frozen("keys", s.seq, "normalized over")}));
    m.linear(a + ".o", free("out", s.hidden), m.headed("in", s.heads, "heads"));
  };
  for (const std::string part : {"encoder", "decoder"}) {
    const bool decoder = part == "decoder";
    embed(decoder ? 1 : 0);
    for (int i = 0; i < s.layers; ++i) {
      const std::string b = part + ".block." + std::to_string(i) + ".layer.";
      m.norm(b + "0.layer_norm", "rms_norm");
      attention(b + "0.SelfAttention");
      if (decoder) attention(b + "1.EncDecAttention");
      const std::string f = b + (decoder ? "2" : "1") + ".DenseReluDense";
      m.linear(f + ".wi", ModelMaker::inner(free("out", s.ffn)), free("in", s.hidden));
      m.linear(f + ".wo", free("out", s.hidden), ModelMaker::inner(free("in", s.ffn)));
    }
  }
  m.linear("lm_head", free("vocab", s.vocab), free("in", s.hidden));
  m.op("", "cross_entropy_loss", m.tokens({ModelMaker::sum("vocab", s.vocab)}));
  return m.info_;
}

}  // namespace planscope::plan
