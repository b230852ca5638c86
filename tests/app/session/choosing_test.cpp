// What commands choose: the cluster of a document, what is selected; and the reference of what can be written.
#include <catch2/catch.hpp>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("a cluster that somebody has said is taken, whichever is preferred") {
  const auto cluster_of = [](Session& s, const std::string& open) {
    must(s, "prefer cluster dgx-a100x1");
    must(s, open);
    return s.state().document()->cluster;
  };
  Session unsaid({});
  CHECK(cluster_of(unsaid, "open model=" + kModel) == "dgx-a100x1");
  must(unsaid, "open model=sample_models/llama_tiny.pt2 cluster=local");
  CHECK(unsaid.state().document()->cluster == "local");
  Session said({.cluster = "local"});
  CHECK(cluster_of(said, "open model=" + kModel) == "local");
}

TEST_CASE("it is counted how often something is selected, not how often that changes by itself") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  const int before = s.state().selections;
  must(s, "select statement=2");
  must(s, "select statement=2");
  CHECK(s.state().selections == before + 2);
  must(s, "append \"# more\"");
  CHECK(s.state().selections == before + 2);
}

TEST_CASE("the reference has every statement of the language, with an example that can be written") {
  const Panel p = reference_panel({});
  std::set<std::string> written;
  for (const TableRow& row : p.rows) {
    if (row.parent != "Statements" || row.cells[0].text.empty()) continue;
    const std::string& example = row.cells[2].text;
    INFO(example);
    CHECK(plan::parse_plan(example + (example.starts_with("template") ? "\nend" : ""), "").ok());
    written.insert(example.substr(0, example.find(' ')));
  }
  const Result<plan::Statement> none = plan::parse_statement("zzzzzzzz");
  REQUIRE_FALSE(none.ok());
  std::string all = none.diagnostics.front().what;  // `… Statements: devices, grid, …, end.`
  all = all.substr(all.find("Statements: ") + 12);
  all.pop_back();
  for (std::string word : split(all, ',')) {
    word.erase(0, word.find_first_not_of(' '));
    INFO(word);
    // Conditions and templates are rows that hold several words.
    if (word != "end" && word != "forbid") CHECK(written.contains(word));
  }
}
