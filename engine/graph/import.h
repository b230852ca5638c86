#pragma once
// Opens a model: the archive that torch.export.save writes, as a Model (model.h) in canonical form
// (canonical/README.md). Weights are not read.
//
//   read the archive   pt2/         names, graph, signature, where the weights are
//   make it pure       functional/  in-place operators and writes through views become values; buffers that change
//                                   are listed in model.mutations
//   canonical forms    canonical/   one way to say each thing
//
// Errors: a file that is truncated, damaged, of another kind or version, or that contradicts itself has no value and an
// error that says where. Operators that are not known, and sub-graphs other than gradient modes, are kept with a
// warning.
//
//   Result<Model> model = import_model("sample_models/gpt2_tiny.pt2");
//   if (!model.ok()) std::cerr << to_string(model.diagnostics);
#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/graph/model.h"

namespace planscope {

Result<Model> import_model(const std::string& path);

// The elements of a parameter, buffer or constant in row-major order. A file without weights is an error.
Result<std::vector<std::byte>> read_weight(const Model&, ValueId);

}  // namespace planscope
