#include "engine/runtime/reference_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/replace_file.h"

namespace planscope {

namespace {

constexpr std::uint64_t kAlignment = 64;
using Json = nlohmann::json;

std::string_view name(Precision p) { return p == Precision::float64 ? "float64" : "model"; }

double magnitude(const at::Tensor& t) { return t.numel() == 0 ? 0.0 : t.abs().max().item<double>(); }

// Scale of every tensor of one kind, by class.
std::map<TensorId, double> scales(const std::map<TensorId, at::Tensor>& tensors) {
  std::map<std::vector<std::int64_t>, double> by_sizes;
  double largest = 0;
  for (const auto& [id, t] : tensors) {
    double& scale = by_sizes[t.sizes().vec()];
    scale = std::max(scale, magnitude(t));
    largest = std::max(largest, scale);
  }
  std::map<TensorId, double> out;
  for (const auto& [id, t] : tensors) out[id] = std::max({by_sizes[t.sizes().vec()], 1e-6 * largest, 1e-30});
  return out;
}

}  // namespace

std::string_view to_string(ReferenceKind kind) { return kind == ReferenceKind::gradient ? "gradient" : "parameter"; }

std::vector<Diagnostic> write_reference(const std::string& path, const std::map<Precision, const ReferenceRun*>& runs) {
  Json header = {{"losses", Json::object()}, {"tensors", Json::array()}};
  TensorList payload;
  std::uint64_t offset = 0;
  for (const auto& [precision, run] : runs) {
    header["losses"][std::string(name(precision))] = run->losses;
    for (const ReferenceKind kind : {ReferenceKind::gradient, ReferenceKind::parameter}) {
      const auto& tensors = kind == ReferenceKind::gradient ? run->gradients : run->parameters;
      const std::map<TensorId, double> scale = scales(tensors);
      for (const auto& [id, tensor] : tensors) {
        payload.push_back(tensor.detach().contiguous());
        header["tensors"].push_back({{"precision", name(precision)},
                                     {"kind", to_string(kind)},
                                     {"tensor", id},
                                     {"type", static_cast<int>(tensor.scalar_type())},
                                     {"sizes", tensor.sizes().vec()},
                                     {"scale", scale.at(id)},
                                     {"offset", offset}});
        offset += (payload.back().nbytes() + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
  }
  std::string text = header.dump();
  text.resize((text.size() + 8 + kAlignment - 1) / kAlignment * kAlignment - 8, ' ');
  const std::string problem = replace_file(path, [&](std::ostream& out) {
    const std::uint64_t length = text.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text;
    for (const at::Tensor& tensor : payload) {
      out.write(static_cast<const char*>(tensor.const_data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
      const std::string padding((kAlignment - tensor.nbytes() % kAlignment) % kAlignment, '\0');
      out << padding;
    }
  });
  if (!problem.empty()) return {error("cannot write '" + path + "'", problem)};
  return {};
}

Result<ReferenceFile> ReferenceFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0 || status.st_size < 8) {
    if (file >= 0) ::close(file);
    return error("cannot read the one-device run in '" + path + "'", std::strerror(errno));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (data == MAP_FAILED) return error("cannot map the one-device run in '" + path + "'", std::strerror(errno));
  ReferenceFile made;
  made.mapping_ = std::shared_ptr<void>(data, [size](void* p) { ::munmap(p, size); });
  auto* bytes = static_cast<std::byte*>(data);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes, sizeof length);
  const auto damaged = [&] { return error("'" + path + "' is not a one-device run", "it is damaged", "delete it"); };
  if (length > size - 8) return damaged();
  const Json header = Json::parse(reinterpret_cast<const char*>(bytes) + 8,
                                  reinterpret_cast<const char*>(bytes) + 8 + length, nullptr, false);
  if (!header.is_object() || !header.contains("losses") || !header.contains("tensors")) return damaged();
  const auto precision = [](const std::string& text) {
    return text == "float64" ? Precision::float64 : Precision::model;
  };
  for (const auto& [key, losses] : header["losses"].items())
    made.losses_[precision(key)] = losses.get<std::vector<double>>();
  for (const Json& t : header["tensors"]) {
    const auto sizes = t.at("sizes").get<std::vector<std::int64_t>>();
    const auto options = at::TensorOptions().dtype(static_cast<at::ScalarType>(t.at("type").get<int>()));
    const std::uint64_t offset = 8 + length + t.at("offset").get<std::uint64_t>();
    std::uint64_t extent = options.dtype().itemsize();
    for (const std::int64_t s : sizes) extent *= static_cast<std::uint64_t>(s);
    if (offset > size || extent > size - offset) return damaged();
    const ReferenceKind kind = t.at("kind") == "gradient" ? ReferenceKind::gradient : ReferenceKind::parameter;
    made.entries_[{precision(t.at("precision")), kind, t.at("tensor").get<TensorId>()}] = {
        at::from_blob(bytes + offset, sizes, options), t.at("scale").get<double>()};
  }
  return made;
}

const std::vector<double>& ReferenceFile::losses(Precision precision) const {
  static const std::vector<double> none;
  const auto found = losses_.find(precision);
  return found == losses_.end() ? none : found->second;
}

const ReferenceFile::Entry* ReferenceFile::find(Precision precision, ReferenceKind kind, TensorId tensor) const {
  const auto found = entries_.find({precision, kind, tensor});
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace planscope
