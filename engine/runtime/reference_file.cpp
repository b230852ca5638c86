#include "engine/runtime/reference_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/runtime/tensor_file.h"

namespace planscope {

namespace {

using Json = nlohmann::json;

std::string_view name(Precision p) { return p == Precision::float64 ? "float64" : "model"; }

double magnitude(const at::Tensor& t) { return t.numel() == 0 ? 0.0 : t.abs().max().item<double>(); }

// As JSON can say it.
double finite(double x) { return std::isfinite(x) ? x : std::numeric_limits<double>::max(); }

using Tensors = std::map<TensorId, at::Tensor>;

// Whether all gradients of an exact run are nothing but the rounding of its loss.
bool all_rounding(const ReferenceRun& exact) {
  constexpr double step = 1e-14;
  const double loss = exact.losses.empty() ? 0 : std::abs(exact.losses[0]);
  return std::all_of(exact.gradients.begin(), exact.gradients.end(),
                     [&](const auto& g) { return magnitude(g.second) < step * loss; });
}

// Scale of every tensor of one kind, by class; at least `least`.
std::map<TensorId, double> scales(const Tensors& tensors, double least) {
  std::map<std::vector<std::int64_t>, double> by_sizes;
  double largest = 0;
  for (const auto& [id, t] : tensors) {
    double& scale = by_sizes[t.sizes().vec()];
    scale = std::max(scale, magnitude(t));
    largest = std::max(largest, scale);
  }
  std::map<TensorId, double> out;
  for (const auto& [id, t] : tensors) out[id] = std::max({by_sizes[t.sizes().vec()], 1e-6 * largest, least, 1e-30});
  return out;
}

// What the types of a run have rounded away, by class.
std::map<TensorId, double> noises(const Tensors& rounded, const Tensors& exact) {
  std::map<std::vector<std::int64_t>, double> by_sizes;
  for (const auto& [id, t] : rounded)
    if (const auto right = exact.find(id); right != exact.end()) {
      double& noise = by_sizes[t.sizes().vec()];
      const double difference = magnitude(t.to(right->second.scalar_type()).sub(right->second));
      if (std::isfinite(difference)) noise = std::max(noise, difference);
    }
  std::map<TensorId, double> out;
  for (const auto& [id, t] : rounded) out[id] = by_sizes[t.sizes().vec()];
  return out;
}

// What rounding makes of each loss of `run`: what was measured, or how far it is from the exact run.
std::vector<double> loss_noise(const ReferenceRun& run, const ReferenceRun* exact) {
  if (exact == nullptr || exact == &run) return run.rounding;
  std::vector<double> out;
  for (std::size_t step = 0; step < std::min(run.losses.size(), exact->losses.size()); ++step) {
    const double difference = std::abs(run.losses[step] - exact->losses[step]);
    out.push_back(std::isfinite(difference) ? difference : 0);
  }
  return out;
}

const Tensors& of_kind(const ReferenceRun& run, ReferenceKind kind) {
  return kind == ReferenceKind::gradient ? run.gradients : run.parameters;
}

}  // namespace

std::string_view to_string(ReferenceKind kind) { return kind == ReferenceKind::gradient ? "gradient" : "parameter"; }

std::vector<Diagnostic> write_reference(const std::string& path, const std::map<Precision, const ReferenceRun*>& runs) {
  Json header = {{"losses", Json::object()}, {"loss_noise", Json::object()}, {"tensors", Json::array()}};
  TensorRows rows;
  const auto exact = runs.find(Precision::float64);
  const bool rounding = exact != runs.end() && all_rounding(*exact->second);
  for (const auto& [precision, run] : runs) {
    header["losses"][std::string(name(precision))] = run->losses;
    header["loss_noise"][std::string(name(precision))] =
        loss_noise(*run, exact == runs.end() ? nullptr : exact->second);
    for (const ReferenceKind kind : {ReferenceKind::gradient, ReferenceKind::parameter}) {
      const Tensors& tensors = of_kind(*run, kind);
      const double loss = run->losses.empty() ? 0 : std::abs(run->losses[0]);
      const bool of_loss = rounding && kind == ReferenceKind::gradient;
      const std::map<TensorId, double> scale =
          scales(tensors, !of_loss ? 0 : precision == Precision::float64 ? 1e-5 * loss : loss);
      const bool rounds =
          kind == ReferenceKind::gradient && precision == Precision::model && exact != runs.end();
      const std::map<TensorId, double> noise = noises(tensors, rounds ? of_kind(*exact->second, kind) : Tensors{});
      for (const auto& [id, tensor] : tensors) {
        Json row = rows.add(tensor);
        row.update({{"precision", name(precision)},
                    {"kind", to_string(kind)},
                    {"tensor", id},
                    {"scale", finite(scale.at(id))},
                    {"noise", noise.at(id)},
                    {"largest", finite(magnitude(tensor))}});
        header["tensors"].push_back(std::move(row));
      }
    }
  }
  return write_tensor_file(path, header, rows);
}

Result<ReferenceFile> ReferenceFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0 || status.st_size < 8) {
    const std::string why = file >= 0 && status.st_size < 8 ? "it is damaged: it is cut off" : std::strerror(errno);
    if (file >= 0) ::close(file);
    return error("cannot read the one-device run in '" + path + "'", why, "delete it");
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
  for (const char* part : {"losses", "loss_noise", "tensors"})
    if (!header.is_object() || !header.contains(part)) return damaged();
  const auto precision = [](const std::string& text) {
    return text == "float64" ? Precision::float64 : Precision::model;
  };
  for (const auto& [key, losses] : header["losses"].items())
    for (const Json& loss : losses)  // JSON has no numbers that are none
      made.losses_[precision(key)].push_back(loss.is_number() ? loss.get<double>() : std::nan(""));
  for (const auto& [key, noise] : header["loss_noise"].items())
    made.loss_noise_[precision(key)] = noise.get<std::vector<double>>();
  for (const Json& t : header["tensors"]) {
    const auto sizes = t.at("sizes").get<std::vector<std::int64_t>>();
    const auto options = at::TensorOptions().dtype(static_cast<at::ScalarType>(t.at("type").get<int>()));
    const std::uint64_t offset = 8 + length + t.at("offset").get<std::uint64_t>();
    std::uint64_t extent = options.dtype().itemsize();
    for (const std::int64_t s : sizes) extent *= static_cast<std::uint64_t>(s);
    if (offset > size || extent > size - offset) return damaged();
    const ReferenceKind kind = t.at("kind") == "gradient" ? ReferenceKind::gradient : ReferenceKind::parameter;
    made.entries_[{precision(t.at("precision")), kind, t.at("tensor").get<TensorId>()}] = {
        at::from_blob(bytes + offset, sizes, options), t.at("scale").get<double>(), t.at("noise").get<double>()};
    double& largest = made.largest_[{precision(t.at("precision")), kind}];
    largest = std::max(largest, t.at("largest").get<double>());
  }
  return made;
}

const std::vector<double>& ReferenceFile::losses(Precision precision) const {
  static const std::vector<double> none;
  const auto found = losses_.find(precision);
  return found == losses_.end() ? none : found->second;
}

double ReferenceFile::loss_noise(Precision precision, std::size_t step) const {
  const auto found = loss_noise_.find(precision);
  return found == loss_noise_.end() || step >= found->second.size() ? 0 : found->second[step];
}

double ReferenceFile::largest(Precision precision, ReferenceKind kind) const {
  const auto found = largest_.find({precision, kind});
  return found == largest_.end() ? 0 : found->second;
}

const ReferenceFile::Entry* ReferenceFile::find(Precision precision, ReferenceKind kind, TensorId tensor) const {
  const auto found = entries_.find({precision, kind, tensor});
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace planscope
