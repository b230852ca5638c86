// A lane says which stages and layers it computes.
#include "app/workbench/stage_text.h"

#include "tests/app/workbench/sample_plans.h"

using namespace planscope;

TEST_CASE("a device class says its stage, the layers of that, and what of the model is beside them") {
  const Evaluated s("llama_tiny",
                    "devices 4 as pipe=2 tensor=2\naxis mb=4\nlet S = cut model.layers[*] into 2\ntrans * batch by mb\n"
                    "use tp(model.layers[*], tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n",
                    "dgx-a100");
  const Program& p = s.program();
  REQUIRE(p.classes.size() == 2);
  const std::string first = stage_text(s.graph(), p, p.classes[0]), last = stage_text(s.graph(), p, p.classes[1]);
  INFO(first << "\n" << last);
  CHECK(first.starts_with("S[0]: model.layers 0–1"));
  CHECK(first.find("model.embed_tokens") != std::string::npos);
  CHECK(last.starts_with("S[1]: model.layers 2–3"));
  CHECK(last.find("lm_head") != std::string::npos);
  CHECK(last.find("model.embed_tokens") == std::string::npos);
}

TEST_CASE("ascending numbers are told as ranges") {
  CHECK(ranges_text({}) == "");
  CHECK(ranges_text({3}) == "3");
  CHECK(ranges_text({0, 1, 2, 7, 9, 10}) == "0–2, 7, 9–10");
}
