// The one reader of plan files.
#include "app/workbench/plan_file.h"

#include <catch2/catch.hpp>

#include "app/workbench/workbench.h"
#include "engine/base/temporary_folder.h"
#include "engine/plan/printer.h"

namespace planscope {
namespace {

const std::string two_lines = "devices 2 as data=2  # both\ntrans * batch by data\n";

TEST_CASE("lines of a plan may end in any way, for the reader of texts and for the reader of plans alike") {
  const TemporaryFolder folder("plan_file");
  const std::string file = folder / "a.plan";
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string written = with_line_ends(two_lines, end);
    REQUIRE(write_file(file, written).ok());
    const Result<PlanFile> read = read_plan_file(file);
    REQUIRE(read.ok());
    CHECK(read->text == two_lines);
    CHECK(read->line_end == end);
    CHECK(with_line_ends(read->text, read->line_end) == written);
    const Result<plan::Plan> plan = open_plan(file, nullptr);
    REQUIRE(plan.ok());
    CHECK(plan->statements.size() == 2);
    CHECK(plan->statements[1].line == 2);
  }
}

TEST_CASE("a file that is not UTF-8 is no plan, and the first wrong byte is named") {
  const TemporaryFolder folder("plan_file");
  const std::string file = folder / "a.plan";
  REQUIRE(write_file(file, "devices 1\r\n# é caf\xE9 \xFF\r\n").ok());
  const Result<plan::Plan> plan = open_plan(file, nullptr);
  REQUIRE_FALSE(plan.ok());
  CHECK(to_string(plan.diagnostics) ==
        file + ":2: the file is not written in UTF-8; the byte 0xE9 in column 8 begins no character of it; save it as UTF-8 in the "
               "editor, or convert it, as: iconv -f LATIN1 -t UTF-8 FILE\n");
  REQUIRE(write_file(file, std::string("devices 1\0\n", 11)).ok());
  CHECK(to_string(open_plan(file, nullptr).diagnostics).find("the file is no plan") != std::string::npos);
  REQUIRE(write_file(file, "\xFF").ok());
  const Result<PlanFile> first = read_plan_file(file);
  REQUIRE_FALSE(first.ok());
  CHECK(first.diagnostics[0].line == 1);
  CHECK(first.diagnostics[0].why == "the byte 0xFF in column 1 begins no character of it");
}

}  // namespace
}  // namespace planscope
