#include "app/workbench/demo_report.h"

#include <cstdint>

#include "viz/canvas/svg.h"
#include "viz/timeline/model.h"

namespace planscope {

namespace {

using viz::escaped;

std::string time_of(const std::optional<double>& us) { return us ? viz::format_time({*us}) : "–"; }

std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }

std::string row_html(const ReportRow& r, std::size_t number) {
  char error[32] = "";
  if (r.max_relative_error) std::snprintf(error, sizeof error, " (%.1e)", *r.max_relative_error);
  const std::string equal = r.equal ? (*r.equal ? "yes" : "NO") + std::string(error) : "–";
  return "<tr>" + cell(escaped(r.model)) +
         cell("<a href=\"#plan" + std::to_string(number) + "\">" + escaped(r.plan) + "</a>") +
         cell(escaped(r.verdict)) + cell(time_of(r.predicted_us)) +
         cell(time_of(r.step_us) + (r.oversubscribed ? " *" : "")) +
         cell(r.peak_bytes ? viz::format_bytes({static_cast<double>(*r.peak_bytes)}) : "–") + cell(equal) + "</tr>\n";
}

std::string section_html(const ReportRow& r, std::size_t number) {
  std::string out =
      "<h2 id=\"plan" + std::to_string(number) + "\">" + escaped(r.model) + ": " + escaped(r.plan) + "</h2>\n";
  if (!r.problem.empty()) out += "<p class=\"problem\">" + escaped(r.problem) + "</p>\n";
  out += "<pre>" + escaped(r.text) + "</pre>\n";
  if (!r.svg.empty()) out += "<p><img src=\"" + escaped(r.svg) + "\" alt=\"predicted timeline\"></p>\n";
  if (!r.trace.empty())
    out += "<p><a href=\"" + escaped(r.trace) + "\">Chrome trace</a> (opens in ui.perfetto.dev)</p>\n";
  return out;
}

}  // namespace

std::string report_html(const std::string& title, const std::vector<ReportRow>& rows) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
      "</title>\n<style>body{font:15px/1.5 sans-serif;max-width:1250px;margin:2em auto;padding:0 1em;color:#222}"
      "table{border-collapse:collapse}td,th{text-align:left;padding:.3em 1em .3em 0;border-bottom:1px solid #ddd}"
      "pre{background:#f6f6f6;padding:.8em;overflow-x:auto}img{max-width:100%}.problem{color:#a00}</style></"
      "head><body>\n<h1>" +
      escaped(title) +
      "</h1>\n<table><tr><th>model</th><th>plan</th><th>verdict</th><th>predicted step</th><th>measured "
      "step</th><th>peak memory</th>"
      "<th>equal to one device</th></tr>\n";
  bool shared = false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out += row_html(rows[k], k);
    shared = shared || rows[k].oversubscribed;
  }
  out += "</table>\n";
  if (shared)
    out +=
        "<p>* more processes than cores: the time says nothing about a machine where every process has its own "
        "core.</p>\n";
  for (std::size_t k = 0; k < rows.size(); ++k) out += section_html(rows[k], k);
  return out + "</body></html>\n";
}

}  // namespace planscope
