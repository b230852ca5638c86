#include "app/session/panel.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

std::string_view to_string(PanelKind k) {
  switch (k) {
    case PanelKind::table:
      return "table";
    case PanelKind::tree:
      return "tree";
    case PanelKind::form:
      return "form";
    case PanelKind::script:
      return "script";
    case PanelKind::chips:
      return "chips";
    case PanelKind::facts:
      return "facts";
    case PanelKind::chart:
      return "chart";
  }
  return "";
}

std::string_view to_string(Tone t) {
  switch (t) {
    case Tone::plain:
      return "plain";
    case Tone::dim:
      return "dim";
    case Tone::good:
      return "good";
    case Tone::bad:
      return "bad";
    case Tone::warning:
      return "warning";
  }
  return "";
}

namespace {

std::string shown(const Json& value, Unit unit) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& v : value) parts.push_back(shown(v, unit));
    return join(parts, ", ");
  }
  if (value.is_object()) {
    std::vector<std::string> parts;
    for (const auto& [key, v] : value.items()) parts.push_back(key + " " + shown(v, Unit::none));
    return join(parts, ", ");
  }
  const double number = value.get<double>();
  char text[40];
  switch (unit) {
    case Unit::microseconds:
      return time_text(number);
    case Unit::bytes:
      return number < 0 ? "-" + bytes_text(-number) : bytes_text(number);
    case Unit::share:
      std::snprintf(text, sizeof text, "%.1f %%", 100 * number);
      return text;
    case Unit::count:
      return with_commas(value.get<std::int64_t>());
    case Unit::none:
      break;
  }
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

}  // namespace

Cell cell(Json value, Unit unit, Tone tone, std::string tip) {
  std::string text = shown(value, unit);
  return {std::move(value), std::move(text), tone, std::move(tip)};
}

std::string each_part_text(const PartsUs& parts) {
  std::vector<std::string> texts;
  for (const auto& [name, us] : parts)
    if (us > 0) texts.push_back(name + " " + shown(us, Unit::microseconds));
  return texts.empty() ? "–" : join(texts, ", ");
}

std::string sum_and_parts_text(const PartsUs& parts) {
  double sum = 0;
  std::vector<std::string> names;
  for (const auto& [name, us] : parts)
    if (us > 0) sum += us, names.push_back(name);
  const std::string text = shown(sum, Unit::microseconds);
  return names.empty() ? text : text + ": " + (names.size() == 1 ? names[0] : each_part_text(parts));
}

Cell time_cell(std::int64_t wall_us) {
  if (wall_us == 0) return cell(nullptr);
  const std::time_t seconds = wall_us / 1'000'000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char value[40], text[40];
  std::strftime(value, sizeof value, "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &utc);
  return {value, text, Tone::plain, std::string(text) + " UTC"};
}

Json to_json(const Panel& p) {
  Json out = Json::object();
  for (const Fact& f : p.facts) out[f.id] = f.cell.value;
  if (p.kind == PanelKind::table || p.kind == PanelKind::tree) {
    Json rows = Json::array();
    for (const TableRow& r : p.rows) {
      Json row = Json::object();
      for (std::size_t i = 0; i < p.columns.size(); ++i)
        row[p.columns[i].id] = i < r.cells.size() ? r.cells[i].value : Json();
      rows.push_back(std::move(row));
    }
    out[p.rows_id] = std::move(rows);
  }
  for (const Field& f : p.fields) out[f.id] = f.cell.value;
  if (p.kind == PanelKind::script) {
    out["text"] = p.text;
    Json marks = Json::array();
    for (const Mark& m : p.marks)
      marks.push_back(
          {{"line", m.line}, {"from", m.from}, {"to", m.to}, {"text", m.text}, {"hint", m.hint}, {"fix", m.fix}});
    out["marks"] = std::move(marks);
    Json notes = Json::array();
    for (const LineNote& n : p.notes) notes.push_back({{"line", n.line}, {"text", n.text}});
    out["notes"] = std::move(notes);
    Json ghosts = Json::array();
    for (const Ghost& g : p.ghosts) ghosts.push_back({{"after", g.after}, {"text", g.text}, {"command", g.command}});
    out["ghosts"] = std::move(ghosts);
  }
  if (p.kind == PanelKind::facts && !p.text.empty()) out["text"] = p.text;
  if (p.kind == PanelKind::chart) {
    Json all = Json::array();
    for (const Series& s : p.series) all.push_back({{"name", s.name}, {"points", s.points}});
    out["series"] = std::move(all);
  }
  if (!p.current) out["reason"] = p.reason;
  return out;
}

namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table_text(const Panel& p) {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> lines(p.rows.size() + 1);
  for (std::size_t i = 0; i < p.columns.size(); ++i) {
    const auto has_text = [&](const TableRow& r) { return i < r.cells.size() && !r.cells[i].text.empty(); };
    // A tree's rows are not nested in text: what says where they belong is printed.
    const bool wanted = p.kind == PanelKind::tree && std::any_of(p.rows.begin(), p.rows.end(), has_text);
    if (p.columns[i].quiet && !wanted) continue;
    columns.push_back(p.columns[i]);
    lines[0].push_back(p.columns[i].title);
    for (std::size_t r = 0; r < p.rows.size(); ++r)
      lines[r + 1].push_back(i < p.rows[r].cells.size() ? p.rows[r].cells[i].text : "");
  }
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
      const std::string space(widths[i] - width(line[i]), ' ');
      text += (i ? "  " : "") + (columns[i].unit == Unit::none ? line[i] + space : space + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace

std::string said(const Series& s) {
  if (!s.said.empty()) return s.name + ": " + s.said;
  return s.points.empty() ? s.name : s.name + ": " + cell(s.points.back().second, s.unit).text;
}

std::string to_text(const Panel& p) {
  std::string out;
  for (const Fact& f : p.facts)
    if (!f.quiet || !f.cell.text.empty()) out += f.title + ": " + f.cell.text + "\n";
  for (const Field& f : p.fields)
    out += f.title + ": " + f.cell.text + (f.problem.empty() ? "" : "  " + f.problem) + "\n";
  if (!p.rows.empty()) out += table_text(p);
  out += p.text;
  for (const Mark& m : p.marks) out += "line " + std::to_string(m.line) + ": " + m.text + "\n";
  for (const Ghost& g : p.ghosts)
    out += "proposed behind line " + std::to_string(g.after) + ": " + g.text + " (" + g.command + ")\n";
  for (const Series& s : p.series)
    if (!s.points.empty()) out += said(s) + "\n";
  if (out.empty()) out = p.empty + "\n";
  if (!p.current) out += "not current: " + p.reason + "\n";
  return out;
}

}  // namespace planscope::session
