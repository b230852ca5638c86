#include "app/session/views.h"

#include <algorithm>

#include "app/session/panel.h"
#include "engine/base/text.h"
#include "viz/scenes/scenes.h"

namespace planscope::session {

namespace {

constexpr const char* kScheme = "planscope:";
// What a link may do: look, never write a file or run anything.
constexpr const char* kOfLinks[] = {"open",   "text",     "version", "select", "expand", "find",
                                    "colour", "gradient", "index",   "brush",  "align",  "view"};

Json value_of(const std::string& text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  const Json read = Json::parse(text, nullptr, false);
  return read.is_number() || read.is_boolean() ? read : Json(text);
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

std::string percent(const std::string& text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~' || c == '/' || c == '=') {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

std::optional<std::string> unpercent(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '%') {
      out += text[k];
      continue;
    }
    if (k + 2 >= text.size() || digit(text[k + 1]) < 0 || digit(text[k + 2]) < 0) return std::nullopt;
    out += static_cast<char>(digit(text[k + 1]) * 16 + digit(text[k + 2]));
    k += 2;
  }
  return out;
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

std::unique_ptr<viz::Scene> looked_at(const State& s, const CanvasInfo& c) {
  std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
  if (scene && c.source(s).of && scene->load(c.model(s))) scene->mark(c.marks(s));
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
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string path = setting.substr(0, equals);
    const std::size_t dot = path.find('.');
    const std::string name = path.substr(0, dot);
    const Json before = Json::parse(scene->view());
    if (equals == std::string::npos || !before.contains(name))
      return error("the view of " + canvas + " has no '" + printable(path) + "'", names_of(before));
    const Json value = value_of(setting.substr(equals + 1));
    const std::string inner = dot == std::string::npos ? "" : path.substr(dot + 1);
    scene->set_view((inner.empty() ? Json{{name, value}} : Json{{name, {{inner, value}}}}).dump());
    const Json after = Json::parse(scene->view());
    const Json& now = inner.empty() ? after[name] : after[name].contains(inner) ? after[name][inner] : Json();
    if (after == before && now != value)
      return error("'" + path + "' of " + canvas + " cannot be " + printable(setting.substr(equals + 1)),
                   "it is " + printable(now.is_null()     ? "not there"
                                        : now.is_string() ? now.get<std::string>()
                                                          : now.dump()));
  }
  return scene->view();
}

std::string link_to(const State& s) {
  const Document* d = s.document();
  if (!d) return {};
  std::vector<Invocation> all;
  Invocation open{"open", {{"model", d->model->model->path}, {"cluster", d->cluster}}};
  if (!d->path.empty()) open.arguments["plan"] = d->path;
  all.push_back(std::move(open));
  if (d->draft.text() != d->saved) all.push_back({"text", {{"text", d->draft.text()}}});
  Invocation expand{"expand", {{"only", join({d->graph.expanded->begin(), d->graph.expanded->end()}, "\n")}}};
  all.push_back(std::move(expand));
  all.push_back({"colour", {{"by", s.colour}}});
  if (!s.search.empty()) all.push_back({"find", {{"text", s.search}}});
  if (s.look.gradient) all.push_back({"gradient", {{"on", "on"}}});
  for (const auto& [axis, index] : s.look.index)
    all.push_back({"index", {{"axis", axis}, {"at", std::to_string(index)}}});
  if (!(s.brush == TrafficLook{})) {
    Invocation brush{"brush", {}};
    if (s.brush.time_us)
      brush.arguments["time"] = std::to_string(s.brush.time_us->first) + ".." + std::to_string(s.brush.time_us->second);
    if (!s.brush.kinds.empty()) brush.arguments["kind"] = join({s.brush.kinds.begin(), s.brush.kinds.end()}, ",");
    if (!s.brush.level.empty()) brush.arguments["level"] = s.brush.level;
    if (s.brush.selection) brush.arguments["selection"] = "yes";
    all.push_back(std::move(brush));
  }
  Invocation select{"select", {}};
  if (!s.selection.operators.empty()) select.arguments["operators"] = s.selection.operators;
  if (!s.selection.tensor.empty()) select.arguments["tensor"] = s.selection.tensor;
  if (!s.selection.place.empty()) select.arguments["place"] = s.selection.place;
  if (s.selection.statement > 0) select.arguments["statement"] = std::to_string(s.selection.statement);
  if (!select.arguments.empty()) all.push_back(std::move(select));
  for (const auto& [canvas, view] : d->views) {
    std::string settings;
    const Json all_of_it = Json::parse(view);
    for (const auto& [name, value] : all_of_it.items())
      if (value.is_object())
        for (const auto& [of, inner] : value.items())
          settings += (settings.empty() ? "" : "\n") + name + "." + of + "=" +
                      (inner.is_string() ? inner.get<std::string>() : inner.dump());
      else
        settings +=
            (settings.empty() ? "" : "\n") + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    all.push_back({"view", {{"canvas", canvas}, {"settings", settings}}});
  }
  std::string lines;
  for (const Invocation& i : all) lines += (lines.empty() ? "" : "\n") + print(i);
  return kScheme + percent(lines);
}

Result<std::vector<Invocation>> commands_of_link(const std::string& link) {
  const std::optional<std::string> lines =
      link.starts_with(kScheme) ? unpercent(std::string_view(link).substr(std::string_view(kScheme).size()))
                                : std::nullopt;
  if (!lines)
    return error("this is no link of planscope", "", "a link begins with planscope: and is given by the panel `views`");
  std::vector<Invocation> out;
  for (const std::string& line : split(*lines, '\n')) {
    Result<Invocation> i = parse_invocation(line);
    if (!i.ok()) return i.diagnostics;
    if (std::find(std::begin(kOfLinks), std::end(kOfLinks), i->id) == std::end(kOfLinks))
      return error("a link cannot run '" + i->id + "'", "links only open and show");
    out.push_back(std::move(*i.value));
  }
  return out;
}

}  // namespace planscope::session
