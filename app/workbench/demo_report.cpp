#include "app/workbench/demo_report.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "viz/canvas/base64.h"
#include "viz/canvas/svg.h"
#include "viz/timeline/model.h"

namespace planscope {

namespace {

using viz::escaped;

constexpr const char* style =
    ":root{color-scheme:light dark;--back:#fff;--text:#222;--line:#ddd;--code:#f6f6f6;--bad:#a00}"
    "@media(prefers-color-scheme:dark){:root{--back:#16181d;--text:#d8dce3;--line:#333842;--code:#1f232a;--bad:#f77}}"
    "body{font:15px/1.5 sans-serif;max-width:1250px;margin:2em auto;padding:0 1em;background:var(--back);color:var(--text)}"
    "table{border-collapse:collapse}td,th{text-align:left;padding:.3em 1em .3em 0;border-bottom:1px solid var(--line)}"
    "th button{all:unset;cursor:pointer;font-weight:bold}th button:focus-visible{outline:2px solid}"
    "th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' \\2193'}"
    "pre{background:var(--code);padding:.8em;overflow-x:auto}img{max-width:100%}.problem{color:var(--bad)}a{color:inherit}";

// Rows are sorted by the value of a cell, which is a number where the cell has one, and shown where they have the text.
constexpr const char* script =
    "const table=document.querySelector('table'),rows=()=>[...table.tBodies[0].rows];"
    "const value=(row,k)=>{const v=row.cells[k].dataset.value;return v===undefined?row.cells[k].textContent:v===''?Infinity:+v};"
    "for(const [k,head] of [...table.tHead.rows[0].cells].entries())head.firstChild.onclick=()=>{"
    "const up=head.ariaSort!=='ascending';for(const h of table.tHead.rows[0].cells)h.ariaSort=null;"
    "head.ariaSort=up?'ascending':'descending';"
    "rows().sort((a,b)=>{const x=value(a,k),y=value(b,k);return(x<y?-1:x>y?1:0)*(up?1:-1)}).forEach(r=>table.tBodies[0].append(r))};"
    "document.querySelector('input').oninput=e=>{const t=e.target.value.toLowerCase();"
    "for(const r of rows())r.hidden=!r.textContent.toLowerCase().includes(t)}";

std::string time_of(const std::optional<double>& us) { return us ? viz::format_time({*us}) : "–"; }

std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }

// A figure, with what it is sorted by.
std::string figure(const std::optional<double>& value, const std::string& text) {
  char number[40] = "";
  if (value) std::snprintf(number, sizeof number, "%.9g", *value);
  return "<td data-value=\"" + std::string(number) + "\">" + text + "</td>";
}

std::optional<double> ratio(const std::optional<double>& measured, const std::optional<double>& predicted) {
  if (!measured || !predicted || !(*predicted > 0)) return std::nullopt;
  return *measured / *predicted;
}

std::optional<double> largest(const std::vector<std::int64_t>& bytes) {
  if (bytes.empty()) return std::nullopt;
  return static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
}

std::string ratio_cell(const std::optional<double>& r) {
  char text[32] = "–";
  if (r) std::snprintf(text, sizeof text, "%.3g", *r);
  return figure(r, text);
}

std::string row_html(const ReportRow& r, std::size_t number) {
  char error[32] = "";
  if (r.max_relative_error) std::snprintf(error, sizeof error, " (%.1e)", *r.max_relative_error);
  const std::string equal = r.equal ? (*r.equal ? "yes" : "NO") + std::string(error) : "–";
  const std::optional<double> peak = r.peak_bytes ? std::optional(static_cast<double>(*r.peak_bytes)) : std::nullopt;
  return "<tr>" + cell(escaped(r.model)) +
         cell("<a href=\"#plan" + std::to_string(number) + "\">" + escaped(r.plan) + "</a>") +
         cell(escaped(r.verdict)) + figure(r.predicted_us, time_of(r.predicted_us)) +
         figure(r.step_us, time_of(r.step_us) + (r.oversubscribed ? " *" : "")) + ratio_cell(ratio(r.step_us, r.predicted_us)) +
         figure(peak, peak ? viz::format_bytes({*peak}) : "–") + ratio_cell(ratio(peak, largest(r.predicted_peaks))) +
         cell(equal) + "</tr>\n";
}

constexpr std::size_t kLargestTrace = 256 << 10;  // bytes that the page holds itself, so that it can still be mailed

std::string trace_html(const ReportRow& r) {
  if (r.trace.empty()) return "";
  const std::string opens = " (opens in ui.perfetto.dev)</p>\n";
  if (r.trace.size() > kLargestTrace) return "<p>Chrome trace: " + escaped(r.trace_file) + opens;
  return "<p><a download=\"" + escaped(r.trace_file) + "\" href=\"data:application/json;base64," + viz::base64(r.trace) +
         "\">Chrome trace</a>" + opens;
}

std::string section_html(const ReportRow& r, std::size_t number) {
  std::string out =
      "<h2 id=\"plan" + std::to_string(number) + "\">" + escaped(r.model) + ": " + escaped(r.plan) + "</h2>\n";
  if (!r.problem.empty()) out += "<p class=\"problem\">" + escaped(r.problem) + "</p>\n";
  out += "<pre>" + escaped(r.text) + "</pre>\n";
  if (!r.svg.empty()) out += "<p><img src=\"data:image/svg+xml;base64," + viz::base64(r.svg) + "\" alt=\"predicted timeline\"></p>\n";
  return out + trace_html(r);
}

}  // namespace

std::string report_html(const std::string& title, const std::vector<ReportRow>& rows) {
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
                    "</title>\n<style>" + style + "</style></head><body>\n<h1>" + escaped(title) +
                    "</h1>\n<p><label>Show rows with <input type=\"search\"></label></p>\n<table><thead><tr>";
  for (const char* name : {"model", "plan", "verdict", "predicted step", "measured step", "measured / predicted", "peak memory",
                           "measured / predicted", "equal to one device"})
    out += "<th><button>" + std::string(name) + "</button></th>";
  out += "</tr></thead>\n<tbody>\n";
  bool shared = false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out += row_html(rows[k], k);
    shared = shared || rows[k].oversubscribed;
  }
  out += "</tbody></table>\n";
  if (shared)
    out +=
        "<p>* more processes than cores: the time says nothing about a machine where every process has its own "
        "core.</p>\n";
  for (std::size_t k = 0; k < rows.size(); ++k) out += section_html(rows[k], k);
  return out + "<script>" + script + "</script>\n</body></html>\n";
}

}  // namespace planscope
