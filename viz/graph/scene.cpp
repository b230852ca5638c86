#include "viz/graph/scene.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "viz/graph/draw.h"
#include "viz/graph/interaction.h"
#include "viz/graph/wire.h"

namespace planscope::viz {

namespace {

class GraphScene final : public Scene {
 public:
  bool load(std::string_view bytes) override {
    std::optional<GraphModel> next = decode_graph(bytes);
    if (!next) return false;
    const GraphModel before = std::move(model_);
    model_ = std::move(*next);
    if (loaded_ && before.name == model_.name) {
      view_ = carry_over(view_, before, model_, kept_, area_);
    } else {  // what the mouse and the keyboard were at is of the other graph
      view_.focus = view_.focus_chip = view_.hover = view_.hover_chip = view_.hover_edge = -1;
      fit_ = !wanted_;
    }
    loaded_ = true;
    kept_.clear();
    mark(marks_);
    return true;
  }

  void mark(const std::vector<std::string>& ids) override {
    marks_ = ids;
    view_.marked.clear(), view_.marked_edges.clear(), view_.changed.clear();
    for (const std::string& id : ids)
      if (const int n = model_.find(id); n >= 0)
        view_.marked.insert(n);
      else if (id.starts_with("edge "))
        view_.marked_edges.insert(std::atoi(id.c_str() + 5));
      else if (id.starts_with("changed "))
        if (const int of = model_.find(id.substr(8)); of >= 0) view_.changed.insert(of);
  }

  std::vector<std::string> apply(const Input& in, const Rect& area) override {
    view_ = seen(area);
    fit_ = false;
    area_ = area;
    GraphChange change = planscope::viz::apply(view_, in, model_, area);
    view_ = std::move(change.view);
    if (change.activated >= 0) kept_ = model_.text(model_.id[static_cast<std::size_t>(change.activated)]);
    return std::move(change.commands);
  }

  void draw(Canvas& canvas, const Rect& area, const Theme& theme) const override {
    if (loaded_) draw_graph(canvas, model_, seen(area), area, theme);
  }

  std::vector<std::string> tooltip() const override { return about(view_.hover, view_.hover_chip, view_.hover_edge); }
  std::vector<std::string> selected() const override { return about(view_.focus, view_.focus_chip, -1); }

  std::string view() const override {
    return nlohmann::json{{"x", view_.at.x},
                          {"y", view_.at.y},
                          {"zoom", view_.zoom},
                          {"forward", view_.forward},
                          {"backward", view_.backward},
                          {"update", view_.update}}
        .dump();
  }

  void set_view(std::string_view text) override {
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (!j.is_object()) return;
    const auto number = [&](const char* name, double& to) {
      if (!j.contains(name) || !j[name].is_number()) return;
      to = j[name].get<double>();
      wanted_ = true;
      fit_ = false;
    };
    const auto flag = [&](const char* name, bool& to) {
      if (j.contains(name) && j[name].is_boolean()) to = j[name];
    };
    constexpr double far = 1e7;
    number("x", view_.at.x), number("y", view_.at.y), number("zoom", view_.zoom);
    view_.at = {std::clamp(view_.at.x, -far, far), std::clamp(view_.at.y, -far, far)};
    view_.zoom = std::clamp(view_.zoom, graph_zoom_least, graph_zoom_most);
    flag("forward", view_.forward), flag("backward", view_.backward), flag("update", view_.update);
  }

  bool show_all() override {
    fit_ = true;
    return true;
  }

  Size natural_size() const override {
    constexpr double margin = 48;
    return {std::max(480.0, model_.width + margin), std::max(240.0, model_.height + margin + graph_bar_height + graph_legend_height)};
  }

 private:
  // Of a chip, an edge or a node; -1: of none.
  std::vector<std::string> about(int node, int chip, int edge) const {
    std::vector<std::string> out;
    const auto add = [&](const std::vector<std::int32_t>& column, Span32 span) {
      for (std::int32_t k = span.begin; k < span.end; ++k) out.push_back(model_.text(column[static_cast<std::size_t>(k)]));
    };
    if (chip >= 0) {
      out.push_back(model_.text(model_.edge_text[static_cast<std::size_t>(model_.chip_edge[static_cast<std::size_t>(chip)])]));
      add(model_.chip_fact, span_of(model_.chip_fact_end, chip));
    } else if (edge >= 0) {
      out.push_back(model_.text(model_.edge_text[static_cast<std::size_t>(edge)]));
    } else if (node >= 0) {
      out.push_back(model_.text(model_.id[static_cast<std::size_t>(node)]));
      add(model_.fact, span_of(model_.fact_end, node));
    }
    return out;
  }

  // At first the whole is seen, if it can be read so; else its beginning.
  GraphView seen(const Rect& area) const {
    if (!fit_) return view_;
    GraphView v = fitted(view_, model_, area);
    if (v.zoom >= graph_text_zoom) return v;
    const Rect body = areas(model_, v, area).body;
    constexpr double margin = 20;
    v.zoom = std::max(graph_text_zoom, std::min(1.0, (body.height - 2 * margin) / std::max(1.0, model_.height)));
    v.at = {-margin / v.zoom, std::max(-margin / v.zoom, model_.height / 2 - body.height / 2 / v.zoom)};
    return v;
  }

  GraphModel model_;
  GraphView view_;
  std::vector<std::string> marks_;
  std::string kept_;  // the node that was expanded or folded last: it is to stay where it is
  Rect area_{0, 0, 800, 500};
  bool loaded_ = false;
  bool fit_ = true;      // nobody has moved it yet
  bool wanted_ = false;  // the view was set before there was a model
};

}  // namespace

std::unique_ptr<Scene> make_graph_scene() { return std::make_unique<GraphScene>(); }

}  // namespace planscope::viz
