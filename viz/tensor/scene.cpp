#include "viz/tensor/scene.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "viz/tensor/draw.h"
#include "viz/tensor/interaction.h"
#include "viz/tensor/wire.h"
#include "viz/timeline/model.h"

namespace planscope::viz {

namespace {

class TensorScene final : public Scene {
 public:
  bool load(std::string_view bytes) override {
    std::optional<TensorModel> next = decode_tensor(bytes);
    if (!next) return false;
    const bool first = !loaded_;
    view_ = first ? first_view(*next) : carry_over(view_, model_, *next);
    model_ = std::move(*next);
    loaded_ = true;
    if (first && !wanted_.empty()) set_view(wanted_);
    return true;
  }

  void mark(const std::vector<std::string>& ids) override {
    view_.marked_sides.clear(), view_.marked_tiles.clear();
    for (const std::string& id : ids) {
      if (id.starts_with("side ")) view_.marked_sides.insert(std::atoi(id.c_str() + 5));
      if (id.starts_with("tile ")) view_.marked_tiles.insert(std::atoi(id.c_str() + 5));
    }
  }

  std::vector<std::string> apply(const Input& in, const Rect& area) override {
    if (!loaded_) return {};
    area_ = area;
    TensorAnswer a = planscope::viz::apply(view_, in, model_, area);
    view_ = std::move(a.view);
    return std::move(a.commands);
  }

  void draw(Canvas& canvas, const Rect& area, const Theme& theme) const override {
    if (loaded_) draw_tensor(canvas, model_, view_, area, theme);
  }

  std::vector<std::string> tooltip() const override {
    if (!loaded_) return {};
    if (view_.hover_chip < 0) return planscope::viz::tooltip(model_, view_);
    const TensorLayout l = lay_out(model_, view_, area_);
    if (static_cast<std::size_t>(view_.hover_chip) >= l.chips.size()) return {};
    const ChipPicture& c = l.chips[static_cast<std::size_t>(view_.hover_chip)];
    const TensorSide& s = model_.sides[static_cast<std::size_t>(c.side)];
    const MoveChip& m = s.moves[static_cast<std::size_t>(c.move)];
    std::vector<std::string> lines = {m.what, format_bytes(m.bytes) + " a device, " + format_time(m.time)};
    for (const std::string& other : s.refused) lines.push_back("refused: " + other);
    return lines;
  }

  std::string view() const override {
    nlohmann::json at = nlohmann::json::object();
    for (std::size_t d = 0; d < view_.at.size(); ++d) at[name(static_cast<int>(d))] = view_.at[d];
    return nlohmann::json{{"down", name(view_.down)},
                          {"right", name(view_.right)},
                          {"at", at},
                          {"scroll", view_.scroll},
                          {"whole", view_.whole}}
        .dump();
  }

  void set_view(std::string_view text) override {
    if (!loaded_) {
      wanted_ = text;
      return;
    }
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (!j.is_object()) return;
    const auto dimension = [&](const char* of, int otherwise) {
      if (!j.contains(of) || !j[of].is_string()) return otherwise;
      const std::optional<int> d = find(j[of].get<std::string>());
      return d ? *d : otherwise;
    };
    const int down = dimension("down", view_.down), right = dimension("right", view_.right);
    if (down != right)
      view_.down = down, view_.right = right;
    else if (down >= 0)
      std::swap(view_.down, view_.right);  // one of them is asked for where the other one is
    if (j.contains("scroll") && j["scroll"].is_number())
      view_.scroll = std::clamp(j["scroll"].get<double>(), 0.0, natural_height(model_));
    if (j.contains("whole") && j["whole"].is_boolean()) view_.whole = j["whole"];
    if (!j.contains("at") || !j["at"].is_object()) return;
    for (const auto& [of, index] : j["at"].items())
      if (const std::optional<int> d = find(of); d && *d >= 0 && index.is_number_integer())
        view_.at[static_cast<std::size_t>(*d)] = std::clamp<std::int64_t>(
            index.get<std::int64_t>(), 0,
            std::max<std::int64_t>(0, model_.dimensions[static_cast<std::size_t>(*d)].size - 1));
  }

  bool show_all() override {
    view_.scroll = 0;
    return true;
  }

  Size natural_size() const override { return {1100, natural_height(model_)}; }

 private:
  // By its name; where two have the same one, with its number. None: empty.
  std::string name(int d) const {
    if (d < 0) return "";
    const std::string& own = model_.dimensions[static_cast<std::size_t>(d)].name;
    const auto same = [&](const TensorDimension& o) { return o.name == own; };
    return std::count_if(model_.dimensions.begin(), model_.dimensions.end(), same) == 1 ? own
                                                                                        : own + "#" + std::to_string(d);
  }
  std::optional<int> find(const std::string& of) const {
    if (of.empty()) return -1;
    for (int d = 0; d < static_cast<int>(model_.dimensions.size()); ++d)
      if (name(d) == of) return d;
    return std::nullopt;
  }

  TensorModel model_;
  TensorView view_;
  Rect area_;
  std::string wanted_;  // a view that was set before there was a model
  bool loaded_ = false;
};

}  // namespace

std::unique_ptr<Scene> make_tensor_scene() { return std::make_unique<TensorScene>(); }

}  // namespace planscope::viz
