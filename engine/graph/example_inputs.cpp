#include "engine/graph/example_inputs.h"

#include "engine/graph/pt2/archive.h"

namespace planscope {

Result<std::string> read_example_inputs(const std::string& path) {
  Result<Archive> archive = open_archive(path);
  if (!archive.ok()) return archive.diagnostics;
  const std::string record = "data/sample_inputs/" + archive->model + ".pt";
  if (archive->find(record) == nullptr) return std::string();
  Result<std::string_view> bytes = archive->text(record);
  if (!bytes.ok()) return bytes.diagnostics;
  return std::string(*bytes);
}

}  // namespace planscope
