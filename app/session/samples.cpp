#include "app/session/samples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "app/session/panel.h"

namespace planscope::session {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == ending) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string first_sentence(const fs::path& plan) {
  std::ifstream in(plan);
  std::string text;
  for (std::string line; std::getline(in, line) && !line.empty() && line[0] == '#';) {
    const std::size_t from = line.find_first_not_of("# ");
    if (from == std::string::npos) break;
    text += (text.empty() ? "" : " ") + line.substr(from);
    const std::size_t end = text.find(". ");
    if (end != std::string::npos) return text.substr(0, end + 1);
    if (text.back() == '.') return text;
  }
  return text;
}

std::string size_text(const fs::path& file) {
  std::error_code ec;
  const auto bytes = fs::file_size(file, ec);
  return ec ? std::string() : cell(static_cast<std::int64_t>(bytes), Unit::bytes).text;
}

}  // namespace

std::vector<Sample> find_samples(const std::string& folder) {
  std::vector<Sample> out;
  const std::vector<fs::path> plans = files(fs::path(folder) / "plans", ".plan");
  for (const fs::path& model : files(folder, ".pt2")) {
    const std::string name = model.stem().string();
    const auto belongs = [&](const fs::path& plan) {
      return plan.stem().string().compare(0, name.size() + 1, name + "-") == 0;
    };
    const auto count = std::count_if(plans.begin(), plans.end(), belongs);
    const std::string about = size_text(model) + (count ? ", " + std::to_string(count) + (count == 1 ? " plan" : " plans") : "");
    out.push_back({model.string(), "", name, about});
    for (const fs::path& plan : plans)
      if (belongs(plan))
        out.push_back({model.string(), plan.string(), plan.stem().string().substr(name.size() + 1), first_sentence(plan)});
  }
  return out;
}

}  // namespace planscope::session
