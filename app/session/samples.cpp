#include "app/session/samples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "app/session/commands.h"

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

Panel samples_panel(const std::string& folder) {
  Panel p{.id = "samples", .title = "Sample models", .kind = PanelKind::tree};
  p.empty = "There are no sample models in '" + folder + "'.";
  p.columns = {{"name", "Sample"}, {"about", "About"}};
  TableRow tour{.id = "tour", .command = "tour"};
  tour.cells = {cell("Guided tour"), cell("what can be done, step by step, on a sample")};
  p.rows.push_back(std::move(tour));
  const std::vector<fs::path> plans = files(fs::path(folder) / "plans", ".plan");
  for (const fs::path& model : files(folder, ".pt2")) {
    const std::string name = model.stem().string(), id = model.string();
    const auto belongs = [&](const fs::path& plan) {
      return plan.stem().string().compare(0, name.size() + 1, name + "-") == 0;
    };
    const auto count = std::count_if(plans.begin(), plans.end(), belongs);
    TableRow row{.id = id};
    row.cells = {cell(name), cell(size_text(model) + (count ? ", " + std::to_string(count) + " plans" : ""))};
    row.command = print({"open", {{"model", model.string()}}});
    p.rows.push_back(std::move(row));
    for (const fs::path& plan : plans) {
      if (!belongs(plan)) continue;
      TableRow child{.id = plan.string(), .parent = id};
      child.cells = {cell(plan.stem().string().substr(name.size() + 1)), cell(first_sentence(plan))};
      child.command = print({"open", {{"model", model.string()}, {"plan", plan.string()}}});
      p.rows.push_back(std::move(child));
    }
  }
  return p;
}

}  // namespace planscope::session
