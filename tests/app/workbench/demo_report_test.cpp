// The page of `planscope demo` can be mailed: it names no file that is not in it.
#include <catch2/catch.hpp>

#include "app/workbench/demo_report.h"

using namespace planscope;

TEST_CASE("a report holds small traces itself, and names large ones without a link") {
  ReportRow small;
  small.model = "m", small.plan = "a", small.trace_file = "m-a.trace.json", small.trace = "[]";
  const std::string page = report_html("planscope demo", {small});
  CHECK(page.find("<a download=\"m-a.trace.json\" href=\"data:application/json;base64,W10=\">Chrome trace</a>") != std::string::npos);

  ReportRow large = small;
  large.trace = std::string(std::size_t{1} << 20, ' ');
  const std::string other = report_html("planscope demo", {large});
  CHECK(other.find("<p>Chrome trace: m-a.trace.json (opens in ui.perfetto.dev)</p>") != std::string::npos);
  CHECK(other.size() < page.size() + 1000);
  for (const std::string* p : {&page, &other})
    for (std::size_t at = p->find("href=\""); at != std::string::npos; at = p->find("href=\"", at + 1)) {
      const std::string to = p->substr(at + 6, 5);
      CHECK((to.starts_with("#") || to == "data:"));
    }

  ReportRow none = small;
  none.trace.clear();
  CHECK(report_html("planscope demo", {none}).find("Chrome trace") == std::string::npos);
}
