// Every canonical pass, and the making pure, on small models as text: tests/cases/import/<pass>.test.
#include <catch2/catch.hpp>
#include <filesystem>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/canonical.h"
#include "engine/graph/functional/dead_code.h"
#include "engine/graph/functional/purify.h"
#include "engine/graph/print.h"
#include "engine/graph/pt2/names.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

const std::string folder = "tests/cases/import/";

RawModel contiguous(Model model) {
  RawModel raw{.model = std::move(model), .strides = {}, .on_cuda = {}, .bodies = {}};
  for (const Value& value : raw.model.values) {
    std::vector<std::int64_t> strides(value.sizes.size(), 1);
    for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * value.sizes[i];
    raw.strides.push_back(std::move(strides));
  }
  return raw;
}

std::string tidied(Model model) {
  model = remove_dead_nodes(std::move(model));
  number_nodes(model);
  std::string text = to_string(check_shapes(model));
  return text.empty() ? print(model) : text;
}

std::string pure(Model model) {
  Result<Model> result = purify(contiguous(std::move(model)));
  return result.ok() ? tidied(std::move(*result)) : to_string(result.diagnostics);
}

}  // namespace

TEST_CASE("Canonical passes do what their cases say") {
  for (const CanonicalPass& pass : canonical_passes()) {
    if (pass.name == "dead_nodes" || pass.name == "ordinals") continue;  // part of every case
    std::string path = folder + std::string(pass.name) + ".test";
    INFO(path);
    REQUIRE(std::filesystem::exists(path));
    for (const TextCase& c : read_cases(path)) {
      INFO(c.name);
      CHECK(tidied(pass.run(read_model_text(c.input))) == c.expected);
    }
  }
}

TEST_CASE("In-place operators become pure") {
  for (const TextCase& c : read_cases(folder + "purify.test")) {
    INFO(c.name);
    CHECK(pure(read_model_text(c.input)) == c.expected);
  }
}

TEST_CASE("Canonical models are a fixed point of the passes") {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    for (const TextCase& c : read_cases(entry.path())) {
      if (entry.path().stem() == "purify") continue;
      INFO(entry.path() << " " << c.name);
      Model once = canonicalize(read_model_text(c.input));
      CHECK(print(canonicalize(once)) == print(once));
    }
}
