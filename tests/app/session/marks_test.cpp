// What of a line a message is about, and what it proposes to stand there.
#include <catch2/catch.hpp>

#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

struct Marked {
  std::string line, token, proposed;
};

}  // namespace

TEST_CASE("a mark lies under what is wrong, and what is proposed stands for that alone") {
  const Marked all[] = {
      {"trans L.mlp ouut by tensor", "ouut", "out"},
      {"trans * bach by data", "bach", "batch"},
      {"trans L.attn head by tensor", "head", "heads"},
      {"trans L.mlp inn by tensor", "inn", "in"},
      {"trans * seqq by tensor", "seqq", "seq"},
      {"trans * seconds by tensor", "seconds", ""},
      {"trans * batch by a", "a", ""},
      {"trans * batch by dta", "dta", "data"},
      {"require memry(all) <= 3GiB", "memry", "memory"},
      {"require memory(al) <= 3GiB", "al", "all"},
      {"tarns * batch by data", "tarns", "trans"},
      {"trans L.mpl recompute", "L.mpl", "L.mlp"},
      {"trans L.mlp:adddmm recompute", ":adddmm", ":addmm"},
      {"trans L recompte", "recompte", "recompute"},
      {"use tpp(L, tensor)", "tpp", "tp"},
      {"assign L to tensr=0", "tensr", "tensor"},
      {"trans grad(L) dim0 by dataa", "dataa", "data"},
      {"assign LL to data=0", "LL", ""},
      {"model bach=4", "bach", ""},
  };
  Session s({.cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  for (const Marked& m : all) {
    INFO(m.line);
    write(s, "devices 4 as data=2 tensor=2\nlet L = transformer.h[*]\n" + m.line + "\n");
    s.wait();
    const Panel p = *make_panel("script", s.state()).value;
    REQUIRE_FALSE(p.marks.empty());
    const Mark& mark = p.marks[0];
    CHECK(mark.line == 3);
    REQUIRE(mark.to > mark.from);
    CHECK(m.line.substr(static_cast<std::size_t>(mark.from), static_cast<std::size_t>(mark.to - mark.from)) == m.token);
    CHECK(static_cast<std::size_t>(mark.from) == m.line.rfind(m.token));  // no part of an earlier word
    CHECK(mark.fix == m.proposed);
  }
}
