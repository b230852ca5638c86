#include "app/session/link.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/session/times.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) || std::string_view("-._~/,:").find(c) != std::string_view::npos) {
      out += c;
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      out += {'%', digits[u >> 4], digits[u & 15]};
    }
  }
  return out;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1, low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(16 * high + low);
    i += 2;
  }
  return out;
}

// Each with its encoding, so that a name with a comma is one.
std::string list(const std::vector<std::string>& all) {
  std::vector<std::string> parts;
  for (const std::string& one : all) parts.push_back(encoded(one));
  return join(parts, "|");
}

// Sets of lanes, by the name that they have in a link.
template <class Look>
auto lane_sets(Look& look) {
  return std::array{std::pair("folded", &look.folded), std::pair("pinned", &look.pinned), std::pair("open_lanes", &look.open)};
}

bool is_number(const std::string& s) {
  return !s.empty() && s.size() < 10 && s.find_first_not_of("0123456789") == std::string::npos;
}

void read_time(const std::string& name, const std::string& value, std::vector<std::string> all,
               std::optional<TimeSelection>& out) {
  if (!out) out.emplace();
  if (name == "lanes") out->lanes = std::move(all);
  if (name == "stream") out->stream = value;
  if (name != "time") return;
  const Result<TimesUs> times = parse_times(value);
  if (times.ok()) out->us = *times;
}

void read_lanes(const std::string& name, const std::string& value, const std::vector<std::string>& all, LaneLook& out) {
  if (name == "lane_order" && std::find(std::begin(kLaneOrders), std::end(kLaneOrders), value) != std::end(kLaneOrders))
    out.order = value;
  if (name == "detail")
    if (const Result<TimesUs> times = parse_times(value); times.ok() && times->first < times->second) out.detail_us = *times;
  for (const auto& [set, lanes] : lane_sets(out))
    if (name == set) lanes->insert(all.begin(), all.end());
}

}  // namespace

Link link_of(const State& s) {
  const Document& d = *s.document();
  Link l;
  std::error_code ec;
  l.model = std::filesystem::absolute(d.model->model->path, ec).string();
  l.digest = d.digest;
  l.plan = d.version        ? std::to_string(*d.version)
           : d.path.empty() ? ""
                            : std::filesystem::absolute(d.path, ec).string();
  l.name = d.name;
  if (d.draft.edited()) l.text = d.draft.text();
  l.cluster = d.cluster;
  l.selection = s.selection;
  l.time = s.time, l.lanes = s.lanes;
  l.colour = s.colour, l.align = s.align, l.overlay = s.overlay, l.search = s.search;
  const std::vector<std::string> first = first_expanded(d.graph.model->get());
  if (*d.graph.expanded != std::set<std::string>(first.begin(), first.end()))
    l.expanded.assign(d.graph.expanded->begin(), d.graph.expanded->end());
  l.look = s.look;
  if (s.brush.time_us) l.brush["time"] = print_times(*s.brush.time_us);
  if (!s.brush.kinds.empty()) l.brush["kind"] = join({s.brush.kinds.begin(), s.brush.kinds.end()}, ",");
  if (!s.brush.level.empty()) l.brush["level"] = s.brush.level;
  if (s.brush.selection) l.brush["selection"] = "yes";
  l.views = d.views;
  if (const auto& c = d.comparing && d.comparing->running ? d.comparing : d.comparison) l.base = c->base, l.compare = c->arguments;
  return l;
}

std::string print(const Link& l) {
  std::string out = "planscope://open?model=" + encoded(l.model);
  const Link otherwise;
  const auto add = [&](const char* name, const std::string& value, const std::string& unless) {
    if (value != unless) out += std::string("&") + name + "=" + encoded(value);
  };
  const auto add_list = [&](const char* name, const std::vector<std::string>& all) {
    if (!all.empty()) out += std::string("&") + name + "=" + list(all);
  };
  add("digest", l.digest, "");
  add("plan", l.plan, "");
  add("name", l.name, "");
  add("text", l.text, "");
  add("cluster", l.cluster, "");
  add("operators", l.selection.operators, "");
  add("tensor", l.selection.tensor, "");
  add("place", l.selection.place, "");
  add("communicator", l.selection.communicator, "");
  if (l.selection.statement > 0) add("statement", std::to_string(l.selection.statement), "");
  if (l.time && l.time->us) add("time", print_times(*l.time->us), "");
  if (l.time) add_list("lanes", l.time->lanes), add("stream", l.time->stream, "");
  add("lane_order", l.lanes.order, otherwise.lanes.order);
  for (const auto& [name, lanes] : lane_sets(l.lanes)) add_list(name, {lanes->begin(), lanes->end()});
  if (l.lanes.detail_us) add("detail", print_times(*l.lanes.detail_us), "");
  add("colour", l.colour, otherwise.colour);
  add("align", l.align, otherwise.align);
  add("overlay", l.overlay, otherwise.overlay);
  add("find", l.search, "");
  add_list("expanded", l.expanded);
  if (l.look.gradient) add("gradient", "on", "");
  for (const auto& [axis, at] : l.look.index) add(("index." + axis).c_str(), std::to_string(at), "");
  for (const auto& [name, value] : l.brush) add(("brush." + name).c_str(), value, "");
  for (const auto& [canvas, view] : l.views) add(("view." + canvas).c_str(), view, "");
  add("base", l.base, "");
  add_list("compare", l.compare);
  add("view", l.view, "");
  return out;
}

Result<Link> parse_link(std::string_view text) {
  const std::size_t mark = text.find(text.find('#') == std::string_view::npos ? '?' : '#');
  const std::string_view query = mark == std::string_view::npos ? text : text.substr(mark + 1);
  Link l;
  for (const std::string& part : split(std::string(query), '&')) {
    const std::size_t equal = part.find('=');
    if (equal == std::string::npos) continue;
    const std::string name = part.substr(0, equal);
    const std::optional<std::string> value = decoded(part.substr(equal + 1));
    if (!value)
      return error("the link is broken at '" + printable(part) + "'", "a % is followed by two hexadecimal digits");
    std::vector<std::string> all;
    for (const std::string& one : split(part.substr(equal + 1), '|')) all.push_back(*decoded(one));
    if (name == "model")
      l.model = *value;
    else if (name == "digest")
      l.digest = *value;
    else if (name == "plan")
      l.plan = *value;
    else if (name == "name")
      l.name = *value;
    else if (name == "text")
      l.text = *value;
    else if (name.starts_with("brush."))
      l.brush[name.substr(6)] = *value;
    else if (name == "cluster")
      l.cluster = *value;
    else if (name == "operators")
      l.selection.operators = *value;
    else if (name == "tensor")
      l.selection.tensor = *value;
    else if (name == "place")
      l.selection.place = *value;
    else if (name == "communicator")
      l.selection.communicator = *value;
    else if (name == "statement" && is_number(*value))
      l.selection.statement = std::stoi(*value);
    else if (name == "time" || name == "lanes" || name == "stream")
      read_time(name, *value, std::move(all), l.time);
    else if (name == "lane_order" || name == "detail" || name == "folded" || name == "pinned" || name == "open_lanes")
      read_lanes(name, *value, all, l.lanes);
    else if (name == "colour")
      l.colour = *value;
    else if (name == "align")
      l.align = *value;
    else if (name == "overlay")
      l.overlay = *value;
    else if (name == "find")
      l.search = *value;
    else if (name == "expanded")
      l.expanded = std::move(all);
    else if (name == "gradient")
      l.look.gradient = *value == "on";
    else if (name.starts_with("index.") && is_number(*value))
      l.look.index[name.substr(6)] = std::stoi(*value);
    else if (name == "base")
      l.base = *value;
    else if (name == "compare")
      l.compare = std::move(all);
    else if (name.starts_with("view."))
      l.views[name.substr(5)] = *value;
    else if (name == "view")
      l.view = *value;
  }
  if (l.model.empty()) return error("the link names no model", "", "planscope://open?model=…");
  return l;
}

std::vector<std::string> files_in(const Link& l) {
  std::vector<std::string> out = {l.model, l.plan, l.cluster, l.base};
  out.insert(out.end(), l.compare.begin(), l.compare.end());
  std::erase(out, "");
  return out;
}

}  // namespace planscope::session
