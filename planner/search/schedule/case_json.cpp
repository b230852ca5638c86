#include <algorithm>

#include "engine/base/json_reader.h"
#include "engine/base/saturated.h"
#include "planner/search/schedule/case.h"

namespace planscope::schedule {
namespace {

constexpr std::int64_t kMostTime = std::int64_t{1} << 40;
constexpr std::int64_t kMostMemory = std::int64_t{1} << 50;
constexpr std::int64_t kMostDevices = 1 << 16;
constexpr std::int64_t kMostMicroBatches = 1 << 20;
constexpr std::int64_t kMostBlocks = 1 << 16;

class Reader {
 public:
  Case read(const JsonValue& json) {
    json.only({"name", "devices", "memory", "micro_batches", "blocks", "after", "order"}, Severity::warning);
    if (const JsonValue name = json.find("name")) case_.name = name.text();
    case_.devices = static_cast<int>(json.field("devices").whole(1, kMostDevices));
    read_micro_batches(json.field("micro_batches"));
    read_memory(json.find("memory"));
    const JsonValue blocks = json.list("blocks");
    if (blocks.size() > static_cast<std::size_t>(kMostBlocks))
      blocks.fail("has more than " + std::to_string(kMostBlocks) + " blocks");
    else
      for (const JsonValue block : blocks) read_block(block);
    for (const JsonValue pair : json.list("after")) read_precedence(pair);
    if (const JsonValue order = json.find("order"))
      for (const JsonValue row : order.as_list()) read_relation(row);
    return std::move(case_);
  }

 private:
  void read_micro_batches(const JsonValue& json) {
    if (json.is_list() && json.size() > 0)
      for (const JsonValue n : json) case_.micro_batches.push_back(static_cast<int>(n.whole(1, kMostMicroBatches)));
    else
      case_.micro_batches = {static_cast<int>(json.whole(1, kMostMicroBatches))};
  }

  void read_memory(const JsonValue& json) {
    const auto count = static_cast<std::size_t>(case_.devices);
    case_.memory.assign(count, std::nullopt);
    if (!json || json.is_null()) return;
    if (!json.is_list()) {
      case_.memory.assign(count, json.whole(0, kMostMemory));
      return;
    }
    if (json.size() != count)
      return json.fail("has " + std::to_string(json.size()) + " numbers for " + std::to_string(count) + " devices");
    for (std::size_t d = 0; d < count; ++d)
      if (!json[d].is_null()) case_.memory[d] = json[d].whole(0, kMostMemory);
  }

  void read_block(const JsonValue& json) {
    json.only({"name", "devices", "time", "memory", "stream", "kind"}, Severity::warning);
    Block b;
    b.name = "block " + std::to_string(case_.blocks.size());
    if (const JsonValue name = json.find("name")) b.name = name.text();
    for (const JsonValue device : json.list("devices"))
      b.devices.push_back(static_cast<int>(device.whole(0, case_.devices - 1)));
    std::sort(b.devices.begin(), b.devices.end());
    b.devices.erase(std::unique(b.devices.begin(), b.devices.end()), b.devices.end());
    b.time = json.field("time").whole(0, kMostTime);
    if (const JsonValue memory = json.find("memory")) b.memory = memory.whole(-kMostMemory, kMostMemory);
    if (const JsonValue stream = json.find("stream")) b.stream = stream_of(stream.text());
    if (const JsonValue kind = json.find("kind"))
      b.kind = static_cast<int>(kind.whole(0, static_cast<std::int64_t>(case_.micro_batches.size()) - 1));
    case_.blocks.push_back(std::move(b));
  }

  int stream_of(const std::string& name) {
    const auto found = std::find(case_.streams.begin(), case_.streams.end(), name);
    if (found != case_.streams.end()) return static_cast<int>(found - case_.streams.begin());
    case_.streams.push_back(name);
    return static_cast<int>(case_.streams.size()) - 1;
  }

  int block(const JsonValue& json) const {
    return static_cast<int>(json.whole(0, static_cast<std::int64_t>(case_.blocks.size()) - 1));
  }

  void read_precedence(const JsonValue& json) {
    if (!json.is_list() || json.size() < 2 || json.size() > 4)
      return json.fail("is not a list [before, after], [before, after, delay] or [before, after, delay, distance]");
    Precedence p;
    p.before = block(json[0]);
    p.after = block(json[1]);
    if (json.size() > 2) p.delay = json[2].whole(0, kMostTime);
    if (json.size() > 3) p.distance = static_cast<int>(json[3].whole(-kMostMicroBatches, kMostMicroBatches));
    case_.after.push_back(p);
  }

  void read_relation(const JsonValue& json) {
    if (!json.is_list() || json.size() < 2 || json.size() > 5)
      return json.fail(
          "is not a list [before, after], [before, after, distance] or [before, after, distance, first, count]");
    Relation r;
    r.before = block(json[0]);
    r.after = block(json[1]);
    if (json.size() > 2) r.distance = static_cast<int>(json[2].whole(-kMostMicroBatches, kMostMicroBatches));
    if (json.size() > 3) r.first = static_cast<int>(json[3].whole(0, kMostMicroBatches));
    if (json.size() > 4) r.count = static_cast<int>(json[4].whole(1, kMostMicroBatches));
    r.row = static_cast<int>(case_.rows.size());
    case_.rows.push_back("order[" + std::to_string(case_.rows.size()) + "]");
    case_.order.push_back(r);
  }

  Case case_;
};

// Ends and periods are sums of the times of all runs, and of delays.
bool too_long(const Case& c) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  std::int64_t all = 0;
  for (const Block& b : c.blocks) all = saturated_sum(all, b.time);
  for (const Precedence& p : c.after) all = saturated_sum(all, p.delay);
  return saturated_product(all, *std::max_element(c.micro_batches.begin(), c.micro_batches.end())) > most;
}

}  // namespace

Result<Case> from_json(const std::string& text, const std::string& file) {
  JsonReader json("the case", file, "docs/command-line.md, Schedules, shows what a case looks like");
  Result<Case> out;
  if (const JsonValue root = json.parse(text)) out.value = Reader().read(root);
  out.diagnostics = json.diagnostics();
  if (json.failed()) {
    out.value.reset();
    return out;
  }
  std::vector<Diagnostic> problems = check(*out);
  if (too_long(*out))
    problems.push_back(error("all micro-batches together take longer than can be counted", "",
                             "coarser units of time, or fewer micro-batches"));
  for (Diagnostic& d : problems) {
    d.file = file;
    out.diagnostics.push_back(std::move(d));
  }
  return out;
}

}  // namespace planscope::schedule
