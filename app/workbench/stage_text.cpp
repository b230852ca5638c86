#include "app/workbench/stage_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "engine/base/enumeration.h"
#include "engine/base/text.h"

namespace planscope {

namespace {

std::set<SegmentId> segments_of(const DeviceClass& c) {
  std::set<SegmentId> out;
  for (const Loop& loop : c.loops)
    for (const SlotStep& slot : loop.body) out.insert(slot.segment);
  return out;
}

std::optional<int> number(const std::string& text) {
  int n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  return problem == std::errc() && end == text.data() + text.size() && n >= 0 ? std::optional(n) : std::nullopt;
}

constexpr std::size_t kShown = 4;  // stages, or modules

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// What stands in the brackets of `f(S[0])`; not where that is the name of the class itself.
std::vector<std::string> stages_of(const Program& p, const DeviceClass& c) {
  std::vector<std::string> out;
  for (const SegmentId s : segments_of(c)) {
    const Segment& segment = p.segments[static_cast<std::size_t>(s)];
    const std::size_t open = segment.name.find('('), close = segment.name.rfind(')');
    if (segment.phase != Phase::forward || open == std::string::npos || close == std::string::npos) continue;
    const std::string stage = segment.name.substr(open + 1, close - open - 1);
    if (stage != c.name) add_once(out, stage);
  }
  return out;
}

// `model.layers 0–7` of modules with a number in their path, by the first one; the path of others.
std::vector<std::string> modules_of(const Graph& g, const std::vector<OpId>& operators) {
  std::map<std::string, std::set<int>> layers;
  std::vector<std::string> others;
  for (const OpId op : operators) {
    const std::vector<std::string> path = split(g.node(op).module, '.');
    const auto layer = std::find_if(path.begin(), path.end(), [](const std::string& s) { return number(s).has_value(); });
    if (layer != path.end())
      layers[join({path.begin(), layer}, ".")].insert(*number(*layer));
    else if (!g.node(op).module.empty())
      add_once(others, g.node(op).module);
  }
  std::vector<std::string> out;
  for (const auto& [path, numbers] : layers) out.push_back(path + " " + ranges_text(numbers));
  // A module that the others are in says nothing.
  const auto holds = [](const std::string& module) {
    return [&module](const std::string& other) { return other.starts_with(module + "."); };
  };
  for (const std::string& module : others)
    if (std::none_of(out.begin(), out.end(), holds(module)) && std::none_of(others.begin(), others.end(), holds(module)))
      out.push_back(module);
  return out;
}

}  // namespace

std::vector<OpId> operators_of(const Program& p, const DeviceClass& c) {
  std::set<OpId> out;
  for (const SegmentId s : segments_of(c))
    for (const Instruction& i : p.segments[static_cast<std::size_t>(s)].instructions)
      if (i.code == Code::compute)
        for (const PieceOp& o : p.pieces[static_cast<std::size_t>(i.piece)].ops) out.insert(o.op);
  return {out.begin(), out.end()};
}

std::string ranges_text(const std::set<int>& numbers) {
  std::string out;
  for (auto n = numbers.begin(); n != numbers.end();) {
    auto end = n;
    while (std::next(end) != numbers.end() && *std::next(end) == *end + 1) ++end;
    out += (out.empty() ? "" : ", ") + std::to_string(*n) + (end == n ? "" : "–" + std::to_string(*end));
    n = std::next(end);
  }
  return out;
}

std::string stage_text(const Graph& g, const Program& p, const DeviceClass& c) {
  const std::string stages = enumeration(stages_of(p, c), kShown);
  const std::string modules = enumeration(modules_of(g, operators_of(p, c)), kShown);
  return stages + (stages.empty() || modules.empty() ? "" : ": ") + modules;
}

}  // namespace planscope
