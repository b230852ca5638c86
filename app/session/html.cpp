#include "app/session/html.h"

#include <map>

namespace planscope::session {

namespace {

std::string tag(const char* name, const std::string& attributes, const std::string& text) {
  return std::string("<") + name + (attributes.empty() ? "" : " " + attributes) + ">" + text + "</" + name + ">";
}

std::string classes(Tone tone, bool number) {
  std::string out = tone == Tone::plain ? "" : std::string(to_string(tone));
  if (number) out += out.empty() ? "n" : " n";
  return out.empty() ? "" : "class=\"" + out + "\"";
}

// How deep each row of a tree lies.
std::map<std::string, int> depths(const Panel& p) {
  std::map<std::string, int> out;
  for (const TableRow& r : p.rows) {
    const auto parent = out.find(r.parent);
    out[r.id] = parent == out.end() ? 0 : parent->second + 1;
  }
  return out;
}

std::string rows(const Panel& p) {
  if (p.rows.empty()) return "";
  const std::map<std::string, int> depth = p.kind == PanelKind::tree ? depths(p) : std::map<std::string, int>{};
  std::string head;
  for (const Column& c : p.columns)
    if (!c.quiet) head += tag("th", classes(Tone::plain, c.unit != Unit::none), html_text(c.title));
  std::string out = "<table><thead><tr>" + head + "</tr></thead><tbody>\n";
  for (const TableRow& r : p.rows) {
    std::string line;
    for (std::size_t i = 0; i < p.columns.size() && i < r.cells.size(); ++i) {
      if (p.columns[i].quiet) continue;
      const auto at = depth.find(r.id);
      const bool nested = line.empty() && at != depth.end() && at->second > 0;
      const std::string style = nested ? " style=\"padding-left:" + std::to_string(8 + 16 * at->second) + "px\"" : "";
      const bool number = r.cells[i].value.is_number() && !line.empty();
      line += tag("td", classes(r.cells[i].tone, number) + style, html_text(r.cells[i].text));
    }
    out += tag("tr", classes(r.tone, false), line) + "\n";
  }
  return out + "</tbody></table>\n";
}

constexpr const char* style = R"css(
body { font: 13px/1.45 system-ui, sans-serif; color: #1c2127; background: #fff; margin: 24px auto; max-width: 1280px; padding: 0 16px; }
h1 { font-size: 20px; } h2 { font-size: 15px; margin: 28px 0 8px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 8px; border-bottom: 1px solid #d5d9df; vertical-align: top; }
th { color: #5d6773; font-weight: 600; } .n { text-align: right; white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content auto; gap: 2px 12px; margin: 6px 0; } dt { color: #5d6773; } dd { margin: 0; }
.dim { color: #5d6773; } .good { color: #25702f; } .bad { color: #b3261e; } .warning { color: #8a5a00; }
svg { max-width: 100%; height: auto; border: 1px solid #d5d9df; }
footer { color: #5d6773; margin: 32px 0; }
)css";

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '\n')
      out += "<br>";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t')
      out += c;
  }
  return out;
}

std::string to_html(const Panel& p) {
  std::string facts;
  for (const Fact& f : p.facts)
    if (!f.quiet && !f.cell.text.empty())
      facts +=
          tag("dt", "", html_text(f.title)) + tag("dd", classes(f.cell.tone, false), html_text(f.cell.text)) + "\n";
  return "<section>" + tag("h2", "", html_text(p.title)) + "\n" + (facts.empty() ? "" : "<dl>" + facts + "</dl>\n") +
         rows(p) + (p.current ? "" : tag("p", "class=\"warning\"", html_text("of an older text: " + p.reason))) +
         "</section>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html_text(title) +
         "</title><style>" + style + "</style></head><body>\n" + tag("h1", "", html_text(title)) + "\n" + body +
         "</body></html>\n";
}

}  // namespace planscope::session
