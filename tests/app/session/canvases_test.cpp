// Canvases as the session fills them: what they draw of real plans, and that what they ask for the session does.
// `app_session_test "[pictures]"` draws some as PNG files, to be looked at.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "tests/app/session/scratch.h"
#include "viz/scenes/scenes.h"
#include "viz/tensor/layout.h"
#include "viz/timeline/draw.h"
#include "viz/timeline/interaction.h"
#include "viz/timeline/marks.h"
#include "viz/timeline/wire.h"
#include "viz/tensor/wire.h"
#include "viz/traffic/layout.h"
#include "viz/traffic/wire.h"
#ifdef PLANSCOPE_PICTURE_DIR
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#endif

using namespace planscope;
using namespace planscope::session;

namespace {

struct Shown {
  explicit Shown(const std::string& model, const std::string& cluster = "dgx-h100x1")
      : session({.workspace = "", .cluster = cluster, .clock = nullptr}) {
    run("open model=sample_models/" + model + ".pt2");
  }
  void run(const std::string& line) {
    const Result<Invocation> i = parse_invocation(line);
    INFO(line);
    REQUIRE(i.ok());
    const Result<Done> done = session.apply(*i);
    INFO(to_string(done.diagnostics));
    REQUIRE(!has_errors(done.diagnostics));
  }
  void plan(const std::string& text) {
    REQUIRE(session.apply({"text", {{"text", text}}}).ok());
    session.wait();
    REQUIRE(session.state().document()->shown);
  }
  const CanvasInfo& info(const std::string& id) const {
    for (const CanvasInfo& c : canvases())
      if (c.id == id) return c;
    throw std::logic_error("no canvas " + id);
  }
  std::string model(const std::string& id) const { return info(id).model(session.state()); }

  Session session;
};

const std::string tp =
    "devices 8 as data=2 tensor=4\nmodel batch=16\nlet L = model.layers[*]\ntrans * batch by data\nuse tp(L, tensor)\n";

}  // namespace

TEST_CASE("what gestures in the timeline ask for the session does, and the timeline shows it") {
  Shown s("llama_tiny");
  s.plan("devices 4 as pipe=4\nmodel batch=8\naxis mb=4\nlet S = cut model.layers[*] into 4\ntrans * batch by mb\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
  const std::unique_ptr<viz::Scene> scene = viz::make_scene("timeline");
  const viz::Rect area{0, 0, 1200, 700};
  const auto show = [&] {
    REQUIRE(scene->load(s.model("timeline")));
    scene->mark(s.info("timeline").marks(s.session.state()));
  };
  const auto layout = [&] {
    const viz::TimelineModel m = *viz::decode_timeline(s.model("timeline"));
    return viz::lay_out(m, viz::fit({}, m), {area.x, area.y, area.width, area.height - viz::legend_height(viz::build_index(m), area.width)});
  };
  const auto run = [&](const std::vector<std::string>& lines) {
    REQUIRE_FALSE(lines.empty());
    for (const std::string& line : lines) s.run(line);
    s.session.wait();
    show();
  };
  const auto click = [&](viz::Point p) {
    scene->apply({.mouse = p, .pressed = true}, area);
    run(scene->apply({.mouse = p, .released = true}, area));
  };
  show();
  const viz::TimelineLayout before = layout();
  click({before.lanes[2].toggle.x + 4, before.lanes[2].toggle.y + 4});
  CHECK(s.session.state().lanes.folded == std::set<std::string>{"pipe=2"});
  CHECK(viz::decode_timeline(s.model("timeline"))->lanes[2].folded);
  scene->apply({.mouse = viz::Point{600, before.lanes[1].streams[0].y + 4}}, area);
  run(scene->apply({.mouse = viz::Point{600, before.lanes[1].streams[0].y + 4}, .keys = {viz::Key::p}}, area));
  CHECK(viz::decode_timeline(s.model("timeline"))->lanes[0].name == "pipe=1");
  const viz::TimelineLayout now = layout();
  click({now.lanes[0].label.x + 50, now.lanes[0].label.y + 10});
  CHECK(s.session.state().selection.place == "pipe=1");
  CHECK(s.session.state().time->lanes == std::vector<std::string>{"pipe=1"});
  // A block is a task, with its slack; of a whole run the place is selected.
  const viz::TimelineModel m = *viz::decode_timeline(s.model("timeline"));
  const std::vector<viz::Block>& blocks = m.lanes[0].streams[0].blocks;
  const auto found = std::find_if(blocks.begin(), blocks.end(), [](const viz::Block& b) { return b.micro_batch == 2; });
  REQUIRE(found != blocks.end());
  const viz::Block& first = *found;
  click({now.scale.to_x(first.start + first.duration * 0.5).value, now.lanes[0].streams[0].y + 4});
  CHECK(s.session.state().time->stream == "compute");
  const Json task = to_json(*make_panel("task", s.session.state()));
  CHECK(task["start_us"].get<double>() == Approx(first.start.value));
  CHECK(task["slack_us"].is_number());
  // An area, and what it sums.
  scene->apply({.mouse = viz::Point{300, now.lanes[0].streams[0].y + 2}, .pressed = true, .shift = true}, area);
  scene->apply({.mouse = viz::Point{700, now.lanes[0].streams[0].y + 4}}, area);
  run(scene->apply({.mouse = viz::Point{700, now.lanes[0].streams[0].y + 4}, .released = true}, area));
  const Json sums = to_json(*make_panel("area", s.session.state()));
  REQUIRE(sums["lanes"].size() == 2);  // the lane, and all devices
  double all = sums["lanes"][0]["work_us"];
  for (const Json& cause : sums["lanes"][0]["idle"]) all += cause["us"].get<double>();
  CHECK(all == Approx(sums["time_us"].get<double>()));
  // The moment of the peak: what is alive then is the peak.
  const double x = now.scale.to_x(m.lanes[0].peak_at).value;
  click({x + 2, now.lanes[0].memory.y + 20});
  const Json alive = to_json(*make_panel("alive", s.session.state()));
  CHECK(alive["bytes"] == alive["peak_bytes"]);
  std::int64_t bytes = 0;
  for (const Json& row : alive["rows"])
    if (row["parent"].is_null()) bytes += row["bytes"].get<std::int64_t>();
  CHECK(bytes == alive["bytes"].get<std::int64_t>());
  // Its devices, as lanes.
  run(scene->apply({.mouse = viz::Point{600, now.lanes[0].streams[0].y + 4}, .keys = {viz::Key::x}}, area));
  CHECK(viz::decode_timeline(s.model("timeline"))->lanes[1].name == "device 1");
  run(scene->apply({.mouse = {}, .keys = {viz::Key::escape}}, area));
  CHECK_FALSE(s.session.state().time);
}

TEST_CASE("a range of time sends as much in the traffic as in its sums, whichever messages it cuts") {
  Shown s("gpt2_tiny");
  s.plan(*read_file("sample_models/plans/gpt2_tiny-gpipe-data.plan").value);
  const auto panel = [&](const char* name) { return to_json(*make_panel(name, s.session.state())); };
  const double step = panel("chips")["step_us"];
  for (const auto& [from, to] : {std::pair{0.0, 1.0}, {0.237, 0.863}, {0.1, 0.3}, {0.31, 0.32}, {0.6, 0.95}}) {
    const std::string time = "time=" + std::to_string(from * step) + ".." + std::to_string(to * step);
    s.run("select " + time);
    s.run("brush " + time);
    const double area = panel("area")["lanes"].back()["sent_bytes"], traffic = panel("traffic")["sent_bytes"];
    INFO(time);
    CHECK(traffic == Approx(area).margin(4));
  }
}

TEST_CASE("what is drawn of a step that overlaps others can be selected to its last block, and sums to it") {
  Shown s("gpt2_tiny");
  s.plan(*read_file("sample_models/plans/gpt2_tiny-pipedream.plan").value);
  const auto panel = [&](const char* name) { return to_json(*make_panel(name, s.session.state())); };
  s.run("select time=0..1000000");
  const Json chips = panel("chips"), area = panel("area"), timeline = panel("timeline");
  CHECK(area["time_us"].get<double>() > chips["step_us"].get<double>());
  CHECK(area["lanes"].back()["sent_bytes"] == chips["sent_bytes"]);
  CHECK(area["lanes"].back()["work_us"].get<double>() == Approx(timeline["work_device_us"].get<double>()));
}

TEST_CASE("of overlapping steps those tasks are on the critical path that cannot begin later") {
  Shown s("gpt2_tiny");
  s.plan(*read_file("sample_models/plans/gpt2_tiny-pipedream.plan").value);
  const auto rows = [&] { return to_json(*make_panel("slack", s.session.state()))["rows"]; };
  for (const Json& row : rows()) CHECK(row["critical"].is_null());
  s.run("slacks");
  s.session.wait();
  std::set<std::string> seen;
  for (const Json& row : rows()) {
    REQUIRE(row["slack_us"].is_number());
    CHECK(row["critical"] == (row["slack_us"] == 0.0 ? "yes" : "no"));
    seen.insert(row["critical"]);
  }
  CHECK(seen.size() == 2);
}

TEST_CASE("what is alive in equal layers is one row, and its members name it by its number") {
  Shown s("llama_tiny");
  s.plan("devices 2 as data=2\ntrans * batch by data\n");
  const Json alive = to_json(*make_panel("alive", s.session.state()));
  std::int64_t bytes = 0;
  std::map<std::size_t, std::int64_t> of_parents;
  for (const Json& row : alive["rows"])
    (row["parent"].is_null() ? bytes : of_parents[row["parent"]]) += row["bytes"].get<std::int64_t>();
  CHECK(bytes == alive["bytes"].get<std::int64_t>());
  CHECK(of_parents.size() > 10);
  for (const auto& [parent, sum] : of_parents) {
    CHECK(alive["rows"][parent]["bytes"] == sum);
    CHECK(alive["rows"][parent]["count"] > 1);
  }
}

TEST_CASE("a block of any stream is selected as what it is: operators, a communicator and its tensor, parameters") {
  Shown s("llama_tiny");
  s.plan("devices 8 as pipe=2 data=2 tensor=2\nmodel batch=16\naxis mb=4\nlet L = model.layers[*]\nlet S = cut L into 2\n"
         "trans * batch by data, mb\nuse tp(L, tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
  const viz::TimelineModel m = *viz::decode_timeline(s.model("timeline"));
  const Graph& g = *s.session.state().document()->shown->evaluation->made.graph;
  std::map<std::string, int> seen;
  std::set<std::pair<std::string, std::int32_t>> known;
  for (int l = 0; l < static_cast<int>(m.lanes.size()); ++l)
    for (int k = 1; k < static_cast<int>(m.lanes[l].streams.size()); ++k)
      for (int b = 0; b < static_cast<int>(m.lanes[l].streams[k].blocks.size()); ++b) {
        const viz::Block& block = m.at({l, k, b});
        if (viz::is_idle(block.kind) || !known.insert({m.lanes[l].name, block.instruction}).second) continue;
        s.run("select none " + viz::block_arguments(m, {l, k, b}));
        const viz::BlockDetail& is = m.details[static_cast<std::size_t>(block.instruction)];
        const Selection& selection = s.session.state().selection;
        const Selected& selected = *s.session.state().selected;
        INFO(is.title);
        CHECK(selection.place.empty());
        CHECK(selected.problem.empty());
        if (!is.communicators.empty()) {
          CHECK(selection.communicator == is.communicators[0]);
          if (is.tensors.size() == 1) CHECK(selected.tensors == is.tensors);
        } else if (!is.operators.empty()) {
          CHECK(selected.operators == is.operators);
        } else if (block.kind == viz::BlockKind::update) {
          REQUIRE(selected.parameters.size() == 1);
          CHECK(selected.of_parameters());
          const std::string name = g.tensor_name(g.parameters[static_cast<std::size_t>(selected.parameters[0])].tensor);
          CHECK(is.title.find("home " + name + ",") != std::string::npos);
        } else {
          CHECK(selected.tensors.size() == 1);
        }
        ++seen[m.lanes[l].streams[k].name + (block.kind == viz::BlockKind::update ? " update" : "")];
      }
  for (const char* stream : {"operators", "operators update", "collective", "transfer"}) {
    INFO(stream);
    CHECK(seen[stream] >= 2);
  }
  // A wait is what ends it.
  const auto& operators = m.lanes[0].streams[1];
  REQUIRE(operators.kind == viz::StreamKind::operators);
  const auto wait = std::find_if(operators.blocks.begin(), operators.blocks.end(),
                                 [](const viz::Block& b) { return b.kind == viz::BlockKind::idle_communication; });
  REQUIRE(wait != operators.blocks.end());
  s.run("select none " + viz::block_arguments(m, {0, 1, static_cast<int>(wait - operators.blocks.begin())}));
  CHECK(s.session.state().selection.communicator == "all_reduce over tensor at all[pipe=0]");
}

TEST_CASE("the cells of the matrix are listed up to a limit that is told, and written all") {
  Shown s("llama_tiny", "dgx-h100x8");
  s.plan("devices 64 as data=64\nmodel batch=64\ntrans * batch by data\n");
  const Json listed = to_json(*make_panel("cells", s.session.state()));
  CHECK(listed["count"] == 64 * 63);
  CHECK(listed["listed"] == 2000);
  CHECK(listed["rows"].size() == 2000);
  CHECK(make_whole_panel("cells", s.session.state())->rows.size() == 64 * 63);
}

TEST_CASE("devices as lanes of all classes together are as many as can be drawn") {
  Shown s("llama_tiny", "dgx-h100x8");
  s.plan("devices 64 as pipe=2 data=32\nmodel batch=64\nlet S = cut model.layers[*] into 2\ntrans * batch by data\nassign S[i] to pipe=i\n");
  const Evaluation& e = *s.session.state().document()->shown->evaluation;
  viz::TimelineModel m;
  for (const char* name : {"pipe=0", "pipe=1"})
    m.lanes.push_back({name, 32, {{"compute", viz::StreamKind::compute, std::vector<viz::Block>(20'000)}}, std::vector<viz::MemoryStep>(5'000), {}});
  const auto devices_of = [&](const std::set<std::string>& open) {
    LaneLook look;
    look.open = open;
    std::vector<std::int64_t> out;  // of each class that is open
    for (const viz::Lane& lane : arranged(m, e, look).lanes) {
      if (lane.open) out.push_back(0);
      if (lane.is_device && lane.devices == 1) ++out.back();
    }
    return out;
  };
  CHECK(devices_of({"pipe=0"}) == std::vector<std::int64_t>{20});
  CHECK(devices_of({"pipe=0", "pipe=1"}) == std::vector<std::int64_t>{10, 10});
  for (viz::Lane& lane : m.lanes) lane.streams[0].blocks.resize(20), lane.memory.clear();
  CHECK(devices_of({"pipe=0", "pipe=1"}) == std::vector<std::int64_t>{32, 32});
}

TEST_CASE("zooming into a step that is too long for single operators asks for them, and shows them") {
  Shown s("llama_tiny");
  s.plan("devices 4 as pipe=4\nmodel batch=4096\naxis mb=4096\nlet S = cut model.layers[*] into 4\ntrans * batch by mb\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
  const std::unique_ptr<viz::Scene> scene = viz::make_scene("timeline");
  const viz::Rect area{0, 0, 1200, 700};
  const auto has_operators = [](const viz::Lane& lane) {
    return std::any_of(lane.streams.begin(), lane.streams.end(), [](const viz::Stream& t) { return t.kind == viz::StreamKind::operators && !t.blocks.empty(); });
  };
  const viz::TimelineModel before = *viz::decode_timeline(s.model("timeline"));
  REQUIRE(before.detail);
  CHECK(std::none_of(before.lanes.begin(), before.lanes.end(), has_operators));
  REQUIRE(scene->load(s.model("timeline")));
  std::vector<std::string> asked;
  for (int i = 0; i < 60 && asked.empty(); ++i) asked = scene->apply({.mouse = viz::Point{600, 60}, .wheel = 1}, area);
  REQUIRE(asked.size() == 1);
  s.run(asked[0]);
  const viz::TimelineModel now = *viz::decode_timeline(s.model("timeline"));
  CHECK(std::all_of(now.lanes.begin(), now.lanes.end(), has_operators));
  CHECK(now.duration == before.duration);
  // Nothing of the step has changed: work of the slots, and memory at the window's ends.
  for (std::size_t l = 0; l < now.lanes.size(); ++l) {
    const std::vector<viz::Block>&a = before.lanes[l].streams[0].blocks, &b = now.lanes[l].streams[0].blocks;
    double was = 0, is = 0;
    for (const viz::Block& k : a) was += viz::is_idle(k.kind) ? 0 : k.duration.value;
    for (const viz::Block& k : b) is += viz::is_idle(k.kind) ? 0 : k.duration.value;
    CHECK(was == Approx(is));
    CHECK(before.lanes[l].memory.back().bytes == now.lanes[l].memory.back().bytes);
  }
  REQUIRE(scene->load(s.model("timeline")));
  CHECK(scene->apply({.mouse = viz::Point{600, 60}, .wheel = 1}, area).empty());
}

TEST_CASE("every canvas has a scene that takes what the session gives it, and a twin among the panels") {
  Shown s("llama_tiny");
  s.plan("devices 2 as data=2\ntrans * batch by data\n");
  s.run("select operators=\"model.layers[0].mlp.down_proj\"");
  s.run("compare sample_models/plans/llama_tiny-data.plan");
  s.session.wait();
  for (const CanvasInfo& c : canvases()) {
    INFO(c.id);
    const std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
    REQUIRE(scene);
    REQUIRE(c.source(s.session.state()).of);
    REQUIRE(scene->load(c.model(s.session.state())));
    CHECK(!scene->load("nonsense"));
    viz::Canvas canvas;
    scene->draw(canvas, {0, 0, 1000, 600}, viz::dark_theme());
    CHECK(canvas.list().size() > 10);
    CHECK(!make_panel(c.twin, s.session.state())->rows.empty());
  }
}

TEST_CASE("the tensor's canvas has the tiles of its twin, and a click on one selects its devices") {
  Shown s("llama3_8b");
  s.plan(tp);
  s.run("select operators=\"model.layers[*].mlp.down_proj\"");
  const std::string bytes = s.model("tensor");
  const std::optional<viz::TensorModel> m = viz::decode_tensor(bytes);
  REQUIRE(m);
  CHECK(m->tiles.size() == make_panel("tiles", s.session.state())->rows.size());
  const std::unique_ptr<viz::Scene> scene = viz::make_scene("tensor");
  REQUIRE(scene->load(bytes));
  const viz::Rect area{0, 0, 1100, 600};
  const viz::TensorLayout l = lay_out(*m, viz::first_view(*m), area);
  const viz::Rect r = l.sides.at(1).tiles.at(1).rects.at(0);
  viz::Input in;
  in.mouse = viz::Point{r.x + r.width / 2, r.y + r.height / 2};
  scene->apply(in, area);
  CHECK(scene->tooltip().at(1) == "4 devices: 4–7");
  in.pressed = in.released = true;
  const std::vector<std::string> commands = scene->apply(in, area);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0] == "select tensor=\"" + m->name + "\" place=\"data=1\"");
  s.run(commands[0]);
  CHECK(s.session.state().selection.place == "data=1");
  const Panel tiles = *make_panel("tiles", s.session.state());
  // The tile itself, and the writer's parts on its four devices.
  CHECK(std::count_if(tiles.rows.begin(), tiles.rows.end(), [](const TableRow& row) { return row.selected; }) == 5);
}

TEST_CASE("the matrix of the traffic's canvas is the panel's, and a click on a cell selects the device that sends") {
  Shown s("llama_tiny");
  s.plan("devices 4 as pipe=2 tensor=2\naxis mb=4\nlet S = cut model.layers[*] into 2\ntrans * batch by mb\n"
         "use tp(model.layers[*], tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
  const std::optional<viz::TrafficModel> m = viz::decode_traffic(s.model("traffic"));
  REQUIRE(m);
  const Json panel = to_json(*make_panel("traffic", s.session.state()));
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) {
      double bytes = 0;
      for (std::size_t k = 0; k < m->from.size(); ++k)
        if (m->from[k] == from && m->to[k] == to) bytes += m->bytes[k];
      CHECK(std::llround(bytes) == panel["matrix"][from][to].get<std::int64_t>());
    }
  CHECK(panel["matrix"][0][2].get<std::int64_t>() > 0);  // between stages
  CHECK(panel["matrix"][0][1].get<std::int64_t>() > 0);  // within one
  CHECK(panel["matrix"][0][3].get<std::int64_t>() == 0);
  const std::unique_ptr<viz::Scene> scene = viz::make_scene("traffic");
  REQUIRE(scene->load(s.model("traffic")));
  const viz::Rect area{0, 0, 1000, 600};
  const viz::TrafficLayout l = lay_out(*m, viz::TrafficView{}, area);
  viz::Input in;
  in.mouse = viz::Point{l.matrix.x + 0.5 * l.cell, l.matrix.y + 2.5 * l.cell};
  in.pressed = in.released = true;
  const std::vector<std::string> commands = scene->apply(in, area);
  REQUIRE(commands == std::vector<std::string>{"select place=\"2\""});
  s.run(commands[0]);
  // What is there is told also of what is selected already.
  CHECK(scene->apply(in, area).empty());
  CHECK(viz::line_at("traffic", s.model("traffic"), scene->view(), *in.mouse, area) == commands[0]);
  CHECK(viz::line_at("traffic", s.model("traffic"), scene->view(), {-5, -5}, area).empty());
  CHECK(viz::line_at("traffic", "damaged", "", *in.mouse, area).empty());
}

TEST_CASE("the traffic is exported as it is shown") {
  const testing::Scratch scratch;
  Shown s("llama_tiny");
  s.plan("devices 4 as data=2 tensor=2\ntrans * batch by data\nuse tp(model.layers[*], tensor)\n");
  s.run("export traffic " + scratch.file("a.json"));
  s.run("export traffic " + scratch.file("a.csv"));
  const Json panel = to_json(*make_panel("traffic", s.session.state())), file = Json::parse(scratch.read("a.json"));
  REQUIRE(file["communicators"].size() == panel["communicators"].size());
  for (std::size_t k = 0; k < file["communicators"].size(); ++k) {
    CHECK(file["communicators"][k]["bytes"] == panel["communicators"][k]["bytes"]);
    CHECK(file["communicators"][k]["messages"] == panel["communicators"][k]["messages"]);
  }
  CHECK(scratch.read("a.csv").starts_with("kind,over,devices,"));
  CHECK_FALSE(s.session.apply(*parse_invocation("export traffic " + scratch.file("no/such/folder/a.csv"))).ok());
}

#ifdef PLANSCOPE_PICTURE_DIR
namespace {

void picture(const Shown& s, const std::string& canvas, const std::string& name, viz::Size size = {1240, 720}) {
  const std::unique_ptr<viz::Scene> scene = viz::make_scene(canvas);
  REQUIRE(scene->load(s.model(canvas)));
  scene->mark(s.info(canvas).marks(s.session.state()));
  for (const bool dark : {true, false}) {
    const viz::Theme theme = dark ? viz::dark_theme() : viz::light_theme();
    viz::Canvas list;
    scene->draw(list, {0, 0, size.width, size.height}, theme);
    const viz::FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};
    std::filesystem::create_directories(PLANSCOPE_PICTURE_DIR);
    std::ofstream(std::string(PLANSCOPE_PICTURE_DIR "/") + name + (dark ? "" : "_light") + ".png", std::ios::binary)
        << viz::encode_png(viz::raster_image(list.list(), size, {theme.background, 1, fonts}));
  }
}

std::string file(const std::string& path) { return *read_file(path).value; }

}  // namespace

TEST_CASE("pictures of tensors and traffic", "[.][pictures]") {
  {
    Shown s("llama3_8b");
    s.plan(tp);
    s.run("select operators=\"model.layers[*].mlp.down_proj\"");
    picture(s, "tensor", "tensor_llama_partial");
    s.run("gradient on");
    s.run("select operators=\"model.layers[0].self_attn.q_proj\"");
    s.run("select tensor=\"model.layers.0.self_attn.q_proj.weight\"");
    picture(s, "tensor", "tensor_llama_weight_gradient");
    s.run("gradient off");
    picture(s, "tensor", "tensor_llama_weight");
    picture(s, "traffic", "traffic_llama");
  }
  {
    Shown s("mixtral_8x7b", "dgx-h100x2");
    s.plan("devices 16 as data=8 tensor=2\nmodel batch=16\ntrans * batch by data\n"
           "trans model.layers[*].mlp.experts expert by data\n"
           "trans model.layers[*].mlp.experts ffn by tensor\n");
    for (const Op& op : s.session.state().document()->shown->evaluation->made.graph->ops) {
      const std::string& name =
          s.session.state().document()->shown->evaluation->made.graph->tensor_name(op.outputs[0].tensor);
      if (name.starts_with("model.layers.0.mlp.experts:")) {
        s.run("select tensor=\"" + name + "\"");
        const std::optional<viz::TensorModel> m = viz::decode_tensor(s.model("tensor"));
        const auto keyed = [](const viz::Tile& t) { return !t.keys.empty(); };
        if (std::any_of(m->tiles.begin(), m->tiles.end(), keyed))
          picture(s, "tensor", "tensor_mixtral_" + name.substr(27));
      }
    }
    picture(s, "traffic", "traffic_mixtral");
  }
  {
    Shown s("swin_large");
    s.plan("devices 8 as pipe=2 tensor=4\nmodel batch=16\naxis mb=8\naxis c=2\n"
           "let B = swin.encoder.layers[0].blocks[*]\n"
           "let S = cut swin.encoder.layers[*].blocks[*] into 2\ntrans * batch by mb\n"
           "use coshard(B.attention, heads, c)\n"
           "use coshard(B.mlp, ffn, c)\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
    s.run("select tensor=\"swin.encoder.layers.0.blocks.0.mlp.fc2:linear#0\"");
    picture(s, "tensor", "tensor_swin");
    picture(s, "traffic", "traffic_swin");
  }
  {
    Shown s("llama3_8b");
    s.plan(file("tests/cases/plan/catalogue/08_context_zigzag.plan"));
    s.run("select operators=\"model.layers[0].self_attn:scaled_dot_product_attention\"");
    picture(s, "tensor", "tensor_zigzag");
    picture(s, "traffic", "traffic_zigzag");
  }
  {
    Shown s("t5_tiny");
    s.plan(file("sample_models/plans/t5_tiny-table6.plan"));
    s.run("select operators=\"encoder.embed_tokens\"");
    picture(s, "tensor", "tensor_t5");
    s.run("gradient on");
    picture(s, "tensor", "tensor_t5_gradient");
    picture(s, "traffic", "traffic_t5");
  }
  {
    Shown s("llama3_8b", "dgx-h100x1024");
    s.plan("devices 8192 as data=128 pipe=8 tensor=8\nmodel batch=2048\naxis mb=16\n"
           "let L = model.layers[*]\nlet S = cut L into 8\n"
           "trans * batch by mb, data\nuse tp(L, tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
    s.run("select operators=\"model.layers[3].mlp.down_proj\"");
    picture(s, "tensor", "tensor_8192");
    picture(s, "traffic", "traffic_8192");
  }
}
#endif
