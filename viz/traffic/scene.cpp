#include "viz/traffic/scene.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "viz/traffic/draw.h"
#include "viz/traffic/interaction.h"
#include "viz/traffic/wire.h"

namespace planscope::viz {

namespace {

constexpr const char* measures[] = {"bytes", "messages", "time"};

class TrafficScene final : public Scene {
 public:
  bool load(std::string_view bytes) override {
    std::optional<TrafficModel> next = decode_traffic(bytes);
    if (!next) return false;
    view_ = carry_over(view_, loaded_ ? model_ : *next, *next);
    model_ = std::move(*next);
    loaded_ = true;
    return true;
  }

  void mark(const std::vector<std::string>& ids) override {
    const std::string communicator = "communicator ", link = "link ";
    view_.marked.clear(), view_.marked_communicators.clear(), view_.marked_links.clear();
    for (const std::string& id : ids)
      if (id.starts_with(communicator))
        view_.marked_communicators.insert(std::atoi(id.c_str() + communicator.size()));
      else if (id.starts_with(link))
        view_.marked_links.insert(std::atoi(id.c_str() + link.size()));
      else
        view_.marked.insert(id);
  }

  std::vector<std::string> apply(const Input& in, const Rect& area) override {
    if (!loaded_) return {};
    TrafficAnswer a = planscope::viz::apply(view_, in, model_, area);
    view_ = std::move(a.view);
    return std::move(a.commands);
  }

  void draw(Canvas& canvas, const Rect& area, const Theme& theme) const override {
    if (loaded_) draw_traffic(canvas, model_, view_, area, theme);
  }

  std::vector<std::string> tooltip() const override {
    return loaded_ ? planscope::viz::tooltip(model_, view_) : std::vector<std::string>{};
  }

  std::string view() const override {
    return nlohmann::json{{"from_row", view_.from_row},
                          {"to_row", view_.to_row},
                          {"rows", view_.rows},
                          {"measure", measures[static_cast<std::size_t>(view_.measure)]},
                          {"scroll", view_.scroll}}
        .dump();
  }

  void set_view(std::string_view text) override {
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (!j.is_object()) return;
    const auto number = [&](const char* name, double otherwise) {
      if (!j.contains(name) || !j[name].is_number()) return otherwise;
      const double n = j[name].get<double>();
      return std::isfinite(n) ? std::max(0.0, n) : otherwise;
    };
    view_.from_row = number("from_row", view_.from_row), view_.to_row = number("to_row", view_.to_row);
    view_.rows = number("rows", view_.rows), view_.scroll = number("scroll", view_.scroll);
    for (std::size_t k = 0; k < std::size(measures); ++k)
      if (j.contains("measure") && j["measure"] == measures[k]) view_.measure = static_cast<Measure>(k);
  }

  bool show_all() override {
    view_.rows = view_.from_row = view_.to_row = view_.scroll = 0;
    return true;
  }

  Size natural_size() const override {
    return {1200, std::max(700.0, 80 + 100 * static_cast<double>(model_.links.size()) +
        34 * static_cast<double>(model_.communicators.size()))};
  }

 private:
  TrafficModel model_;
  TrafficView view_;
  bool loaded_ = false;
};

}  // namespace

std::unique_ptr<Scene> make_traffic_scene() { return std::make_unique<TrafficScene>(); }

}  // namespace planscope::viz
