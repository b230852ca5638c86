// What devices hold at least is below every peak: of random plans, of the sample plans, and of both with what is split left
// open.
#include "engine/program/stored.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/base/text.h"
#include "engine/graph/import.h"
#include "engine/graph/own_rules.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/simulate/simulate.h"
#include "tests/property/random_case.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

using Peaks = std::vector<Stored>;

Peaks peaks_of(const Materialized& m, const Simulation& s) {
  Peaks out;
  for (std::size_t c = 0; c < s.classes.size(); ++c)
    out.push_back({devices(m.program, m.program.classes[c]), s.classes[c].peak.bytes()});
  return out;
}

// How much of the highest peak at its devices each entry is; above 1: it is no lower bound.
double largest_share(const std::vector<Stored>& stored, const Peaks& peaks) {
  double out = 0;
  for (const Stored& s : stored) {
    std::int64_t highest = 0;
    for (const Stored& p : peaks)
      if (std::any_of(p.devices.begin(), p.devices.end(),
                      [&](int d) { return std::binary_search(s.devices.begin(), s.devices.end(), d); }))
        highest = std::max(highest, p.bytes);
    if (s.bytes > 0) out = std::max(out, static_cast<double>(s.bytes) / static_cast<double>(highest));
  }
  return out;
}

// `trans X f by a` -> `trans X f|none by a`.
std::string opened(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    const bool splits = words.size() == 5 && words[0] == "trans" && words[3] == "by" && words[2] != "none";
    out += (splits ? "trans " + words[1] + " " + words[2] + "|none by " + words[4] : line) + "\n";
  }
  return out;
}

// `devices 4 as a=2 b=2` -> `devices 4 as a=?size0 b=?size1`, where no other grid and no expression needs the sizes.
std::string without_sizes(const std::string& text) {
  std::string out;
  int sizes = 0;
  for (const std::string& line : split(text, '\n')) {
    std::string open;
    for (const std::string& word : split(line, ' ')) {
      const std::size_t equals = line.starts_with("devices ") ? word.find('=') : std::string::npos;
      open += (open.empty() ? "" : " ") +
              (equals == std::string::npos ? word : word.substr(0, equals) + "=?size" + std::to_string(sizes++));
    }
    out += open + "\n";
  }
  return out;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Checked {
  int plans = 0, opened = 0, without_sizes = 0;
  double most = 0;  // of a peak
};

void check(const Graph& graph, const std::string& text, const Cluster& cluster, Checked& c) {
  const SimulationOptions options;
  const Result<plan::Plan> plan = plan::parse_plan(text, "a.plan");
  if (!plan.ok()) return;
  const Result<Materialized> m = materialize(graph, *plan, cluster);
  if (!m.ok()) return;
  const Result<Simulation> simulated = simulate(*m->graph, m->program, cluster, options);
  if (!simulated.ok()) return;
  const Peaks peaks = peaks_of(*m, *simulated);
  const double share = largest_share(least_stored(*m->graph, m->decisions, options.optimizer_state_bytes), peaks);
  INFO(text);
  CHECK(share <= 1);
  ++c.plans;
  c.most = std::max(c.most, share);
  const Result<plan::Plan> open = plan::parse_plan(opened(text), "a.plan");
  if (!open.ok()) return;
  const Result<Decided> decided = decide(graph, *open);
  if (!decided.ok()) return;
  CHECK(largest_share(least_stored(*m->graph, decided->decisions, options.optimizer_state_bytes), peaks) <= 1);
  c.opened += opened(text) != text;
  const Result<plan::Plan> sizeless = plan::parse_plan(without_sizes(opened(text)), "a.plan");
  const Result<Decided> some = sizeless.ok() ? decide(graph, *sizeless) : sizeless.diagnostics;
  if (!some.ok()) return;
  const Peaks least = least_stored(*m->graph, some->decisions, options.optimizer_state_bytes);
  CHECK(largest_share(least, peaks) <= 1);
  c.without_sizes += least.size() == 1;
}

}  // namespace

TEST_CASE("no random plan has a peak below what devices hold at least") {
  const Cluster cluster = *read_cluster("local", {.devices = 6});
  Checked c;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const RandomCase random = random_case(seed);
    INFO("seed " << seed);
    check(transformer(random.sizes), random.plan(), cluster, c);
  }
  CHECK(c.plans > 150);
  CHECK(c.opened > 50);
  CHECK(c.most > 0.5);
}

TEST_CASE("no sample plan has a peak below what devices hold at least") {
  const Cluster cluster = *read_cluster("local", {.devices = 16});
  std::map<std::string, Graph> graphs;
  Checked c;
  for (const auto& entry : std::filesystem::directory_iterator("sample_models/plans")) {
    const std::string name = entry.path().stem().string(), model = name.substr(0, name.find('-'));
    if (entry.path().extension() != ".plan") continue;
    if (!graphs.contains(model)) {
      Result<Model> imported = import_model("sample_models/" + model + ".pt2");
      REQUIRE(imported.ok());
      graphs.emplace(model, *open_graph(std::make_shared<const Model>(std::move(*imported))));
    }
    INFO(name);
    check(graphs.at(model), text_of(entry.path()), cluster, c);
  }
  CHECK(c.plans > 40);
  CHECK(c.without_sizes > 5);
}
