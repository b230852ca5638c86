#include "engine/runtime/tensor_file.h"

#include <nlohmann/json.hpp>

#include "engine/base/replace_file.h"

namespace planscope {

namespace {
constexpr std::uint64_t kAlignment = 64;
}

nlohmann::json TensorRows::add(const at::Tensor& tensor) {
  payload_.push_back(tensor.detach().resolve_conj().contiguous());
  nlohmann::json row = {{"type", static_cast<int>(tensor.scalar_type())},
                        {"sizes", tensor.sizes().vec()},
                        {"offset", offset_}};
  offset_ += (payload_.back().nbytes() + kAlignment - 1) / kAlignment * kAlignment;
  return row;
}

std::vector<Diagnostic> write_tensor_file(const std::string& path, const nlohmann::json& header,
                                          const TensorRows& rows) {
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 8 + kAlignment - 1) / kAlignment * kAlignment - 8, ' ');
  const std::string problem = replace_file(path, [&](std::ostream& out) {
    const std::uint64_t length = text.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text;
    for (const at::Tensor& tensor : rows.payload()) {
      out.write(static_cast<const char*>(tensor.const_data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
      const std::string padding((kAlignment - tensor.nbytes() % kAlignment) % kAlignment, '\0');
      out << padding;
    }
  });
  if (!problem.empty()) return {error("cannot write '" + path + "'", problem)};
  return {};
}

}  // namespace planscope
