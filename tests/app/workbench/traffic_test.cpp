// The traffic that is told is the simulation's.
#include "app/workbench/traffic.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

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
  // What each device sends in collectives is what it is said to send.
  double sent = 0, cells = 0;
  for (const ClassTimeline& c : e.simulation.classes)
    for (const Traffic& s : c.traffic)
      if (s.kind != "send" && s.group > 1) sent += static_cast<double>(c.devices * s.sent.count);
  for (const TrafficCell& c : t.cells)
    if (t.communicators[static_cast<std::size_t>(c.communicator)].kind != "send") cells += c.bytes;
  CHECK(cells == Approx(sent));
}

}  // namespace

TEST_CASE("communicators of the sample plans sum to the traffic of their simulations") {
  for_each_sample_plan(check_sums);
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
  CHECK(t.rows[1] == "16–31");
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
  for (const Traffic& x : s.evaluation.simulation.traffic()) sent += static_cast<double>(x.sent.count);
  CHECK(told == Approx(sent));
}
