#pragma once
// A model from the text that print(Model) writes, for tests: values keep their numbers, so they need not be dense.
#include <string>

#include "engine/graph/model.h"

namespace planscope::testing {

// Throws std::runtime_error with the line that it cannot read.
Model read_model_text(const std::string& text);

struct TextCase {
  std::string name, input, expected;
};

// `=== name`, the input, `---`, the expected text; lines that begin with # before the first case are comments.
std::vector<TextCase> read_cases(const std::string& path);

}  // namespace planscope::testing
