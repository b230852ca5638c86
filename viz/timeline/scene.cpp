#include "viz/timeline/scene.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "viz/timeline/draw.h"
#include "viz/timeline/interaction.h"
#include "viz/timeline/wire.h"

namespace planscope::viz {

namespace {

std::optional<TimelineKey> meaning(Key key) {
  switch (key) {
    case Key::w:
    case Key::plus: return TimelineKey::zoom_in;
    case Key::s:
    case Key::minus: return TimelineKey::zoom_out;
    case Key::a:
    case Key::left: return TimelineKey::left;
    case Key::d:
    case Key::right: return TimelineKey::right;
    case Key::f: return TimelineKey::fit;
    case Key::home: return TimelineKey::fit_all;
    case Key::period: return TimelineKey::next;
    case Key::comma: return TimelineKey::previous;
    case Key::up: return TimelineKey::lane_up;
    case Key::down: return TimelineKey::lane_down;
    case Key::m: return TimelineKey::mark;
    case Key::escape: return TimelineKey::deselect;
    default: return std::nullopt;
  }
}

class TimelineScene final : public Scene {
 public:
  bool load(std::string_view bytes) override {
    std::optional<TimelineModel> next = decode_timeline(bytes);
    if (!next) return false;
    view_ = loaded_ ? carry_over(view_, model_, *next) : wanted_ ? clamped(*next) : fit(view_, *next);
    model_ = std::move(*next);
    index_ = build_index(model_);
    find_marked();
    loaded_ = true;
    return true;
  }

  void mark(const std::vector<std::string>& ids) override {
    lines_.clear(), operators_.clear();
    for (const std::string& id : ids) {
      const std::size_t space = id.find(' ');
      if (space == std::string::npos || id.size() - space > 10 || id.find_first_not_of("0123456789", space + 1) != std::string::npos) continue;
      const int number = std::atoi(id.c_str() + space);
      if (id.starts_with("line ")) lines_.insert(number);
      if (id.starts_with("operator ")) operators_.insert(number);
    }
    find_marked();
  }

  std::vector<std::string> apply(const Input& in, const Rect& area) override {
    TimelineInput input{.mouse = in.mouse, .pressed = in.pressed, .released = in.released, .wheel = in.wheel,
                        .shift = in.shift, .control = in.control, .keys = {}};
    for (const Key k : in.keys) {
      if (k == Key::e) view_.show_memory = !view_.show_memory;
      if (k == Key::c) view_.show_critical = !view_.show_critical;
      if (const auto known = meaning(k)) input.keys.push_back(*known);
    }
    const std::optional<BlockRef> before = view_.selection;
    view_ = planscope::viz::apply(view_, input, model_, body(area));
    if (view_.selection == before) return {};
    if (!view_.selection) return {"select none"};
    const int line = plan_line(*view_.selection);
    return {line > 0 ? "select statement=" + std::to_string(line) : "select none"};
  }

  void draw(Canvas& canvas, const Rect& area, const Theme& theme) const override {
    if (!loaded_) return;
    draw_timeline(canvas, model_, index_, view_, body(area), theme);
    draw_legend(canvas, index_, {area.x, body(area).bottom(), area.width, legend_height}, theme);
  }

  std::vector<std::string> tooltip() const override { return about(view_.hover); }
  std::vector<std::string> selected() const override { return about(view_.selection); }

  std::string view() const override {
    return nlohmann::json{{"from_us", view_.range.begin.value}, {"to_us", view_.range.end.value}, {"scroll", view_.scroll},
                          {"memory", view_.show_memory}, {"critical", view_.show_critical}}.dump();
  }

  void set_view(std::string_view text) override {
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (!j.is_object()) return;
    const auto number = [&](const char* name, double otherwise) {
      return j.contains(name) && j[name].is_number() ? j[name].get<double>() : otherwise;
    };
    const TimeRange range{{number("from_us", view_.range.begin.value)}, {number("to_us", view_.range.end.value)}};
    if (range.begin < range.end) view_.range = range, wanted_ = true;
    view_.scroll = std::max(0.0, number("scroll", view_.scroll));
    if (j.contains("memory") && j["memory"].is_boolean()) view_.show_memory = j["memory"];
    if (j.contains("critical") && j["critical"].is_boolean()) view_.show_critical = j["critical"];
    if (loaded_) view_ = clamped(model_);
  }

  Size natural_size() const override { return {1200, natural_height(model_, view_.show_memory) + legend_height}; }

 private:
  std::vector<std::string> about(const std::optional<BlockRef>& ref) const {
    if (!ref) return {};
    std::vector<std::string> lines = planscope::viz::tooltip(model_, *ref);
    const Block& b = model_.at(*ref);
    if (b.instruction < 0) return lines;
    const BlockDetail& d = model_.details[static_cast<std::size_t>(b.instruction)];
    lines.insert(lines.begin(), d.subtitle.empty() ? d.title : d.title + " · " + d.subtitle);
    for (const auto& [name, value] : d.facts) lines.push_back(name + ": " + value);
    return lines;
  }

  void find_marked() {
    view_.marked.clear();
    for (std::size_t k = 0; k < model_.details.size(); ++k) {
      const BlockDetail& d = model_.details[k];
      const bool computes = std::any_of(d.operators.begin(), d.operators.end(), [&](int o) { return operators_.contains(o); });
      if (computes || lines_.contains(d.plan_line)) view_.marked.insert(static_cast<std::int32_t>(k));
    }
  }

  int plan_line(const BlockRef& ref) const {
    const Block& b = model_.at(ref);
    return b.instruction < 0 ? 0 : model_.details[static_cast<std::size_t>(b.instruction)].plan_line;
  }

  static Rect body(const Rect& area) { return {area.x, area.y, area.width, std::max(60.0, area.height - legend_height)}; }

  TimelineView clamped(const TimelineModel& m) const { return carry_over(view_, m, m); }

  std::set<int> lines_, operators_;  // that are selected
  TimelineModel model_;
  TimelineIndex index_;
  TimelineView view_;
  bool loaded_ = false;
  bool wanted_ = false;  // the view was set before there was a model
};

}  // namespace

std::unique_ptr<Scene> make_timeline_scene() { return std::make_unique<TimelineScene>(); }

}  // namespace planscope::viz
