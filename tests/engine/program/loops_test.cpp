// Slot lists as loops: a Program does not grow with the number of micro-batches, however long the period is.
#include <catch2/catch.hpp>
#include <set>

#include "engine/cluster/cluster.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "tiny_model.h"

using namespace planscope;

namespace {

Program interleaved(int chunks, int micro_batches) {
  const std::string m = std::to_string(micro_batches), c = std::to_string(chunks);
  const auto parsed =
      plan::parse_plan("devices 4 as pipe=4\nmodel batch=" + m + "\naxis mb=" + m + "\nlet S = cut layers.* into " + c +
                       "\ntrans * batch by mb\nuse interleaved(S, pipe, mb)\n");
  Result<Materialized> made = materialize(tiny::tiny_graph(chunks), *parsed, *read_cluster("local", {.devices = 4}));
  INFO(to_string(made.diagnostics));
  REQUIRE(made.ok());
  return std::move(made->program);
}

std::size_t written(const DeviceClass& c) {
  std::size_t n = 0;
  for (const Loop& l : c.loops) n += l.body.size();
  return n;
}

}  // namespace

TEST_CASE("interleaved stages repeat after p * chunks turns, however many that are") {
  for (const int chunks : {8, 36}) {  // periods of 16 and 72 slots
    const Program few = interleaved(chunks, 32), many = interleaved(chunks, 64);
    REQUIRE(few.classes.size() == many.classes.size());
    for (std::size_t c = 0; c < few.classes.size(); ++c) {
      INFO(chunks << " parts, " << few.classes[c].name);
      CHECK(written(few.classes[c]) == written(many.classes[c]));
      std::set<std::pair<SegmentId, std::vector<std::int64_t>>> run;
      const std::vector<SlotRun> all = period(many.classes[c]);
      for (const SlotRun& s : all) run.emplace(s.segment, s.index);
      CHECK(run.size() == all.size());  // each once
      CHECK(all.size() >= static_cast<std::size_t>(2 * chunks / 4 * 64));
    }
  }
}
