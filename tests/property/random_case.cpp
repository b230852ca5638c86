#include "tests/property/random_case.h"

#include <algorithm>

namespace planscope::testing {

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T of(std::initializer_list<T> all) {
    return *(all.begin() + below(static_cast<int>(all.size())));
  }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

 private:
  std::mt19937 engine_;
};

struct Axis {
  std::string name;
  int size = 1;
};

class PlanMaker {
 public:
  PlanMaker(Random& r, const TransformerSizes& sizes) : r_(r), layers_(static_cast<int>(sizes.layers)) {}

  std::vector<std::string> make() {
    declare();
    split_batch();
    split_tensors();
    for (int n = r_.below(4); n > 0 && !pool_.empty(); --n) split_something();
    algorithms();
    place();
    if (r_.chance(25)) relax();
    return std::move(lines_);
  }

 private:
  void say(std::string line) { lines_.push_back(std::move(line)); }

  void declare() {
    pipe_ = layers_ > 1 && r_.chance(50);
    std::vector<Axis> grid;
    int devices = 1;
    const auto add = [&](const std::string& name, int size) {
      if (size < 2 || devices * size > 6) return;
      devices *= size;
      grid.push_back({name, size});
    };
    if (pipe_) add("pipe", r_.chance(70) ? 2 : layers_);
    pipe_ = !grid.empty();
    add("data", r_.of({1, 2, 2, 3}));
    add("tensor", r_.of({1, 2, 2, 3, 4}));
    std::string line = "devices " + std::to_string(devices);
    for (std::size_t a = 0; a < grid.size(); ++a)
      line += (a ? " " : " as ") + grid[a].name + "=" + std::to_string(grid[a].size);
    say(line);
    devices_ = devices;
    for (const Axis& a : grid)
      if (a.name != "pipe") pool_.push_back(a.name), on_grid_.push_back(a.name);
    if (r_.chance(60)) micro_batches_ = declare_free("mb", r_.of({2, 4, 3}));
    if (r_.chance(30)) declare_free("c", r_.of({2, 3, 4})), pool_.push_back("c");
    say("let L = layers[*]");
    if (pipe_) say("let S = cut L into |pipe|");
  }

  bool declare_free(const std::string& name, int size) {
    say("axis " + name + "=" + std::to_string(size));
    return true;
  }

  bool has(const std::string& axis) const {
    return std::find(on_grid_.begin(), on_grid_.end(), axis) != on_grid_.end();
  }

  void split_batch() {
    std::string axes = micro_batches_ ? "mb" : "";
    if (has("data")) axes += axes.empty() ? "data" : ", data";
    if (axes.empty()) return;
    say("trans * " + std::string(r_.chance(90) ? "batch" : "seq") + " by " + axes + balanced(20));
  }

  void split_tensors() {
    if (!has("tensor")) return;
    if (r_.chance(50)) {
      say("trans L.attn heads by tensor");
      say("trans L.mlp ffn by tensor");
    }
    if (r_.chance(30)) say("trans * seq by tensor");
    if (r_.chance(30)) say("trans wte, lm_head, :cross_entropy_loss vocab by tensor");
  }

  std::string balanced(int percent) { return r_.chance(percent) ? " sizes balanced" : ""; }

  // Operators and factors that most of them have.
  void split_something() {
    struct Choice {
      std::string operators;
      std::vector<std::string> factors;
    };
    const std::string one = "L[" + std::to_string(r_.below(layers_)) + "]";
    const std::vector<Choice> choices = {
        {"*", {"batch", "seq"}},
        {"L", {"batch", "seq", "hidden", "out", "in"}},
        {"L.attn", {"heads", "batch", "queries", "keys"}},
        {"L.attn.q, L.attn.k", {"out", "in", "heads"}},
        {"L.attn.o", {"in", "out", "heads", "seq"}},
        {"L.mlp", {"ffn", "seq", "batch"}},
        {"L.mlp.up", {"out", "in", "ffn", "seq"}},
        {"L.mlp.down", {"in", "out", "hidden", "ffn"}},
        {one, {"batch", "seq"}},
        {one + ".attn", {"heads", "queries", "out", "in"}},
        {one + ".mlp", {"ffn", "hidden"}},
        {one + ".mlp.down", {"in", "out", "seq"}},
        {"lm_head", {"vocab", "in", "hidden", "batch"}},
        {"wte", {"vocab", "hidden", "seq"}},
        {"norm", {"seq", "batch"}},
        {":cross_entropy_loss", {"vocab", "seq"}},
        {"L.mlp", {"expert", "ffn"}},
        {"L.{attn,mlp}:dropout", {"seq", "batch", "hidden"}},
        {"wpe", {"seq", "hidden", "batch"}},
    };
    const Choice& choice = r_.of(choices);
    std::string axes = r_.of(pool_);
    if (pool_.size() > 1 && r_.chance(25)) {
      const std::string other = r_.of(pool_);
      if (other != axes) axes += ", " + other;
    }
    say("trans " + choice.operators + " " + r_.of(choice.factors) + " by " + axes + balanced(35));
  }

  void algorithms() {
    for (const char* what : {"recompute", "offload", "keep_gathered", "grad_split"})
      if (r_.chance(15)) say("trans " + r_.of<std::string>({"L", "L[0]", "L.attn", "L.mlp"}) + " " + what);
    if (!on_grid_.empty() && r_.chance(40))
      say("use zero(" + std::to_string(1 + r_.below(3)) + ", *, " + r_.of(on_grid_) + ")");
  }

  void place() {
    if (!pipe_) {
      if (devices_ > 1 && r_.chance(20)) {
        say("assign * to all");
        say("assign L[0]." + r_.of<std::string>({"attn", "mlp"}) + " to " + std::to_string(r_.below(devices_)));
      }
      return;
    }
    const int how = r_.below(10);
    if (how < 2 && micro_batches_) return say("use chimera(S, pipe, mb)");
    staged_ = true;
    say(how < 8 ? "assign S[i] to pipe=i" : "assign S[i] to pipe=|pipe|-1-i");
    if (micro_batches_ && r_.chance(75)) say("use " + r_.of<std::string>({"1f1b", "gpipe", "zb_h1"}) + "(S)");
  }

  // Old parameters: of a pipeline, whose steps may overlap then, or of anything.
  void relax() {
    if (staged_ && r_.chance(60)) {
      say("relax fetch(S[i]) lag |S|-1-i" + r_.of<std::string>({"", "+1"}));
      if (r_.chance(60)) say("order f(S[i])[step=t+n-1-i] < b(S[i])[step=t] < f(S[i])[step=t+n-i] where n = |S|");
      return;
    }
    say("relax fetch(" + r_.of<std::string>({"*", "*", "L", "L[0]", "L.mlp", "lm_head"}) + ") lag " +
        std::to_string(r_.below(4)));
    if (r_.chance(40)) say("order f(L[0])[step=t+1] < b(L[0])[step=t]");
  }

  Random& r_;
  int layers_, devices_ = 1;
  bool pipe_ = false, staged_ = false, micro_batches_ = false;
  std::vector<std::string> pool_, on_grid_, lines_;
};

TransformerSizes random_sizes(Random& r) {
  TransformerSizes s;
  s.batch = r.of({8, 12, 12, 6});
  s.seq = r.of({6, 8, 12});
  s.heads = r.of({2, 3, 4, 6});
  s.hidden = s.heads * r.of({2, 4});
  s.kv_heads = s.heads % 2 == 0 ? r.of<std::int64_t>({1, 2, s.heads}) : r.of<std::int64_t>({1, s.heads});
  s.ffn = r.of({8, 12, 12, 10});
  s.vocab = r.of({12, 24, 14});
  s.layers = r.of({1, 2, 2, 3, 4});
  s.bias = r.chance(50);
  s.tied = r.chance(30);
  s.causal = r.chance(40);
  s.positions = r.chance(25);
  s.biased = r.chance(20);
  s.parallel = r.chance(20);
  s.gated = r.chance(30);
  if (r.chance(25)) s.experts = r.of({2, 3, 4});
  s.two_losses = r.chance(20);
  if (r.chance(40)) s.dropout = 0.25;
  return s;
}

struct Feature {
  const char* name;
  bool TransformerSizes::* member;
};
constexpr Feature kFeatures[] = {
    {"bias", &TransformerSizes::bias},     {"tied", &TransformerSizes::tied},
    {"causal", &TransformerSizes::causal}, {"positions", &TransformerSizes::positions},
    {"biased", &TransformerSizes::biased}, {"parallel", &TransformerSizes::parallel},
    {"gated", &TransformerSizes::gated},   {"two_losses", &TransformerSizes::two_losses},
    {"mixed", &TransformerSizes::mixed},   {"contrastive", &TransformerSizes::contrastive},
};

std::string features(const TransformerSizes& s) {
  std::string out;
  for (const Feature& f : kFeatures)
    if (s.*f.member) out += std::string(" ") + f.name;
  return out + (s.dropout > 0 ? " dropout" : "");
}

}  // namespace

std::string RandomCase::plan() const {
  std::string out;
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

std::string RandomCase::text() const {
  const auto n = [](std::int64_t x) { return std::to_string(x); };
  return "# batch " + n(sizes.batch) + " seq " + n(sizes.seq) + " hidden " + n(sizes.hidden) + " heads " +
         n(sizes.heads) + " kv_heads " + n(sizes.kv_heads) + " ffn " + n(sizes.ffn) + " vocab " + n(sizes.vocab) +
         " layers " + n(sizes.layers) + (sizes.experts ? " experts " + n(sizes.experts) : "") + features(sizes) +
         (pairs ? ", devices in pairs" : "") + "\n" + plan();
}

RandomCase random_case(unsigned seed) {
  Random r(seed);
  RandomCase c;
  c.sizes = random_sizes(r);
  c.lines = PlanMaker(r, c.sizes).make();
  c.pairs = r.chance(50);
  Random coupled(seed ^ 0x9E3779B9u);  // operators that need the whole batch
  c.sizes.mixed = coupled.chance(12);
  c.sizes.contrastive = coupled.chance(15);
  return c;
}

std::vector<RandomCase> simpler(const RandomCase& c) {
  std::vector<RandomCase> out;
  for (std::size_t l = c.lines.size(); l-- > 1;) {
    out.push_back(c);
    out.back().lines.erase(out.back().lines.begin() + static_cast<std::ptrdiff_t>(l));
  }
  const auto shrunk = [&](auto change) {
    RandomCase next = c;
    change(next.sizes);
    if (next.text() != c.text()) out.push_back(std::move(next));
  };
  shrunk([](TransformerSizes& s) { s.layers = std::max<std::int64_t>(1, s.layers - 1); });
  shrunk([](TransformerSizes& s) { s.kv_heads = s.heads; });
  for (const Feature& f : kFeatures) shrunk([&](TransformerSizes& s) { s.*f.member = false; });
  shrunk([](TransformerSizes& s) { s.experts = 0; });
  shrunk([](TransformerSizes& s) { s.dropout = 0; });
  if (c.pairs) {
    out.push_back(c);
    out.back().pairs = false;
  }
  return out;
}

}  // namespace planscope::testing
