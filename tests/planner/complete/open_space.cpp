#include "tests/planner/complete/open_space.h"

#include <random>

#include "engine/base/text.h"

namespace planscope::testing {
namespace {

constexpr int kLayers = 3;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t i = text.find(what); i != text.npos; i = text.find(what, i + by.size()))
    text.replace(i, what.size(), by);
  return text;
}

std::string number(int n) { return std::to_string(n); }

// Of `count` parts, each of at least one layer.
std::vector<std::vector<int>> lengths(int count, int layers) {
  if (count == 1) return {{layers}};
  std::vector<std::vector<int>> out;
  for (int first = 1; first < layers; ++first)
    for (std::vector<int> rest : lengths(count - 1, layers - first)) {
      rest.insert(rest.begin(), first);
      out.push_back(std::move(rest));
    }
  return out;
}

class Writer {
 public:
  explicit Writer(unsigned seed) : engine_(seed) {}

  OpenSpace run() {
    declare_devices();
    if (below(4) == 0) open_batch();
    declare_micro_batches();
    cut();
    splits();
    if (below(3) == 0) recompute();
    if (below(2) == 0) parameters();
    if (pipeline_) order();
    rows();
    return std::move(s_);
  }

 private:
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  std::string one_of(const std::vector<std::string>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }
  void say(const std::string& line) { s_.lines.push_back(line); }
  void open(const std::string& name, const std::vector<std::string>& values) {
    std::vector<OpenSpace::Filled>& all = s_.holes.emplace_back();
    for (const std::string& v : values) all.push_back({{name, v}});
  }
  void row(const std::string& condition) { possible_rows_.push_back(condition); }

  void declare_devices() {
    pipeline_ = below(4) > 0;
    const bool open_pipe = pipeline_ && below(3) == 0, open_data = below(2) == 0;
    tensor_ = below(2) == 0;
    stages_ = pipeline_ ? 2 : 1;
    open_pipe_ = open_pipe;
    std::string line = "devices 4 as";
    if (pipeline_) line += open_pipe ? " pipe=?p" : " pipe=2";
    const int others = pipeline_ && !open_pipe ? 2 : 4;
    if (open_data || open_pipe) {
      line += " data=?d";
      open("?d", {"1", "2", "4"});
      row("?d >= 2");
      row("?d != 2");
      if (tensor_) {
        line += " tensor=?t";
        open("?t", {"1", "2", "4"});
        row("?t <= ?d");
        row("?t >= 2");
      }
    } else {
      line += tensor_ ? " data=1 tensor=" + number(others) : " data=" + number(others);
    }
    say(line);
  }

  void open_batch() {
    say(below(2) ? "model batch=?b" : "model seq=?b");
    say("require ?b in {2, 6, 8, 12}");
    open("?b", {"2", "6", "8", "12"});
    row("?b >= 6");
    row("?b % 3 = 0");
  }

  void declare_micro_batches() {
    switch (below(4)) {
      case 0:
        return say("trans * batch by data");
      case 1:
        say("axis mb=2");
        break;
      case 2:
        say("axis mb=?m where ?m in {1, 2, 3, 4}");
        open("?m", {"1", "2", "3", "4"});
        row("?m >= 3");
        row("?m <= 2");
        break;
      default:
        say("axis mb=?m");
        open("?m", {"1", "2", "3", "4", "6", "8", "12"});
        row("?m >= 2");
        row("?m != 4");
    }
    say("trans * batch by mb, data");
  }

  // Which gives the number of stages and their lengths.
  void cut() {
    if (!pipeline_) return;
    const int kind = below(3);
    const std::string into = kind == 0                  ? "|pipe|"
                             : kind == 1 && !open_pipe_ ? "?x, ?y"
                                                        : "?s[i] where 0 <= i, i < |pipe|";
    say("let S = cut layers[*] into " + into);
    std::vector<OpenSpace::Filled>& all = s_.holes.emplace_back();
    for (int stages = open_pipe_ ? 1 : 2; stages <= (open_pipe_ ? 4 : 2); stages += stages)
      for (const std::vector<int>& parts : lengths(stages, kLayers)) {
        OpenSpace::Filled f;
        std::vector<std::string> sizes;
        for (const int n : parts) sizes.push_back(number(n));
        if (open_pipe_) f.emplace_back("?p", number(stages));
        if (kind > 0) f.emplace_back("into " + into, "into " + (stages == 1 ? "1" : join(sizes, ",")));
        for (int i = 0; i < stages && kind > 0; ++i) f.emplace_back("?s[" + number(i) + "]", sizes[at(i)]);
        if (stages == 2 && kind > 0) f.emplace_back("?x", sizes[0]), f.emplace_back("?y", sizes[1]);
        all.push_back(std::move(f));
        if (kind == 0) break;
      }
    if (kind == 0 && open_pipe_) row("?p >= 2");
    const bool by_index = into.starts_with("?s");
    if (kind > 0 && !open_pipe_) {
      row(by_index ? "?s[0] >= 2" : "?x >= 2");
      row(by_index ? "?s[0] < ?s[1]" : "?x < ?y");
    }
    say("assign S[i] to pipe=i");
  }

  void splits() {
    if (!tensor_) return;
    switch (below(4)) {
      case 0:
        return say("use tp(layers[*], tensor)");
      case 1:
        say("trans lm_head vocab|none by tensor");
        return open("vocab|none", {"vocab", "none"});
      case 2:
        if (pipeline_) return say("trans S[i].mlp.up out by tensor where i >= 1");
        [[fallthrough]];
      default:
        say("trans layers[1].mlp.up out|none by tensor");
        open("out|none", {"out", "none"});
    }
  }

  void recompute() {
    if (pipeline_ && below(2)) {
      say("trans S[0] recompute|keep");
      return open("recompute|keep", {"recompute", "keep"});
    }
    say("trans layers[*] recompute|keep");
    s_.looks_at_some = true;
    std::vector<OpenSpace::Filled>& all = s_.holes.emplace_back();
    for (unsigned bits = 0; bits < 1U << kLayers; ++bits) {
      std::vector<std::string> lines;
      for (int i = 0; i < kLayers; ++i)
        lines.push_back("trans layers[" + number(i) + "] " + (bits >> i & 1 ? "recompute" : "keep"));
      all.push_back({{"trans layers[*] recompute|keep", join(lines, "\n")}});
    }
  }

  // What is stored of parameters.
  void parameters() {
    switch (below(pipeline_ ? 6 : 3)) {
      case 0:
        return say("trans update(*) dim0 by data");
      case 1:
        say("use zero(?z, *, data)");
        open("?z", {"0", "1", "2", "3"});
        return row("?z <= 1");
      case 2:
        return say("trans update(*) offload");
      case 3:
        return say("trans update(S[0]) offload");
      case 4:
        say("trans update(S[0]) dim0|none by data");
        return open("dim0|none", {"dim0", "none"});
      default:
        say("trans update(S[i]) dim0 by data where i >= 1");
        say("trans fetch(S[0]) dim0 by data");
    }
  }

  void order() {
    const int kind = below(6);
    if (kind == 0) say("use 1f1b(S)");
    if (kind != 1) return;
    say("order ?");
    open("order ?", {"use ready()", "use 1f1b(S)", "use gpipe(S)", "order b(S[i])[m] < f(S[i])[m+1]"});
    s_.looks_at_some = s_.lists_some = true;
  }

  void rows() {
    for (int i = below(3); i > 0 && !possible_rows_.empty(); --i) say("require " + one_of(possible_rows_));
    s_.place = one_of(pipeline_ && !open_pipe_ ? std::vector<std::string>{"all", "pipe=0", "pipe=1"}
                                               : std::vector<std::string>{"all", "data=0"});
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::mt19937 engine_;
  OpenSpace s_;
  bool pipeline_ = false, open_pipe_ = false, tensor_ = false;
  int stages_ = 1;
  std::vector<std::string> possible_rows_;
};

void fill(const OpenSpace& s, const std::string& text, std::size_t hole,
          const std::function<void(const std::string&)>& visit) {
  if (hole == s.holes.size()) return visit(text);
  for (const OpenSpace::Filled& f : s.holes[hole]) {
    std::string some = text;
    for (const auto& [from, to] : f) some = replaced(some, from, to);
    fill(s, some, hole + 1, visit);
  }
}

}  // namespace

std::string OpenSpace::text() const { return join(lines, "\n") + "\n"; }

OpenSpace random_space(unsigned seed) { return Writer(seed).run(); }

void for_each_completion(const OpenSpace& s, const std::function<void(const std::string&)>& visit) {
  fill(s, s.text(), 0, visit);
}

}  // namespace planscope::testing
