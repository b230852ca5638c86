#include "app/session/panel_wire.h"

namespace planscope::session {

namespace {

void add(Json& out, const char* name, const std::string& text) {
  if (!text.empty()) out[name] = text;
}

void add(Json& out, const char* name, bool flag) {
  if (flag) out[name] = true;
}

void add(Json& out, Tone tone) {
  if (tone != Tone::plain) out["tone"] = to_string(tone);
}

void add(Json& out, Unit unit) {
  if (unit != Unit::none) out["unit"] = to_string(unit);
}

Json json_of(const Cell& c) {
  Json out = {{"value", c.value}, {"text", c.text}};
  add(out, c.tone);
  add(out, "tip", c.tip);
  add(out, "edit", c.edit);
  return out;
}

Json json_of(const Fact& f) {
  Json out = {{"id", f.id}, {"title", f.title}, {"cell", json_of(f.cell)}};
  add(out, "command", f.command);
  add(out, "quiet", f.quiet);
  return out;
}

Json json_of(const Column& c) {
  Json out = {{"id", c.id}, {"title", c.title}};
  add(out, c.unit);
  add(out, "quiet", c.quiet);
  return out;
}

Json json_of(const TableRow& r) {
  Json out = {{"id", r.id}};
  add(out, "parent", r.parent);
  Json cells = Json::array();
  for (const Cell& c : r.cells) cells.push_back(json_of(c));
  out["cells"] = std::move(cells);
  add(out, "selected", r.selected);
  add(out, r.tone);
  add(out, "command", r.command);
  return out;
}

Json json_of(const Field& f) {
  Json out = {{"id", f.id}, {"title", f.title}, {"cell", json_of(f.cell)}};
  if (!f.choices.empty()) out["choices"] = f.choices;
  add(out, "problem", f.problem);
  add(out, "command", f.command);
  return out;
}

Json json_of(const Mark& m) {
  Json out = {{"line", m.line}, {"from", m.from}, {"to", m.to}, {"severity", to_string(m.severity)}, {"text", m.text}};
  add(out, "hint", m.hint);
  add(out, "fix", m.fix);
  return out;
}

Json json_of(const LineNote& n) { return {{"line", n.line}, {"text", n.text}}; }

Json json_of(const Ghost& g) { return {{"after", g.after}, {"text", g.text}, {"command", g.command}}; }

Json json_of(const Series& s) {
  Json out = {{"name", s.name}, {"points", s.points}, {"said", said(s)}};
  add(out, s.unit);
  if (s.along != Unit::none) out["along"] = to_string(s.along);
  return out;
}

template <class T>
Json list_of(const std::vector<T>& all) {
  Json out = Json::array();
  for (const T& one : all) out.push_back(json_of(one));
  return out;
}

}  // namespace

std::string_view to_string(Unit u) {
  switch (u) {
    case Unit::none:
      return "none";
    case Unit::count:
      return "count";
    case Unit::microseconds:
      return "microseconds";
    case Unit::bytes:
      return "bytes";
    case Unit::share:
      return "share";
  }
  return "";
}

std::string_view to_string(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

Json whole_json(const Panel& p) {
  Json out = {{"id", p.id}, {"title", p.title}, {"kind", to_string(p.kind)}, {"current", p.current}};
  add(out, "reason", p.reason);
  add(out, "empty", p.empty);
  add(out, "paste", p.paste);
  out["facts"] = list_of(p.facts);
  if (!p.commands.empty()) out["commands"] = p.commands;
  switch (p.kind) {
    case PanelKind::table:
    case PanelKind::tree:
      out["columns"] = list_of(p.columns);
      out["rows"] = list_of(p.rows);
      break;
    case PanelKind::form:
      out["fields"] = list_of(p.fields);
      break;
    case PanelKind::script:
      out["text"] = p.text;
      out["marks"] = list_of(p.marks);
      out["notes"] = list_of(p.notes);
      out["ghosts"] = list_of(p.ghosts);
      break;
    case PanelKind::chart:
      out["series"] = list_of(p.series);
      break;
    case PanelKind::facts:
      add(out, "text", p.text);
      break;
    case PanelKind::chips:
      break;
  }
  return out;
}

Json whole_json(const Diagnostic& d) {
  Json out = {{"severity", to_string(d.severity)}, {"said", planscope::to_string(d)}, {"what", d.what}};
  add(out, "file", d.file);
  if (d.line > 0) out["line"] = d.line;
  add(out, "subject", d.subject);
  add(out, "why", d.why);
  add(out, "hint", d.hint);
  return out;
}

}  // namespace planscope::session
