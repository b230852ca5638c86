#include "app/session/views.h"

#include <algorithm>
#include <cmath>

#include "app/session/panel.h"
#include "engine/base/text.h"
#include "viz/scenes/scenes.h"

namespace planscope::session {

namespace {

Json value_of(const std::string& text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  const Json read = Json::parse(text, nullptr, false);
  return read.is_number() || read.is_boolean() || read.is_array() ? read : Json(text);
}

// A picture keeps numbers in steps of its own.
bool is_same(const Json& now, const Json& asked) {
  if (!now.is_number() || !asked.is_number()) return now == asked;
  return std::abs(now.get<double>() - asked.get<double>()) <= 1e-4 * std::max(1.0, std::abs(asked.get<double>()));
}

std::string names_of(const Json& view) {
  std::vector<std::string> names;
  for (const auto& [name, value] : view.items())
    if (value.is_object())
      for (const auto& [of, inner] : value.items()) names.push_back(name + "." + of);
    else
      names.push_back(name);
  return names.empty() ? "it has none" : "it has " + join(names, ", ");
}

// Where there is nothing to draw yet, nobody knows what a setting means: it is looked at when there is.
std::string taken_unseen(const State& s, const std::string& canvas, const std::vector<std::string>& settings) {
  const auto kept = s.document()->views.find(canvas);
  nlohmann::json view =
      kept == s.document()->views.end() ? nlohmann::json::object() : nlohmann::json::parse(kept->second);
  const auto of = [](nlohmann::json& v) -> nlohmann::json& { return v.is_object() ? v : v = nlohmann::json::object(); };
  for (const std::string& setting : settings) {
    const std::size_t equals = std::min(setting.find('='), setting.size()), dot = setting.substr(0, equals).find('.');
    const nlohmann::json value = value_of(setting.substr(std::min(setting.size(), equals + 1)));
    if (dot == std::string::npos)
      view[setting.substr(0, equals)] = value;
    else
      of(view[setting.substr(0, dot)])[setting.substr(dot + 1, equals - dot - 1)] = value;
  }
  return view.dump();
}

}  // namespace

Result<const CanvasInfo*> find_canvas(const std::string& id) {
  std::vector<std::string> ids;
  for (const CanvasInfo& c : canvases()) {
    if (id == c.id) return &c;
    ids.push_back(c.id);
  }
  const std::string near = nearest(id, ids);
  return error("there is no picture '" + printable(id) + "'", "there are " + join(ids, ", "),
               near.empty() ? "" : "did you mean '" + near + "'?");
}

bool is_view(const std::string& json) { return Json::parse(json, nullptr, false).is_object(); }

std::unique_ptr<viz::Scene> looked_at(const State& s, const CanvasInfo& c) {
  std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
  if (scene && c.source(s).of) {
    if (!scene->load(c.model(s))) return nullptr;
    scene->mark(c.marks(s));
  }
  const Document* d = s.document();
  if (const auto view = d->views.find(c.id); scene && view != d->views.end()) scene->set_view(view->second);
  return scene;
}

Result<std::string> changed_view(const State& s, const std::string& canvas, const std::vector<std::string>& settings) {
  const Result<const CanvasInfo*> info = find_canvas(canvas);
  if (!info.ok()) return info.diagnostics;
  if (!(*info)->source(s).of) return taken_unseen(s, canvas, settings);
  const std::unique_ptr<viz::Scene> scene = looked_at(s, **info);
  if (!scene) return error("'" + canvas + "' cannot be drawn");
  struct Asked {
    std::string path, name, inner, text;
  };
  std::vector<Asked> all;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    Asked a{.path = setting.substr(0, equals), .name = {}, .inner = {}, .text = {}};
    const std::size_t dot = a.path.find('.');
    a.name = a.path.substr(0, dot);
    const Json before = Json::parse(scene->view());
    if (equals == std::string::npos || !before.contains(a.name))
      return error("the view of " + canvas + " has no '" + printable(a.path) + "'", names_of(before));
    if (dot != std::string::npos) a.inner = a.path.substr(dot + 1);
    a.text = setting.substr(equals + 1);
    const Json value = value_of(a.text);
    scene->set_view((a.inner.empty() ? Json{{a.name, value}} : Json{{a.name, {{a.inner, value}}}}).dump());
    all.push_back(std::move(a));
  }
  const Json after = Json::parse(scene->view());
  for (const Asked& a : all) {  // that a later one has not changed either
    const Json& of = after[a.name];
    const Json now = a.inner.empty() ? of : of.contains(a.inner) ? of[a.inner] : Json();
    if (is_same(now, value_of(a.text))) continue;
    return error("'" + a.path + "' of " + canvas + " cannot be " + printable(a.text),
                 now.is_null() ? "there is no such setting"
                               : "it would be " + printable(now.is_string() ? now.get<std::string>() : now.dump()));
  }
  return scene->view();
}

}  // namespace planscope::session
