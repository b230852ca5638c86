// What a panel is as JSON, by its kind: as app/session/panel_wire.h (with `full`) and to_json() of app/session/panel.h
// (without) write it.
#include "app/server/wire.h"
#include "app/session/panels/panels.h"
#include "engine/base/text.h"

namespace planscope::server {

namespace {

using session::PanelKind;

constexpr PanelKind kKinds[] = {PanelKind::table, PanelKind::tree,  PanelKind::form, PanelKind::script,
                                PanelKind::chips, PanelKind::facts, PanelKind::chart};

Json with_about(Json schema, const char* about) {
  schema["description"] = about;
  return schema;
}

Json text(const char* about = "") {
  const Json out = {{"type", "string"}};
  return *about ? with_about(out, about) : out;
}

Json flag(const char* about) { return {{"type", "boolean"}, {"description", about}}; }
Json whole_number(const char* about) { return {{"type", "integer"}, {"description", about}}; }
Json one_of(std::vector<std::string> all) { return {{"type", "string"}, {"enum", std::move(all)}}; }
Json part(const char* name) { return {{"$ref", std::string("#/components/schemas/") + name}}; }
Json list(Json of) { return {{"type", "array"}, {"items", std::move(of)}}; }

Json object(std::vector<std::string> required, Json properties) {
  return {{"type", "object"}, {"required", std::move(required)}, {"properties", std::move(properties)}};
}

Json tone() { return with_about(one_of({"dim", "good", "bad", "warning"}), "plain without it"); }
Json unit() { return with_about(one_of({"count", "microseconds", "bytes", "share"}), "none without it"); }
Json command() { return text("a line of a session script that it runs"); }

Json parts() {
  Json out = Json::object();
  out["cell"] = object({"value", "text"}, {{"value", {{"description", "null: not known"}}},
                                           {"text", text("as it is shown")},
                                           {"tone", tone()},
                                           {"tip", text("its origin, or why it is not known")},
                                           {"edit", text("what changing it runs, with the new value behind it")}});
  out["fact"] = object({"id", "title", "cell"}, {{"id", text("ends with the unit")},
                                                 {"title", text()},
                                                 {"cell", part("cell")},
                                                 {"command", command()},
                                                 {"quiet", flag("for scripts: people see it elsewhere")}});
  out["column"] = object({"id", "title"}, {{"id", text()},
                                           {"title", text()},
                                           {"unit", unit()},
                                           {"quiet", flag("for scripts: people see it elsewhere")}});
  out["row"] = object({"id", "cells"}, {{"id", text()},
                                        {"parent", text("of trees: the id of another row")},
                                        {"cells", with_about(list(part("cell")), "by column")},
                                        {"selected", flag("in the session")},
                                        {"tone", tone()},
                                        {"command", command()}});
  out["field"] = object({"id", "title", "cell"}, {{"id", text()},
                                                  {"title", text()},
                                                  {"cell", part("cell")},
                                                  {"choices", with_about(list(text()), "without them: any text")},
                                                  {"problem", text("why the value is not valid")},
                                                  {"command", text("what setting it runs, with the value behind it")}});
  out["mark"] = object({"line", "from", "to", "text"}, {{"line", whole_number("from 1")},
                                                        {"from", whole_number("a byte of the line, from 0")},
                                                        {"to", whole_number("behind the last byte; 0 and 0: the whole line")},
                                                        {"severity", one_of({"error", "warning", "note"})},
                                                        {"text", text()},
                                                        {"hint", text()},
                                                        {"fix", text("what may stand there instead")}});
  out["note"] = object({"line", "text"}, {{"line", whole_number("from 1")}, {"text", text("what the line does")}});
  out["ghost"] = object({"after", "text", "command"}, {{"after", whole_number("the line before it; 0: it would be the first")},
                                                       {"text", text("a line that is proposed")},
                                                       {"command", text("that puts it there")}});
  const Json point = {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  out["series"] = object({"name", "points", "said"}, {{"name", text()},
                                                      {"unit", unit()},
                                                      {"along", with_about(unit(), "of the first number of each point")},
                                                      {"said", text("what it comes to, in words")},
                                                      {"points", list(point)}});
  return out;
}

// The members that panels of a kind have beside those that all have; those of `facts` may be missing.
Json own_members(PanelKind kind) {
  switch (kind) {
    case PanelKind::table:
    case PanelKind::tree:
      return {{"columns", list(part("column"))}, {"rows", list(part("row"))}};
    case PanelKind::form:
      return {{"fields", list(part("field"))}};
    case PanelKind::script:
      return {{"text", text()},
              {"marks", list(part("mark"))},
              {"notes", list(part("note"))},
              {"ghosts", list(part("ghost"))}};
    case PanelKind::chart:
      return {{"series", list(part("series"))}};
    case PanelKind::facts:
      return {{"text", text("that can be copied")}};
    case PanelKind::chips:
      break;
  }
  return Json::object();
}

std::vector<std::string> names_of(const Json& members, PanelKind kind) {
  std::vector<std::string> out;
  for (const auto& [name, schema] : members.items())
    if (kind != PanelKind::facts) out.push_back(name);
  return out;
}

Json whole(PanelKind kind) {
  const Json own = own_members(kind);
  Json all = {{"id", text()},
              {"title", text()},
              {"kind", one_of({std::string(to_string(kind))})},
              {"current", flag("false: it is not of the plan as it stands")},
              {"reason", text("what it is of, where it is not current, and why")},
              {"empty", text("where there is nothing to show: what it is for, and the first step")},
              {"paste", text("what text that is pasted runs, with the text behind it")},
              {"facts", list(part("fact"))},
              {"commands", with_about(list(text()), "that it offers beside what it shows")}};
  all.update(own);
  std::vector<std::string> required = {"id", "title", "kind", "current", "facts"};
  for (const std::string& name : names_of(own, kind)) required.push_back(name);
  return object(std::move(required), std::move(all));
}

Json values(PanelKind kind) {
  const bool has_rows = kind == PanelKind::table || kind == PanelKind::tree;
  const Json own = has_rows || kind == PanelKind::form ? Json::object() : own_members(kind);
  Json out = object(names_of(own, kind), own);
  out["properties"]["reason"] = text("what it is of, where it is not of the plan as it stands, and why");
  out["description"] = has_rows ? "the value of each fact by its id; the rows, as objects with a value for the id of each column, under "
                                  "`rows` or the name that the panel has for them, as `nodes` of history"
                                : "the value of each fact and of each field by its id";
  out["additionalProperties"] = true;
  return out;
}

}  // namespace

Json panel_schemas() {
  Json out = parts();
  for (const PanelKind kind : kKinds) {
    const std::string name(to_string(kind));
    std::vector<std::string> panels;
    for (const session::PanelInfo& p : session::panels())
      if (p.make({}).kind == kind) panels.push_back(p.id);
    out["panel_" + name] = whole(kind);
    out["panel_" + name]["description"] = "with `full`: " + join(panels, ", ");
    out["values_" + name] = values(kind);
  }
  return out;
}

Json panel_schema() {
  Json any = Json::array();
  for (const char* form : {"panel_", "values_"})
    for (const PanelKind kind : kKinds) any.push_back(part((form + std::string(to_string(kind))).c_str()));
  return {{"type", "object"}, {"anyOf", std::move(any)}};
}

}  // namespace planscope::server
