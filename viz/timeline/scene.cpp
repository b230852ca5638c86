#include "viz/timeline/scene.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "viz/timeline/dependencies.h"
#include "viz/timeline/draw.h"
#include "viz/timeline/interaction.h"
#include "viz/timeline/reorder.h"
#include "viz/timeline/search.h"
#include "viz/timeline/view_history.h"
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

std::string number(Microseconds t) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", t.value);
  return text;
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::string time_text(const TimeRange& t) { return number(t.begin) + (t.end > t.begin ? ".." + number(t.end) : ""); }

class TimelineScene final : public Scene {
 public:
  bool load(std::string_view bytes) override {
    std::optional<TimelineModel> next = decode_timeline(bytes);
    if (!next) return false;
    view_ = loaded_ ? carry_over(view_, model_, *next) : wanted_ ? clamped(*next) : fit(view_, *next);
    model_ = std::move(*next);
    index_ = build_index(model_);
    asked_.reset();
    find_links();
    find_marked();
    find_found();
    loaded_ = true;
    return true;
  }

  void mark(const std::vector<std::string>& ids) override {
    TimelineMarks next = parse_timeline_marks(ids);
    const bool same_search = next.find == marks_.find && next.found_operators == marks_.found_operators &&
        next.found_tensors == marks_.found_tensors;
    marks_ = std::move(next);
    view_.time_lanes = marks_.within;
    view_.time.reset();
    if (const auto& time = marks_.time) view_.time = TimeRange{time->first, time->second};
    find_marked();
    if (!same_search) find_found();
  }

  std::vector<std::string> apply(const Input& in, const Rect& area) override {
    const Rect inner = body(area);
    TimelineInput input{.mouse = in.mouse, .pressed = in.pressed, .released = in.released, .wheel = in.wheel,
                        .shift = in.shift, .control = in.control, .keys = {}};
    std::vector<std::string> out;
    for (const Key k : in.keys) {
      if (k == Key::e) view_.show_memory = !view_.show_memory;
      if (k == Key::c) view_.show_critical = !view_.show_critical;
      if (k == Key::z) step_back(in.shift);
      if (k == Key::o || k == Key::p || k == Key::x) change_lane(k, in.mouse, inner, out);
      if (const auto known = meaning(k)) input.keys.push_back(*known);
    }
    const TimelineView before = view_;
    const bool clicked = in.released && view_.press && !view_.dragging && in.mouse && !view_.selecting;
    TimelineView drawing = view_;
    if (in.mouse) drawing.mouse = in.mouse;
    const std::optional<SelectedArea> drawn = in.released ? drawn_area(drawing, model_, inner) : std::nullopt;
    const std::optional<Reorder> dropped =
        in.released && view_.moving && view_.dragging && in.mouse
            ? reorder(model_, lay_out(model_, view_, inner), *view_.moving, *in.mouse)
            : std::nullopt;
    view_ = planscope::viz::apply(view_, input, model_, inner);
    if (in.double_click && view_.hover) {
      view_.selection = view_.hover;
      view_ = planscope::viz::apply(view_, {.mouse = in.mouse, .keys = {TimelineKey::fit}}, model_, inner);
    }
    if (view_.selection != before.selection) find_links();
    remember(before, in);
    if (model_.compared)
      say_statement(before, out);
    else if (dropped)
      out.push_back("order " + in_quotes(dropped->task) + (dropped->before ? " before=" : " after=") + in_quotes(dropped->other));
    else if (drawn)
      out.push_back("select time=" + time_text(drawn->time) + lanes_text(drawn->lanes));
    else if (!clicked || !click_beside(*in.mouse, inner, out))
      say_selection(before, in, clicked, out);
    ask_for_detail(out);
    return out;
  }

  void draw(Canvas& canvas, const Rect& area, const Theme& theme) const override {
    if (!loaded_) return;
    draw_timeline(canvas, model_, index_, view_, body(area), theme);
    draw_legend(canvas, index_, {area.x, body(area).bottom(), area.width, legend(area.width)}, theme);
  }

  bool moves_what_is_at(Point at, const Rect& area) const override {
    if (model_.compared || !loaded_) return false;
    const std::optional<BlockRef> hit = hit_test(model_, lay_out(model_, view_, body(area)), at);
    return hit && !task_of(model_, *hit).empty();
  }

  std::vector<std::string> tooltip() const override {
    if (view_.hover || !view_.mouse || last_body_.empty()) return about(view_.hover);
    const TimelineLayout layout = lay_out(model_, view_, last_body_);
    if (view_.mouse->x < layout.body.x) return about_lane(lane_at(model_, layout, *view_.mouse));
    const int lane = memory_lane_at(model_, layout, *view_.mouse);
    return lane < 0 ? std::vector<std::string>{} : memory_tooltip(model_, lane, snapped_to_peak(lane, layout, *view_.mouse));
  }
  std::vector<std::string> selected() const override { return about(view_.selection); }

  std::string view() const override {
    nlohmann::json marks = nlohmann::json::array();
    for (const Microseconds m : view_.marks) marks.push_back(m.value);
    return nlohmann::json{{"from_us", view_.range.begin.value}, {"to_us", view_.range.end.value}, {"scroll", view_.scroll},
                          {"memory", view_.show_memory}, {"critical", view_.show_critical}, {"marks", marks}}.dump();
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
    if (j.contains("block") && loaded_) show_named(j["block"]);
    if (j.contains("critical") && j["critical"].is_boolean()) view_.show_critical = j["critical"];
    if (j.contains("marks")) set_marks(j["marks"]);
    if (loaded_) view_ = clamped(model_);
  }

  bool show_all() override {
    view_ = fit(view_, model_);
    view_.scroll = 0;
    return true;
  }

  Size natural_size() const override { return {1200, natural_height(model_, view_.show_memory) + legend(1200)}; }

 private:
  // Microseconds; the last two of them span what is measured.
  void set_marks(const nlohmann::json& j) {
    const auto is_time = [](const nlohmann::json& m) { return m.is_number() && m.get<double>() >= 0 && m.get<double>() < 1e15; };
    if (!j.is_array() || !std::all_of(j.begin(), j.end(), is_time)) return;
    view_.marks.clear();
    for (std::size_t k = j.size() > 2 ? j.size() - 2 : 0; k < j.size(); ++k) view_.marks.push_back(Microseconds{j[k].get<double>()});
  }

  // A block by its lane, stream and number: the view goes there.
  void show_named(const nlohmann::json& j) {
    const auto part = [&](std::size_t k) { return j[k].is_number_integer() ? j[k].get<int>() : -1; };
    if (!j.is_array() || j.size() != 3) return;
    const BlockRef ref{part(0), part(1), part(2)};
    const auto within = [](int k, const auto& list) { return k >= 0 && static_cast<std::size_t>(k) < list.size(); };
    if (!within(ref.lane, model_.lanes)) return;
    const Lane& lane = model_.lanes[static_cast<std::size_t>(ref.lane)];
    if (!within(ref.stream, lane.streams)) return;
    if (!within(ref.block, lane.streams[static_cast<std::size_t>(ref.stream)].blocks)) return;
    view_ = show_block(view_, model_, ref);
  }

  static constexpr double most_operators = 100'000;  // that are asked for at a time

  static std::string lanes_text(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& n : names) all += " lane=" + in_quotes(n);
    return all;
  }

  void step_back(bool forward) {
    const Looked now{view_.range, view_.scroll};
    const std::optional<Looked> to = forward ? history_.forward(now) : history_.back(now);
    if (to) view_.range = to->range, view_.scroll = to->scroll;
    if (loaded_) view_ = clamped(model_);
  }

  void remember(const TimelineView& before, const Input& in) {
    const Looked was{before.range, before.scroll}, now{view_.range, view_.scroll};
    if (in.pressed) history_.rest();
    const bool jump = in.double_click || std::any_of(in.keys.begin(), in.keys.end(), [](Key k) { return k == Key::f || k == Key::home; });
    if (std::find(in.keys.begin(), in.keys.end(), Key::z) != in.keys.end()) return;
    history_.moved(was, now, jump ? Motion::jump : in.wheel != 0 ? Motion::wheel : view_.press || before.press ? Motion::drag : Motion::key);
  }

  // The lane of the selection, else that under the mouse.
  void change_lane(Key k, const std::optional<Point>& mouse, const Rect& area, std::vector<std::string>& out) const {
    if (model_.compared) return;
    int l = view_.selection ? view_.selection->lane : -1;
    if (l < 0 && mouse) l = lane_at(model_, lay_out(model_, view_, area), *mouse);
    if (l < 0) return;
    while (l > 0 && model_.lanes[static_cast<std::size_t>(l)].is_device) --l;
    const Lane& lane = model_.lanes[static_cast<std::size_t>(l)];
    const auto [what, now] = k == Key::o ? std::pair("fold", lane.folded) : k == Key::p ? std::pair("pin", lane.pinned) : std::pair("devices", lane.open);
    out.push_back("lane " + in_quotes(lane.name) + " " + what + "=" + (now ? "off" : "on"));
  }

  Microseconds snapped_to_peak(int lane, const TimelineLayout& layout, Point at) const {
    const Microseconds peak = model_.lanes[static_cast<std::size_t>(lane)].peak_at;
    const bool near = peak.value >= 0 && std::fabs(layout.scale.to_x(peak).value - at.x) <= 6;
    return near ? peak : std::clamp(layout.scale.to_time(Pixels{at.x}), Microseconds{0}, model_.duration);
  }

  // A click on something else than a block: a label folds its lane or selects what runs there, a memory curve a moment.
  bool click_beside(Point at, const Rect& area, std::vector<std::string>& out) const {
    const TimelineLayout layout = lay_out(model_, view_, area);
    const int l = lane_at(model_, layout, at);
    if (l < 0) return false;
    const Lane& lane = model_.lanes[static_cast<std::size_t>(l)];
    const LaneLayout& where = layout.lanes[static_cast<std::size_t>(l)];
    if (at.x < layout.body.x) {
      if (where.toggle.contains(at) && !lane.is_device)
        out.push_back("lane " + in_quotes(lane.name) + " fold=" + (lane.folded ? "off" : "on"));
      else
        out.push_back("select lane=" + in_quotes(session_name(model_, l)));
      return true;
    }
    if (!where.memory.contains(at)) return false;
    out.push_back("select time=" + number(snapped_to_peak(l, layout, at)) + " lane=" + in_quotes(lane.name));
    return true;
  }

  // Of plans that are compared, the statement alone.
  void say_statement(const TimelineView& before, std::vector<std::string>& out) const {
    if (view_.selection == before.selection) return;
    const int line = view_.selection ? plan_line(*view_.selection) : 0;
    out.push_back(line > 0 ? "select statement=" + std::to_string(line) : "select none");
  }

  void say_selection(const TimelineView& before, const Input& in, bool clicked, std::vector<std::string>& out) const {
    const bool escaped = std::find(in.keys.begin(), in.keys.end(), Key::escape) != in.keys.end();
    if (view_.selection == before.selection && !((clicked || escaped) && !view_.selection && view_.time)) return;
    if (!view_.selection) return out.push_back("select none");
    const int line = plan_line(*view_.selection);
    out.push_back("select " + (line > 0 ? "statement=" + std::to_string(line) : std::string("none")) + " " +
                  block_arguments(model_, *view_.selection));
  }

  // Single operators, where they are not known yet and there are not too many.
  void ask_for_detail(std::vector<std::string>& out) {
    if (!loaded_ || !model_.detail) return;
    const auto covers = [&](Microseconds from, Microseconds to) {
      return from <= std::max(Microseconds{0}, view_.range.begin) && to >= std::min(model_.duration, view_.range.end);
    };
    if (covers(model_.detail->begin, model_.detail->end) || (asked_ && covers(asked_->begin, asked_->end))) return;
    const Microseconds length = view_.range.length();
    if (model_.detail->operators_per_us * 3 * length.value > most_operators) return;
    asked_ = TimeRange{std::max(Microseconds{0}, view_.range.begin - length), std::min(model_.duration, view_.range.end + length)};
    out.push_back("detail time=" + time_text(*asked_));
  }

  std::vector<std::string> about_lane(int l) const {
    if (l < 0) return {};
    const Lane& lane = model_.lanes[static_cast<std::size_t>(l)];
    std::vector<std::string> lines = {lane.name, lane.devices == 1 ? "1 device" : std::to_string(lane.devices) + " devices"};
    if (!lane.about.empty()) lines.push_back(lane.about);
    return lines;
  }

  std::vector<std::string> about(const std::optional<BlockRef>& ref) const {
    if (!ref) return {};
    std::vector<std::string> lines = planscope::viz::tooltip(model_, *ref);
    const Block& b = model_.at(*ref);
    if (b.instruction < 0) return lines;
    const BlockDetail& d = model_.details[static_cast<std::size_t>(b.instruction)];
    lines.insert(lines.begin(), d.subtitle.empty() ? d.title : d.title + " · " + d.subtitle);
    for (const auto& [name, value] : d.facts) lines.push_back(name + ": " + value);
    if (const std::string task = task_of(model_, *ref); !task.empty()) lines.push_back("task: " + task);
    return lines;
  }

  void find_links() {
    view_.links.clear();
    if (view_.selection) view_.links = dependencies(model_, *view_.selection);
  }

  void find_marked() { view_.marked = std::make_shared<const MarkedBlocks>(marked_blocks(model_, marks_)); }

  void find_found() {
    view_.found.reset();
    if (marks_.find.empty()) return;
    const NamedThings named{{marks_.found_operators.begin(), marks_.found_operators.end()},
                            {marks_.found_tensors.begin(), marks_.found_tensors.end()}};
    view_.found = std::make_shared<const MarkedBlocks>(these_blocks(model_, find_blocks(model_, marks_.find, named)));
  }

  int plan_line(const BlockRef& ref) const {
    const Block& b = model_.at(ref);
    return b.instruction < 0 ? 0 : model_.details[static_cast<std::size_t>(b.instruction)].plan_line;
  }

  double legend(double width) const { return legend_height(index_, width); }
  Rect body(const Rect& area) const {
    last_body_ = {area.x, area.y, area.width, std::max(60.0, area.height - legend(area.width))};
    return last_body_;
  }

  TimelineView clamped(const TimelineModel& m) const { return carry_over(view_, m, m); }

  TimelineMarks marks_;  // what is selected in the session
  TimelineModel model_;
  TimelineIndex index_;
  TimelineView view_;
  ViewHistory history_;
  std::optional<TimeRange> asked_;  // for single operators, until the next model
  mutable Rect last_body_;
  bool loaded_ = false;
  bool wanted_ = false;  // the view was set before there was a model
};

}  // namespace

std::unique_ptr<Scene> make_timeline_scene() { return std::make_unique<TimelineScene>(); }

}  // namespace planscope::viz
