#include "app/session/csv.h"

#include <utility>

#include "app/session/lines.h"

namespace planscope::session {

namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string field(const Json& value) {
  if (value.is_null()) return "";
  return field(value.is_string() ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

class Csv {
 public:
  explicit Csv(const std::vector<Json>& header) { add(header); }

  void add(const std::vector<Json>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) text_ += (k ? "," : "") + field(values[k]);
    text_ += "\r\n";
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string of_rows(const Panel& p) {
  std::vector<Json> ids;
  for (const Column& c : p.columns) ids.push_back(c.id);
  Csv out(ids);
  for (const TableRow& row : p.rows) {
    std::vector<Json> values;
    for (const Cell& c : row.cells) values.push_back(c.value);
    out.add(values);
  }
  return out.take();
}

std::string of_facts(const Panel& p) {
  Csv out({"name", "value", "text"});
  for (const Fact& f : p.facts) out.add({f.id, f.cell.value, f.cell.text});
  for (const Field& f : p.fields) out.add({f.id, f.cell.value, f.cell.text});
  if (!p.text.empty()) out.add({"text", p.text, p.text});
  return out.take();
}

std::string of_lines(const Panel& p) {
  Csv out({"line", "text"});
  std::size_t number = 0;
  for (const std::string& line : lines_of(p.text)) out.add({++number, line});
  return out.take();
}

std::string of_series(const Panel& p) {
  Csv out({"series", "x", "y"});
  for (const Series& s : p.series)
    for (const auto& [x, y] : s.points) out.add({s.name, x, y});
  return out.take();
}

}  // namespace

std::string to_csv(const Panel& p) {
  switch (p.kind) {
    case PanelKind::chips:
    case PanelKind::facts:
    case PanelKind::form:
      return of_facts(p);
    case PanelKind::script:
      return of_lines(p);
    case PanelKind::chart:
      return of_series(p);
    case PanelKind::table:
    case PanelKind::tree:
      break;
  }
  return of_rows(p);
}

}  // namespace planscope::session
