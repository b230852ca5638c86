// The traffic that is told is the simulation's.
#include "app/workbench/traffic.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "app/workbench/communication_times.h"
#include "tests/app/workbench/sample_plans.h"

using namespace planscope;

namespace {

void check_sums(const Evaluation& e, const Cluster& cluster) {
  const TrafficFacts t = traffic(e, cluster);
  struct Sum {
    std::int64_t count = 0, bytes = 0;
    bool operator==(const Sum&) const = default;
  };
  std::map<std::pair<std::string, std::int64_t>, Sum> told, simulated;
  for (const Communicator& c : t.communicators) {
    Sum& s = told[{c.kind, c.size}];
    s.count += c.count * std::ssize(c.classes), s.bytes += c.bytes * std::ssize(c.classes);
    std::int64_t count = 0, bytes = 0;
    for (const MessageSize& m : c.messages) count += m.count, bytes += m.count * m.bytes;
    CHECK(count == c.count);
    CHECK(bytes == c.bytes);
    CHECK(c.first_us <= c.last_us);
    CHECK(c.last_us <= t.duration_us * (1 + 1e-9));
    CHECK(c.exposed_us <= c.busy_us * (1 + 1e-9));
  }
  for (const Traffic& s : e.simulation.traffic()) simulated[{s.kind, s.group}] = {s.count, s.payload.count};
  REQUIRE(told.size() == simulated.size());
  for (const auto& [key, sum] : simulated) {
    INFO(key.first << " of " << key.second);
    CHECK(told[key].count == sum.count);
    CHECK(told[key].bytes == sum.bytes);
  }
  // What all devices send is what the matrix has.
  double sent = 0, cells = 0;
  for (const ClassTimeline& c : e.simulation.classes)
    for (const Traffic& s : c.traffic)
      if (s.group > 1) sent += static_cast<double>(c.devices) * s.sent;
  for (const TrafficCell& c : t.cells) cells += c.bytes;
  CHECK(cells == Approx(sent));
  // No link carries more than it can: what is sent over a level takes as long as it does at least.
  for (const LinkLoad& l : t.links) {
    INFO(l.name);
    const double interval_s = t.duration_us * 1e-6 / static_cast<double>(l.bytes.size());
    for (const double b : l.bytes) CHECK(b <= l.bandwidth * interval_s * (1 + 1e-6));
  }
  // Over it goes what a device of the class that sends most sends, by the matrix; and the bursts of all communicators are what all
  // devices send.
  for (const LinkLoad& l : t.links) CHECK(std::accumulate(l.bytes.begin(), l.bytes.end(), 0.0) == Approx(l.sent));
  if (t.links.size() == 1 && t.devices_per_row == 1) {
    double most = 0;
    for (const DeviceClass& c : e.made.program.classes) {
      const std::vector<int> all = devices(e.made.program, c);
      const std::set<int> own(all.begin(), all.end());
      double of_class = 0;
      for (const TrafficCell& cell : t.cells)
        if (own.contains(cell.from)) of_class += cell.bytes;
      most = std::max(most, of_class / static_cast<double>(all.size()));
    }
    CHECK(t.links[0].sent == Approx(most));
  }
  double bursts = 0;
  for (const Communicator& c : t.communicators)
    for (const double b : c.bursts) bursts += b;
  CHECK(bursts == Approx(sent));
}

}  // namespace

TEST_CASE("communicators of the sample plans sum to the traffic of their simulations") {
  for_each_sample_plan(check_sums);
}

TEST_CASE("communicators have names of their own, which say where they are if others are called so too") {
  for_each_sample_plan([](const Evaluation& e, const Cluster& cluster) {
    std::map<std::string, int> called, named;
    const TrafficFacts t = traffic(e, cluster);
    for (const Communicator& c : t.communicators) ++called[c.kind + " over " + c.over], ++named[c.names.at(0)];
    CHECK(named.size() == t.communicators.size());
    for (const Communicator& c : t.communicators) {
      CHECK(is_called(c, c.names.at(0)));
      CHECK(c.where.empty() == (called[c.kind + " over " + c.over] == 1));
    }
    // Of a part of the communication they are those of the whole.
    TrafficFacts first = traffic(e, cluster, {.classes = std::set<int>{0}});
    name_as(first, t);
    for (const Communicator& c : first.communicators) {
      CHECK(!c.names.empty());
      for (const std::string& name : c.names) CHECK(named.contains(name));
    }
  });
}

TEST_CASE("so do those of thousands of devices, in a matrix of at most 64 rows") {
  const Evaluated s("llama_tiny",
                    "devices 1024 as data=256 pipe=2 tensor=2\nmodel batch=1024\naxis mb=4\n"
                    "let S = cut model.layers[*] into 2\n"
                    "trans * batch by mb, data\nuse tp(model.layers[*], tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n",
                    "dgx-a100x128");
  check_sums(s.evaluation, s.cluster);
  const TrafficFacts t = traffic(s.evaluation, s.cluster);
  CHECK(t.devices_per_row == 16);
  CHECK(t.rows.size() == 64);
  CHECK(t.rows[1] == "pipe=0 2/32");  // a row is of one device class
  CHECK(t.row_devices[1] == "32–33, 36–37, …, 60–61");
  CHECK(t.places[1] == "pipe=0");
}

TEST_CASE("a device sends to the others of its group in equal parts, and to the next stage what that reads") {
  const Evaluated s("llama_tiny",
                    "devices 4 as pipe=2 tensor=2\naxis mb=4\nlet S = cut model.layers[*] into 2\ntrans * batch by mb\n"
                    "use tp(model.layers[*], tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n",
                    "dgx-a100");
  const TrafficFacts t = traffic(s.evaluation, s.cluster);
  CHECK(t.sum(0, 1) > 0);
  CHECK(t.sum(0, 1) == Approx(t.sum(1, 0)));
  CHECK(t.sum(0, 2) > 0);
  CHECK(t.sum(2, 0) > 0);
  CHECK(t.sum(1, 2) == 0);
  const auto send = std::find_if(t.communicators.begin(), t.communicators.end(),
      [](const Communicator& c) { return c.kind == "send"; });
  REQUIRE(send != t.communicators.end());
}

TEST_CASE("exposed communication is what the simulator's compute streams wait for") {
  double waiting = 0;
  for_each_sample_plan([&](const Evaluation& e, const Cluster& cluster) {
    const CommunicationTimes times = communication_times(e.made.program, cluster, e.simulation);
    REQUIRE(times.detailed);
    for (int c = 0; c < static_cast<int>(e.simulation.classes.size()); ++c) {
      const ClassTimeline& t = e.simulation.classes[static_cast<std::size_t>(c)];
      double exposed = 0, busy = 0;
      for (const auto& [key, time] : times.of) {
        const Segment& s = e.made.program.segments[static_cast<std::size_t>(std::get<1>(key))];
        if (std::get<0>(key) != c || s.instructions[static_cast<std::size_t>(std::get<2>(key))].code != Code::issue)
          continue;
        exposed += time.exposed_us, busy += time.busy_us;
      }
      if (most_ahead(e.made.program) > 0) continue;  // times of such a step are means over several periods
      INFO(e.made.program.classes[static_cast<std::size_t>(c)].name);
      CHECK(busy * 1000 == Approx(static_cast<double>(t.collective)).margin(1));
      CHECK(exposed <= busy * (1 + 1e-9));
      if (t.idle.communication == 0) CHECK(exposed == 0);
      if (e.made.program.classes.size() > 1) continue;  // these also wait for one another before a message begins
      CHECK(exposed * 1000 == Approx(static_cast<double>(t.idle.communication)).margin(1));
      waiting += exposed;
    }
  });
  CHECK(waiting > 0);
}

namespace {

const char* const staged =
    "devices 4 as pipe=2 tensor=2\naxis mb=4\nlet S = cut model.layers[*] into 2\ntrans * batch by mb\n"
    "use tp(model.layers[*], tensor)\nassign S[i] to pipe=i\nuse 1f1b(S)\n";

double bytes_of(const TrafficFacts& t) {
  double out = 0;
  for (const Communicator& c : t.communicators) out += static_cast<double>(c.bytes * std::ssize(c.classes));
  return out;
}

double cells_of(const TrafficFacts& t) {
  double out = 0;
  for (const TrafficCell& c : t.cells) out += c.bytes;
  return out;
}

}  // namespace

TEST_CASE("ranges of time that do not overlap sum to the whole step") {
  const Evaluated s("llama_tiny", staged, "dgx-a100");
  const TrafficFacts whole = traffic(s.evaluation, s.cluster);
  double bytes = 0, cells = 0, busy = 0;
  constexpr int parts = 7;
  for (int k = 0; k < parts; ++k) {
    const TrafficBrush b{.time_us = std::pair(whole.duration_us * k / parts, whole.duration_us * (k + 1) / parts)};
    const TrafficFacts t = traffic(s.evaluation, s.cluster, b);
    bytes += bytes_of(t), cells += cells_of(t);
    for (const Communicator& c : t.communicators) busy += c.busy_us * static_cast<double>(std::ssize(c.classes));
    for (std::size_t l = 0; l < t.links.size(); ++l) CHECK(t.links[l].bytes == whole.links[l].bytes);
  }
  CHECK(bytes == Approx(bytes_of(whole)).margin(parts * 8));  // bytes of each communicator are rounded
  CHECK(cells == Approx(cells_of(whole)));
  double streams = 0;
  for (const ClassTimeline& c : s.evaluation.simulation.classes)
    for (const InstructionBlock& b : c.communication)
      if (b.stream == Stream::collective || b.stream == Stream::network || b.stream == Stream::transfer)
        streams += static_cast<double>(b.end - b.start) / 1000;
  CHECK(busy == Approx(streams).epsilon(0.01));
}

TEST_CASE("of a range of time there is what the simulation's messages send in it") {
  const Evaluated s("llama_tiny", staged, "dgx-a100");
  const double duration = s.evaluation.simulation.step_us(), from = 0.31 * duration, to = 0.58 * duration;
  const TrafficFacts t = traffic(s.evaluation, s.cluster, {.time_us = std::pair(from, to), .kinds = {"all_reduce"}});
  // Block by block: the share of its time that lies in the range, of the payload of its instruction.
  const TrafficFacts all = traffic(s.evaluation, s.cluster, {.kinds = {"all_reduce"}});
  REQUIRE(all.communicators.size() == 1);
  REQUIRE(all.communicators[0].messages.size() == 1);  // all are of one size
  double messages = 0;
  std::int64_t under_way = 0;
  for (const ClassTimeline& c : s.evaluation.simulation.classes)
    for (const InstructionBlock& b : c.communication) {
      if (b.stream != Stream::collective && b.stream != Stream::network) continue;
      const double begin = static_cast<double>(b.start) / 1000, end = static_cast<double>(b.end) / 1000;
      const double inside = std::min(end, to) - std::max(begin, from);
      if (inside <= 0) continue;
      messages += inside / (end - begin);
      ++under_way;
    }
  REQUIRE(messages > 1);
  double bytes = 0;
  std::int64_t count = 0;
  for (const Communicator& c : t.communicators)
    bytes += static_cast<double>(c.bytes * std::ssize(c.classes)), count += c.count * std::ssize(c.classes);
  CHECK(bytes == Approx(messages * static_cast<double>(all.communicators[0].messages[0].bytes)).epsilon(1e-3));
  CHECK(count == under_way);
}

TEST_CASE("kinds, levels, senders and tensors each divide the communication") {
  const Evaluated s("llama_tiny", staged, "dgx-a100");
  const TrafficFacts whole = traffic(s.evaluation, s.cluster);
  std::set<std::string> kinds, levels;
  for (const Communicator& c : whole.communicators) kinds.insert(c.kind);
  for (const LinkLoad& l : whole.links) levels.insert(l.name);
  REQUIRE(kinds.size() > 1);
  double by_kind = 0, by_level = 0, by_class = 0, by_tensor = 0;
  for (const std::string& kind : kinds) by_kind += cells_of(traffic(s.evaluation, s.cluster, {.kinds = {kind}}));
  for (const std::string& level : levels) by_level += cells_of(traffic(s.evaluation, s.cluster, {.level = level}));
  for (int c = 0; c < static_cast<int>(s.evaluation.simulation.classes.size()); ++c)
    by_class += cells_of(traffic(s.evaluation, s.cluster, {.classes = std::set<int>{c}}));
  const Graph& g = *s.evaluation.made.graph;
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    by_tensor += cells_of(traffic(s.evaluation, s.cluster, {.tensors = std::set<TensorId>{t}}));
  CHECK(by_kind == Approx(cells_of(whole)));
  CHECK(by_level == Approx(cells_of(whole)));
  CHECK(by_class == Approx(cells_of(whole)));
  CHECK(by_tensor == Approx(cells_of(whole)));
}

TEST_CASE("a communicator names the devices of each of its groups") {
  const Evaluated s("llama_tiny", "devices 4 as data=2 tensor=2\nlet L = model.layers[*]\ntrans * batch by data\nuse tp(L, tensor)\n",
                    "dgx-a100");
  std::map<std::string, std::vector<std::string>> groups;
  for (const Communicator& c : traffic(s.evaluation, s.cluster).communicators) {
    CHECK(std::ssize(c.members) == c.groups);
    groups[c.over] = c.members;
  }
  CHECK(groups["tensor"] == std::vector<std::string>{"0–1", "2–3"});
  CHECK(groups["data"] == std::vector<std::string>{"0, 2", "1, 3"});
}

TEST_CASE("stages send in bursts, a micro-batch after the other") {
  const Evaluated s("llama_tiny",
                    "devices 2 as pipe=2\naxis mb=4\nlet S = cut model.layers[*] into 2\ntrans * batch by mb\n"
                    "assign S[i] to pipe=i\nuse 1f1b(S)\n",
                    "dgx-a100");
  const TrafficFacts t = traffic(s.evaluation, s.cluster, {.kinds = {"send"}});
  REQUIRE(!t.communicators.empty());
  int in_several = 0;
  const double interval = t.duration_us / static_cast<double>(t.communicators[0].bursts.size());
  for (const Communicator& c : t.communicators) {
    std::size_t bursts = 0;
    for (std::size_t k = 0; k < c.bursts.size(); ++k) {
      if (c.bursts[k] <= 0) continue;
      bursts += k == 0 || c.bursts[k - 1] <= 0 ? 1 : 0;
      CHECK(static_cast<double>(k + 1) * interval >= c.first_us);
      CHECK(static_cast<double>(k) * interval <= c.last_us);
    }
    if (c.count > 1) ++in_several;
    if (c.count > 1) CHECK(bursts > 1);
    CHECK(bursts <= static_cast<std::size_t>(c.count * std::ssize(c.parts)));
  }
  CHECK(in_several > 0);
}

TEST_CASE("no device sends to another one for longer than the step lasts") {
  const Evaluated s("llama_tiny", staged, "dgx-a100");
  const TrafficFacts t = traffic(s.evaluation, s.cluster);
  for (const TrafficCell& c : t.cells) {
    CHECK(c.us > 0);
    CHECK(c.us <= t.duration_us);
  }
}

TEST_CASE("the pattern is written as CSV and as JSON") {
  const Evaluated s("llama_tiny", "devices 2 as data=2\ntrans * batch by data\n", "dgx-a100");
  const TrafficFacts t = traffic(s.evaluation, s.cluster);
  const std::string csv = traffic_csv(t);
  CHECK(csv.starts_with("kind,over,devices,size,groups,level,message_bytes,count,first_us,last_us\n"));
  std::size_t rows = 0;
  for (const Communicator& c : t.communicators) rows += c.messages.size();
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) == rows + 1);
  const nlohmann::json j = nlohmann::json::parse(traffic_json(t));
  CHECK(j["communicators"].size() == t.communicators.size());
  CHECK(j["matrix"].size() == t.cells.size());
  CHECK(j["devices"] == 2);
  REQUIRE(j["links"].size() == 1);
  double sent = 0, told = 0;  // by one of two devices that do the same
  for (const double b : j["links"][0]["bytes"]) told += b;
  for (const Traffic& x : s.evaluation.simulation.traffic()) sent += x.sent;
  CHECK(told == Approx(sent));
}
