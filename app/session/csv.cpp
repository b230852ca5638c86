#include "app/session/csv.h"

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

}  // namespace

std::string to_csv(const Panel& p) {
  std::string out;
  for (std::size_t k = 0; k < p.columns.size(); ++k) out += (k ? "," : "") + field(p.columns[k].id);
  out += "\r\n";
  for (const TableRow& row : p.rows) {
    for (std::size_t k = 0; k < row.cells.size(); ++k) out += (k ? "," : "") + field(row.cells[k].value);
    out += "\r\n";
  }
  return out;
}

}  // namespace planscope::session
