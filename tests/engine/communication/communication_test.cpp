// What plans communicate, against what is known of them: kind, axes, phase, count, bytes per device. Each case is also
// verified. The expected figures follow from the models' sizes; tests/cases/communication says how where it is not plain.
#include <catch2/catch.hpp>
#include <map>

#include "engine/graph/import.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/program/program_json.h"
#include "planner/verify/verify.h"
#include "tests/support/text_case.h"

using namespace planscope;

namespace {

const Graph& model(const std::string& name) {
  static std::map<std::string, Graph> known;
  const auto it = known.find(name);
  if (it != known.end()) return it->second;
  Result<Model> m = import_model("sample_models/" + name + ".pt2");
  REQUIRE(m.ok());
  return known[name] = *make_graph(std::make_shared<const Model>(std::move(*m.value))).value;
}

bool is_parameter(const Graph& g, TensorId t) {
  return g.model->values[static_cast<std::size_t>(t)].kind == ValueKind::parameter;
}

// One line for each phase, kind, axes and sort of tensor: how many values, each of a bucket counted, and bytes per device
// of the larger side; of what is sent to other places, as it arrives.
std::string communication(const Graph& g, const Program& p) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> rows;
  const auto elements = [&](ProgramValueId v) {
    const ProgramValue& value = p.values[static_cast<std::size_t>(v)];
    return local_elements(g, value.tensor, p.layouts[static_cast<std::size_t>(value.layout)]);
  };
  const auto add = [&](std::string row, ProgramValueId moved, std::int64_t count) {
    const TensorId t = p.values[static_cast<std::size_t>(moved)].tensor;
    auto& [values, bytes] = rows[row + (is_parameter(g, t) ? " parameter" : " activation")];
    ++values;
    bytes += count * byte_size(g.model->values[static_cast<std::size_t>(t)].dtype);
  };
  for (const Segment& s : p.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code == Code::send)
        for (const ProgramValueId v : p.transfers[static_cast<std::size_t>(i.transfer)].to)
          add(std::string(to_string(s.phase)) + " send", v, elements(v));
      if (i.code != Code::issue) continue;
      std::string row = std::string(to_string(s.phase)) + (i.last ? " last " : " ");
      row += to_string(i.move.kind);
      if (i.move.reduce == PartialKind::merge) row += "(merge)";
      for (const Digit& d : i.move.digits) row += " " + p.axes[static_cast<std::size_t>(d.axis)].name;
      for (std::size_t k = 0; k < i.out.size(); ++k) add(row, i.in[k], std::max(elements(i.in[k]), elements(i.out[k])));
    }
  std::string out;
  for (const auto& [row, n] : rows)
    out += row + ": " + std::to_string(n.first) + ", " + std::to_string(n.second) + " bytes\n";
  return out;
}

}  // namespace

TEST_CASE("plans communicate what is known of them") {
  const Cluster cluster = *read_cluster("dgx-h100x512");
  for (const testing::TextCase& c : testing::text_cases("tests/cases/communication")) {
    INFO(c.file);
    const Graph& g = model(c.keys.at("model"));
    const Result<plan::Plan> plan = plan::parse_plan(c.input, c.file);
    REQUIRE(plan.ok());
    const Result<Materialized> m = materialize(g, *plan, cluster);
    INFO(to_string(m.diagnostics));
    REQUIRE(m.value);
    CHECK(communication(*m->graph, m->program) == c.expected);
    const VerifyReport r = verify(*m->graph, m->program);
    INFO((r.failures.empty() ? std::string() : to_string(r.failures.front())));
    CHECK(r.verdict == Verdict::equivalent);
    CHECK(to_json(materialize(g, *plan, cluster)->program) == to_json(m->program));
  }
}

TEST_CASE("a Program is as large for thousands of devices and micro-batches as for few") {
  const Cluster cluster = *read_cluster("dgx-h100x512");
  const auto size = [&](int data, int micro_batches) {
    const std::string text = "devices " + std::to_string(8 * data) + " as pipe=4 data=" + std::to_string(data) +
                             " tensor=2\nmodel batch=" + std::to_string(data * micro_batches) +
                             "\naxis mb=" + std::to_string(micro_batches) +
                             "\nlet L = layers[*]\nlet S = cut L into |pipe|\ntrans * batch by mb, data\nuse tp(L, "
                             "tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n";
    const Result<Materialized> m = materialize(model("llama_tiny"), *plan::parse_plan(text), cluster);
    REQUIRE(m.value);
    return to_json(m->program).size();
  };
  const double small = static_cast<double>(size(2, 8));
  CHECK(static_cast<double>(size(512, 8)) < 1.02 * small);
  CHECK(static_cast<double>(size(2, 256)) < 1.05 * small);
}

TEST_CASE("a Program has the same instructions for many devices of each stage as for few") {
  const Cluster cluster = *read_cluster("dgx-h100x512");
  const auto count = [&](int data, int tensor) {
    const std::string text = "devices " + std::to_string(4 * data * tensor) +
                             " as pipe=4 data=" + std::to_string(data) + " tensor=" + std::to_string(tensor) +
                             "\nmodel batch=" + std::to_string(8 * data) +
                             "\naxis mb=8\nlet L = layers[*]\nlet S = cut L into |pipe|\ntrans * batch by mb, data\n"
                             "use tp(L, tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n";
    const Result<Materialized> m = materialize(model("llama3_8b"), *plan::parse_plan(text), cluster);
    REQUIRE(m.value);
    std::size_t n = 0;
    for (const Segment& s : m->program.segments) n += s.instructions.size();
    return n;
  };
  CHECK(count(64, 8) == count(2, 2));
}
